"""Select the entries for which a predicate holds:  C = A<p(A(i, j), i, j, k)>."""

from __future__ import annotations

from typing import Any, TypeVar

from .. import operators
from ..engines.spec import Select
from ..formats import CSR, VectorStore
from . import check
from .apply import scalar_dtype, thunk_of
from .write import Plan

S = TypeVar("S", CSR, VectorStore)


def select(a: S, op: Any, k: Any = None) -> Plan[S]:
    """Select the entries of `a` for which the index-unary predicate `op` holds with thunk `k`."""
    family = operators.lookup_select(op)
    typed = family.typed(a.dtype)
    if k is not None and "x" in typed.uses:  # a thunk compared with values is promoted with them; a position is not
        typed = family.typed(a.dtype, scalar_dtype(k, a.dtype))
    thunk = thunk_of(typed, 0 if k is None else k)
    return Plan("select", check.shape_of(a), a.dtype, a.device, Select(a, typed, thunk))
