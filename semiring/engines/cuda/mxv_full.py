"""Products of dense matrices with full vectors: a vector is a dense matrix of one column or row."""

from __future__ import annotations

from ...formats import CSR, Full, FullPattern, VectorStore
from ...formats.full import every_row_full
from ...formats.vectors import empty_vector
from ..operands import Rows
from ..registry import Accepts, implements
from ..spec import Mxv
from .launch import full
from .mxm_full_gemm import full_times_full


def _every_row(rows: Rows) -> bool:
    pattern = rows.get().pattern if rows.ready else None
    return isinstance(pattern, FullPattern) and pattern.every_row


def _is_dense(q: Mxv) -> bool:
    return q.direction == "auto" and isinstance(q.vector, Full) and (_every_row(q.by_row) or _every_row(q.by_column))


@implements(
    Mxv,
    engine="cuda",
    accepts=Accepts(frozenset({"full"}), frozenset({"none"}), frozenset({"device"})),
    when=_is_dense,
    priority=1,
)
def mxv_full(q: Mxv) -> VectorStore:
    """t(o) = (+)_k M(o, k) (x) u(k), where every position of M and of u holds a value."""
    u, n = q.vector, q.ninner
    if q.flip:
        row = CSR(every_row_full(1, n, "cuda"), u.dtype, u.values, u.iso)
        made = full_times_full(row, q.by_column.get(), q.semiring)
    else:
        column = CSR(every_row_full(n, 1, "cuda"), u.dtype, u.values, u.iso)
        made = full_times_full(q.by_row.get(), column, q.semiring)
    if made.nvals == 0:
        return empty_vector(q.nout, made.dtype, "cuda")
    return full(q.nout, made.dtype, made.iso if made.values is None else made.values)
