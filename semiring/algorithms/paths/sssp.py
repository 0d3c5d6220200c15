"""Shortest paths from one source with any weights, by Bellman-Ford.

    distance = closure({source: 0}, A, min_plus)

The frontier holds the vertices whose distance improved; a step relaxes the edges that leave it.  Sources: Bellman, "On
a Routing Problem", 1958; Ford, "Network Flow Theory", 1956.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring import Matrix, Vector, ops, semiring
from semiring.exceptions import ConvergenceFailure, NegativeCycle

from ..checks import row, square


@ops.reports_memory
def sssp(A: Matrix, source: int) -> Vector:
    """distance(v) = the least sum of weights A(u, w) along a path from the source to v; missing without a path.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v with that weight; negative weights are allowed, explicit zeros are
        edges of weight 0, and edges of weight NaN are ignored.  Booleans count as 0 and 1.
    source : int

    Returns
    -------
    Vector of size n: float32 or float64 as A; int64 for integers and booleans.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound
    NegativeCycle
        If a cycle of negative weight can be reached: ``.vertex`` is on it or reachable from it.

    Notes
    -----
    Cost O(nvals) a step, and as many steps as the shortest paths have edges.  Integer distances that overflow int64
    wrap around.  Synchronises once, at the end.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(4, 4))
    >>> sr.algorithms.sssp(A, 0).to_dict()
    {0: 0, 1: 1, 2: 3}
    """
    n = square("sssp", A)
    s = row("sssp", source, n)
    dtype: np.dtype[Any] = A.dtype if A.dtype.kind in "fc" else np.dtype(np.int64)  # min refuses complex weights
    start = Vector.from_coo([s], 0, dtype, size=n, device=A.device)
    weighted = semiring.min_plus[dtype]
    try:
        return ops.closure(start, A, weighted)
    except ConvergenceFailure as failure:
        vertex = _still_improving(failure.result, A, weighted)
        raise NegativeCycle(
            f"sssp: a cycle of negative weight can be reached from {s}; vertex {vertex} is on it or reachable from it",
            vertex=vertex,
        ) from None


def _still_improving(distance: Vector, A: Matrix, weighted: Any) -> int:
    """Return the first vertex whose distance another relaxation would lower."""
    better = distance.vxm(A, weighted).ewise_mult(distance, "lt").select("==", True)
    return int(better.apply("rowindex").reduce("min"))  # synchronises
