"""Elementwise operations: ewise, apply, select, keep, outside, replace_rows, and the write of a vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, Store, VectorStore
from ..registry import implements
from ..requests.operations import Apply, Convert, Ewise, Keep, Outside, ReplaceRows, Select, WriteVector
from ..shared.expression_numpy import cast
from .dense import admitted, convert, coordinates, densify, positions, sparsify
from .evaluation import Values, binary, combine, indexunary


@implements(Ewise, engine="reference")
def ewise(q: Ewise) -> Store:
    """T = op(a, b) on the intersection, the union, or the union with the absent side filled."""
    a, a_present = densify(q.a)
    b, b_present = densify(q.b)
    both = a_present & b_present
    only_a, only_b = a_present & ~b_present, b_present & ~a_present
    t = np.zeros(a.shape, q.op.z)
    t[both] = _at(q, a, b, both)
    if q.mode == "intersect":
        present = both
    elif q.mode == "union":
        t[only_a] = cast(a[only_a], q.op.z)
        t[only_b] = cast(b[only_b], q.op.z)
        present = a_present | b_present
    else:
        t[only_a] = _at(q, a, np.full(b.shape, q.beta, q.op.y), only_a)
        t[only_b] = _at(q, np.full(a.shape, q.alpha, q.op.x), b, only_b)
        present = a_present | b_present
    result: Store = sparsify(t, present, q.op.z)
    return result


def _at(q: Ewise, a: Values, b: Values, where: Values) -> Values:
    """op(a, b) in the slots `where`; the positions of both operands are that of the result."""
    i, j = (c[where] for c in coordinates(a.shape))
    return binary(q.op, a[where], b[where], xi=i, xj=j, yi=i, yj=j)


@implements(Apply, engine="reference")
def apply(q: Apply) -> Store:
    """t(i, j) = op(a(i, j), i, j, k)."""
    a, present = densify(q.a)
    t = np.zeros(a.shape, q.op.z)
    t[present] = _index(q, a, present)
    result: Store = sparsify(t, present, q.op.z)
    return result


@implements(Select, engine="reference")
def select(q: Select) -> Store:
    """T = the entries of a for which op(a(i, j), i, j, k) holds."""
    a, present = densify(q.a)
    holds = np.zeros(a.shape, np.bool_)
    holds[present] = _index(q, a, present) != 0
    result: Store = sparsify(a, holds, q.a.dtype)
    return result


def _index(q: Apply | Select, a: Values, where: Values) -> Values:
    i, j = (c[where] for c in coordinates(a.shape))
    return indexunary(q.op, a[where], i, j, q.k)


@implements(Keep, engine="reference")
def keep(q: Keep) -> Store:
    """T = the entries of a that the mask admits."""
    a, present = densify(q.a)
    result: Store = sparsify(a, present & admitted(q.mask), q.a.dtype)
    return result


@implements(Outside, engine="reference")
def outside(q: Outside) -> Store:
    """T = the entries of a whose row is not in rows, or whose column is not in columns."""
    a, present = densify(q.a)
    region = np.zeros(a.shape, np.bool_)
    region[_grid(q)] = True
    result: Store = sparsify(a, present & ~region, q.a.dtype)
    return result


@implements(ReplaceRows, engine="reference")
def replace_rows(q: ReplaceRows) -> CSR | None:
    """T = c with the rows of a at the given positions; None if a position repeats."""
    rows = positions(q.rows)
    if np.unique(rows).size < rows.size:
        return None
    (t, present), (a, in_a) = densify(q.c), densify(q.a)
    t[rows], present[rows] = a, in_a
    result: CSR = sparsify(t, present, q.c.dtype)
    return result


def _grid(q: Outside) -> Any:
    rows = positions(q.rows)
    return rows if q.cols is None else np.ix_(rows, positions(q.cols))


@implements(WriteVector, engine="reference")
def write_vector(q: WriteVector) -> VectorStore:
    """C<M, replace> accum= T.

    Z is T, or with an accumulator the union of C and T: accum(c, t) where both are present.
    Where the mask admits, C becomes Z, including absent entries.  Elsewhere C is unchanged, or deleted by replace.
    """
    c, c_present = densify(q.c)
    t, t_present = densify(q.t)
    z, z_present = cast(t, q.c.dtype), t_present
    if q.accum is not None:
        both, only_c = c_present & t_present, c_present & ~t_present
        z[both] = cast(combine(q.accum, c[both], t[both]), q.c.dtype)
        z[only_c] = c[only_c]
        z_present = c_present | t_present
    admits = np.ones(c.shape, np.bool_) if q.mask is None else admitted(q.mask)
    kept = np.zeros_like(c_present) if q.replace else c_present
    result: VectorStore = sparsify(np.where(admits, z, c), np.where(admits, z_present, kept), q.c.dtype)
    return result


@implements(Convert, engine="reference")
def convert_vector(q: Convert) -> VectorStore:
    """Convert the vector to another format."""
    return convert(q.u, q.to)
