"""Distances between all pairs, reachability, and numbers of walks.

D = A*                    over min_plus: distances
R = A A*                  over any_pair: the transitive closure
W = A^k                   over plus_times, of ones: walks of k edges
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, ops, semiring, unary

from ..checks import choice, count, square
from ..components import strongly_connected_components
from ..progress import Progress, reporter
from ..vertex_labels import algorithm
from .sssp import distances_from, settled, weight_type

# Distances are computed by products if one entry in so many or more is stored.
_DENSE = 4

_not_negative = unary.register_anonymous("select(x < 0, 0, x)", "not_negative")  # rounding errors; NaN stays


@algorithm("vv")
def all_pairs(A: Matrix, *, method: str = "auto", progress: Progress | None = None) -> Matrix:
    """D(u, v) = the least sum of weights along a path from u to v; D(v, v) = 0; missing without a path.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v with that weight, as for `sssp`.
    method : ``"searches"``, ``"products"`` or ``"auto"``
        One `sssp` from every vertex, or repeated squaring  D = min(D, D D)  over ``min_plus``, which is for nearly full
        matrices.
    progress : callable, optional
        ``progress(done, total)`` is called after each search or product; an exception in it ends the computation.

    Returns
    -------
    Matrix, n x n: float32 or float64 as A; int64 for integers and booleans.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        For another method, or if `progress` is not callable.
    DomainMismatch
        For complex weights.
    NegativeCycle
        If A has a cycle of negative weight: ``.cycle`` lists its vertices in order.

    Notes
    -----
    Cost n times that of `sssp`, or log2(n) products of O(n^3).  The result may have n^2 entries.  Synchronizes once a
    search or product.

    Searches of a graph with negative weights use potentials: with  h(v) = min(0, the least length of a path that ends
    at v)  no  A(u, v) + h(u) - h(v)  is negative, so the engine expands vertices by distance.  Floating distances then
    have the rounding errors of h, which are of float64.

    Sources: Johnson, "Efficient Algorithms for Shortest Paths in Sparse Networks", J. ACM 24(1), 1977 (potentials);
    Aho, Hopcroft, Ullman, "The Design and Analysis of Computer Algorithms", 1974 (squaring).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(3, 3))
    >>> sr.algorithms.all_pairs(A).to_dicts()
    {0: {0: 0, 1: 1, 2: 3}, 1: {1: 0, 2: 2}, 2: {2: 0}}
    """
    n = square("all_pairs", A)
    chosen = choice("all_pairs", "method", method, ("auto", "searches", "products"))
    report = reporter("all_pairs", progress)
    if chosen == "searches" or (chosen == "auto" and A.nvals * _DENSE < n * n):
        return _searched(A, report)
    dtype = weight_type(A)
    distance = Matrix(dtype, n, n, device=A.device)
    distance << A
    distance(accum="min") << Matrix.identity(n, dtype, value=0, device=A.device)
    total = max(n - 1, 1).bit_length()
    for done in range(1, total + 1):
        before = distance.dup()
        distance(accum="min") << before.mxm(before, semiring.min_plus[dtype])
        report(done, total)
        negative = distance.diag().select("<", 0)
        if negative.nvals:  # synchronizes
            vertex = int(negative.apply("rowindex").reduce("min"))
            return distances_from("all_pairs", A, [vertex], None, report)  # raises NegativeCycle
        if distance.isequal(before):
            break
    return distance


def _searched(A: Matrix, report: Progress) -> Matrix:
    """Return the distances of all pairs by searches, of potentials where weights are negative."""
    every = list(range(A.nrows))
    if A.nvals == 0 or A.dtype.kind not in "if" or not A.reduce_scalar("min").value < 0:
        return distances_from("all_pairs", A, every, None, report)
    wide = A.dup(dtype=np.float64 if A.dtype.kind == "f" else np.int64)
    h = settled("all_pairs", wide, Vector.full(0, A.nrows, wide.dtype, device=A.device), None)
    if h.reduce("min").value == -np.inf:
        return distances_from("all_pairs", A, every, None, report)
    reweighted = h.ewise_mult(wide, "plus").ewise_mult(h, "minus").apply(_not_negative).wait()
    found = distances_from("all_pairs", reweighted, every, None, report)
    return h.ewise_mult(found, "rminus").ewise_mult(h, "plus").dup(dtype=weight_type(A))


@algorithm("vv")
def transitive_closure(A: Matrix, *, reflexive: bool = False) -> Matrix:
    """R(u, v) = true where a path of at least one edge leads from u to v.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    reflexive : bool
        Let every vertex reach itself, by a path of no edge.

    Returns
    -------
    Matrix, n x n, boolean, true where present.

    Raises
    ------
    DimensionMismatch
        If A is not square.

    Notes
    -----
    Cost that of n searches, advanced together (`sr.ops.closure_many`), whose levels are in memory first: 4 bytes for
    each entry of the result, which may have n^2.  Synchronizes a few times for each group of sources.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 1)])
    >>> sr.algorithms.transitive_closure(A).to_dicts()
    {0: {1: True, 2: True}, 1: {1: True, 2: True}, 2: {1: True, 2: True}}
    """
    n = square("transitive_closure", A)
    reached = ops.closure_many(np.arange(n), A).levels.apply("one").dup(bool)
    if reflexive:
        return reached  # type: ignore[no-any-return]
    # A vertex reaches itself if it has a loop, or another vertex in its strong component.
    label = strongly_connected_components(A)
    size = Vector.full(0, n, np.int64, device=A.device)
    size(accum="plus")[label] << Vector.full(1, n, np.int64, device=A.device)
    on_cycle = size[label].select(">", 1).apply("one") | A.diag().apply("one")
    return reached.select("offdiag").ewise_add(on_cycle.dup(bool).diag(), "lor")  # type: ignore[no-any-return]


@algorithm("vv")
def number_of_walks(A: Matrix, length: int) -> Matrix:
    """W(u, v) = the number of walks of `length` edges from u to v: A^length over ones.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    length : int
        At least 0; a walk may repeat vertices and edges.

    Returns
    -------
    Matrix, n x n, int64: missing where there is no walk.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the length is negative or not an integer.

    Notes
    -----
    At most 2 log2(length) products; the result may have n^2 entries.  Numbers above int64 wrap around.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)], nrows=4, ncols=4)
    >>> sr.algorithms.number_of_walks(A, 2).to_dicts()
    {0: {2: 1, 3: 2}, 1: {3: 1}}
    """
    square("number_of_walks", A)
    steps = count("number_of_walks", "length", length)
    return A.apply("second", right=np.int64(1)).power(steps)
