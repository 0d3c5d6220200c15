"""What Matrix and Vector share: one store each, one pending operation, masks, and the left side of ``<<``.

An object holds a store, or a plan: an operation that is checked but not carried out.  ``C(mask, accum) << plan`` hands
the engine the whole write; any other use of the object carries the plan out alone.  Since stores are
immutable, a plan means the operands as they were when it was made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Generic, Self, TypedDict, TypeVar

import numpy as np

from . import dtypes, operators
from .config import default_device, engine_for
from .engines.spec import Mask
from .exceptions import InvalidMask, InvalidValue, NotSupported
from .formats import CSR, Store, VectorStore
from .ops.apply import apply
from .ops.cast import cast_store
from .ops.equal import same
from .ops.ewise import ewise_add, ewise_mult, ewise_union
from .ops.select import select
from .ops.write import PLAIN, Plan, Write, emptied, finish

S = TypeVar("S", CSR, VectorStore)


class Writing(TypedDict, total=False):
    """The keyword form of ``out(mask, accum, replace) << result``, taken by every operation.

    mask: where to write (``M.S``, ``M.V``, ``~M.S``, or a boolean object).  accum: a binary operator that combines
    with what is there (needs `out`).  replace: empty the rest.  out: the object to write into, and returned.
    """

    mask: Any
    accum: Any
    replace: bool
    out: Any


class MaskView:
    """``A.S`` (where an entry is stored) or ``A.V`` (where it is also nonzero); ``~`` takes the complement."""

    __slots__ = ("mask",)

    def __init__(self, mask: Mask) -> None:
        self.mask = mask

    def __invert__(self) -> MaskView:
        return MaskView(self.mask.negated())

    def __repr__(self) -> str:
        kind = "S" if self.mask.structural else "V"
        return f"{'~' if self.mask.complement else ''}{type(self.mask.store).__name__}.{kind}"


def as_mask(value: Any) -> Mask:
    """A mask from ``.S``, ``.V``, their complements, or a boolean Matrix or Vector (which means ``.V``)."""
    if isinstance(value, MaskView):
        return value.mask
    if isinstance(value, Sparse):
        if value.dtype == dtypes.BOOL:
            return Mask(value.store, structural=False, complement=False)
        raise InvalidMask(
            f"a mask must be boolean or say what it means: use .S (where entries are stored) or .V (where they are "
            f"nonzero) on this {type(value).__name__} of {value.dtype}"
        )
    raise InvalidMask(f"a mask is .S or .V of a Matrix or Vector, or a boolean one; got {type(value).__name__}")


def as_write(mask: Any = None, accum: Any = None, replace: bool = False) -> Write:
    """The parts of a write, looked up."""
    return Write(
        None if mask is None else as_mask(mask),
        None if accum is None else operators.lookup_binary(accum),
        bool(replace),
    )


class Sparse(Generic[S]):
    """The part of Matrix and Vector that does not depend on the number of dimensions."""

    __slots__ = ("__weakref__", "_origin", "_plan", "_remake", "_store", "name")
    __hash__ = None  # type: ignore[assignment]  # == compares element by element
    # NumPy must leave `array + v` and `scalar * v` to the reflected methods here.
    __array_ufunc__: ClassVar[None] = None

    _store: S | None
    _plan: Plan[S] | None
    # How to make the plan again under another operator: (kind, function); see `_with_operator`.
    _remake: tuple[str, Callable[..., Any]] | None
    # The object and region that this one was extracted from, for `C[I, J] << x`; until it is first looked at.
    _origin: tuple[Any, Any] | None
    name: str | None

    @classmethod
    def _new(cls, store: S | None, plan: Plan[S] | None = None, name: str | None = None) -> Self:
        made = object.__new__(cls)
        made._store, made._plan, made._remake, made._origin, made.name = store, plan, None, None, name
        return made

    # -- the store ---------------------------------------------------------------------------------------

    @property
    def store(self) -> S:
        """The store that holds the entries now; carries out a pending operation."""
        if self._store is None:
            assert self._plan is not None
            self._store = self._plan.into()
            self._plan = self._remake = self._origin = None
        return self._store

    def with_store(self, store: S) -> Self:
        """A new object of the same kind over another store."""
        return self._new(store)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self._plan.dtype if self._plan is not None else self.store.dtype

    @property
    def nvals(self) -> int:
        """The number of stored entries.  Synchronises if the GPU has not told it yet."""
        return self.store.nvals

    @property
    def nnz(self) -> int:
        """The number of stored entries, as SciPy spells it."""
        return self.store.nvals

    @property
    def format(self) -> str:
        """How the entries are held: ``"csr"``, ``"index"``, ``"bitmap"`` or ``"full"``."""
        return self.store.format

    @property
    def device(self) -> str:
        """``"cpu"`` or ``"cuda"``."""
        return self._plan.device if self._plan is not None else self.store.device

    @property
    def placement(self) -> str:
        """Which memory holds it: ``"device"``, the memory of its own device."""
        return "device"

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.store.nbytes

    @property
    def is_iso(self) -> bool:
        """True if all entries share one value, which is held once."""
        return self.store.iso is not None

    @property
    def iso_value(self) -> np.generic | None:
        """The value that all entries share, or None."""
        return self.store.iso

    def wait(self) -> Self:
        """Carry out what is pending and wait until the device has finished.  Synchronises."""
        if self.store.device == "cuda":
            import cupy

            cupy.cuda.get_current_stream().synchronize()  # synchronises
        return self

    def to(self, device: str | None = None, *, placement: str | None = None) -> Self:
        """The same object on another device; itself if it is there already.

        Raises
        ------
        InvalidValue
            If the device is neither ``"cpu"`` nor ``"cuda"``.
        NotSupported
            For a placement other than ``"device"``.
        """
        if placement not in (None, "device"):
            raise NotSupported(f"placement {placement!r} is not available; objects live in the memory of their device")
        if device is None:
            return self
        if device not in ("cpu", "cuda"):
            raise InvalidValue(f"a device is 'cpu' or 'cuda', got {device!r}")
        return self if device == self.device else self._new(self.store.to(device), name=self.name)

    # -- copies and comparison ---------------------------------------------------------------------------

    def dup(self, dtype: Any = None, *, mask: Any = None, clear: bool = False, name: str | None = None) -> Self:
        """A copy (stores are immutable, so nothing is copied until one of both changes).

        dtype: cast the values.  mask: keep only what it admits.  clear: keep only shape and type.
        """
        target = self.dtype if dtype is None else dtypes.lookup(dtype)
        if clear:
            return self._new(emptied(self.store, target), name=name)
        store, engine = self.store, engine_for(self.device)
        if mask is not None:
            store = finish(store, engine, None, as_write(mask))
        return self._new(cast_store(store, target, engine), name=name)

    def new(self, dtype: Any = None, *, mask: Any = None, name: str | None = None) -> Self:
        """A copy, as python-graphblas spells it."""
        return self.dup(dtype, mask=mask, name=name)

    def __copy__(self) -> Self:
        return self.dup()

    def __deepcopy__(self, memo: Any) -> Self:
        return self.dup()

    def clear(self) -> None:
        """Remove all entries; shape and type stay."""
        self._become(emptied(self.store))

    def isequal(self, other: Self, *, check_dtype: bool = False) -> bool:
        """True if both have the same entries with equal values (NaN equals NaN).  Synchronises."""
        return type(other) is type(self) and same(self.store, other.store, check_dtype=check_dtype)

    def isclose(self, other: Self, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False) -> bool:
        """True if both have the same entries with values that agree within the tolerances.  Synchronises."""
        return type(other) is type(self) and same(
            self.store, other.store, check_dtype=check_dtype, tolerance=(rel_tol, abs_tol)
        )

    # -- masks and writing -------------------------------------------------------------------------------

    @property
    def S(self) -> MaskView:
        """The structural mask: where an entry is stored."""
        return MaskView(Mask(self.store, structural=True, complement=False))

    @property
    def V(self) -> MaskView:
        """The value mask: where an entry is stored and nonzero."""
        return MaskView(Mask(self.store, structural=False, complement=False))

    def __invert__(self) -> MaskView:
        return ~MaskView(as_mask(self))

    def __call__(self, *parts: Any, mask: Any = None, accum: Any = None, replace: bool = False) -> Target:
        """The left side of ``<<``: ``C(mask, accum, replace=...) << result``.

        Mask and accumulator may stand in either order, or be named.  On a region, ``C[I, J](mask) << x``, mask and
        `replace` concern only the region (subassign).
        """
        for part in parts:
            if isinstance(part, (MaskView, Sparse)):
                if mask is not None:
                    raise InvalidMask("two masks were given")
                mask = part
            elif part is not None:
                if accum is not None:
                    raise InvalidValue("two accumulators were given")
                accum = part
        write = as_write(mask, accum, replace)
        if self._origin is not None and self._store is None:
            parent, region = self._origin
            return Target(parent, write, region, sub=True)
        return Target(self, write)

    def __lshift__(self, value: Any) -> Any:
        if self._origin is not None and self._store is None:
            parent, region = self._origin
            return Target(parent, PLAIN, region) << value
        return self.update(value)

    def update(self, value: Any) -> Self:
        """Take the entries of `value` (an object or a scalar): ``C << value``; shape and type of C stay."""
        self._assign(value, PLAIN)
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        self._assign_region(key, value, PLAIN, sub=False)

    def _assign(self, value: Any, write: Write) -> None:
        """C<M, replace> accum= value, where `value` is pending, computed, or a scalar."""
        if isinstance(value, type(self)):
            if value._plan is not None:
                self._become(value._plan.into(self.store, write))
            else:
                self._become(plan_of("update", value.store).into(self.store, write))
            return
        self._assign_region(slice(None), value, write, sub=False)

    def _assign_region(self, key: Any, value: Any, write: Write, *, sub: bool) -> None:
        raise NotImplementedError

    def _become(self, store: S) -> None:
        """Swap the store, the last step of every write: what raised before left the object as it was."""
        self._store, self._plan, self._remake, self._origin = store, None, None, None

    # -- making results ----------------------------------------------------------------------------------

    def _deliver(self, plan: Plan[Any], writing: Writing, cls: Any = None, remake: Any = None) -> Any:
        """The result of a plan: pending, or written where the keywords say."""
        unknown = set(writing) - {"mask", "accum", "replace", "out"}
        if unknown:
            raise TypeError(f"{plan.operation}() got an unexpected keyword argument {sorted(unknown)[0]!r}")
        made = type(self) if cls is None else cls
        if not writing:
            result = made._new(None, plan)
            result._remake = remake
            return result
        write = as_write(writing.get("mask"), writing.get("accum"), writing.get("replace", False))
        out = writing.get("out")
        if out is None:
            if write.accum is not None:
                raise InvalidValue(f"{plan.operation}: accum= combines with what out= holds; give out= too")
            return made._new(plan.into(None, write))
        if not isinstance(out, made):
            raise InvalidValue(f"{plan.operation}: out= must be a {made.__name__}, got {type(out).__name__}")
        out._become(plan.into(out.store, write))
        return out

    def _with_operator(self, operator: Any, *rest: Any) -> Any:
        """What calling an operator on this means: ``min_plus(A @ B)``, ``minus(A | B)``, ``sqrt(A)``, ``tril(A, -1)``."""
        kind = operator.kind if hasattr(operator, "kind") else type(operator).__name__.removeprefix("Typed").lower()
        remake = self._remake if self._plan is not None else None
        if kind == "semiring" and remake is not None and remake[0] == "product":
            return remake[1](operator)
        if kind in ("binary", "monoid"):
            if rest:
                return self.apply(operator, right=rest[0])
            if remake is not None and remake[0] == "ewise":
                return remake[1](operator)
        if isinstance(operator, operators.select.By):
            if remake is not None and remake[0] == "compare":
                return remake[1](operator)
        elif kind == "select":
            return self.select(operator, *rest)
        if kind in ("unary", "indexunary"):
            return self.apply(operator, right=rest[0]) if rest else self.apply(operator)
        raise InvalidValue(
            f"{operator!r}(...): expected a pending result that it can belong to, such as A @ B for a semiring, "
            f"A | B or A & B for a binary operator, A > 3 for select.value"
        )

    # -- operations of both kinds ------------------------------------------------------------------------

    def ewise_add(self, other: Self, op: Any = "plus", **writing: Any) -> Self:
        """W = self (+) other on the union: `op` where both are present, the present one elsewhere.

        Parameters
        ----------
        other : of the same shape
        op : binary operator or monoid; default ``plus`` (``lor`` for booleans is spelled ``"lor"``)
        **writing : mask, accum, replace, out

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch
        """
        return self._ewise(ewise_add, other, op, writing)

    def ewise_mult(self, other: Self, op: Any = "times", **writing: Any) -> Self:
        """W = self (x) other on the intersection: `op` where both are present; parameters as `ewise_add`."""
        return self._ewise(ewise_mult, other, op, writing)

    def ewise_union(self, other: Self, op: Any, left_default: Any, right_default: Any, **writing: Any) -> Self:
        """W = op(self or left_default, other or right_default) on the union; parameters as `ewise_add`."""
        a, b = self.store, self._same_kind(other).store
        plan: Plan[Any] = ewise_union(a, b, op, scalar(left_default), scalar(right_default))
        return self._deliver(plan, writing)  # type: ignore[arg-type, no-any-return]

    def _ewise(self, operation: Any, other: Any, op: Any, writing: Any) -> Self:
        a, b = self.store, self._same_kind(other).store

        def remake(operator: Any) -> Any:
            return self._deliver(operation(a, b, operator), {}, remake=("ewise", remake))

        return self._deliver(operation(a, b, op), writing, remake=("ewise", remake))  # type: ignore[no-any-return]

    def _same_kind(self, other: Any) -> Self:
        if not isinstance(other, type(self)):
            raise InvalidValue(f"expected a {type(self).__name__}, got {type(other).__name__}")
        return other

    def apply(self, op: Any, right: Any = None, *, left: Any = None, **writing: Any) -> Self:
        """w(i, j) = op(self(i, j)), op(self(i, j), right), op(left, self(i, j)), or op(self(i, j), i, j, right).

        Parameters
        ----------
        op : unary operator; binary operator with `left` or `right` bound; or index-unary operator (thunk `right`)
        **writing : mask, accum, replace, out

        Raises
        ------
        DomainMismatch, UnknownOperator, UdfParseError
        """
        plan: Plan[Any] = apply(self.store, op, left=scalar(left), right=scalar(right))
        return self._deliver(plan, writing)  # type: ignore[arg-type, no-any-return]

    def select(self, op: Any, thunk: Any = None, **writing: Any) -> Self:
        """The entries for which op(self(i, j), i, j, thunk) holds: ``"tril"``, ``">"``, ``"rowle"``, a lambda, ...

        Raises
        ------
        DomainMismatch, UnknownOperator
        """
        plan: Plan[Any] = select(self.store, op, scalar(thunk))
        return self._deliver(plan, writing)  # type: ignore[arg-type, no-any-return]


class Target:
    """``C(mask, accum, replace)``, or a region of it: what stands left of ``<<``."""

    __slots__ = ("_object", "_region", "_sub", "_write")

    def __init__(self, target: Any, write: Write, region: Any = None, *, sub: bool = False) -> None:
        self._object, self._write, self._region, self._sub = target, write, region, sub

    def __lshift__(self, value: Any) -> Any:
        if self._region is None:
            self._object._assign(value, self._write)
        else:
            self._object._assign_region(self._region, value, self._write, sub=self._sub)
        return self._object

    def __getitem__(self, key: Any) -> Target:
        if self._region is not None:
            raise InvalidValue("the region is given already")
        return Target(self._object, self._write, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self[key] << value

    def __call__(self, *parts: Any, **named: Any) -> Target:
        raise InvalidValue("mask and accumulator are given already: C(mask, accum)[I, J] << x, or C[I, J](mask) << x")


def plan_of(operation: str, store: Store) -> Plan[Any]:
    """The plan whose result is there already."""
    return Plan(operation, shape_tuple(store), store.dtype, store.device, lambda: store)


def shape_tuple(store: Store) -> tuple[int, ...]:
    """(nrows, ncols) or (size,)."""
    return store.shape if isinstance(store, CSR) else (store.size,)


def scalar(value: Any) -> Any:
    """The bare value of a Scalar or a zero-dimensional array; anything else as it is."""
    bare = getattr(value, "_bare", None)
    if bare is not None:
        return bare()
    if getattr(value, "ndim", None) == 0 and hasattr(value, "get"):
        from .formats.arrays import to_host

        return to_host(value)[()]  # synchronises
    return value


def device_for(*arrays: Any, device: str | None = None) -> str:
    """Where an object made of these arrays lives: with a CuPy array among them the GPU, else the default device."""
    if device is not None:
        if device not in ("cpu", "cuda"):
            raise InvalidValue(f"a device is 'cpu' or 'cuda', got {device!r}")
        return device
    on_gpu = any(hasattr(array, "__cuda_array_interface__") for array in arrays)
    return "cuda" if on_gpu else default_device()
