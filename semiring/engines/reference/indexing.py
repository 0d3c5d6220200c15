"""Extraction, scatter, transposition."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, VectorStore, structure_only
from ..registry import implements
from ..requests.operations import (
    ExtractMatrix,
    ExtractRow,
    ExtractVector,
    IsSymmetric,
    ScatterMatrix,
    ScatterVector,
    Transpose,
)
from .assembly import Assembly
from .dense import densify, positions, sparsify


@implements(ExtractVector, engine="reference")
def extract_vector(q: ExtractVector) -> VectorStore:
    """t(p) = u(index[p])."""
    u, present = densify(q.u)
    p = positions(q.index)
    t: VectorStore = sparsify(u[p], present[p], q.u.dtype)
    return t


@implements(ExtractMatrix, engine="reference")
def extract_matrix(q: ExtractMatrix) -> CSR:
    """t(p, q) = a(rows[p], cols[q])."""
    a, present = densify(q.a)
    grid = np.ix_(positions(q.rows), positions(q.cols))
    t: CSR = sparsify(a[grid], present[grid], q.a.dtype)
    return t


@implements(ExtractRow, engine="reference")
def extract_row(q: ExtractRow) -> VectorStore:
    """t(j) = a(row, j)."""
    a, present = densify(q.a)
    t: VectorStore = sparsify(a[q.row], present[q.row], q.a.dtype)
    return t


@implements(ScatterVector, engine="reference")
def scatter_vector(q: ScatterVector) -> VectorStore:
    """t(index[p]) = u(p), p ascending; a repeated index combines by `dup`, or keeps the last."""
    u, present = densify(q.u)
    target = positions(q.index)
    t = Assembly((q.index.size,), q.u.dtype, q.dup)
    for p in np.flatnonzero(present):
        t.put((int(target[p]),), u[p])
    result: VectorStore = t.store()
    return result


@implements(ScatterMatrix, engine="reference")
def scatter_matrix(q: ScatterMatrix) -> CSR:
    """t(rows[p], cols[q]) = a(p, q), in row-major order of (p, q); repeats as for a vector."""
    a, present = densify(q.a)
    rows, cols = positions(q.rows), positions(q.cols)
    t = Assembly((q.rows.size, q.cols.size), q.a.dtype, q.dup)
    for p, r in np.argwhere(present):
        t.put((int(rows[p]), int(cols[r])), a[p, r])
    result: CSR = t.store()
    return result


@implements(Transpose, engine="reference")
def transpose(q: Transpose) -> CSR:
    """t(j, i) = a(i, j)."""
    a, present = densify(q.a)
    t: CSR = sparsify(a.T, present.T, q.a.dtype)
    return t


@implements(IsSymmetric, engine="reference")
def is_symmetric(q: IsSymmetric) -> bool:
    """Whether a(j, i) is present wherever a(i, j) is."""
    if q.pattern.nrows != q.pattern.ncols:
        return False
    _, present = densify(structure_only(q.pattern))
    return bool((present == present.T).all())
