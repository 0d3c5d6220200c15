"""Square clustering: how many of the possible squares at a vertex exist, by the squares of the entries of A A."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from semiring import Matrix, Vector, agg

from ..checks import undirected
from ..progress import Progress, reporter
from ..vertex_labels import algorithm
from .clustering import share
from .oriented import degrees, without_loops
from .triangles import triangles

# The most products in one part of A A, which bound its entries: 16 bytes each in the part and as much while it is made.
_PRODUCTS = 1 << 27


@algorithm("v")
def square_clustering(A: Matrix, *, progress: Progress | None = None) -> Vector:
    """c(v) = s(v) / (s(v) + the squares at v that are missing): the share of the squares possible at v that exist.

    A square at v is a path v, u, x, w, v of four distinct vertices.  With C = A A over plus_pair, and t(v) triangles
    and d(v) neighbors N(v),

        s(v)     = sum over x other than v of C(v, x) (C(v, x) - 1) / 2
        possible = (d(v) - 1) sum over u in N(v) of d(u) - d(v) (d(v) - 1) - 2 t(v) - s(v)

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph.  Values are not read; self-loops are ignored.
    progress : ``progress(done, total)``, called with vertices after each part of the product

    Returns
    -------
    Vector of size n, full, float64, from 0 to 1; 0 where no square is possible.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric, or `progress` cannot be called.

    Notes
    -----
    Equals ``networkx.square_clustering``.  Cost O(the sum of the squares of the degrees), in parts of at most 2**27
    products, or one row if it has more: memory does not grow with A A.  Synchronizes for each part.

    Source: Zhang, Wang, Gao, Liu, "Clustering coefficient and community structure of bipartite networks", Physica A
    387, 2008; in this form: Lind, González, Herrmann, "Cycles and clustering in bipartite networks", Physical Review E
    72, 2005.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)])
    >>> c = sr.algorithms.square_clustering(A.ewise_add(A.T, "any"))
    >>> {v: round(x, 3) for v, x in c.to_dict().items()}
    {0: 0.5, 1: 1.0, 2: 0.5, 3: 0.333, 4: 0.0}
    """
    n = undirected("square_clustering", A)
    P = without_loops(A).wait()
    d = full(degrees(P), n)
    second = full(P.mxv(d, "plus_second"), n)
    s = squares(P, d, second, reporter("square_clustering", progress))
    possible = (d - 1) * second - d * (d - 1) - 2 * triangles(A) - s
    return share(s, possible, n)


def squares(P: Matrix, d: Vector, second: Vector, report: Progress) -> Vector:
    """s(v) = the squares at v, a full int64 Vector.

    P has no diagonal; d has its degrees, and second = P d the row sums of C.
    """
    n = P.nrows
    squared = Vector.full(np.int64(0), n, device=P.device)
    for first, last in parts(second, 0, n, _PRODUCTS):
        C = P[first:last, :].mxm(P, "plus_pair")
        squared[first:last](accum="plus") << C.reduce_rowwise(agg.sum_of_squares)
        report(last, n)
    if n == 0:
        report(0, 0)
    # C(v, v) = d(v) is in both sums.
    return (squared - second - d * d + d).apply("floordiv", right=2).dup()


def full(v: Vector, n: int) -> Vector:
    """Return a Vector of n int64 entries, 0 where v has none."""
    made = Vector.full(np.int64(0), n, device=v.device)
    made(accum="plus") << v
    return made


def parts(work: Vector, first: int, last: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows whose work adds up to at most `most`, or of one row.  Synchronizes for each."""
    if last - first > 1 and work[first:last].reduce("plus").get(0) > most:
        middle = (first + last) // 2
        yield from parts(work, first, middle, most)
        yield from parts(work, middle, last, most)
    elif last > first:
        yield first, last
