"""Matrices of a graph: Laplacians, modularity and incidence matrices, complement and line graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semiring import Matrix, Vector, ops, unary

from ..checks import Weight, number, read_weight, square
from ..checks import weights as check_weights
from ..scaling import bounded
from ..vertex_labels import algorithm

_root_inverse = unary.register_anonymous("select(x == 0, 1, 1 / sqrt(x))", "root_inverse")


class Laplacian(NamedTuple):
    """A Laplacian matrix and its diagonal of degrees.

    Attributes
    ----------
    matrix : Matrix, n x n
    degrees : Vector of size n, full
        The sums of weights without self-loops; their square roots (1 for 0) if the matrix is normalized, as SciPy.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.laplacian(A | A.T).degrees.to_dict()
    {0: 1, 1: 2, 2: 1}
    """

    matrix: Matrix
    degrees: Vector


@algorithm(matrix="vv", degrees="v")
def laplacian(
    A: Matrix, *, normalized: bool = False, use_out_degree: bool = False, symmetrized: bool = False
) -> Laplacian:
    """L = D - A, where D is the diagonal of the sums of columns and A has no self-loops; normalized D^-1/2 L D^-1/2.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v with that weight.  Booleans count as 0 and 1, self-loops are ignored.
    normalized : bool
        The weights of such a matrix must be finite and not negative.
    use_out_degree : bool
        Use the sums of rows.
    symmetrized : bool
        Use A + A'.

    Returns
    -------
    Laplacian
        The matrix is float32 or float64 as A, int64 of integers and booleans, and float64 of these if it is
        normalized.  Its whole diagonal is stored: normalized it is 1, and 0 of vertices without edges.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue

    Notes
    -----
    Cost O(nvals).  Parameters, degrees and values are those of ``scipy.sparse.csgraph.laplacian``.

    Source: Chung, "Spectral Graph Theory", 1997.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.laplacian(A | A.T).matrix.to_dense(fill_value=0).tolist()
    [[1, -1, 0], [-1, 2, -1], [0, -1, 1]]
    """
    n = square("laplacian", A)
    check_weights("laplacian", A, least=0 if normalized else None, finite=normalized)
    kind = A.dtype if A.dtype.kind == "f" else np.dtype(np.float64 if normalized else np.int64)
    W = A.dup(dtype=kind).select("offdiag").dup()
    unit = 1.0
    if normalized:
        W, unit = bounded(W, 2 * W.nvals, dtype=kind)
    if symmetrized:
        W = W.ewise_add(W.T, "plus").dup()
    degrees = Vector.full(0, n, kind, device=A.device)
    degrees(accum="plus") << (W.reduce_rowwise("plus") if use_out_degree else W.reduce_columnwise("plus"))
    if not normalized:
        return Laplacian(W.apply("ainv").ewise_add(degrees.diag(), "plus").dup(), degrees)
    scale = degrees.apply(_root_inverse)
    diagonal = degrees.apply("ne", right=0).dup(dtype=kind).diag()
    scaled = scale.ewise_mult(W, "times").ewise_mult(scale, "times").apply("ainv")
    roots = scale.apply("minv").dup()
    if unit != 1:  # a power of 4
        roots(degrees.select(">", 0).S) << roots.apply("times", right=kind.type(unit**-0.5))
    return Laplacian(scaled.ewise_add(diagonal, "plus").dup(), roots)


@algorithm("vv")
def modularity_matrix(A: Matrix, *, weight: Weight = None, resolution: float = 1.0) -> Matrix:
    """B(u, v) = A(u, v) - resolution leave(u) enter(v) / m, with the sums of rows and columns, and m of all weights.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; an undirected graph has each in both directions.
    weight : True or str, optional
        True: an edge counts as its value, which must be finite; str: as that field of its record.
        Default: values are not read, and every edge counts 1.
    resolution : float

    Returns
    -------
    Matrix, n x n, full, float64.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue

    Notes
    -----
    Cost and memory O(n^2).  Without edges B is 0.

    Sources: Newman, "Modularity and Community Structure in Networks", PNAS 103(23), 2006; Leicht, Newman, "Community
    Structure in Directed Networks", Physical Review Letters 100, 2008.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.modularity_matrix(A | A.T).to_dense().tolist()
    [[-0.25, 0.5, -0.25], [0.5, -1.0, 0.5], [-0.25, 0.5, -0.25]]
    """
    n = square("modularity_matrix", A)
    factor = number("modularity_matrix", "resolution", resolution)
    A, weighted = read_weight("modularity_matrix", A, weight)
    if weighted:
        check_weights("modularity_matrix", A, finite=True)
    W, unit = bounded(A, n * n, powers=2) if weighted else (A.apply("one"), 1.0)
    W = W.dup(dtype=np.float64)
    total = float(W.reduce_scalar("plus").get(0.0))
    leave, enter = (Vector.full(0.0, n, device=A.device) for _ in range(2))
    leave(accum="plus") << W.reduce_rowwise("plus")
    enter(accum="plus") << W.reduce_columnwise("plus")
    expected = leave.outer(enter.apply("times", right=-factor / total if total else 0.0), "times")
    B = expected.ewise_add(W, "plus").dup()
    return B if unit == 1 else B.apply("times", right=1 / unit).dup()


class Incidence(NamedTuple):
    """An incidence matrix, and the ends of its edges.

    Attributes
    ----------
    matrix : Matrix, n x m
    tails, heads : Vector of size m, full, int64
        The vertices u and v of each edge.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2)])
    >>> sr.algorithms.incidence_matrix(A).heads.to_dict()
    {0: 1, 1: 2}
    """

    matrix: Matrix
    tails: Vector
    heads: Vector


@algorithm(matrix="v.", tails=".>v", heads=".>v")
def incidence_matrix(A: Matrix, *, oriented: bool = False, weight: Weight = None) -> Incidence:
    """E(u, e) = E(v, e) = 1 for the e-th edge (u, v); oriented, E(u, e) = -1.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.  Of a symmetric structure, (u, v) and (v, u) are one edge, with the
        weight of the one with u < v.  Self-loops are ignored.
    oriented : bool
    weight : True or str, optional
        True: multiply the entries by the value of the edge; str: by that field of its record.
        Default: values are not read.

    Returns
    -------
    Incidence
        The edges are in the order of their rows, then columns; the matrix is int8, or with `weight` float64.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue

    Notes
    -----
    Cost O(n + nvals), and a sort of the entries.  The Laplacian of an undirected graph is  E E'  of the oriented
    matrix.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.incidence_matrix(A | A.T, oriented=True).matrix.to_dense(fill_value=0).tolist()
    [[-1, 0], [1, -1], [0, 1]]
    """
    n = square("incidence_matrix", A)
    A, weighted = read_weight("incidence_matrix", A, weight)
    if weighted:
        check_weights("incidence_matrix", A)
    tails, heads, values = _edges(A)
    m, numbers = tails.size, ops.singletons(Vector(bool, tails.size, device=A.device)).to_dense()
    shape = (n, m)
    at_tails, at_heads = (
        Matrix.from_coo(ends.to_dense(), numbers, value, np.int8, shape=shape, device=A.device)
        for ends, value in ((tails, -1 if oriented else 1), (heads, 1))
    )
    made = at_tails.ewise_add(at_heads, "plus").dup()
    if weighted:
        made = made.dup(dtype=np.float64).ewise_mult(values.dup(dtype=np.float64), "times").dup()
    return Incidence(made, tails, heads)


class LineGraph(NamedTuple):
    """A graph whose vertices are the edges of another one.

    Attributes
    ----------
    graph : Matrix, m x m, boolean
    tails, heads : Vector of size m, full, int64
        The vertices u and v of each edge.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.line_graph(A).tails.to_dict()
    {0: 0, 1: 1}
    """

    graph: Matrix
    tails: Vector
    heads: Vector


@algorithm(tails=".>v", heads=".>v")
def line_graph(A: Matrix) -> LineGraph:
    """L(e, f) = true where edge f begins at the end of edge e; of an undirected graph, where they have a common end.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.  Of a symmetric structure, (u, v) and (v, u) are one edge.  Values are
        not read, self-loops are ignored.

    Returns
    -------
    LineGraph
        The edges are in the order of their rows, then columns.

    Raises
    ------
    DimensionMismatch, OutOfMemory

    Notes
    -----
    One product, of cost and size O(sum over the vertices of edges that enter times edges that leave).

    Source: Harary, Norman, "Some Properties of Line Digraphs", Rend. Circ. Mat. Palermo 9, 1960.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (1, 3)])
    >>> sr.algorithms.line_graph(A).graph.to_dicts()
    {0: {1: True, 2: True}}
    """
    n = square("line_graph", A)
    tails, heads, _ = _edges(A)
    m, numbers = tails.size, ops.singletons(Vector(bool, tails.size, device=A.device)).to_dense()
    leave, enter = (
        Matrix.from_coo(numbers, ends.to_dense(), True, bool, shape=(m, n), device=A.device) for ends in (tails, heads)
    )
    if A.is_symmetric_structure:
        leave = enter = leave.ewise_add(enter, "lor").dup()
    return LineGraph(enter.mxm(leave.T, "any_pair").select("offdiag").dup(bool), tails, heads)


@algorithm("vv")
def complement(A: Matrix) -> Matrix:
    """C(u, v) = true where u != v and A(u, v) is missing.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.

    Returns
    -------
    Matrix, n x n, boolean, true where present.

    Raises
    ------
    DimensionMismatch, OutOfMemory

    Notes
    -----
    Cost and memory O(n^2).  The complement of a mask, ``~A.S``, needs no such matrix.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.complement(A).to_dicts()
    {0: {2: True}, 1: {0: True}, 2: {0: True, 1: True}}
    """
    n = square("complement", A)
    return Matrix.from_scalar(True, n, n, device=A.device).dup(mask=~A.S).select("offdiag").dup()


def _edges(A: Matrix) -> tuple[Vector, Vector, Any]:
    """Return the ends and the values of the edges as full Vectors."""
    S = A.select("triu", 1) if A.is_symmetric_structure else A.select("offdiag")
    tails, heads, values = (Vector.from_dense(part, device=A.device) for part in S.to_coo())
    return tails, heads, values
