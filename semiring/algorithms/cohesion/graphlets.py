"""Graphlet degrees: at how many connected subgraphs of up to four vertices a vertex is, in each of its places.

The subgraphs that contain a vertex in some place are counted by sums over products, whether or not there are more edges
among their vertices.  Then, from the densest graphlet on, what each contains of the others is taken off.

Sources: Pržulj, "Biological network comparison using graphlet degree distribution", Bioinformatics 23, 2007, for the
numbers of the places (orbits); Floros, Pitsianis, Sun, "Fast Graphlet Transform of Sparse Graphs", HPEC 2020, for the
sums and the transform.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector

from ..checks import undirected
from ..progress import Progress, reporter
from ..vertex_labels import algorithm
from .oriented import Oriented, degrees, oriented, without_loops
from .squares import full, parts, squares
from .triangles import edge_triangles

ORBITS = 15
# How many subgraphs with the vertex in the place of the first number an induced graphlet of the second has, of at most
# four vertices: in a clique of four (14) a vertex is off the chord of three diamonds (12).
_WITHIN: dict[int, dict[int, int]] = {
    1: {3: 2},
    2: {3: 1},
    4: {8: 2, 9: 2, 10: 1, 12: 4, 13: 2, 14: 6},
    5: {8: 2, 10: 1, 11: 2, 12: 2, 13: 4, 14: 6},
    6: {9: 1, 10: 1, 12: 2, 13: 1, 14: 3},
    7: {11: 1, 13: 1, 14: 1},
    8: {12: 1, 13: 1, 14: 3},
    9: {12: 2, 14: 3},
    10: {12: 2, 13: 2, 14: 6},
    11: {13: 2, 14: 3},
    12: {14: 3},
    13: {14: 3},
}
# The most entries of the rows of the structure that are gathered for edges at a time: 8 bytes each, several times.
_GATHERED = 1 << 24


@algorithm("v.")
def graphlet_degrees(A: Matrix, *, induced: bool = True, progress: Progress | None = None) -> Matrix:
    """F(v, o) = the number of connected subgraphs of two to four vertices that contain v in the place o, its orbit.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph.  Values are not read; self-loops are ignored.
    induced : bool
        Whether subgraphs have all edges among their vertices (graphlets).  False: they may lack some, so that a
        triangle also has three paths.
    progress : ``progress(done, total)``, called with vertices after each part of the products

    Returns
    -------
    Matrix, n x 15, full, int64.  The columns are the orbits of Pržulj:

    ======  =======================================  ======  =======================================
    column  place                                    column  place
    ======  =======================================  ======  =======================================
    0       edge: the degree                         8       square
    1, 2    path of two edges: end, middle           9       triangle with a tail: end of the tail
    3       triangle                                 10, 11  the same: free corner, corner with the tail
    4, 5    path of three edges: end, inner          12, 13  two triangles at an edge: off, on the edge
    6, 7    star of three edges: leaf, center        14      clique of four
    ======  =======================================  ======  =======================================

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric, or `progress` cannot be called.

    Notes
    -----
    Exact while no number exceeds int64.  Cost O(the sum of the squares of the degrees, and for each triangle the
    smaller degrees of its corners), in parts: memory O(nvals) and that of the largest part.  Synchronizes.

    Sources: Pržulj, "Biological network comparison using graphlet degree distribution", Bioinformatics 23, 2007;
    Floros, Pitsianis, Sun, "Fast Graphlet Transform of Sparse Graphs", HPEC 2020.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])  # a triangle with a tail
    >>> F = sr.algorithms.graphlet_degrees(A.ewise_add(A.T, "any"))
    >>> F.select("!=", 0).dup().to_dicts()[2]
    {0: 3, 2: 2, 3: 1, 11: 1}
    >>> F[3, :].dup().select("!=", 0).dup().to_dict()
    {0: 1, 1: 2, 9: 1}
    """
    n = undirected("graphlet_degrees", A)
    report = reporter("graphlet_degrees", progress)
    counts = _subgraphs(without_loops(A).wait(), n, report)
    if induced:
        for orbit in sorted(_WITHIN, reverse=True):
            for denser, times in _WITHIN[orbit].items():
                counts[orbit] = (counts[orbit] - times * counts[denser]).dup()
    F = Matrix.from_scalar(np.int64(0), n, ORBITS, device=A.device)
    for orbit, count in enumerate(counts):
        F[:, orbit] << count
    return F


def _subgraphs(P: Matrix, n: int, report: Progress) -> list[Vector]:
    """Return for each orbit the subgraphs, induced or not, that contain a vertex there.  P has no diagonal."""
    d = full(degrees(P), n)
    second = full(P.mxv(d, "plus_second"), n)
    paths = second - d  # of two edges, from v
    C = edge_triangles(P)
    t = full(C.reduce_rowwise("plus"), n).apply("floordiv", right=2)
    around = full(P.mxm(C, "plus_second", mask=P.S).reduce_rowwise("plus"), n)
    found = [
        d,
        paths,
        d * (d - 1) // 2,
        t,
        full(P.mxv(paths.dup(), "plus_second"), n) - d * (d - 1) - 2 * t,
        paths * (d - 1) - 2 * t,
        full(P.mxv(((d - 1) * (d - 2) // 2).dup(), "plus_second"), n),
        d * (d - 1) * (d - 2) // 6,
        squares(P, d, second, report),
        full(P.mxv(t.dup(), "plus_second"), n) - 2 * t,
        full(C.mxv((d - 2).dup(), "plus_times"), n),
        t * (d - 2),
        around // 2 - t,
        full((C * (C - 1)).reduce_rowwise("plus"), n) // 2,
        _cliques(oriented(P)),
    ]
    return [part.dup() for part in found]


def _cliques(graph: Oriented) -> Vector:
    """k(v) = the cliques of four vertices that contain v.

    A clique is counted at the edge between its two lowest vertices: the common neighbors above an edge e are the row
    T(e, :), and the edges among these are the entries of T U under the mask T.
    """
    U, n = graph.upper, graph.matrix.nrows
    k = Vector.full(np.int64(0), n, device=U.device)
    above = full(degrees(U), n)
    work = full(U.mxv(above, "plus_second"), n) + above * above
    for first, last in parts(work.dup(), 0, n, _GATHERED):
        rows = U[first:last, :].dup()
        low, high, _ = rows.to_coo()
        if not len(low):
            continue
        T = rows[low, :].ewise_mult(U[high, :], "pair").dup()
        last_of = T.mxm(U, "plus_pair").dup(mask=T.S)
        third_of = T.mxm(U.T, "plus_pair").dup(mask=T.S)
        at_edges = last_of.reduce_rowwise("plus").dup()
        for part in (last_of.reduce_columnwise("plus"), third_of.reduce_columnwise("plus")):
            k(accum="plus") << part
        k[high](accum="plus") << at_edges
        lowest = Vector.full(np.int64(0), last - first, device=U.device)
        lowest[low](accum="plus") << at_edges
        k[first:last](accum="plus") << lowest
    return graph.restored(k)
