"""Combine two vectors or two matrices element by element.

ewise_add:    op(a, b) where both are present, else the present one           (union)
ewise_mult:   op(a, b) where both are present                                  (intersection)
ewise_union:  op(a, b), op(a, beta), op(alpha, b): the absent side is replaced (union)

An operand that is a plan is computed with the result.
"""

from __future__ import annotations

from typing import Any, TypeVar

from .. import dtypes, operators
from ..engines.spec import Ewise
from ..formats import CSR, VectorStore
from . import check
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
    check.same_shape(name, a, b)
    # On a union either operand may be alone, so both get the common type; `first` would otherwise use that of x only.
    x, y = a.dtype, b.dtype
    if mode != "intersect" and x is not y:
        x = y = dtypes.unify(x, y)
    if mode == "fill":  # the defaults promote as NumPy's result_type(a, b, alpha, beta) does
        for default in (scalar_dtype(alpha, x), scalar_dtype(beta, x)):
            y = dtypes.unify(y, default)
        x = y
    typed = operators.lookup_binary(op).typed(x, y)
    check.one_device(name, a.device, b)
    if isinstance(a, Plan) or isinstance(b, Plan):
        sides: Any = a, b
        later = lambda: _ewise(name, stored(sides[0]), stored(sides[1]), typed, mode, alpha, beta)  # noqa: E731
        return Plan(name, check.shape_of(a), typed.z, a.device, later)
    if mode == "fill":
        alpha, beta = cast_scalar(alpha, typed.x), cast_scalar(beta, typed.y)
    spec = Ewise(a, b, typed, mode, alpha, beta)
    return Plan(name, check.shape_of(a), typed.z, a.device, spec)
