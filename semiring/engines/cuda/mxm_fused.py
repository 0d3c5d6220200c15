"""Products under a mask that a reduction or a selection reads: dot products that are not stored as a matrix."""

from __future__ import annotations

from ...formats import CSR, VectorStore
from ..registry import implements
from ..requests.operands import simplified
from ..requests.operations import (
    FusedMxm,
    MxmReduceRows,
    MxmReduceScalar,
    MxmSelect,
    ReduceRows,
    ReduceScalar,
    ScalarResult,
    Select,
)
from ..shared.expression_numpy import cast
from .mxm import least_cost, mxm
from .mxm_dense import is_small
from .mxm_dot import DotProducts
from .mxm_operands import constant
from .reduce import reduce_rows, reduce_scalar
from .select import select, select_present


def _may_be_dot(q: FusedMxm) -> bool:
    """Return whether dot products may cost least: the mask lists positions, and the columns of B are at hand."""
    mask = simplified(q.mask)
    if isinstance(mask, bool) or mask.complement or q.by_column is None or q.a.nvals == 0:
        return False
    return q.method == "dot" or (q.method == "auto" and q.by_column.ready and not is_small(q.product))


def _reducible(q: FusedMxm) -> bool:
    """Return whether `_may_be_dot`, and results have values of their own: others have no memory to save."""
    return _may_be_dot(q) and constant(q.product) is None


@implements(MxmReduceScalar, engine="cuda", when=_reducible)
def mxm_reduce_scalar(q: MxmReduceScalar) -> ScalarResult:
    """(+) over all entries of a product under a mask: one part for each row or segment, combined in their order.

    Computes the product and then reduces it if dot products cost more.  Synchronizes: reads estimates.
    """
    dots = DotProducts.of(q.product, lambda: least_cost(q.product), reduced=True)
    if dots is None:
        return reduce_scalar(ReduceScalar(mxm(q.by_rows), q.monoid))
    return reduce_scalar(ReduceScalar(dots.reduced(q.monoid, by_rows=False), q.monoid))


@implements(MxmReduceRows, engine="cuda", when=_reducible)
def mxm_reduce_rows(q: MxmReduceRows) -> VectorStore:
    """w(i) = (+)_j t(i, j) of a product t under a mask, as `mxm_reduce_scalar`."""
    dots = DotProducts.of(q.product, lambda: least_cost(q.product), reduced=True)
    if dots is None:
        return reduce_rows(ReduceRows(mxm(q.by_rows), q.monoid))
    return dots.reduced(q.monoid, by_rows=True)


@implements(MxmSelect, engine="cuda", when=_may_be_dot)
def mxm_select(q: MxmSelect) -> CSR:
    """The entries of a product under a mask for which op(t(i, j), i, j, k) holds, compacted once.

    Synchronizes: reads estimates and the number of entries of the result.
    """
    dots = DotProducts.of(q.product, lambda: least_cost(q.product))
    if dots is None:
        made = select(Select(mxm(q.by_rows), q.op, q.k))
        assert isinstance(made, CSR)
        return made
    whole, marks = dots.marked()
    if whole.nvals == 0:
        return whole
    k = q.k if q.k.dtype == q.op.k else cast(q.k, q.op.k)[()]
    return select_present(whole, marks, q.op, k)  # synchronizes
