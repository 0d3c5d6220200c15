"""The common base of Matrix and Vector: one store, one pending operation, copies, comparison, and writes.

An object holds a store, or a plan: an operation that is checked but not executed (`semiring.facade.holder`).
``C(mask, accum) << plan`` passes the whole write to the engine; any other use of the object executes the plan alone.
Since stores are immutable, a plan uses the operands of the moment when it was made.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Self

import numpy as np

from .. import dtypes
from ..config import checked_device, engine_for
from ..engines.operands import Mask
from ..exceptions import InvalidMask, InvalidType, InvalidValue, NotSupported
from ..formats import CSR
from ..memory.allocation import allocating, methods_report_memory
from ..ops import check
from ..ops.cast import cast_store
from ..ops.equal import same
from ..ops.fused import is_product
from ..ops.write import PLAIN, Plan, Write, emptied
from ..storage.memory_plan import checked_placement, moved
from .exchange import Exchange
from .holder import StoreT
from .operand import expected
from .writing import MaskView, Target, TargetOfPart, Writing, as_mask, as_write, checked_wait, parse_write

_KEYWORDS = frozenset(Writing.__annotations__)


class Sparse(Exchange[StoreT], Generic[StoreT]):
    """The part of Matrix and Vector that is independent of the number of dimensions and of operations."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # == compares element by element
    # NumPy must leave `array + v` and `scalar * v` to the reflected methods here.
    __array_ufunc__: ClassVar[None] = None
    # Each element would be one copy to the host; `items` iterates over the entries.
    __iter__: ClassVar[None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        methods_report_memory(cls)

    # -- the store ---------------------------------------------------------------------------------------

    @property
    def source(self) -> StoreT | Plan[StoreT]:
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
        """The number of stored entries.  Synchronises if it has not been read from the GPU yet."""
        return self.store.nvals

    @property
    def nnz(self) -> int:
        """The number of stored entries, by SciPy's name."""
        return self.store.nvals

    @property
    def format(self) -> str:
        """How it is stored.

        ``"csr"``, ``"ccsr"``, ``"full"`` or ``"hypersparse"`` of a Matrix; ``"index"``, ``"bitmap"`` or ``"full"`` of
        a Vector.
        """
        return self.store.format

    @property
    def placement(self) -> str:
        """Which memory holds its entries: ``"device"`` (of a Vector always), ``"pinned"`` or ``"host"``; see `to`."""
        store: Any = self.store
        return getattr(store, "placement", "device")

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.store.nbytes

    @property
    def is_iso(self) -> bool:
        """True if all entries share one value, which is stored once."""
        return self.store.iso is not None

    @property
    def iso_value(self) -> np.generic | None:
        """The value that all entries share, or None."""
        return self.store.iso

    def wait(self, how: str = "materialize") -> Self:
        """Execute a pending operation and wait until the device has finished; returns this object.  Synchronises.

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
        """
        checked_wait(how)
        if self.store.device == "cuda":
            import cupy

            cupy.cuda.get_current_stream().synchronize()  # synchronises
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
        Cost O(nbytes) if it moves.  From the GPU it synchronises.  NumPy arrays are page-locked in place, and copied
        only if the system cannot lock them; they stay locked until the last array over them is deleted.  Row offsets,
        and the anchors of compressed rows, always reside in the memory of the device.
        """
        wanted = None if placement is None else checked_placement(placement)
        if self.ndim == 1 and wanted not in (None, "device"):
            raise NotSupported(f"a Vector lies in the memory of its device; placement {placement!r} is for a Matrix")
        target = None if device is None else checked_device(device)
        if target in (None, self.device) and (self.ndim == 1 or placement is None):
            return self
        store: Any = self.store
        if isinstance(store, CSR):
            made: Any = moved(store, placement, target)
        else:
            with allocating("to", target or store.device):
                made = store.to(target or store.device)
        return self if made is store else self._new(made, name=self.name)

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
        """
        target = self._described.dtype if dtype is None else dtypes.lookup(dtype)
        if clear:
            return self._new(emptied(self.store, target), name=name)
        store = self.store
        if mask is not None:
            store = plan_of("dup", store).into(None, as_write(mask))
        return self._new(cast_store(store, target, engine_for(store.device)), name=name)

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
        """
        if input_mask is None:
            return self.dup(dtype, mask=mask, name=name)
        if mask is not None:
            raise InvalidType("new: give mask= or input_mask=, not both")
        from .parts import extracted_under

        return extracted_under(self, input_mask).dup(dtype, name=name)  # type: ignore[no-any-return]

    def __copy__(self) -> Self:
        return self.dup(name=self.name)

    def __deepcopy__(self, memo: Any) -> Self:
        return self.dup(name=self.name)

    def clear(self) -> None:
        """Remove all entries; shape and type are unchanged.

        InvalidValue on a part or the transpose of another object.  Cost O(nrows) for a Matrix, O(1) for a Vector;
        copies keep their entries.
        """
        self._become(emptied(self.store))

    def isequal(self, other: Self, *, check_dtype: bool = False) -> bool:
        """Return True if both have one shape and the same entries with equal values (NaN equals NaN).  Synchronises.

        Parameters
        ----------
        other : of the same kind
        check_dtype : whether the types must agree too

        Raises
        ------
        InvalidValue, DeviceMismatch
        """
        return same(self.store, self._same_kind(other).store, check_dtype=check_dtype)

    def isclose(self, other: Self, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False) -> bool:
        """Return True if both have one shape and the same entries, with values that agree closely.  Synchronises.

        Parameters
        ----------
        other : of the same kind
        rel_tol, abs_tol : |a - b| may be at most abs_tol + rel_tol |b|; infinities and NaN agree with themselves
        check_dtype : whether the types must agree too

        Raises
        ------
        InvalidValue, DeviceMismatch
        """
        stores = self.store, self._same_kind(other).store
        return same(*stores, check_dtype=check_dtype, tolerance=(rel_tol, abs_tol))

    def _same_kind(self, other: Any) -> Self:
        if type(other) is not type(self) and (not isinstance(other, Sparse) or other.ndim != self.ndim):
            raise expected("", type(self).__name__, other)
        return other  # type: ignore[return-value]

    def to_dense(self, fill_value: Any = None, dtype: Any = None, *, device: str | None = None) -> Any:
        """Return an array of all positions."""
        raise NotImplementedError

    def to_numpy(self, fill_value: Any = None, dtype: Any = None) -> np.ndarray[Any, Any]:
        """`to_dense` as a NumPy array, the caller's own.  Synchronises on the GPU."""
        return self.to_dense(fill_value, dtype, device="cpu")  # type: ignore[no-any-return]

    # -- masks and writing -------------------------------------------------------------------------------

    @property
    def S(self) -> MaskView:
        """The structural mask: where an entry is stored."""
        store = self._store
        return MaskView(Mask(self.store if store is None else store, True, False))

    @property
    def V(self) -> MaskView:
        """The value mask: where an entry is stored and nonzero."""
        return MaskView(Mask(self.store, False, False))

    def __invert__(self) -> MaskView:
        return ~MaskView(as_mask(self))

    def __call__(
        self, *parts: Any, mask: Any = None, accum: Any = None, replace: bool = False, input_mask: Any = None
    ) -> Target:
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
        On a region, ``C[I, J](mask) << x``, mask and `replace` concern only the region (subassign).  Values are
        cast to the type of C: a float loses its fraction in an integer type, an integer that is too large wraps.  A
        scalar writes its value everywhere in the region; an empty Scalar has no entries, so it deletes the stored ones
        unless an accumulator keeps them.
        """
        if len(parts) == 1 and mask is accum is input_mask is None and isinstance(parts[0], MaskView):
            return self._target(Write(parts[0].mask, None, bool(replace)))
        write = parse_write(parts, mask, accum, replace)
        if input_mask is not None:
            return TargetOfPart(self, write, input_mask)
        return self._target(write)

    def __lshift__(self, value: Any) -> Any:
        return self._target(PLAIN) << value

    def update(self, value: Any) -> Any:
        """Replace the entries by those of `value` (an object or a scalar): ``C << value``; keeps shape and type.

        Raises
        ------
        DimensionMismatch, InvalidValue, DeviceMismatch

        Notes
        -----
        Cost O(1) where types agree, and else O(nvals) for the cast, besides the pending operation of `value`.
        """
        return self << value

    def _target(self, write: Write) -> Target:
        """Return the target of ``<<``: this object, or the region of another one that it was extracted from."""
        if self._origin is None:
            return Target(self, write)
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
        pending = None if write.plain else value._plan
        plan = plan_of("update", value.store) if pending is None else pending
        self._become(plan.into(self.store, write))

    def _masked(self, mask: MaskView) -> Plan[StoreT]:
        """Return the plan of the entries that a mask admits."""
        return plan_of("extract", self.store).under(mask.mask)

    def _assign_masked(self, view: MaskView, value: Any, write: Write) -> None:
        """``C[mask](accum) << value``, which is ``C(mask, accum) << value``."""
        if write.mask is not None:
            raise InvalidMask("two masks were given: one in brackets, one in parentheses; join them by &")
        self._assign(value, write._replace(mask=view.mask))

    def _assign_region(self, key: Any, value: Any, write: Write, *, sub: bool) -> None:
        """key: the index in brackets; None for all positions."""
        raise NotImplementedError

    # -- making results ----------------------------------------------------------------------------------

    def _deliver(self, plan: Plan[Any], writing: Writing, cls: Any = None) -> Any:
        """Return the result of a plan: pending, or written as the keywords specify."""
        made = type(self) if cls is None else cls
        if not writing:
            return made._new(None, plan)
        if not _KEYWORDS.issuperset(writing):
            unknown = min(writing.keys() - _KEYWORDS)
            raise TypeError(f"{plan.operation}() got an unexpected keyword argument {unknown!r}")
        write = as_write(writing.get("mask"), writing.get("accum"), writing.get("replace", False))
        out = writing.get("out")
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
