"""The public closure that also returns the tree of its paths."""

from __future__ import annotations

from typing import Any

from ..memory.allocation import reports_memory
from .public import HasMatrix, V, run_closure

__all__ = ["closure_with_parents"]


@reports_memory
def closure_with_parents(
    frontier: V, a: HasMatrix, semiring: Any, *, max_steps: int | None = None, weight: Any = None
) -> tuple[V, V]:
    """Return (C, P):  C = x A*  as `closure`, and the tree of its paths:  C(v) = C(P(v)) (x) A(P(v), v).

    Parents lead from each entry to a start: an entry of x that kept its value, and is its own parent.

    Parameters
    ----------
    frontier, a, max_steps, weight : as `closure`
    semiring
        Its monoid is min or max; a better operand gives no worse product, and no positions are read.

    Returns
    -------
    (Vector, Vector), both of size n and with the same entries, except that NaN need not have a parent.  Parents are
        int32 (int64 from n = 2**31 - 1); which of several is returned is unspecified.

    Raises
    ------
    DimensionMismatch, DomainMismatch, ConvergenceFailure

    Notes
    -----
    On the CPU engine, cost and synchronisation of `closure`; elsewhere O(nvals) more time and memory, for the entries
    for which the equation holds.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(3, 3))
    >>> distance, parent = sr.ops.closure_with_parents(Vector.from_coo([0], [0], size=3), A, "min_plus")
    >>> distance.to_dict(), parent.to_dict()
    ({0: 0, 1: 1, 2: 3}, {0: 0, 1: 0, 2: 1})
    """
    found: Any = run_closure(frontier, a, semiring, max_steps, weight, parents=True)
    return frontier.with_store(found.store), frontier.with_store(found.parents)
