"""Products under a mask that a reduction reads: the dot products of a row are combined, not stored."""

from __future__ import annotations

import numpy as np

from ...formats import VectorStore
from ...operators.types import TypedMonoid
from ..registry import implements
from ..requests.operands import Mask, simplified
from ..requests.operations import FusedMxm, MxmReduceRows, MxmReduceScalar, ReduceRows, ReduceScalar
from ..shared.iso_results import product_value
from . import presence, types
from .mxm import mxm
from .mxm_dot import dot_work, scratch
from .reduce import reduce_rows, reduce_scalar
from .select import mask_pattern


def _reducible(q: FusedMxm) -> bool:
    """Return whether dot products may cost least: the mask lists positions, and the columns of B are at hand.

    Results that share one value have no memory to save.
    """
    mask = simplified(q.mask)
    if isinstance(mask, bool) or mask.complement or q.by_column is None:
        return False
    if q.method != "dot" and not (q.method == "auto" and q.by_column.ready):
        return False
    return product_value(q.semiring, q.a.iso, q.by_column.get().iso) is None


@implements(MxmReduceScalar, engine="cpu", when=_reducible)
def mxm_reduce_scalar(q: MxmReduceScalar) -> np.generic | None:
    """(+) over all entries of a product under a mask: of each row first, then of all rows in their order."""
    totals = _totals(q, q.monoid)
    return reduce_scalar(ReduceScalar(mxm(q.by_rows) if totals is None else totals, q.monoid))


@implements(MxmReduceRows, engine="cpu", when=_reducible)
def mxm_reduce_rows(q: MxmReduceRows) -> VectorStore:
    """w(i) = (+)_j t(i, j) of a product t under a mask."""
    totals = _totals(q, q.monoid)
    return reduce_rows(ReduceRows(mxm(q.by_rows), q.monoid)) if totals is None else totals


def _totals(q: FusedMxm, monoid: TypedMonoid) -> VectorStore | None:
    """Return the reduction of each row of the product that has results; None if rows of B cost less."""
    mask = simplified(q.mask)
    assert isinstance(mask, Mask)
    pattern = mask_pattern(mask)
    dots = dot_work(q.product, pattern)
    if dots is None:
        return None
    nrows, z = q.a.nrows, monoid.z
    memory = scratch(q.product, dots, nrows * (1 + z.itemsize))
    found, totals = np.zeros(nrows, np.bool_), np.empty(nrows, z)
    dots.run(memory, types.monoid(monoid), found, totals)
    return presence.from_slots(nrows, z, presence.from_flags(found), totals, None)
