"""Similarity of two vertices by the neighbors that they have in common.

The sums over common neighbors are products with the transpose, C = A A', over a semiring whose operator combines the
two weights: only entries in the rows of both vertices meet.  A mask of pairs computes these pairs alone; ``top`` keeps
the best of each row, computed a block of rows at a time.

A matrix of m rows that are one set and n columns that are another, such as users and items, gives the similarity of the
rows: an m x m result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix, Vector, binary, semiring
from semiring.exceptions import DimensionMismatch, InvalidValue

from ..checks import Weight, count, is_matrix, read_weight, weights
from ..scaling import bounded, bounded_rows
from ..vertex_labels import algorithm

# Terms of the products of one block of rows: 64 Mi of at most 16 bytes are within 1 GiB.
_TERMS_A_BLOCK = 1 << 26

# The last step of a similarity, from x = d(u) + c i and y = d(v): c is the sum over the common neighbors, d the total
# of a row.  So the totals are combined with c in one pass each, and no matrix of totals is intersected with that of c.
_share_of_union = binary.register_anonymous("imag(x) / (real(x) + real(y) - imag(x))", "share_of_union")
_share_of_least = binary.register_anonymous("imag(x) / min(real(x), real(y))", "share_of_least")
_share_of_mean = binary.register_anonymous("imag(x) / (sqrt(real(x)) * sqrt(real(y)))", "share_of_mean")


@algorithm("rr")
def common_neighbors(A: Matrix, pairs: Matrix | None = None, *, top: int | None = None) -> Matrix:
    """C(u, v) = |N(u) ∩ N(v)|, for u != v; N(u) is the set of columns of row u.

    Parameters
    ----------
    A : Matrix, m x n
        Values are not read.  Of a directed graph, neighbors are those that edges lead to.
    pairs : Matrix, m x m, or None
        Compute only the pairs that it stores, (u, u) too.  None: every pair with a common neighbor.
    top : keep up to so many entries of each row, the largest, of equal ones those with the smallest column; None: all

    Returns
    -------
    Matrix, m x m, int64.  Pairs without common neighbors are missing.

    Raises
    ------
    DimensionMismatch, InvalidValue, OutOfMemory

    Notes
    -----
    Cost that of the product A A': for every vertex the square of its in-degree, or with `pairs` their degrees.  With
    `top` the product is computed in blocks of rows, so that only its best entries are stored.  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (3, 1), (3, 2), (4, 2)], nrows=5, ncols=5)
    >>> sr.algorithms.common_neighbors(A).to_dicts()
    {0: {3: 2, 4: 1}, 3: {0: 2, 4: 1}, 4: {0: 1, 3: 1}}
    """
    return _similarity("common_neighbors", A, pairs, top, "plus_pair", None)


@algorithm("rr")
def jaccard(A: Matrix, pairs: Matrix | None = None, *, top: int | None = None, weight: Weight = None) -> Matrix:
    """J(u, v) = |N(u) ∩ N(v)| / |N(u) ∪ N(v)|; weighted, sum(min(A(u, w), A(v, w))) / sum(max(A(u, w), A(v, w))).

    Parameters
    ----------
    A : Matrix, m x n
        Of a directed graph, neighbors are those that edges lead to.
    pairs : Matrix, m x m, or None
        Compute only the pairs that it stores, (u, u) too.  None: every pair with a common neighbor.
    top : keep up to so many entries of each row, the largest, of equal ones those with the smallest column; None: all
    weight : True or str, optional
        True: read the values of A, which must be finite and not negative, where a missing entry counts as 0; str: that
        field of records.  Default: values are not read, and every entry counts 1.

    Returns
    -------
    Matrix, m x m, float64.  Pairs without common neighbors are missing.

    Raises
    ------
    DimensionMismatch, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    The sum of the maxima is the sum of both rows less that of the minima.  Cost as `common_neighbors`.  Synchronizes.

    Source: Jaccard, "The Distribution of the Flora in the Alpine Zone", 1912.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (3, 1), (3, 2), (4, 2)], nrows=5, ncols=5)
    >>> sr.algorithms.jaccard(A).to_dicts()[3]
    {0: 1.0, 4: 0.5}
    """
    is_matrix("jaccard", A)
    A, weighted = read_weight("jaccard", A, weight)
    if weighted:
        weights("jaccard", A, least=0, finite=True)
        A, _ = bounded(A.apply("identity[float64]").dup(), 2 * A.nvals)
    return _similarity("jaccard", A, pairs, top, "plus_min" if weighted else "plus_pair", _share_of_union)


@algorithm("rr")
def overlap(A: Matrix, pairs: Matrix | None = None, *, top: int | None = None, weight: Weight = None) -> Matrix:
    """O(u, v) = |N(u) ∩ N(v)| / min(|N(u)|, |N(v)|); weighted, with sums of min(A(u, w), A(v, w)) and of the rows.

    Parameters
    ----------
    A : Matrix, m x n
        Of a directed graph, neighbors are those that edges lead to.
    pairs : Matrix, m x m, or None
        Compute only the pairs that it stores, (u, u) too.  None: every pair with a common neighbor.
    top : keep up to so many entries of each row, the largest, of equal ones those with the smallest column; None: all
    weight : True or str, optional
        True: read the values of A, which must be finite and not negative; str: that field of records.
        Default: values are not read, and every entry counts 1.

    Returns
    -------
    Matrix, m x m, float64.  Pairs without common neighbors are missing.

    Raises
    ------
    DimensionMismatch, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost as `common_neighbors`.  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (3, 1), (3, 2), (4, 2)], nrows=5, ncols=5)
    >>> sr.algorithms.overlap(A).to_dicts()[3]
    {0: 1.0, 4: 1.0}
    """
    is_matrix("overlap", A)
    A, weighted = read_weight("overlap", A, weight)
    if weighted:
        weights("overlap", A, least=0, finite=True)
        A, _ = bounded(A.apply("identity[float64]").dup(), 2 * A.nvals)
    return _similarity("overlap", A, pairs, top, "plus_min" if weighted else "plus_pair", _share_of_least)


@algorithm("rr")
def cosine(A: Matrix, pairs: Matrix | None = None, *, top: int | None = None, weight: Weight = None) -> Matrix:
    """S(u, v) = |N(u) ∩ N(v)| / sqrt(|N(u)| |N(v)|); weighted, the cosine of the angle between rows u and v.

    Parameters
    ----------
    A : Matrix, m x n
        Of a directed graph, neighbors are those that edges lead to.
    pairs : Matrix, m x m, or None
        Compute only the pairs that it stores, (u, u) too.  None: every pair with a common neighbor.
    top : keep up to so many entries of each row, the largest, of equal ones those with the smallest column; None: all
    weight : True or str, optional
        True: read the values of A, which must be finite; str: that field of records.
        Default: values are not read, and every entry counts 1.

    Returns
    -------
    Matrix, m x m, float64.  Pairs without common neighbors are missing; NaN where a row consists of zeros.

    Raises
    ------
    DimensionMismatch, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost as `common_neighbors`.  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [3.0, 4.0, 2.0], nrows=3, ncols=3)
    >>> sr.algorithms.cosine(A, weight=True).to_dicts()
    {0: {1: 0.8}, 1: {0: 0.8}}
    """
    is_matrix("cosine", A)
    A, weighted = read_weight("cosine", A, weight)
    if weighted:
        weights("cosine", A, finite=True)
        A, _, norms = bounded_rows(A.apply("identity[float64]").dup(), lambda M: M.apply("square"))
        return _similarity("cosine", A, pairs, top, "plus_times", _share_of_mean, total=norms)
    return _similarity("cosine", A, pairs, top, "plus_pair", _share_of_mean)


@algorithm("rr")
def adamic_adar(A: Matrix, pairs: Matrix | None = None, *, top: int | None = None) -> Matrix:
    """S(u, v) = sum of 1 / log |N(w)| over the common neighbors w of u and v, for u != v.

    Parameters
    ----------
    A : Matrix, n x n, of an undirected graph, or m x n
        Values are not read.  N(w) is the set of rows of column w.
    pairs : Matrix, m x m, or None
        Compute only the pairs that it stores.  None: every pair with a common neighbor.
    top : keep up to so many entries of each row, the largest, of equal ones those with the smallest column; None: all

    Returns
    -------
    Matrix, m x m, float64.  A common neighbor of degree 1 has an infinite weight; it occurs for u = v only.

    Raises
    ------
    DimensionMismatch, InvalidValue, OutOfMemory

    Notes
    -----
    Cost as `common_neighbors`.  Synchronizes.

    Source: Adamic, Adar, "Friends and Neighbors on the Web", Social Networks 25 (2003).

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)])
    >>> round(sr.algorithms.adamic_adar(A)[0, 2].value, 3)
    1.443
    """
    return _weighted_by_degree("adamic_adar", A, pairs, top, "1 / log(x)")


@algorithm("rr")
def resource_allocation(A: Matrix, pairs: Matrix | None = None, *, top: int | None = None) -> Matrix:
    """S(u, v) = sum of 1 / |N(w)| over the common neighbors w of u and v, for u != v.

    Parameters
    ----------
    A : Matrix, n x n, of an undirected graph, or m x n
        Values are not read.  N(w) is the set of rows of column w.
    pairs : Matrix, m x m, or None
        Compute only the pairs that it stores.  None: every pair with a common neighbor.
    top : keep up to so many entries of each row, the largest, of equal ones those with the smallest column; None: all

    Returns
    -------
    Matrix, m x m, float64.

    Raises
    ------
    DimensionMismatch, InvalidValue, OutOfMemory

    Notes
    -----
    Cost as `common_neighbors`.  Synchronizes.

    Source: Zhou, Lü, Zhang, "Predicting Missing Links via Local Information", Eur. Phys. J. B 71 (2009).

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)])
    >>> sr.algorithms.resource_allocation(A)[0, 2].value
    0.5
    """
    return _weighted_by_degree("resource_allocation", A, pairs, top, "1 / x")


def _weighted_by_degree(name: str, A: Matrix, pairs: Matrix | None, top: int | None, weight: str) -> Matrix:
    """Return the sums of a weight of each common neighbor."""
    n = is_matrix(name, A).nrows
    degree = _full(A.apply("second", right=np.float64(1)).reduce_columnwise("plus"), A)
    weighted = A.ewise_mult(degree.apply(weight), "second").dup()  # A(u, w) = weight of w
    return _products(name, n, A, weighted, pairs, top, semiring.plus_second, lambda C, first: C)


def _full(u: Vector, A: Matrix) -> Vector:
    """Return u with 0 for missing elements: a matrix and a full vector are combined in one pass.

    Unchanged if it would be larger than A.
    """
    if u.size > 2 * A.nvals:
        return u.dup()
    return Vector.full(0.0, u.size, device=u.device).ewise_add(u, "plus").dup()


def _similarity(
    name: str,
    A: Matrix,
    pairs: Matrix | None,
    top: int | None,
    ring: str,
    last: Any,
    *,
    total: Vector | None = None,
) -> Matrix:
    """Return last(d(u) + c i, d(v)) for each pair: c over its common neighbors by `ring`, d the total of a row.

    last: None: c alone.  total: of each row; None: the sum of its values, or for plus_pair their number.
    """
    n = is_matrix(name, A).nrows
    product = semiring.plus_pair[np.int64] if ring == "plus_pair" else getattr(semiring, ring)
    if last is None:
        return _products(name, n, A, A, pairs, top, product, lambda C, first: C)
    values = A.apply("second", right=np.float64(1)) if ring == "plus_pair" else A
    sums = _full(values.reduce_rowwise("plus") if total is None else total, A)

    def finished(C: Matrix, first: slice) -> Matrix:
        rows = sums if first == slice(0, n) else sums[first].dup()
        return rows.ewise_mult(C, "cmplx").ewise_mult(sums, last)

    return _products(name, n, A, A, pairs, top, product, finished)


def _products(
    name: str, n: int, A: Matrix, B: Matrix, pairs: Matrix | None, top: int | None, ring: Any, finished: Any
) -> Matrix:
    """Return finished(A B') for the pairs, or for all; with `top`, its best entries, by blocks of rows."""
    if pairs is not None:
        if not isinstance(pairs, Matrix):
            raise InvalidValue(f"{name}: pairs must be a Matrix, got {type(pairs).__name__}")
        if pairs.shape != (n, n):
            raise DimensionMismatch(f"{name}: pairs has shape {pairs.shape}, and A {n} rows: expected {n} x {n}")
    kept = None if top is None else min(count(name, "top", top), n)  # a row has n entries at most
    if pairs is not None or kept is None:
        sums = A.mxm(B.T, ring, mask=None if pairs is None else pairs.S)
        C: Matrix = finished(sums if pairs is not None else sums.select("offdiag", 0), slice(0, n))
        return C.dup() if kept is None else C.selectk("largest", kept).dup()
    blocks = []
    for first, last in _blocks(A):
        sums = A[first:last, :].mxm(B.T, ring).select("offdiag", first)
        blocks.append(finished(sums, slice(first, last)).selectk("largest", kept).dup())
    stacked: Matrix = sr.vstack(blocks)
    return stacked


def _blocks(A: Matrix) -> list[tuple[int, int]]:
    """Return consecutive ranges of rows whose products have at most _TERMS_A_BLOCK terms each, or one row.

    One empty range of a matrix without rows.
    """
    lengths = A.apply("second", right=np.int64(1)).reduce_columnwise("plus")
    terms: Vector = A.mxv(lengths, "plus_second")
    totals = np.cumsum(terms.to_numpy(fill_value=0))
    ranges, first = [], 0
    while first < A.nrows:
        before = totals[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(totals, before + _TERMS_A_BLOCK, side="right")))
        ranges.append((first, last))
        first = last
    return ranges or [(0, 0)]
