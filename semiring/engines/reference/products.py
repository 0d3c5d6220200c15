"""Matrix-vector and matrix-matrix products over any semiring, and the Kronecker product."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, VectorStore
from ..registry import implements
from ..requests.operations import Kronecker, Mxm, Mxv
from .dense import densify, sparsify
from .evaluation import Fold, binary


@implements(Mxv, engine="reference")
def mxv(q: Mxv) -> VectorStore:
    """t(o) = (+)_k M(o, k) (x) u(k), k ascending."""
    m, m_present = densify(q.by_row.get())
    u, u_present = densify(q.vector)
    fold = Fold(q.semiring.add, (q.nout,))
    for k in range(q.ninner):
        if not u_present[k]:
            continue
        where = m_present[:, k]
        entries = m[where, k]
        o = np.flatnonzero(where)
        inner, zero = np.full_like(o, k), np.zeros_like(o)
        others = np.full(o.size, u[k], u.dtype)
        if q.flip:
            z = binary(q.semiring.mult, others, entries, xi=zero, xj=inner, yi=inner, yj=o)
        else:
            z = binary(q.semiring.mult, entries, others, xi=o, xj=inner, yi=inner, yj=zero)
        fold.add(where, z)
    t: VectorStore = sparsify(fold.values, fold.present, fold.values.dtype)
    return t


@implements(Mxm, engine="reference")
def mxm(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j), k ascending: one outer product for each k."""
    a, a_present = densify(q.a)
    b, b_present = densify(q.b)
    fold = Fold(q.semiring.add, (q.a.nrows, q.b.ncols))
    for k in range(q.a.ncols):
        where = np.logical_and.outer(a_present[:, k], b_present[k, :])
        i, j = np.nonzero(where)
        inner = np.full_like(i, k)
        z = binary(q.semiring.mult, a[i, k], b[k, j], xi=i, xj=inner, yi=inner, yj=j)
        fold.add(where, z)
    t: CSR = sparsify(fold.values, fold.present, fold.values.dtype)
    return t


@implements(Kronecker, engine="reference")
def kronecker(q: Kronecker) -> CSR:
    """t(i r + k, j c + l) = op(a(i, j), b(k, l)): one block, a copy of b's structure, for each entry of a."""
    a, a_present = densify(q.a)
    b, b_present = densify(q.b)
    nrows, ncols = b.shape
    values = np.zeros((q.a.nrows * nrows, q.a.ncols * ncols), q.op.z)
    present = np.zeros(values.shape, np.bool_)
    k, l = np.nonzero(b_present)
    for i, j in np.argwhere(a_present):
        z = binary(
            q.op, np.full(k.size, a[i, j], a.dtype), b[k, l], xi=np.full_like(k, i), xj=np.full_like(l, j), yi=k, yj=l
        )
        values[i * nrows + k, j * ncols + l] = z
        present[i * nrows + k, j * ncols + l] = True
    t: CSR = sparsify(values, present, q.op.z)
    return t
