"""Apply a function to every entry:  C(i, j) = f(A(i, j), i, j, k).

Unary operators, binary operators with one bound operand, and index-unary operators are all expressed as functions of
`x`, `i`, `j` and a bound scalar `k`, so an engine has one kernel for all of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from .. import dtypes, operators
from ..engines.requests.operations import Apply
from ..engines.shared import expression_numpy
from ..exceptions import DomainMismatch, InvalidType, InvalidValue, UnknownOperator
from ..formats import CSR, VectorStore, with_values
from ..operators import table
from ..operators.families import IndexUnary
from ..operators.types import TypedBinary, TypedIndexUnary, TypedUnary
from ..symbolic import Symbolic
from . import check
from .cast import cast_scalar
from .write import Plan

S = TypeVar("S", CSR, VectorStore)
_NOTHING = np.bool_(False)
_RIGHT = {"y": "k", "xi": "i", "xj": "j", "yi": "i", "yj": "j"}
_LEFT = {"x": "k", "y": "x", "xi": "i", "xj": "j", "yi": "i", "yj": "j"}
# For a comparison with an integer above (below) what a type holds, one with its largest (smallest) value.
_ABOVE = {"lt": "le", "le": "le", "ne": "le", "gt": "gt", "ge": "gt", "eq": "gt"}
_BELOW = {"gt": "ge", "ge": "ge", "ne": "ge", "lt": "lt", "le": "lt", "eq": "lt"}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def apply(
    a: S,
    op: Any,
    *,
    left: Any = None,
    right: Any = None,
) -> Plan[S]:
    """op(A): unary; op(left, A) or op(A, right): binary, bound; op(A, i, j, right): index-unary."""
    typed, k = _typed(a, op, left, right)
    shared = _without_engine(a, typed, k)
    request = Apply(a, typed, k) if shared is None else _Known(Apply(a, typed, k), shared)
    return Plan("apply", check.shape_of(a), typed.z, a.device, cast(Any, request))


class _Known(NamedTuple):
    """A request whose result is at hand."""

    spec: Apply
    result: Any

    def __call__(self) -> Any:
        return self.result


def _without_engine(a: S, op: TypedIndexUnary, k: np.generic) -> S | None:
    """Return the result where it needs no kernel (the same store, or one value for all entries), else None."""
    if op.expr.projection == "x" and op.z == a.dtype and op.x == a.dtype:
        return a
    if op.uses & {"i", "j"} or ("x" in op.uses and a.iso is None):
        return None
    if isinstance(k, Symbolic) or isinstance(a.iso, Symbolic):
        return None
    operands = [
        (name, cast_scalar(value, dtype))
        for name, value, dtype in (("x", a.iso, op.x), ("k", k, op.k))
        if name in op.uses
    ]
    return with_values(a, op.z, None, expression_numpy.evaluate_scalars(op.expr, op.z, operands))


def _typed(a: CSR | VectorStore, op: Any, left: Any, right: Any) -> tuple[TypedIndexUnary, np.generic]:
    if left is not None and right is not None:
        raise InvalidType("apply: bind left= or right=, not both")
    if left is not None:
        found, left, is_left = exact_comparison(operators.lookup_binary(op), left, a.dtype, left=True)
        if not is_left:
            return _typed(a, found, None, left)
        binary = with_bound(left, a.dtype, lambda dtype: found.typed(dtype, a.dtype))
        return _bound(binary, left=True), cast_scalar(left, binary.x)
    family = _lookup(op, bound=right is not None)
    if right is None:
        typed = family.typed(a.dtype)
        if isinstance(typed, TypedUnary):
            return without_thunk(typed), _NOTHING
        return typed, cast_scalar(0, typed.k)
    family, right, _ = exact_comparison(family, right, a.dtype)
    if isinstance(family, IndexUnary) and "x" not in family.typed(a.dtype).uses:
        typed = family.typed(a.dtype)  # the thunk is a position, which has its own type
    else:
        typed = with_bound(right, a.dtype, lambda dtype: family.typed(a.dtype, dtype))
    if isinstance(typed, TypedBinary):
        return _bound(typed, left=False), cast_scalar(right, typed.y)
    return typed, thunk_of(typed, right)


@functools.cache
def _comparisons() -> dict[Any, tuple[str, dict[str, Any]]]:
    """Return the name of each operator that compares a value with a bound one, and the others of its kind by name."""
    groups = [
        {name: table.find("binary", name) for name in _ABOVE},
        {name: table.find("indexunary", f"value{name}") for name in _ABOVE},
        {name: table.find("select", f"value{name}") for name in _ABOVE},
        {name: operators.select.value.operator(name) for name in _ABOVE},
    ]
    return {op: (name, group) for group in groups for name, op in group.items()}


def exact_comparison(op: Any, k: Any, dtype: np.dtype[Any], *, left: bool = False) -> tuple[Any, Any, bool]:
    """Return the comparison of integers with an integer k as one within their type, k, and whether k is left.

    ``x < 2**63`` of int64 is ``x <= 2**63 - 1``.  So it is exact, whatever the type of k, where a common type may not
    exist or be a float.  Any other operator or bound is returned as it is.
    """
    if not isinstance(k, (int, np.integer)) or dtype.kind not in "biu" or isinstance(k, bool):
        return op, k, left
    name, group = _comparisons().get(op, ("", {}))
    if not name:
        return op, k, left
    k, (low, high) = int(k), (int(limit) for limit in dtypes.limits(dtype))
    if low <= k <= high:
        return op, k, left
    name = _MIRRORED.get(name, name) if left else name
    return (group[_ABOVE[name]], high, False) if k > high else (group[_BELOW[name]], low, False)


def with_bound(value: Any, beside: np.dtype[Any], make: Callable[[np.dtype[Any]], Any]) -> Any:
    """Return the operator on the type of a bound scalar; a number beside records may become one of them."""
    try:
        return make(scalar_dtype(value, beside))
    except DomainMismatch:
        if not dtypes.is_record(beside):
            raise
        return make(beside)


def thunk_of(op: TypedIndexUnary, value: Any) -> np.generic:
    """Return the thunk in the operator's type; InvalidValue for a fraction with an operator on positions alone."""
    thunk = cast_scalar(value, op.k)
    if "x" not in op.uses and op.k.kind in "iu" and thunk != value:
        raise InvalidValue(f"{op!r}: the thunk is a position, expected an integer of {op.k}, got {value!r}")
    return thunk


