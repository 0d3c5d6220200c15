"""Products of a full matrix, in the orientation in which it is stored, and a full vector.

The vector is a matrix of one column or of one row.
"""

from __future__ import annotations

import numpy as np

from ...formats import CSR, Full, IndexList, VectorStore, index_dtype
from ...formats.full import every_row_full
from ..registry import WITH_FULL, implements
from ..requests.operations import Mxv
from .mxm_full import full_product


def _is_full(q: Mxv) -> bool:
    rows = q.by_column if q.flip else q.by_row
    return isinstance(q.vector, Full) and rows.ready and rows.get().format == "full"


@implements(Mxv, engine="cpu", accepts=WITH_FULL, when=_is_full, priority=1)
def mxv_full(q: Mxv) -> VectorStore:
    """t(o) = (+)_k M(o, k) (x) u(k), where every entry of u is present and the user's matrix is full."""
    u, z = q.vector, q.semiring.z
    shape = (1, q.ninner) if q.flip else (q.ninner, 1)
    vector = CSR(every_row_full(*shape, "cpu"), u.dtype, u.values, u.iso)
    made = (
        full_product(vector, q.by_column.get(), q.semiring)
        if q.flip
        else full_product(q.by_row.get(), vector, q.semiring)
    )
    if made.nvals == q.nout:
        return Full(q.nout, z, made.values, made.iso)
    indices = np.flatnonzero(np.diff(made.indptr)) if not q.flip else np.arange(made.nvals)
    return IndexList(q.nout, z, indices.astype(index_dtype(q.nout)), made.values, made.iso)
