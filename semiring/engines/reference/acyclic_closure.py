"""The closure of a vector under an acyclic matrix."""

from __future__ import annotations

import numpy as np

from ..registry import implements
from ..requests.graphs import AcyclicClosure, AcyclicResult
from .dense import densify, sparsify
from .evaluation import Fold, binary, indexunary


@implements(AcyclicClosure, engine="reference")
def acyclic_closure(q: AcyclicClosure) -> AcyclicResult:
    """c(v) = f( x(v) (+) (+)_u c(u) (x) A(u, v) ): rows whose predecessors are all finished, one after another."""
    values, present = densify(q.a)
    x, x_present = densify(q.x)
    n, add, mult = q.a.nrows, q.semiring.add, q.semiring.mult
    total = Fold(add, (n,))
    total.add(x_present, x[x_present])
    waiting = present.sum(axis=0)
    ready = [int(v) for v in np.flatnonzero(waiting == 0)]
    zero = np.zeros(1, np.int64)
    for u in ready:  # it grows
        if total.present[u] and q.then is not None:
            made = indexunary(q.then, total.values[u : u + 1], zero, zero, np.bool_(False))
            total.values[u : u + 1] = made.astype(total.values.dtype)
        for v in np.flatnonzero(present[u]):
            if total.present[u]:
                at = np.array([u]), np.array([v])
                z = binary(mult, total.values[u : u + 1], values[u, v : v + 1], zero, at[0], at[0], at[1])
                where = np.zeros(n, np.bool_)
                where[v] = True
                total.add(where, z)
            waiting[v] -= 1
            if waiting[v] == 0:
                ready.append(int(v))
    return AcyclicResult(sparsify(total.values, total.present, total.values.dtype), len(ready))
