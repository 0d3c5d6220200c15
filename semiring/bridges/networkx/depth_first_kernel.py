"""The compiled loop of `depth_first`; a module of its own: numba is imported on first use."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from semiring.engines.cpu.compile import kernel

__all__ = ["CUT", "FORWARD", "NONTREE", "REVERSE", "first_cycle", "walk"]

#: Kinds of steps, as NetworkX labels them; CUT returns at the depth limit.
FORWARD: Final = 0
NONTREE: Final = 1
REVERSE: Final = 2
CUT: Final = 3


@kernel
def walk(
    indptr: NDArray[np.int64],
    cols: NDArray[np.int64],
    starts: NDArray[np.int64],
    limit: int,
    tree_only: bool,
    steps: NDArray[np.int64],
    labels: NDArray[np.int8],
) -> int:
    """Search depth first from each start that is not reached yet; return the number of steps.

    Each step is (parent, child) in `steps` with its kind in `labels`.  With `tree_only` no NONTREE step is written.
    """
    n = len(indptr) - 1
    visited = np.zeros(n, np.bool_)
    following = indptr[:-1].copy()
    stack = np.empty(n, np.int64)
    count = 0
    for start in starts:
        if visited[start]:
            continue
        visited[start] = True
        steps[count, 0], steps[count, 1], labels[count] = start, start, FORWARD
        count += 1
        stack[0] = start
        depth = 1
        while depth:
            parent = stack[depth - 1]
            slot = following[parent]
            if slot == indptr[parent + 1]:
                depth -= 1
                steps[count, 0], steps[count, 1] = stack[depth - 1] if depth else start, parent
                labels[count] = REVERSE
                count += 1
                continue
            following[parent] = slot + 1
            child = cols[slot]
            if visited[child]:
                if not tree_only:
                    steps[count, 0], steps[count, 1], labels[count] = parent, child, NONTREE
                    count += 1
                continue
            visited[child] = True
            steps[count, 0], steps[count, 1], labels[count] = parent, child, FORWARD
            count += 1
            if depth < limit:
                stack[depth] = child
                depth += 1
            else:
                steps[count, 0], steps[count, 1], labels[count] = parent, child, CUT
                count += 1
    return count


@kernel
def first_cycle(
    indptr: NDArray[np.int64],
    cols: NDArray[np.int64],
    edge: NDArray[np.int64],
    starts: NDArray[np.int64],
    path: NDArray[np.int64],
) -> tuple[int, int]:
    """Search depth first for an edge to a vertex of the current path; return the part of `path` that is the cycle.

    edge: the number of the edge of each slot; an edge is not followed back at once.  path: n slots, written.  Equal
    bounds are returned where there is no cycle.
    """
    n = len(indptr) - 1
    visited, active = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    following = indptr[:-1].copy()
    stack = np.empty(n, np.int64)
    for start in starts:
        if visited[start]:
            continue
        visited[start] = active[start] = True
        stack[0] = start
        depth = 1
        while depth:
            tail = stack[depth - 1]
            slot = following[tail]
            if slot == indptr[tail + 1]:
                active[tail] = False
                depth -= 1
                continue
            following[tail] = slot + 1
            head = cols[slot]
            if depth > 1 and edge[slot] == edge[path[depth - 2]]:
                continue
            if active[head]:
                path[depth - 1] = slot
                first = depth - 1
                while stack[first] != head:
                    first -= 1
                return first, depth
            if not visited[head]:
                visited[head] = active[head] = True
                path[depth - 1] = slot
                stack[depth] = head
                depth += 1
    return 0, 0