def _lookup(op: Any, *, bound: bool) -> Any:
    """Return the operator family: unary or index-unary without a bound scalar, binary or index-unary with one."""
    kind = "binary" if bound else "unary"
    if isinstance(op, str) and table.find(kind, op) is None and (found := table.find("indexunary", op)) is not None:
        return found  # at once: an unknown name is compared with all names, for the hint of its error
    first = operators.lookup_binary if bound else operators.lookup_unary
    try:
        return first(op)
    except (UnknownOperator, DomainMismatch) as error:
        with suppress(UnknownOperator, DomainMismatch):
            return operators.lookup_indexunary(op)
        if not bound:
            with suppress(UnknownOperator, DomainMismatch):
                operators.lookup_binary(op)
                raise InvalidValue(f"apply: {op!r} takes two operands; bind one of them by left= or right=") from None
        raise error from None


@functools.lru_cache(maxsize=1024)
def without_thunk(op: TypedUnary) -> TypedIndexUnary:
    """Return a unary operator as an index-unary one that reads neither positions nor a thunk."""
    return TypedIndexUnary(op.name, op.x, dtypes.BOOL, op.z, op.expr)


@functools.lru_cache(maxsize=1024)
def _bound(op: TypedBinary, *, left: bool) -> TypedIndexUnary:
    """Return the operator of one value, with the left or the right operand bound."""
    names, k, x = (_LEFT, op.x, op.y) if left else (_RIGHT, op.y, op.x)
    return TypedIndexUnary(op.name, x, k, op.z, op.expr.renamed(names))


def scalar_dtype(value: Any, beside: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of a bound scalar: its own if it has one; for a Python number that of its partner if it fits.

    As NumPy promotes: int8 array + 1 is int8, int8 array + 1.5 is float64; an integer that does not fit gets the
    smallest type that represents both.  InvalidValue if it is not a number, and for an integer where only a float type
    would represent both, with a loss of digits: -1 with uint64, 2**63 with int64.
    """
    if isinstance(value, (np.generic, np.ndarray)):
        return dtypes.lookup(value.dtype)
    if isinstance(value, Symbolic):
        return cast("np.dtype[Any]", value.traced_dtype(beside))
    if dtypes.is_record(beside):
        return dtypes.lookup(type(value)) if isinstance(value, (int, float, complex)) else beside
    if not isinstance(value, (int, float, complex)):
        shown = type(value).__name__ if hasattr(value, "ndim") else repr(value)
        raise InvalidType(f"expected a number, got {shown}")
    if type(value) is float and beside.kind in "fc":
        return beside
    found = dtypes.unify(beside, np.result_type(beside, value))
    if isinstance(value, int) and found.kind in "iu" and not np.iinfo(found).min <= value <= np.iinfo(found).max:
        # NumPy raises here (300 with int8).
        for wider in dtypes.SIGNED if beside.kind == "i" or value < 0 else dtypes.UNSIGNED:
            if np.can_cast(beside, wider) and np.iinfo(wider).min <= value <= np.iinfo(wider).max:
                return wider
        raise InvalidValue(
            f"no integer type holds both {beside.name} and {value}; make it a float if digits may be lost"
        )
    return found
