"""Random graphs with the degrees of a given one, by swapping the ends of pairs of edges.

In a round the edges are paired at random. (a, b), (c, d) become (a, d), (c, b), unless one of these is a loop, exists,
or is the result of another pair with a smaller number.  Every vertex keeps its degree.

Sources: Milo, Kashtan, Itzkovitz, Newman, Alon, "On the Uniform Generation of Random Graphs with Prescribed Degree
Sequences", arXiv:cond-mat/0312028, 2003.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, concat, ops

from ..checks import count, seed_of, square
from ..progress import Progress, reporter
from ..randomness import permutation, uniform
from ..vertex_labels import algorithm


@algorithm("vv")
def swap_edges(A: Matrix, rounds: int = 10, *, seed: int = 0, progress: Progress | None = None) -> Matrix:
    """Return a random graph in which every vertex has the degree that it has in A; of a directed one, in and out.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; of a symmetric structure, (u, v) and (v, u) are one edge.  Values are
        not read, self-loops are dropped.
    rounds : int
        In each, every edge is in one pair.  Ten leave little of the structure of A, none leaves it as it is.
    seed : int
    progress : callable, optional
        ``progress(done, rounds)`` is called after each round; an exception in it ends the computation.

    Returns
    -------
    Matrix, n x n, boolean, true where present, with as many entries as A has off the diagonal.

    Raises
    ------
    DimensionMismatch, InvalidValue

    Notes
    -----
    Cost O(n + nvals) and a few sorts of the edges for each round.  The result is the same on every engine.
    Synchronizes a few times a round.

    Source: Milo et al., "On the Uniform Generation of Random Graphs with Prescribed Degree Sequences", 2003.

    Examples
    --------
    >>> ring = Matrix.from_edgelist([(v, (v + 1) % 9) for v in range(9)])
    >>> made = sr.algorithms.swap_edges(ring | ring.T, seed=1)
    >>> made.nvals, made.is_symmetric_structure, sr.algorithms.degrees(made).to_numpy().tolist()
    (18, True, [2, 2, 2, 2, 2, 2, 2, 2, 2])
    """
    n, device = square("swap_edges", A), A.device
    chosen, total = seed_of("swap_edges", seed), count("swap_edges", "rounds", rounds)
    report = reporter("swap_edges", progress)
    undirected = A.is_symmetric_structure
    S = A.select("triu", 1) if undirected else A.select("offdiag")
    tails, heads = (Vector.from_dense(part, device=device) for part in S.to_coo(values=False)[:2])
    m, half = tails.size, tails.size // 2
    for step in range(total if half else 0):
        order = permutation(m, chosen, 2 * step, device=device)
        tails, heads = tails[order].dup(), heads[order].dup()
        a, b = tails[:half].dup(), heads[:half].dup()
        c, d = tails[half : 2 * half].dup(), heads[half : 2 * half].dup()
        if undirected:  # the second edge in either direction
            turned = uniform(half, chosen, 2 * step + 1, device=device).apply("lt", right=0.5).dup()
            c, d = _where(turned, d, c), _where(turned, c, d)
        accepted = _accepted(_matrix(n, tails, heads, undirected), a, b, c, d, undirected=undirected)
        rest = slice(2 * half, m)
        first, second = _where(accepted, d, b), _where(accepted, b, d)
        tails, heads = concat([a, c, tails[rest].dup()]), concat([first, second, heads[rest].dup()])
        report(step + 1, total)
    if not (half and total):
        report(total, total)
    made = _matrix(n, tails, heads, undirected)
    return made.ewise_add(made.T, "lor").dup() if undirected else made


def _accepted(G: Matrix, a: Vector, b: Vector, c: Vector, d: Vector, *, undirected: bool) -> Vector:
    """Return for each pair of edges whether both new ones, (a, d) and (c, b), are no loops, new, and not another's."""
    numbers = ops.singletons(a).dup(dtype=np.int64)
    proposed = _matrix(G.nrows, concat([a, c]), concat([d, b]), undirected, concat([numbers, numbers]))
    left = proposed.dup(mask=~G.S).select("offdiag").to_coo()[2]
    ids = Vector.from_dense(left, device=G.device)
    votes = Vector.full(0, a.size, np.int64, device=G.device)
    votes(accum="plus") << Vector.full(1, ids.size, np.int64, device=G.device).reduce_by(ids, "plus", size=a.size)
    return votes.apply("eq", right=2).dup()


def _matrix(n: int, tails: Vector, heads: Vector, undirected: bool, values: Vector | None = None) -> Matrix:
    """Return the matrix of edges, of undirected ones with u < v; of equal ones the least value."""
    if undirected:
        tails, heads = tails.ewise_mult(heads, "min").dup(), tails.ewise_mult(heads, "max").dup()
    kept = True if values is None else values.to_dense()
    return Matrix.from_coo(tails.to_dense(), heads.to_dense(), kept, shape=(n, n), dup_op="min", device=tails.device)


def _where(condition: Vector, first: Vector, second: Vector) -> Vector:
    """Return the entries of `first` where the condition is true, else those of `second`."""
    made = second.dup()
    made(condition.V) << first
    return made
