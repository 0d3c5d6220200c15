"""Best paths of other semirings: the widest, and the most reliable.

    width       = closure({source: infinity}, A, max_min)
    reliability = closure({source: 1},        A, max_times)

Source: Pollack, "The Maximum Capacity through a Network", Operations Research 8(5), 1960.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, ops, semiring
from semiring.exceptions import InvalidValue

from ..checks import Vertex, row, square, weights
from ..vertex_labels import algorithm


@algorithm("v|sv")
def widest_paths(A: Matrix, source: Vertex) -> Vector:
    """width(v) = the greatest min of capacities A(u, w) along a path from the source to v; missing without a path.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v with that capacity, a real number.
    source : int, or a name in ``A.labels``

    Returns
    -------
    Vector of size n, of the type of A: the source has infinity, or the greatest integer of the type.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound
    DomainMismatch
        For complex capacities.
    InvalidValue
        If a capacity is NaN.

    Notes
    -----
    Cost O(n + nvals) where most vertices are expanded once: the engine expands them from the widest on.  Synchronizes
    once, and for floating capacities once more, to find NaN.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [9.0, 1.0, 4.0], shape=(4, 4))
    >>> sr.algorithms.widest_paths(A, 0).to_dict()
    {0: inf, 1: 9.0, 2: 4.0}
    """
    n = square("widest_paths", A)
    s = row("widest_paths", source, n)
    weights("widest_paths", A)
    dtype = A.dtype
    most = np.inf if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max
    start = Vector.from_coo([s], dtype.type(most), dtype, size=n, device=A.device)
    return ops.closure(start, A, "lor_land" if dtype.kind == "b" else semiring.max_min[dtype])


@algorithm("v")
def most_reliable_paths(A: Matrix, source: Vertex) -> Vector:
    """reliability(v) = the greatest product of A(u, w) along a path from the source to v; missing without a path.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v that works with this probability, from 0 to 1, independently of others.
    source : int, or a name in ``A.labels``

    Returns
    -------
    Vector of size n: float32 as A, else float64.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound
    DomainMismatch
        For complex probabilities.
    InvalidValue
        If a probability is NaN, negative or above 1.

    Notes
    -----
    Cost as `widest_paths`.  Synchronizes a few times, to check the probabilities.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [0.5, 0.25, 0.75], shape=(4, 4))
    >>> sr.algorithms.most_reliable_paths(A, 0).to_dict()
    {0: 1.0, 1: 0.5, 2: 0.375}
    """
    n = square("most_reliable_paths", A)
    s = row("most_reliable_paths", source, n)
    weights("most_reliable_paths", A, least=0)
    if A.nvals and (most := A.reduce_scalar("max").value) > 1:
        raise InvalidValue(f"most_reliable_paths: probabilities are at most 1, got {most}")
    dtype = A.dtype if A.dtype.kind == "f" else np.dtype(np.float64)
    start = Vector.from_coo([s], 1, dtype, size=n, device=A.device)
    return ops.closure(start, A, semiring.max_times[dtype])
