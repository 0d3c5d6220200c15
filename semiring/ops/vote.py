"""The group with the most weight among the entries of each row: the step of label propagation and of Louvain's method.

    w(i) = argmax over G of  sum of A(i, j) over label(j) = G  -  rate mass(i) total(G - i)

One pass over the entries: a row adds up its groups in registers, in shared memory or in an array of a thread, where a
product with the matrix of the groups would store all sums.
"""

from __future__ import annotations

from typing import cast

from ..dtypes import BOOL, FP64, INT32, INT64
from ..engines import registry
from ..engines.spec_vote import Vote
from ..exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from ..formats import CSR, Full, VectorStore
from . import check, structure

__all__ = ["vote"]


def vote(
    a: CSR,
    labels: VectorStore,
    *,
    transposed: bool = False,
    mass: VectorStore | None = None,
    totals: VectorStore | None = None,
    rate: float = 1.0,
    rows: VectorStore | None = None,
    ties: str = "smallest",
) -> Full:
    """Return the group with the highest score of each row; see `semiring.ops.vote`."""
    if a.nrows != a.ncols:
        raise DimensionMismatch(f"vote: the matrix must be square, got shape {a.shape}")
    if a.dtype.kind == "c":
        raise DomainMismatch("vote: complex weights have no order; vote with their abs or real values")
    if (mass is None) != (totals is None):
        raise InvalidValue("vote: mass and totals are given together")
    if ties not in ("smallest", "own"):
        raise InvalidValue(f"vote: ties is 'smallest' or 'own', got {ties!r}")
    n = a.nrows
    groups = check.full_vector("vote", "labels", labels, n, (INT32, INT64))
    vectors = [
        None if v is None else check.full_vector("vote", name, v, n, (dtype,))
        for name, v, dtype in (("mass", mass, FP64), ("totals", totals, FP64), ("rows", rows, BOOL))
    ]
    engine = check.engine_of("vote", a, groups, *vectors)
    matrix = structure.transposed(a) if transposed else a
    spec = Vote(matrix, groups, vectors[0], vectors[1], float(rate), vectors[2], ties == "own")
    return cast(Full, registry.run(spec, engine))
