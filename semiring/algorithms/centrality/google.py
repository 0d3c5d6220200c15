"""The Google matrix: the transition probabilities of the walk with teleport, as one dense matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring import Matrix, Vector

from ..checks import Values, Weight, number, read_weight, square
from ..checks import weights as check_weights
from ..vertex_labels import algorithm
from .iteration import floating
from .teleport import distribution, walk


@algorithm("vv")
def google_matrix(
    A: Matrix,
    damping: float = 0.85,
    *,
    personalization: Values | None = None,
    weight: Weight = None,
    dangling: Values | None = None,
    dtype: Any = np.float64,
) -> Matrix:
    """G(u, v) = d W(u, v) + (1 - d) p(v), where W(u, v) = A(u, v) / (sum of row u), and q(v) if that sum is 0.

    PageRank is the vector r of sum 1 with  r = r G.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.
    damping : d, in [0, 1]
    personalization : Vector of size n, or {vertex: value}
        p, where the teleport leads, in proportion to the entries, which must not be negative.  Default: to every vertex
        alike.
    weight : True or str, optional
        True: an edge is followed in proportion to its value, which must be finite and not negative; str: to that field
        of its record.  Default: values are not read, and every edge counts 1.
    dangling : Vector of size n, or {vertex: value}
        q, where a vertex without edges leads, in proportion to the entries.  Default: p.
    dtype : float64 or float32

    Returns
    -------
    Matrix, n x n, full: each row sums to 1.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost and memory O(n^2).  `pagerank` does not make this matrix.

    Source: Langville, Meyer, "A Survey of Eigenvector Methods for Web Information Retrieval", SIAM Review 47(1), 2005.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 0)], nrows=3, ncols=3)
    >>> sr.algorithms.google_matrix(A, 0.5).to_dense().round(2).tolist()
    [[0.17, 0.67, 0.17], [0.67, 0.17, 0.17], [0.33, 0.33, 0.33]]
    """
    n, kind = square("google_matrix", A), floating("google_matrix", dtype)
    d = number("google_matrix", "damping", damping, high=1)
    A, weighted = read_weight("google_matrix", A, weight)
    if weighted:
        check_weights("google_matrix", A, least=0, finite=True)
    given = (("personalization", personalization), ("dangling", dangling))
    p, q = (None if v is None else distribution("google_matrix", name, v, n, kind, A.device) for name, v in given)
    if n == 0:
        return Matrix(kind, 0, 0, device=A.device)
    if p is None:
        p = Vector.full(kind.type(1 / n), n, device=A.device)
    W, sinks = walk(A, kind, weighted=weighted)
    ones = Vector.full(kind.type(1), n, device=A.device)
    G = ones.outer(p.apply("times", right=kind.type(1 - d)), "times")
    G = G.ewise_add(W.apply("times", right=kind.type(d)), "plus")
    if sinks is not None:
        G = G.ewise_add(sinks.outer((p if q is None else q).apply("times", right=kind.type(d)), "times"), "plus")
    return G.dup()
