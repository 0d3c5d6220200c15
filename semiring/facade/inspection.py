"""The entries of a Matrix or Vector as a whole: their number, how and where they are stored, copies and comparison."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Self

import numpy as np

from .. import dtypes
from ..config import checked_device, engine_for
from ..exceptions import InvalidType, NotSupported
from ..formats import CSR
from ..memory.allocation import allocating, methods_report_memory
from ..ops import check
from ..ops.cast import cast_store
from ..ops.equal import same
from ..ops.fused import is_product
from ..ops.write import Plan, emptied
from ..storage.memory_plan import checked_placement, moved
from .interop import Exchange
from .operand import Dense
from .storage_slot import StoreT
from .writing import as_write, checked_wait


class Contents(Exchange[StoreT], Generic[StoreT]):
    """The entries of an object, as a whole."""

    __slots__ = ()
    # Each element would be one copy to the host; `items` iterates over the entries.
    __iter__: ClassVar[None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        methods_report_memory(cls)

    # -- the store ---------------------------------------------------------------------------------------

    @property
    def _source(self) -> StoreT | Plan[StoreT]:
        """What a reduction or a selection reads: a product that is pending, which it may be fused into, or the store.

        A chain is not fused: it is a value once it is used.
        """
        plan = self._plan
        return self.store if plan is None or self._chain is not None or not is_product(plan) else plan

    def with_store(self, store: StoreT) -> Self:
        """Return a new object of the same kind with another store."""
        return self._new(store)

    @property
    def nvals(self) -> int:
        """The number of stored entries.  Synchronizes if it has not been read from the GPU yet.

        Examples
        --------
        >>> Vector.from_coo([0, 2], [5, 6], size=4).nvals
        2
        """
        return self.store.nvals

    @property
    def nnz(self) -> int:
        """The number of stored entries, by SciPy's name.

        Examples
        --------
        >>> Vector.from_coo([0, 2], [5, 6], size=4).nnz
        2
        """
        return self.store.nvals

    @property
    def format(self) -> str:
        """How it is stored.

        ``"csr"``, ``"ccsr"``, ``"full"``, ``"bitmap"`` or ``"hypersparse"`` of a Matrix; ``"index"``, ``"bitmap"`` or
        ``"full"`` of a Vector.

        Examples
        --------
        >>> A = Matrix.identity(3)
        >>> A.format, A.compress().format, Matrix.from_scalar(1.0, 2, 2).format, Matrix(bool, 10**9, 10**9).format
        ('csr', 'ccsr', 'full', 'hypersparse')
        """
        return self.store.format

    @property
    def placement(self) -> str:
        """Which memory holds its entries: ``"device"`` (of a Vector always), ``"pinned"`` or ``"host"``; see `to`."""
        store: Any = self.store
        return getattr(store, "placement", "device")

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays.

        Examples
        --------
        >>> Vector.from_dense([1.0, 2.0, 3.0]).nbytes
        24
        """
        return self.store.nbytes

    @property
    def is_iso(self) -> bool:
        """True if all entries share one value, which is stored once.

        Examples
        --------
        >>> Vector.full(2.5, 3).is_iso, Vector.from_dense([1.0, 2.0]).is_iso
        (True, False)
        """
        return self.store.iso is not None

    @property
    def iso_value(self) -> np.generic | None:
        """The value that all entries share, or None.

        Examples
        --------
        >>> print(Vector.full(2.5, 3).iso_value, Vector.from_dense([1.0, 2.0]).iso_value)
        2.5 None
        """
        return self.store.iso

    def wait(self, how: str = "materialize") -> Self:
        """Execute a pending operation and wait until the device has finished; returns this object.  Synchronizes.

        Parameters
        ----------
        how : ``"materialize"`` or ``"complete"``, GraphBLAS's modes, which are the same here

        Raises
        ------
        InvalidValue
            For another mode.

        Notes
        -----
        It also raises the errors of the pending operation, for example OutOfMemory.  Cost: that of the operation.

        Examples
        --------
        >>> A = Matrix.identity(3, float)
        >>> B = (A @ A).wait()
        >>> B.nvals
        3
        """
        checked_wait(how)
        if self.store.device == "cuda":
            import cupy

            cupy.cuda.get_current_stream().synchronize()  # synchronizes
        return self

    def to(self, device: str | None = None, *, placement: str | None = None) -> Self:
        """Return the object on another device, or with its entries in another memory; itself if it is there already.

        Parameters
        ----------
        device : ``"cpu"`` or ``"cuda"``; None: unchanged
        placement : where the entries of a Matrix reside, in any format.  ``"device"``: in the memory of the device.
            ``"pinned"``: in page-locked host memory, which the GPU reads in place.  ``"host"``: in host memory,
            from which slices of rows are streamed.  ``"auto"``: ``"device"`` if it fits there with a reserve for
            operations, else ``"pinned"``, or ``"host"`` if host memory is short too.  None: unchanged; on a new device
            ``"device"``.  A Vector resides in the memory of its device.  On the CPU all are one memory, and with
            ``"host"`` operations process one slice after another.

        Raises
        ------
        InvalidValue
            If there is no such device or placement.
        NotSupported
            For a Vector with a placement other than ``"device"``, and for ``"cuda"`` where there is no GPU.
        OutOfMemory
            If it does not fit; the message reports what would.

        Notes
        -----
        Cost O(nbytes) if it moves.  From the GPU it synchronizes.  NumPy arrays are page-locked in place, and copied
        only if the system cannot lock them; they stay locked until the last array over them is deleted.  Row offsets,
        and the anchors of compressed rows, always reside in the memory of the device.

        Examples
        --------
        >>> A = Matrix.identity(3).to("cpu")
        >>> A.device, A.to(placement="host").placement
        ('cpu', 'host')
        """
        wanted = None if placement is None else checked_placement(placement)
        if self.ndim == 1 and wanted not in (None, "device"):
            raise NotSupported(
                f"a Vector is always in the memory of its device; placement {placement!r} is for a Matrix"
            )
        target = None if device is None else checked_device(device)
        if target in (None, self.device) and (self.ndim == 1 or placement is None):
            return self
        store: Any = self.store
        if isinstance(store, CSR):
            made: Any = moved(store, placement, target)
        else:
            with allocating("to", target or store.device):
                made = store.to(target or store.device)
        return self if made is store else self._new(made, name=self.name)._labeled_as(self)

    # -- copies and comparison ---------------------------------------------------------------------------

    def dup(self, dtype: Any = None, *, mask: Any = None, clear: bool = False, name: str | None = None) -> Self:
        """Return an independent copy.

        Parameters
        ----------
        dtype : type to cast the values to
        mask : keep only the entries that it admits
        clear : keep only shape and type
        name : shown by `repr`

        Raises
        ------
        DimensionMismatch, DomainMismatch, InvalidMask

        Notes
        -----
        Stores are immutable, so a copy without cast and mask costs O(1) and shares all arrays.

        Examples
        --------
        >>> v = Vector.from_coo([0, 2], [1.5, 2.5], size=3)
        >>> w = v.dup(int)
        >>> w[0] = 7
        >>> v.to_dict(), w.to_dict(), v.dup(mask=w > 5).to_dict()
        ({0: 1.5, 2: 2.5}, {0: 7, 2: 2}, {0: 1.5})
        """
        target = self._described.dtype if dtype is None else dtypes.lookup(dtype)
        if clear:
            return self._new(emptied(self.store, target), name=name)._labeled_as(self)
        store = self.store
        if mask is not None:
            store = plan_of("dup", store).into(None, as_write(mask))
        return self._new(cast_store(store, target, engine_for(store.device)), name=name)._labeled_as(self)

    def new(self, dtype: Any = None, *, mask: Any = None, input_mask: Any = None, name: str | None = None) -> Self:
        """Return a copy, by python-graphblas's name.

        Parameters
        ----------
        dtype, mask, name : as `dup`
        input_mask : of a part such as ``A[I, J]``: a mask of A, which limits the entries that the part is taken from

        Raises
        ------
        DimensionMismatch, DomainMismatch, InvalidMask
        InvalidType
            For an `input_mask` where this is no part of another object, or with a `mask`.

        Examples
        --------
        >>> v, m = Vector.from_coo([0, 1, 2], [1, 2, 3]), Vector.from_coo([0, 2], True, size=3)
        >>> (v + v).new(mask=m.S).to_dict(), v[1:].new(input_mask=m.S).to_dict()
        ({0: 2, 2: 6}, {1: 3})
        """
        if input_mask is None:
            return self.dup(dtype, mask=mask, name=name)
        if mask is not None:
            raise InvalidType("new: give mask= or input_mask=, not both")
        from .input_mask import extracted_under

        return extracted_under(self, input_mask).dup(dtype, name=name)  # type: ignore[no-any-return]

    def __copy__(self) -> Self:
        return self.dup(name=self.name)

    def __deepcopy__(self, memo: Any) -> Self:
        return self.dup(name=self.name)

    def clear(self) -> None:
        """Remove all entries; shape and type are unchanged.

        Raises
        ------
        InvalidType
            On a part or the transpose of another object.

        Notes
        -----
        Cost O(nrows) for a Matrix, O(1) for a Vector; copies keep their entries.

        Examples
        --------
        >>> v = Vector.from_coo([0, 2], [5, 6], size=4)
        >>> v.clear()
        >>> v.nvals, v.size
        (0, 4)
        """
        self._become(emptied(self.store))

    def isequal(self, other: Self | Dense, *, check_dtype: bool = False) -> bool:
        """Return True if both have one shape and the same entries with equal values (NaN equals NaN).  Synchronizes.

        Parameters
        ----------
        other : of the same kind, or an array
        check_dtype : whether the types must agree too

        Raises
        ------
        InvalidValue, DeviceMismatch

        Notes
        -----
        Cost O(nvals).

        Examples
        --------
        >>> v, w = Vector.from_dense([1, 2]), Vector.from_dense([1.0, 2.0])
        >>> v.isequal(w), v.isequal(w, check_dtype=True), v.isequal(Vector.from_dense([1, 3]))
        (True, False, False)
        """
        return same(self.store, self._same_kind(other).store, check_dtype=check_dtype)

    def isclose(
        self, other: Self | Dense, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False
    ) -> bool:
        """Return True if both have one shape and the same entries, with values that agree closely.  Synchronizes.

        Parameters
        ----------
        other : of the same kind, or an array
        rel_tol, abs_tol : |a - b| may be at most abs_tol + rel_tol |b|; infinities and NaN agree with themselves
        check_dtype : whether the types must agree too

        Raises
        ------
        InvalidValue, DeviceMismatch

        Notes
        -----
        Cost O(nvals).

        Examples
        --------
        >>> v, w = Vector.from_dense([1.0, 2.0]), Vector.from_dense([1.0, 2.001])
        >>> v.isclose(w), v.isclose(w, rel_tol=0.01)
        (False, True)
        """
        stores = self.store, self._same_kind(other).store
        return same(*stores, check_dtype=check_dtype, tolerance=(rel_tol, abs_tol))

    def _same_kind(self, other: Any) -> Self:
        """Return the other operand, a Matrix beside a Matrix and a Vector beside a Vector; an array becomes one."""
        return other if type(other) is type(self) else self._operand("", other, self.ndim)

    def to_dense(self, fill_value: Any = None, dtype: Any = None, *, device: str | None = None) -> Any:
        """Return an array of all positions; see the methods of `Matrix` and `Vector`."""
        raise NotImplementedError

    def to_numpy(self, fill_value: Any = None, dtype: Any = None) -> np.ndarray[Any, Any]:
        """Return a NumPy array of all positions, the caller's own: `to_dense` on the host.

        Parameters
        ----------
        fill_value : the value where nothing is stored; needed unless all positions hold a value
        dtype : type of the array, to which values and `fill_value` are cast; by default the one that holds both

        Raises
        ------
        InvalidType
            If an entry is missing and there is no `fill_value`.
        DomainMismatch, OutOfMemory

        Notes
        -----
        Cost O(number of positions).  Synchronizes on the GPU.

        Examples
        --------
        >>> Vector.from_coo([0, 2], [5, 6], size=4).to_numpy(fill_value=-1)
        array([ 5, -1,  6, -1])
        """
        return self.to_dense(fill_value, dtype, device="cpu")  # type: ignore[no-any-return]


methods_report_memory(Contents)


def plan_of(operation: str, store: StoreT) -> Plan[StoreT]:
    """Return a plan whose result is computed already."""
    return Plan(operation, check.shape_of(store), store.dtype, store.device, lambda: store)
