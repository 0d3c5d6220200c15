"""The common base of Matrix and Vector: their entries as a whole, masks, writes, and the results of operations.

An object holds a store, or a plan: an operation that is checked but not executed (`semiring.facade.storage_slot`).
``C(mask, accum) << plan`` passes the whole write to the engine; any other use of the object executes the plan alone.
Since stores are immutable, a plan uses the operands of the moment when it was made.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np

from .. import dtypes
from ..config import checked_device, engine_for
from ..dtypes import is_record
from ..engines.requests.operands import Mask
from ..exceptions import DomainMismatch, InvalidMask, InvalidType, InvalidValue, NotSupported, RankMismatch
from ..formats import CSR
from ..memory.allocation import allocating, methods_report_memory
from ..ops import check
from ..ops.cast import cast_store
from ..ops.equal import same
from ..ops.fused import is_product
from ..ops.write import PLAIN, Plan, Write, emptied, write_of
from ..storage.coerce import as_array, on_gpu
from ..storage.memory_plan import checked_placement, moved
from .operand import Dense, expected, is_array, is_scalar
from .storage_slot import Holder, StoreT
from .writing import MaskView, Target, Writing, as_mask, as_write, checked_wait, parse_write

T = TypeVar("T")
_KEYWORDS = frozenset(Writing.__annotations__)


def extracted_under(part: Any, input_mask: Any) -> Any:
    """Return a part of another object, taken from the entries of that object that the mask admits.

    The mask of one row or column, ``A[i, J]``, may be a Vector.

    Raises
    ------
    InvalidType
        If `part` is not a part of another object, or was used before.
    InvalidMask, DimensionMismatch
    """
    origin = getattr(part, "_origin", None)
    if origin is None or part.ndim == 0 or part._store is not None:
        raise InvalidType(
            "input_mask= is for a part of another object, in one expression: C(input_mask=M.S) << A[I, J]"
        )
    parent, key = origin
    mask = as_mask(input_mask)
    if parent.ndim == 1 or isinstance(mask.store, CSR):
        return parent.dup(mask=MaskView(mask))[key]
    rows, cols = key if isinstance(key, tuple) else (key, slice(None))
    if is_scalar(rows) == is_scalar(cols):
        raise InvalidMask("input_mask: a Vector is the mask of one row or column, A[i, J] or A[I, j]")
    whole = slice(None)
    line, rest = (parent[rows, whole], cols) if is_scalar(rows) else (parent[whole, cols], rows)
    return line.dup(mask=MaskView(mask))[rest]


class TargetOfPart(Target[T]):
    """``C(input_mask=M.S)``: what is written must be a part of an object, taken from the entries that M admits."""

    __slots__ = ("_input_mask",)

    def __init__(self, target: T, write: Write, input_mask: Any) -> None:
        if write.mask is not None:
            raise InvalidType("give mask= or input_mask=, not both")
        super().__init__(target, write)
        self._input_mask = MaskView(as_mask(input_mask))

    def __lshift__(self, value: Any) -> T:
        return super().__lshift__(extracted_under(value, self._input_mask))

    def __getitem__(self, key: Any) -> Target[T]:
        """Raise InvalidType: the source has the mask, and the target none."""
        raise InvalidType("input_mask= is for a part of another object: C(input_mask=M.S) << A[I, J]")


class Sparse(Holder[StoreT], Generic[StoreT]):
    """The part of Matrix and Vector that is independent of the number of dimensions and of operations."""

    __slots__ = ()
    # Whether further dimensions of an array of values make an array type, where no type is given.
    _infers_arrays: ClassVar[bool] = False
    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # == compares element by element
    # Each element would be one copy to the host; `items` iterates over the entries.
    __iter__: ClassVar[None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        methods_report_memory(cls)

    # -- other libraries ---------------------------------------------------------------------------------

    if TYPE_CHECKING:
        shape: Any

    if not TYPE_CHECKING:  # with it, type checkers take np.sqrt(v) and x + v for arrays

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
            kind = type(self).__name__
            store, positions = self.store, math.prod(self.shape)
            if store.device == "cuda" or store.nvals != positions:
                held = f"{store.nvals} of {positions} positions hold a value, and a missing one is not zero"
                raise InvalidType(
                    f"a {kind} is not a NumPy array: {'its entries are on a GPU' if store.device == 'cuda' else held}; "
                    f"use .to_numpy(fill_value=0) or sr.io.to_scipy_sparse(...), or make a Matrix of the other "
                    f"operand, by sr.io.from_scipy_sparse or Matrix.from_dense"
                )
            if copy is False:
                raise ValueError(f"np.asarray(..., copy=False): a {kind} is shared by np.from_dlpack, if it is full")
            return np.asarray(self.to_dense(dtype=dtype))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from .numpy_functions import array_ufunc

        return array_ufunc(self, ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        from .numpy_functions import array_function

        return array_function(self, function, args, options)

    def _converted(self, value: Any) -> Any:
        """Return an array, or a sparse matrix of another library, as a Vector or a Matrix; None for anything else.

        A dense array becomes a full object: its zeros are values.  Host memory is copied to the device of this object;
        an array on a GPU stays there.
        """
        if not is_array(value):
            return None
        if hasattr(value, "tocsr"):
            if value.ndim == 1:
                entries, where = value.tocoo(), self.device
                indices = entries.coords[0]
                return self._vector_class.from_coo(
                    indices, entries.data, size=value.shape[0], dup_op="plus", device=where
                )
            rows = value.tocsr()
            where = "cuda" if on_gpu(rows.data) else self.device
            return self._matrix_class.from_csr(
                rows.indptr,
                rows.indices,
                rows.data,
                ncols=rows.shape[1],
                dup_op="plus",
                copy=rows is value,
                device=where,
            )
        array = as_array("operand", value)
        kind = {1: self._vector_class, 2: self._matrix_class}.get(array.ndim)
        if kind is None:
            raise InvalidType(f"an array of {array.ndim} dimensions is neither a Vector nor a Matrix")
        return kind.from_dense(array, device="cuda" if on_gpu(array) else self.device)

    def _operand(self, operation: str, value: Any, ndim: int) -> Any:
        """Return an operand of so many dimensions: itself, or made of an array; InvalidType for anything else."""
        made = value if isinstance(value, Sparse) else self._converted(value)
        if made is not None and made.ndim == ndim:
            return made
        kind = "Vector" if ndim == 1 else "Matrix"
        if made is None or made is value:
            raise expected(operation, kind, value)
        raise RankMismatch(f"{operation or kind}: expected a {kind}, got an array of {made.ndim} dimensions")

    def hist(self, bins: int = 50, *, log: bool = False, title: str | None = None, ax: Any = None) -> Any:
        """Draw how often values occur among the entries, through matplotlib: `semiring.plot.hist`.

        Parameters
        ----------
        bins, log, title, ax : as in `semiring.plot.hist`

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        NotSupported
            If matplotlib is not installed.
        InvalidValue

        Notes
        -----
        Cost O(nvals).  Synchronizes, and copies only the counts from a GPU.

        Examples
        --------
        >>> axes = Vector.from_dense([1, 2, 2]).hist()
        >>> [int(bar.get_height()) for bar in axes.patches]
        [1, 2]
        """
        from ..plot import hist

        return hist(self, bins, log=log, title=title, ax=ax)  # type: ignore[arg-type]

    if not TYPE_CHECKING:  # a type checker reports the attributes that do not exist

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            if any(name in vars(cls) for cls in type(self).__mro__):
                return object.__getattribute__(self, name)  # a property that raised an AttributeError raises it again
            from .migration_errors import no_attribute

            raise no_attribute(type(self), name)

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
        from .base import extracted_under

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

    # -- masks and writing -------------------------------------------------------------------------------

    @property
    def S(self) -> MaskView:
        """The structural mask: where an entry is stored.  ``~A.S`` is its complement.

        Examples
        --------
        >>> v, w = Vector.from_coo([0, 1], [0, 7], size=3), Vector(int, 3)
        >>> (w(v.S) << 1).to_dict(), (w(~v.S) << 2).to_dict()
        ({0: 1, 1: 1}, {0: 1, 1: 1, 2: 2})
        """
        store = self._store
        return MaskView(Mask(self.store if store is None else store, True, False))

    @property
    def V(self) -> MaskView:
        """The value mask: where an entry is stored and nonzero.  ``~A.V`` is its complement.

        Examples
        --------
        >>> v, w = Vector.from_coo([0, 1], [0, 7], size=3), Vector(int, 3)
        >>> (w(v.V) << 1).to_dict()
        {1: 1}
        """
        store = self.store
        if is_record(store.dtype):
            raise DomainMismatch("records are neither true nor false: use .S, or a mask of a field such as x.n != 0")
        return MaskView(Mask(store, False, False))

    def __invert__(self) -> MaskView:
        return ~MaskView(as_mask(self))

    def __call__(
        self, *parts: Any, mask: Any = None, accum: Any = None, replace: bool = False, input_mask: Any = None
    ) -> Target[Self]:
        """Return the left side of ``<<``: ``C(mask, accum, replace=...) << result``.

        Parameters
        ----------
        *parts : mask, accumulator and ``semiring.replace``, in any order
        mask : ``M.S``, ``M.V``, their complements, or a boolean object
        accum : binary operator that combines the result with the stored entries
        replace : delete the entries that the mask does not admit
        input_mask : limits the source ``A[I, J]`` of the write instead: see `new`

        Raises
        ------
        InvalidMask, InvalidType, UnknownOperator

        Notes
        -----
        On a region, ``C[I, J](mask) << x``, mask and `replace` concern only the region (subassign);
        ``C(mask)[I, J] << x``: all of C, or with a Vector ``C(m)[i, J] << x`` all of row i (assign).  Values are cast
        to the type of C: a float loses its fraction in an integer type, an integer that is too large wraps.  A scalar
        writes its value everywhere in the region; an empty Scalar has no entries, so it deletes the stored ones unless
        an accumulator keeps them.

        Examples
        --------
        >>> v, w = Vector.from_dense([1, 2, 3]), Vector.from_dense([10, 10, 10])
        >>> m = Vector.from_coo([0, 2], True, size=3)
        >>> (w(m.S, accum="plus") << v).to_dict()
        {0: 11, 1: 10, 2: 13}
        >>> (w(m.S, replace=True) << v).to_dict()
        {0: 1, 2: 3}
        """
        if len(parts) == 1 and mask is accum is input_mask is None and isinstance(parts[0], MaskView):
            write = write_of((parts[0]._mask, None, bool(replace), None))
        else:
            write = parse_write(parts, mask, accum, replace)
        if input_mask is not None:
            return TargetOfPart(self, write, input_mask)
        return Target._of(self, write) if self._origin is None else self._target(write)

    def __lshift__(self, value: Any) -> Self:
        return cast(Self, self._target(PLAIN) << value)

    def update(self, value: Any) -> Self:
        """Replace the entries by those of `value`: ``C << value``; keeps shape and type, and returns C.

        Parameters
        ----------
        value : an object of the same kind and shape, or a scalar for all positions

        Raises
        ------
        DimensionMismatch, InvalidValue, DeviceMismatch

        Notes
        -----
        Cost O(1) where types agree, and else O(nvals) for the cast, besides the pending operation of `value`.

        Examples
        --------
        >>> w = Vector(int, 3)
        >>> w.update(Vector.from_coo([0, 2], [1.5, 2.5], size=3)).to_dict()
        {0: 1, 2: 2}
        """
        return cast(Self, self << value)

    def _target(self, write: Write) -> Target[Any]:
        """Return the target of ``<<``: this object, or the region of another one that it was extracted from."""
        if self._origin is None:
            return Target._of(self, write)
        if self._store is not None:
            raise self._belongs()
        parent, region = self._origin
        return Target(parent, write, region, sub=True)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._assign_region(key, value, PLAIN, sub=False)

    def _assign(self, value: Any, write: Write) -> None:
        """C<M, replace> accum= value, where `value` is pending, computed, or a scalar."""
        if not isinstance(value, Sparse) or value.ndim != self.ndim:
            self._assign_region(None, value, write, sub=False)
            return
        # Without mask and accumulator only the result is needed, and `value` caches it; else the plan fuses the write.
        plain = write.mask is None and write.accum is None
        pending = None if plain else value._plan
        plan = plan_of("update", value.store) if pending is None else pending
        if plain or plan.is_short:
            store = self._store
            self._become(plan.into(self.store if store is None else store, write))
        else:
            self._write(plan.into, write)

    def _masked(self, mask: MaskView) -> Plan[StoreT]:
        """Return the plan of the entries that a mask admits."""
        return plan_of("extract", self.store).under(mask._mask)

    def _assign_masked(self, view: MaskView, value: Any, write: Write) -> None:
        """``C[mask](accum) << value``, which is ``C(mask, accum) << value``."""
        if write.mask is not None:
            raise InvalidMask("two masks were given: one in brackets, one in parentheses; join them by &")
        self._assign(value, write._replace(mask=view._mask))

    def _assign_region(self, key: Any, value: Any, write: Write, *, sub: bool) -> None:
        """key: the index in brackets; None for all positions."""
        raise NotImplementedError

    # -- making results ----------------------------------------------------------------------------------

    def _deliver(self, plan: Plan[Any], writing: Writing, cls: Any = None) -> Any:
        """Return the result of a plan: pending, or written as the keywords specify."""
        made = type(self) if cls is None else cls
        if not writing:
            return made._new(None, plan)
        mask = writing.get("mask")
        if mask is not None and len(writing) == 1:
            write, out = Write(as_mask(mask)), None
        else:
            if not _KEYWORDS.issuperset(writing):
                unknown = min(writing.keys() - _KEYWORDS)
                raise TypeError(f"{plan.operation}() got an unexpected keyword argument {unknown!r}")
            write, out = as_write(mask, writing.get("accum"), writing.get("replace", False)), writing.get("out")
        if out is None:
            if write.accum is not None:
                raise InvalidValue(f"{plan.operation}: accum= combines with what out= holds; give out= too")
            return made._new(None, plan.under(write.mask)) if is_product(plan) else made._new(plan.into(None, write))
        if not isinstance(out, made):
            raise InvalidValue(f"{plan.operation}: out= must be a {made.__name__}, got {type(out).__name__}")
        return out._target(write) << made._new(None, plan)


methods_report_memory(Sparse)


def plan_of(operation: str, store: StoreT) -> Plan[StoreT]:
    """Return a plan whose result is computed already."""
    return Plan(operation, check.shape_of(store), store.dtype, store.device, lambda: store)
