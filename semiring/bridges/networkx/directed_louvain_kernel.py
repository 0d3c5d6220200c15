"""The compiled loop of `directed_louvain`; a module of its own: numba is imported on first use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semiring.engines.cpu.compile import kernel

__all__ = ["move"]


@kernel
def move(
    indptr: NDArray[np.int64],
    near: NDArray[np.int64],
    weights: NDArray[np.float64],
    leaving: NDArray[np.float64],
    entering: NDArray[np.float64],
    order: NDArray[np.int64],
    total: float,
    squared: float,
    resolution: float,
    community: NDArray[np.int64],
) -> int:
    """Move vertices, in `order`, to the community of the highest gain until none moves; return the number of moves.

    near: the neighbors of a vertex in either direction, each once, with the sum of the weights.  leaving, entering:
    the degrees by weight.  squared: the square of the total weight.  community: of each vertex at first its own number.
    """
    n = len(indptr) - 1
    left, entered = leaving.copy(), entering.copy()
    sums, seen = np.zeros(n), np.empty(n, np.int64)
    is_seen = np.zeros(n, np.bool_)
    moves, moved = 0, True
    while moved:
        moved = False
        for u in order:
            own = community[u]
            count = 0
            for slot in range(indptr[u], indptr[u + 1]):
                c = community[near[slot]]
                if not is_seen[c]:
                    is_seen[c] = True
                    sums[c] = 0.0
                    seen[count] = c
                    count += 1
                sums[c] += weights[slot]
            inner = sums[own] if is_seen[own] else 0.0
            entered[own] -= entering[u]
            left[own] -= leaving[u]
            removal = -inner / total + resolution * (leaving[u] * entered[own] + entering[u] * left[own]) / squared
            best, most = own, 0.0
            for k in range(count):
                c = seen[k]
                is_seen[c] = False
                gain = (
                    removal + sums[c] / total - resolution * (leaving[u] * entered[c] + entering[u] * left[c]) / squared
                )
                if gain > most:
                    best, most = c, gain
            entered[best] += entering[u]
            left[best] += leaving[u]
            if best != own:
                community[u] = best
                moves += 1
                moved = True
    return moves
