"""The closure of every row of a matrix:  C = X (+) X A (+) X A^2 (+) ... = X A*."""

from __future__ import annotations

from typing import Any, cast

from ..config import config
from ..engines import registry
from ..engines.requests.graphs import ClosureRows, ClosureRowsResult
from ..engines.requests.operands import Index
from ..engines.rows.residency import resident
from ..exceptions import ConvergenceFailure, DimensionMismatch
from ..formats import CSR, VectorStore
from ..formats.hypersparse import empty_matrix
from ..operators.types import TypedSemiring
from . import check, structure
from .cast import cast_store
from .closure import closure, final_on_arrival, typed_semiring
from .extract import extract_line
from .layout import concat_vectors, reshape_vector


def closure_rows(
    frontiers: CSR,
    a: CSR,
    semiring: Any,
    *,
    transposed: bool = False,
    max_steps: int | None = None,
    direction: str | None = None,
) -> CSR:
    """Return the closure of each row of `frontiers` under `a`, as `closure` computes it.

    Shapes: A (n, n); the frontiers k x n; the result k x n, of the semiring's type.
    Several rows are computed at once where an engine implements this; one after the other under a limit of steps, where
    entries are final on arrival (then each search is parallel), and for matrices that the engine does not read whole.
    Raises ConvergenceFailure for the first row that does not converge: `.row`, of which `.result` is the store so far.
    """
    k, n = frontiers.shape
    if a.nrows != a.ncols:
        raise DimensionMismatch(f"closure: the matrix must be square, got shape {a.shape}")
    if n != a.nrows:
        raise DimensionMismatch(f"closure: a matrix of shape {a.shape} needs rows of size {a.nrows}, got {n}")
    engine = check.engine_of("closure", frontiers, a)
    typed = typed_semiring(semiring, frontiers.dtype, a)
    if k == 0:
        return empty_matrix(0, n, typed.z, a.device)
    unsettled = None
    request = _request(frontiers, a, typed, transposed, engine) if max_steps is None else None
    row = None if request is None else registry.find(request, engine)
    if row is not None:
        found: ClosureRowsResult = registry.call(row, cast(ClosureRows, request))
        if found.store is not None:
            return found.store
        unsettled = found.unsettled

    def closed(i: int) -> VectorStore:
        frontier = extract_line(frontiers, i, Index(n, n)).into()
        try:
            return closure(frontier, a, semiring, transposed=transposed, max_steps=max_steps, direction=direction).store
        except ConvergenceFailure as failure:
            failure.row = i
            raise

    rows = [closed(i) for i in (range(k) if unsettled is None else (unsettled,))]
    return reshape_vector(concat_vectors(rows).into(), k, n).into()


def _request(frontiers: CSR, a: CSR, typed: TypedSemiring, transposed: bool, engine: str) -> ClosureRows | None:
    """Return the request for all rows at once; None where each is searched by levels, and on grids."""
    if not config.fusion or not registry.implemented(ClosureRows, engine):
        return None
    starts = cast_store(frontiers, typed.mult.z, engine)
    if final_on_arrival(starts, a, typed):
        return None
    values = "y" in typed.mult.uses
    by_row, by_column = (structure.rows(a, turned, values=values) for turned in (transposed, not transposed))
    return ClosureRows(resident(starts), by_row, by_column, typed)
