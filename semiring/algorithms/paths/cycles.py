"""A cycle of negative weight, from distances that do not converge.

In each round  d = min(d, d A)  every vertex that improves gets the predecessor from which it did.  While there is a
negative cycle that the distances reach, they fall without bound, so the predecessors must form a cycle at some time: as
long as they do not, every distance is at least that of a root of their forest plus the weight of a simple path.  The
predecessors of such a cycle are those of edges whose sum of weights is negative.

Source: Cherkassky, Goldberg, "Negative-cycle detection algorithms", Mathematical Programming 85, 1999.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector

from .chains import chain


def improving_cycle(distance: Vector, A: Matrix) -> tuple[int, ...]:
    """Return the vertices of a cycle of negative weight in order, from the smallest on, which `distance` reaches."""
    n = A.nrows
    parent = Vector(np.int64, n, device=A.device)
    d = distance.dup()
    step, looked = 0, 1
    while True:
        arriving = d.ewise_mult(A, "plus")
        best, place = arriving.minloc("columnwise")
        better = best.ewise_mult(d, "lt").select("==", True)
        d(better.S) << best
        parent(better.S) << place
        step += 1
        if step == looked:
            found = _cycle(parent)
            if found:
                return found
            looked *= 2


def _cycle(parent: Vector) -> tuple[int, ...]:
    """Return the vertices of a cycle of the predecessors, in the order of edges; empty if there is none."""
    n = parent.size
    ancestor = Vector.full(n, n + 1, np.int64, device=parent.device)  # vertex n is above all others
    ancestor(accum="min")[:n] << parent
    reach = 1
    while reach <= n:
        ancestor = ancestor[ancestor].dup()
        reach *= 2
    member = int(ancestor.reduce("min"))  # synchronizes: the smallest vertex of all cycles, or n
    if member == n:
        return ()
    first, *others = chain(parent, member)
    return (first, *reversed(others))
