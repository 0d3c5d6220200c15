"""VoteRank: vertices elected one by one, whose neighbors then have fewer votes."""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, agg
from semiring.exceptions import NotSupported

from ..checks import count, square
from ..progress import Progress, reporter
from ..vertex_labels import algorithm


@algorithm("v")
def voterank(A: Matrix, *, number: int | None = None, progress: Progress | None = None) -> Vector:
    """t(v) = k for the k-th vertex elected, each time the one with the largest sum of a(w) over its edges (v, w).

    All abilities a(w) to vote begin with 1.  An elected vertex has none, and those of the vertices to which its edges
    lead fall by the inverse of the mean number of edges of a vertex, down to 0.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v, and a vote of v for u; an undirected graph has each in both directions.
        Values are not read, self-loops are ignored.
    number : int, optional
        How many vertices are elected at most; by default as many as receive votes.
    progress : callable, optional
        ``progress(done, number)`` is called after each election; an exception in it ends the computation.

    Returns
    -------
    Vector of size n, int64: numbers from 0 in the order of elections; missing for vertices that are not elected.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If `number` is no integer of at least 0.
    NotSupported
        If the square of the number of edges exceeds 2**63.

    Notes
    -----
    Of equal sums the smallest vertex is elected.  Sums are exact, since abilities are whole multiples of the inverse
    number of edges; NetworkX adds floats, and may elect another one of several with equal votes.  Cost O(n) an
    election, and the edges that lead to the neighbors of the elected vertex.  Synchronizes once an election.

    Source: Zhang, Chen, Dong, Zhao, "Identifying a set of influential spreaders in complex networks", Scientific
    Reports 6, 2016.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (0, 3), (3, 4), (4, 5)])
    >>> sr.algorithms.voterank(A | A.T).to_dict()
    {0: 0, 4: 1}
    """
    n = square("voterank", A)
    most = n if number is None else min(count("voterank", "number", number), n)
    report = reporter("voterank", progress)
    A = A.select("offdiag")
    edges, order = A.nvals, Vector(np.int64, n, device=A.device)
    if edges * edges >= 1 << 63:
        raise NotSupported(f"voterank: at most 3,037,000,499 edges, whose sums are exact; got {edges:,}")
    # In units of 1 / edges: an ability begins with `edges`, and falls by n.
    ability = Vector.full(edges, n, np.int64, device=A.device)
    votes = Vector.full(0, n, np.int64, device=A.device)
    votes(accum="plus") << A.mxv(ability, "plus_second")
    for done in range(most):
        elected = int(votes.reduce(agg.argmax))  # synchronizes
        if votes[elected].value <= 0:
            break
        order[elected] = done
        lost = ability.ewise_mult(A[elected, :], "first").apply("min", right=n).dup()
        lost[elected] = ability[elected]
        ability(accum="minus") << lost
        votes(accum="minus") << A.mxv(lost, "plus_second")
        votes[elected] = -1  # and never more than 0 again
        report(done + 1, most)
    if not order.nvals:
        report(0, most)
    return order
