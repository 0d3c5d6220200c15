"""Products of dense matrices with full vectors: a vector is a dense matrix of one column or row."""

from __future__ import annotations

from ...formats import Full, FullPattern, VectorStore
from ...formats.vectors import empty_vector
from ..registry import FULL, implements
from ..requests.operands import Rows
from ..requests.operations import Mxv
from .launch import full
from .mxm_full_gemm import dense_product


def _every_row(rows: Rows) -> bool:
    pattern = rows.get().pattern if rows.ready else None
    return isinstance(pattern, FullPattern) and pattern.every_row


def _is_dense(q: Mxv) -> bool:
    return q.direction == "auto" and isinstance(q.vector, Full) and (_every_row(q.by_row) or _every_row(q.by_column))


@implements(
    Mxv,
    engine="cuda",
    accepts=FULL,
    when=_is_dense,
    priority=1,
)
def mxv_full(q: Mxv) -> VectorStore:
    """t(o) = (+)_k M(o, k) (x) u(k), where every position of M and of u holds a value."""
    u, n, m = q.vector, q.ninner, q.nout
    assert isinstance(u, Full)
    if n == 0 or m == 0:
        return empty_vector(m, q.semiring.z, "cuda")
    if q.flip:
        values, iso = dense_product(u, q.by_column.get(), (1, n, m), q.semiring)
    else:
        values, iso = dense_product(q.by_row.get(), u, (m, n, 1), q.semiring)
    return full(m, q.semiring.z, iso if values is None else values)
