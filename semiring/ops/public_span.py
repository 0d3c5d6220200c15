"""The public function of spanning forests, on Matrix objects."""

from __future__ import annotations

from ..memory.allocation import reports_memory
from .public import M, operand_of
from .span import span as _span
from .structure import transposed

__all__ = ["span"]


@reports_memory
def span(a: M, *, largest: bool = False) -> M:
    """T = the entries (i, j) of A that join two trees of a growing forest, visited in the order of their values.

    Each entry is an edge between i and j, in either direction.  Equal values are visited by row, then by column, so
    that the result is unique.  The triangle of a symmetric matrix gives its minimum spanning forest.

    Parameters
    ----------
    a : Matrix, n x n (or its ``.T``)
        Real values; NaN is behind all numbers.  Entries of the diagonal join nothing.
    largest : bool
        Whether entries are visited from the largest value on.

    Returns
    -------
    Matrix, n x n: n minus the number of components entries of `a`.

    Raises
    ------
    DimensionMismatch, DomainMismatch, OutOfMemory
    NotSupported
        On a GPU, where `semiring.algorithms.minimum_spanning_forest` proceeds by rounds.

    Notes
    -----
    Cost O(nvals log nvals), and nearly O(nvals) where all values are equal; one thread.

    Source: Kruskal, "On the Shortest Spanning Subtree of a Graph and the Traveling Salesman Problem", Proc. AMS 7,
    1956.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [5, 1, 2], shape=(3, 3), device="cpu")
    >>> sr.ops.span(A).to_dicts(), sr.ops.span(A, largest=True).to_dicts()
    ({0: {2: 1}, 1: {2: 2}}, {0: {1: 5}, 1: {2: 2}})
    """
    matrix, is_transposed = operand_of("span", a)
    return a.with_store(_span(transposed(matrix) if is_transposed else matrix, largest=largest))  # type: ignore[no-any-return]
