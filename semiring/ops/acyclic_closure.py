"""The closure of a vector under an acyclic matrix, in one call.

    c(v) = f( x(v) (+) (+)_u c(u) (x) A(u, v) )

Every row is multiplied once, after all rows that lead to it, so that the monoid need not be idempotent:

    numbers of paths    plus_times  over ones              from {source: 1}
    longest paths       max_plus    over weights           from {v: 0 for all v}
    generations         max_plus    over a pattern of ones from {v: 0 for all v}
    greedy coloring    bor_first   over the order's edges from {v: 0 for all v}, f: the lowest bit that is not set

Source: Kahn, "Topological Sorting of Large Networks", CACM 5(11), 1962.
"""

from __future__ import annotations

from typing import Any

from .. import operators
from ..dtypes import is_record
from ..engines import registry
from ..engines.requests.graphs import AcyclicClosure, AcyclicResult
from ..exceptions import DimensionMismatch, GraphProperty, NotSupported
from ..formats import CSR, VectorStore
from . import check, structure
from .apply import without_thunk
from .cast import cast_store

__all__ = ["acyclic_closure"]


def acyclic_closure(
    x: VectorStore, a: CSR, semiring: Any, *, transposed: bool = False, then: Any = None
) -> VectorStore:
    """Return the closure; see `semiring.ops.acyclic_closure`."""
    if a.nrows != a.ncols:
        raise DimensionMismatch(f"acyclic_closure: the matrix must be square, got shape {a.shape}")
    check.vector_size("acyclic_closure", x, a.nrows, a, transposed)
    typed = operators.lookup_semiring(semiring).typed(x.dtype, a.dtype)
    if any(map(is_record, (x.dtype, a.dtype, typed.z))):
        raise NotSupported("acyclic_closure: not defined on records; use a field: A.apply(lambda x: x.w)")
    step = None if then is None else without_thunk(operators.lookup_unary(then).typed(typed.z))
    engine = check.engine_of("acyclic_closure", x, a)
    matrix = structure.transposed(a) if transposed else a
    start = cast_store(x, typed.z, engine)
    found: AcyclicResult = registry.run(AcyclicClosure(matrix, start, typed, step), engine)
    if found.finished < a.nrows:
        left = a.nrows - found.finished
        raise GraphProperty(
            f"acyclic_closure: the matrix has a cycle: {left} of {a.nrows} rows are on one or behind one; "
            "ops.closure follows cycles, over an idempotent monoid"
        )
    return found.store
