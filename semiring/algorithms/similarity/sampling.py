"""Samples of neighbors in several hops, as the training of graph neural networks needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semiring import Matrix, Vector
from semiring.exceptions import InvalidValue

from ..checks import Vertex, Vertices, count, is_many, rows, seed_of, square, vector
from ..randomness import thunk
from ..vertex_labels import algorithm


@algorithm("vv")
def sample_neighbors(
    A: Matrix, vertices: Vector | Vertex | Vertices, sizes: Sequence[int], *, seed: int = 0
) -> list[Matrix]:
    """S_h = up to sizes[h] entries of each row of A in F_h, drawn at random; F_(h+1) = the columns of S_h.

    Parameters
    ----------
    A : Matrix, n x n
    vertices : F_0: a row or a name, several, or a Vector whose entries are the vertices
    sizes : for each hop, how many neighbors of each vertex to draw without replacement
    seed : the sample depends on it and on A alone

    Returns
    -------
    A list of matrices, n x n, with the values of A: the edges drawn in each hop.  The sample of hop h is
    ``S[h]``; all of them together are ``S[0] | S[1] | ...`` with any operator.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, OutOfMemory

    Notes
    -----
    Cost O(n + the entries in the rows of F_h) a hop.  Each neighbor is drawn with equal probability.  Synchronizes.

    Source: Hamilton, Ying, Leskovec, "Inductive Representation Learning on Large Graphs", NeurIPS 2017.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)], nrows=5, ncols=5)
    >>> hops = sr.algorithms.sample_neighbors(A, 0, [2, 1], seed=1)
    >>> [hop.nvals for hop in hops]
    [2, 2]
    """
    n = square("sample_neighbors", A)
    frontier = _frontier(vertices, n, A)
    seed = seed_of("sample_neighbors", seed)
    if not is_many(sizes):
        raise InvalidValue(f"sample_neighbors: sizes must be a sequence of integers, got {sizes!r}")
    hops = []
    for hop, size in enumerate([count("sample_neighbors", "sizes", size) for size in sizes]):
        listed = frontier.to_coo(index_dtype=None)[0]
        drawn = A[listed, :].selectk("random", size, seed=thunk(seed, hop) & (2**60 - 1)).dup()
        whole = Matrix(A.dtype, n, n, device=A.device)
        whole[listed, :] << drawn
        hops.append(whole)
        frontier = drawn.apply("second", right=True).reduce_columnwise("any").dup()
    return hops


def _frontier(vertices: Any, n: int, A: Matrix) -> Vector:
    """Return the given vertices as the entries of a Vector."""
    if isinstance(vertices, Vector):
        return vector("sample_neighbors", "vertices", vertices, n)
    listed = rows("sample_neighbors", "vertices", vertices, n)
    return Vector.from_coo(listed, True, size=n, dup_op="any", device=A.device)
