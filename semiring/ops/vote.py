"""The group with the most weight among the entries of each row: the step of label propagation and of Louvain's method.

    w(i) = argmax over G of  sum of A(i, j) over label(j) = G  -  rate mass(i) total(G - i)

One pass over the entries: a row adds up its groups in registers, in shared memory or in an array of a thread, where a
product with the matrix of the groups would store all sums.  `local_moving` repeats it in one call.
"""

from __future__ import annotations

from numbers import Integral
from typing import cast

from ..dtypes import BOOL, FP64, INT32, INT64
from ..engines import registry
from ..engines.requests.graphs import LocalMoving, Vote
from ..exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from ..formats import CSR, Full, VectorStore
from . import check, structure

__all__ = ["local_moving", "vote"]

# Parts, and passes.
_MOST = 1 << 16


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
    _check_matrix("vote", a)
    if (mass is None) != (totals is None):
        raise InvalidValue("vote: mass and totals are given together")
    _check_ties("vote", ties)
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


def local_moving(
    a: CSR,
    labels: VectorStore,
    *,
    transposed: bool = False,
    mass: VectorStore | None = None,
    rate: float = 1.0,
    parts: int = 4,
    seed: int = 0,
    max_passes: int = 100,
    few: int = 0,
    ties: str = "own",
) -> Full:
    """Return the labels after votes by parts; see `semiring.ops.local_moving`."""
    name = "local_moving"
    _check_matrix(name, a)
    _check_ties(name, ties)
    n = a.nrows
    groups = check.full_vector(name, "labels", labels, n, (INT32, INT64))
    masses = None if mass is None else check.full_vector(name, "mass", mass, n, (FP64,))
    for parameter, number, least, most in (
        ("parts", parts, 1, _MOST),
        ("max_passes", max_passes, 0, _MOST),
        ("few", few, 0, (1 << 63) - 1),
        ("seed", seed, -(1 << 63), (1 << 63) - 1),
    ):
        if isinstance(number, bool) or not isinstance(number, Integral) or not least <= number <= most:
            raise InvalidValue(f"{name}: {parameter} must be an integer from {least} to {most}, got {number!r}")
    engine = check.engine_of(name, a, groups, masses)
    matrix = structure.transposed(a) if transposed else a
    spec = LocalMoving(
        matrix, groups, masses, float(rate), int(parts), int(seed), int(max_passes), int(few), ties == "own"
    )
    return cast(Full, registry.run(spec, engine))


def _check_matrix(name: str, a: CSR) -> None:
    if a.nrows != a.ncols:
        raise DimensionMismatch(f"{name}: the matrix must be square, got shape {a.shape}")
    if a.dtype.kind == "c":
        raise DomainMismatch(f"{name}: complex weights have no order; vote with their abs or real values")


def _check_ties(name: str, ties: str) -> None:
    if ties not in ("smallest", "own"):
        raise InvalidValue(f"{name}: ties is 'smallest' or 'own', got {ties!r}")
