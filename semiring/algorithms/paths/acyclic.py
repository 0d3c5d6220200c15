"""Directed acyclic graphs: generations, an order of the vertices, and longest paths.

A vertex is removed when all its predecessors are; the vertices that are removed together are a generation:

    waiting(v) -= sum over the vertices u of the last generation of [A(u, v) is stored]

Source: Kahn, "Topological Sorting of Large Networks", CACM 5(11), 1962, a generation at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring import Matrix, Vector, compile, semiring
from semiring.exceptions import DomainMismatch, GraphProperty

from ..checks import square, weights
from ..progress import Progress, reporter
from ..vertex_labels import algorithm


@algorithm("v")
def topological_generations(A: Matrix, *, progress: Progress | None = None) -> Vector:
    """g(v) = the most edges of a path that ends at v: 0 without predecessors, else 1 + max_{A(u, v)} g(u).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    progress : callable, optional
        ``progress(done, n)`` is called with the vertices that are done after each generation; an exception in it ends
        the computation.

    Returns
    -------
    Vector of size n, full, int64.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    GraphProperty, InvalidValue
        If A has a cycle, a self-loop included; or `progress` is not callable.

    Notes
    -----
    Cost O(n + nvals) for all generations together, which are one program (`compile`) that synchronizes once; with
    `progress`, and where loops are not compiled, a few launches for each, and synchronizes once a generation.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (0, 2), (3, 2)])
    >>> sr.algorithms.topological_generations(A).to_dict()
    {0: 0, 1: 1, 2: 2, 3: 0}
    """
    square("topological_generations", A)
    return _acyclic("topological_generations", A, None, reporter("topological_generations", progress))[0]


@algorithm(".>v")
def topological_order(A: Matrix, *, progress: Progress | None = None) -> Vector:
    """p(0), p(1), ... = the vertices by generation, then by number: u precedes v for every edge (u, v).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    progress : callable, optional
        As for `topological_generations`.

    Returns
    -------
    Vector of size n, full, int64: a permutation.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    GraphProperty, InvalidValue
        If A has a cycle, a self-loop included; or `progress` is not callable.

    Notes
    -----
    Cost that of `topological_generations`, and a sort of n numbers.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (0, 2), (3, 2)])
    >>> sr.algorithms.topological_order(A).to_dict()
    {0: 0, 1: 3, 2: 1, 3: 2}
    """
    square("topological_order", A)
    generation = _acyclic("topological_order", A, None, reporter("topological_order", progress))[0]
    return generation.sort()[1]


@algorithm()
def is_dag(A: Matrix) -> bool:
    """Return whether no path returns to its first vertex; a self-loop is such a path.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.

    Returns
    -------
    bool

    Raises
    ------
    DimensionMismatch
        If A is not square.

    Notes
    -----
    Cost and synchronization as `topological_generations`.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)], nrows=3, ncols=3)
    >>> sr.algorithms.is_dag(A), sr.algorithms.is_dag(A | A.T)
    (True, False)
    """
    n = square("is_dag", A)
    return _generations(A, None, reporter("is_dag", None))[0].nvals == n


@algorithm("v")
def longest_paths(A: Matrix, *, progress: Progress | None = None) -> Vector:
    """l(v) = the greatest sum of weights of a path that ends at v: max(0, max_{A(u, v)} l(u) + A(u, v)).

    A path of one vertex has length 0, so no length is negative.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v with that weight.  Booleans count as 0 and 1.
    progress : callable, optional
        As for `topological_generations`.

    Returns
    -------
    Vector of size n, full: float32 or float64 as A; int64 for integers and booleans.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    DomainMismatch
        For complex weights.
    GraphProperty, InvalidValue
        If A has a cycle, a self-loop included, or a weight is NaN; or `progress` is not callable.

    Notes
    -----
    Cost and synchronization as `topological_generations`, with a second product for each generation.  Integer lengths
    that overflow int64 wrap around.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 0], [1, 2, 2], [5, 1, 2], shape=(3, 3))
    >>> sr.algorithms.longest_paths(A).to_dict()
    {0: 0, 1: 5, 2: 6}
    """
    square("longest_paths", A)
    weights("longest_paths", A)
    dtype = A.dtype if A.dtype.kind == "f" else np.dtype(np.int64)
    length = _acyclic("longest_paths", A, dtype, reporter("longest_paths", progress))[1]
    if length is None:
        raise DomainMismatch("longest_paths: no lengths")
    return length


def _acyclic(name: str, A: Matrix, dtype: Any, report: Progress) -> tuple[Vector, Vector | None]:
    generation, length = _generations(A, dtype, report)
    if generation.nvals < A.nrows:
        raise GraphProperty(
            f"{name}: the graph has a cycle; sr.algorithms.condensation(A).graph, of its strong components, has none"
        )
    return generation, length


@compile
def _generations(A: Matrix, dtype: Any, report: Progress) -> tuple[Vector, Vector | None]:
    """Return the generations, missing on and behind cycles, and the lengths if their type is given."""
    n, device = A.nrows, A.device
    waiting = Vector.full(0, n, np.int64, device=device)
    waiting(accum="plus") << A.apply("second", right=np.int64(1)).reduce_columnwise("plus")
    generation = Vector(np.int64, n, device=device)
    length = None if dtype is None else Vector.full(0, n, dtype, device=device)
    last = waiting.select("==", 0)
    step = done = 0
    while last.nvals:  # synchronizes
        generation(last.S) << step
        if length is not None:
            length(accum="max") << length.dup(mask=last.S).vxm(A, semiring.max_plus[dtype])
        edges = last.vxm(A, semiring.plus_pair[np.int64])
        left = waiting.ewise_mult(edges, "minus")
        waiting(left.S) << left
        done += last.nvals
        report(done, n)
        last = left.select("==", 0)
        step += 1
    if step == 0:
        report(0, n)
    return generation, length
