"""The common base of Matrix and Vector: masks, writes, and the results of operations.

An object holds a store, or a plan: an operation that is checked but not executed (`semiring.facade.storage_slot`).
``C(mask, accum) << plan`` passes the whole write to the engine; any other use of the object executes the plan alone.
Since stores are immutable, a plan uses the operands of the moment when it was made.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Self, cast

from ..dtypes import is_record
from ..engines.requests.operands import Mask
from ..exceptions import DomainMismatch, InvalidMask, InvalidValue
from ..ops.fused import is_product
from ..ops.write import PLAIN, Plan, Write, write_of
from .inspection import Contents, plan_of
from .storage_slot import StoreT
from .writing import MaskView, Target, TargetOfPart, Writing, as_mask, as_write, parse_write

_KEYWORDS = frozenset(Writing.__annotations__)


class Sparse(Contents[StoreT], Generic[StoreT]):
    """The part of Matrix and Vector that is independent of the number of dimensions and of operations."""

    __slots__ = ()
    # Whether further dimensions of an array of values make an array type, where no type is given.
    _infers_arrays: ClassVar[bool] = False
    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # == compares element by element

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
