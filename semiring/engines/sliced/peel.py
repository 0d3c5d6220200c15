"""Peeling of a matrix that an engine does not read whole: on an uncompressed copy if it fits, else round by round.

A round subtracts the columns of the removed rows by a push, which reads the slices in which these rows have entries.
"""

from __future__ import annotations

from typing import cast

from ...dtypes import BOOL, INT64
from ...exceptions import OutOfMemory
from ...formats import Full, IndexList, array_module, dense_values, index_dtype, structure_only
from ...memory.arrays import to_host
from ...operators import semiring
from .. import recording
from ..registry import slicing_rule
from ..requests.graphs import Peel
from ..requests.operands import Rows
from ..requests.operations import Mxv
from .products import product
from .rewriting import uncompressed_first
from .vectors import converted

_COUNT = semiring.plus_pair[BOOL, BOOL]


@slicing_rule(Peel)
def peel(q: Peel, engine: str) -> Full:
    """Remove the rows of one level after another.  Synchronizes a few times a round."""
    try:
        return cast(Full, uncompressed_first(q, engine))
    except OutOfMemory:
        return _in_rounds(q, engine)


def _in_rounds(q: Peel, engine: str) -> Full:
    n, entries = q.counts.size, structure_only(q.by_column)
    xp = array_module(q.counts.device)
    counts = dense_values(q.counts).astype(INT64)
    level = xp.zeros(n, INT64)
    remain = xp.ones(n, BOOL)
    k = 1 if q.least is None else q.least
    rounds = 0
    while bool(to_host(remain.any())):  # synchronizes
        removed = xp.flatnonzero(remain & (counts < k)).astype(index_dtype(n))  # synchronizes
        if removed.size == 0:
            if q.least is not None:
                level[remain] = k
                break
            k = int(to_host(counts[remain].min())) + 1  # synchronizes
            level[remain] = k - 1
            continue
        remain[removed] = False
        shell = IndexList(n, BOOL, removed, None, BOOL.type(True))
        lost, _ = product(Mxv(n, n, Rows(None), Rows(entries), shell, _COUNT, False, None, "push"), engine)
        listed = converted(lost, "index", engine)
        counts[listed.indices] -= dense_values(listed)
        rounds += 1
    recording.note(kernel="sliced", rounds=rounds)
    return Full(n, q.counts.dtype, level.astype(q.counts.dtype))
