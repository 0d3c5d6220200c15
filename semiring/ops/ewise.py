"""Combine two vectors or two matrices element by element.

ewise_add:    op(a, b) where both are present, else the present one           (union)
ewise_mult:   op(a, b) where both are present                                  (intersection)
ewise_union:  op(a, b), op(a, beta), op(alpha, b): the absent side is replaced (union)

One operand may be a vector, which is then every row or every column of a matrix (`ops.broadcast`).  An operand that is
a plan is computed with the result.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

from .. import dtypes, operators
from ..engines.requests.operations import Ewise
from ..formats import CSR, VectorStore
from . import broadcast, check
from .apply import scalar_dtype
from .cast import cast_scalar
from .write import Plan, stored

S = TypeVar("S", CSR, VectorStore)


def ewise_add(a: S | Plan[S], b: S | Plan[S], op: Any) -> Plan[S]:
    """A (+) b on the union of their structures."""
    return _ewise("ewise_add", a, b, op, "union", None, None)


def ewise_mult(a: S | Plan[S], b: S | Plan[S], op: Any) -> Plan[S]:
    """A (x) b on the intersection of their structures."""
    return _ewise("ewise_mult", a, b, op, "intersect", None, None)


def ewise_union(a: S, b: S, op: Any, alpha: Any, beta: Any) -> Plan[S]:
    """op(a or alpha, b or beta) on the union of their structures."""
    return _ewise("ewise_union", a, b, op, "fill", alpha, beta)


def _ewise(name: str, a: S | Plan[S], b: S | Plan[S], op: Any, mode: str, alpha: Any, beta: Any) -> Plan[S]:
    by_rows = _broadcast(name, a, b)
    # On a union either operand may be alone, so both get the common type; `first` would otherwise use that of x only.
    x, y = a.dtype, b.dtype
    if mode != "intersect" and x is not y:
        x = y = dtypes.unify(x, y)
    if mode == "fill" and not dtypes.is_record(
        x
    ):  # the defaults promote as NumPy's result_type(a, b, alpha, beta) does
        for default in (scalar_dtype(alpha, x), scalar_dtype(beta, x)):
            y = dtypes.unify(y, default)
        x = y
    typed = operators.typed("binary", op, x, y)
    if b.device != a.device:
        check.one_device(name, a.device, b)
    shape = check.shape_of(a if by_rows is not True else b)
    if isinstance(a, Plan) or isinstance(b, Plan):
        sides: Any = a, b
        later = lambda: _ewise(name, stored(sides[0]), stored(sides[1]), typed, mode, alpha, beta)  # noqa: E731
        return Plan(name, shape, typed.z, a.device, later)
    if by_rows is not None:
        matrix, vector = cast("tuple[CSR, VectorStore]", (b, a) if by_rows else (a, b))
        if mode == "intersect":
            return broadcast.scaled(matrix, vector, typed, by_rows=by_rows)  # type: ignore[return-value]

        def both_matrices() -> Plan[CSR]:
            whole = broadcast.repeated(vector, matrix, by_rows=by_rows)
            return _ewise(name, *((whole, matrix) if by_rows else (matrix, whole)), typed, mode, alpha, beta)

        return Plan(name, shape, typed.z, a.device, cast(Any, both_matrices))
    if mode == "fill":
        alpha, beta = cast_scalar(alpha, typed.x), cast_scalar(beta, typed.y)
    spec = Ewise(a, b, typed, mode, alpha, beta)
    return Plan(name, shape, typed.z, a.device, spec)


def _broadcast(name: str, a: Any, b: Any) -> bool | None:
    """Return whether a vector is on the left of a matrix (True) or on the right; None for two of one kind."""
    left, right = check.shape_of(a), check.shape_of(b)
    if left == right:
        return None
    dimensions = len(left), len(right)
    if dimensions[0] == dimensions[1]:
        check.same_shape(name, a, b)
        return None
    by_rows = dimensions == (1, 2)
    broadcast.check_size(name, *((b, a) if by_rows else (a, b)), by_rows=by_rows)
    return by_rows
