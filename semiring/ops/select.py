"""Select the entries for which a predicate holds:  C = A<p(A(i, j), i, j, k)>."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar, cast

import numpy as np

from .. import operators
from ..engines import registry
from ..engines.requests.operations import MxmSelect, Select
from ..formats import CSR, VectorStore
from ..operators.types import TypedIndexUnary
from . import check, structure
from .apply import exact_comparison, thunk_of, with_bound
from .fused import fused_or_stored, requested
from .write import Plan

S = TypeVar("S", CSR, VectorStore)


def select(a: S | Plan[S], op: Any, k: Any = None) -> Plan[S]:
    """Select the entries of `a` for which the index-unary predicate `op` holds with thunk `k`.

    From a product that is a plan they are selected with it.
    """
    family, k, _ = exact_comparison(operators.lookup_select(op), k, a.dtype)
    typed = family.typed(a.dtype)
    if k is not None and "x" in typed.uses:  # a thunk compared with values is promoted with them; a position is not
        typed = with_bound(k, a.dtype, lambda dtype: family.typed(a.dtype, dtype))
    thunk = thunk_of(typed, 0 if k is None else k)
    request: Any = partial(_of_product, requested(a), typed, thunk) if isinstance(a, Plan) else Select(a, typed, thunk)
    if isinstance(a, CSR) and _keeps_symmetry(a, typed, thunk):
        request = partial(_symmetric, request)
    return Plan("select", check.shape_of(a), a.dtype, a.device, request)


def _of_product(a: Plan[S], op: TypedIndexUnary, k: np.generic) -> S | Plan[S]:
    result, store = fused_or_stored(a, MxmSelect, op, k)
    if store is None:
        return result  # type: ignore[no-any-return]
    return Plan("select", a.shape, a.dtype, a.device, Select(store, op, k))


def _keeps_symmetry(a: CSR, op: TypedIndexUnary, k: np.generic) -> bool:
    """Return whether it is known that (j, i) is selected wherever (i, j) is."""
    if op.uses <= {"x", "k"}:
        return structure.knows_symmetric(a, values=True)
    # With thunk 0, these hold for (j, i) where they hold for (i, j).
    symmetric = op.expr.diagonal_condition in ("==", "!=") and not k
    return symmetric and structure.knows_symmetric(a, values=False)


def _symmetric(request: Select) -> CSR:
    assert isinstance(request.a, CSR)
    made = cast(CSR, registry.run(request, check.engine_of("select", request.a)))
    return structure.remember_symmetric(made, request.a)
