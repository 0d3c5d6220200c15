"""The public closures that also return the tree of their paths, or need an acyclic matrix."""

from __future__ import annotations

from typing import Any

from ..memory.allocation import reports_memory
from .acyclic_closure import acyclic_closure as _acyclic_closure
from .public import HasMatrix, V, operand_of, run_closure

__all__ = ["acyclic_closure", "closure_with_parents"]


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


@reports_memory
def acyclic_closure(x: V, a: HasMatrix, semiring: Any, *, then: Any = None) -> V:
    """c(v) = f( x(v) (+) (+)_u c(u) (x) A(u, v) ): x A* of an acyclic A, every row once and in one call.

    A row is multiplied when all rows that lead to it are finished.  So, other than in `closure`, the monoid may be any,
    and f may depend on the finished sum.  Under ``plus_times`` from 1 at a source it counts paths; under ``max_plus``
    it computes longest paths; under ``bor_first`` with f(z) = the lowest bit that z lacks it colours greedily.

    Parameters
    ----------
    x : Vector of size n
        What each row begins with.
    a : Matrix, n x n (or its ``.T``)
        Without a cycle; an entry of the diagonal is one.
    semiring
        Any; its type is that of the result.
    then : unary operator, optional
        f, applied to each row's sum before it is multiplied.  Its result is cast to the semiring's type.

    Returns
    -------
    Vector of size n, of the semiring's type; missing where neither x nor a product has an entry.

    Raises
    ------
    DimensionMismatch, DomainMismatch, UnknownOperator
    GraphProperty
        If A has a cycle.
    NotSupported
        For records; on a GPU also for values of 16 bytes, and monoids without an identity, except `any`.

    Notes
    -----
    Cost O(n + nvals).  On a GPU one launch for all rows, with a barrier for each generation, the rows at equal distance
    on longest paths; sums of floats may differ in order from run to run there.  Synchronises once, at the end.

    Source: Kahn, "Topological Sorting of Large Networks", CACM 5(11), 1962.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
    >>> one = Vector.from_coo([0], [1], size=5)
    >>> sr.ops.acyclic_closure(one, A, "plus_first").to_dict()
    {0: 1, 1: 1, 2: 1, 3: 2, 4: 2}
    >>> sr.ops.acyclic_closure(one, A, "plus_first", then=lambda x: 10 * x).to_dict()
    {0: 10, 1: 100, 2: 100, 3: 2000, 4: 20000}
    """
    matrix, transposed = operand_of("acyclic_closure", a)
    return x.with_store(_acyclic_closure(x.store, matrix, semiring, transposed=transposed, then=then))  # type: ignore[no-any-return]
