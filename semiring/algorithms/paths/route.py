"""One shortest path, and whether there is a path.

path(t) = parent*(t), reversed, for the parents of a search from the source
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from semiring import Matrix, Vector, ops, semiring
from semiring.renamed import SINCE

from ..checks import Vertex, Weight, read_weight, row, square
from ..vertex_labels import algorithm
from .bfs import bfs_parents
from .chains import chain
from .sssp import tree


@dataclass(frozen=True)
class Route:
    """A path and its length.

    Attributes
    ----------
    length : int or float
        The sum of the weights; without weights the number of edges.
    vertices : list of row numbers, or of names if source or target is a name
        From the source to the target.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1], [1, 2], [1, 2], shape=(3, 3))
    >>> sr.algorithms.k_shortest_paths(A, 0, 2, 1)[0].vertices
    [0, 1, 2]
    """

    length: Any
    vertices: list[Any]

    if not TYPE_CHECKING:  # for programs that expect the list, or the pair, of version 0.2

        def __iter__(self) -> NoReturn:
            """Raise TypeError, which names the parts."""
            raise TypeError(f"a Route has the parts .length and .vertices, and is no list or tuple since {SINCE}")


@algorithm(vertices=">v")
def shortest_path(A: Matrix, source: Vertex, target: Vertex, *, weight: Weight = None) -> Route | None:
    """Return a shortest path from the source to the target; None without a path.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.
    source, target : int, or a name in ``A.labels``
    weight : True or str, optional
        True: the length of an edge is its value, as for `sssp`; str: that field of its record.
        Default: values are not read, and every length is 1: a path of the fewest edges.

    Returns
    -------
    Route or None
        Its `length`, and its `vertices`: a list of row numbers, or of names if source or target is a name.  Which of
        several shortest paths is returned is unspecified.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch
    NegativeCycle
        If a cycle of negative weight can be reached.

    Notes
    -----
    Cost that of `shortest_path_tree` or `bfs_parents`, and O(n) to follow the parents.  Synchronizes a few times.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(4, 4))
    >>> sr.algorithms.shortest_path(A, 0, 2), sr.algorithms.shortest_path(A, 0, 2, weight=True)
    (Route(length=1, vertices=[0, 2]), Route(length=3, vertices=[0, 1, 2]))
    >>> B = Matrix.from_edgelist([("ann", "bob"), ("bob", "eve")], relabel=True)
    >>> sr.algorithms.shortest_path(B, "ann", "eve").vertices, sr.algorithms.shortest_path(B, 0, 2).vertices
    (['ann', 'bob', 'eve'], [0, 1, 2])
    """
    n = square("shortest_path", A)
    s, t = row("shortest_path", source, n), row("shortest_path", target, n)
    A, weighted = read_weight("shortest_path", A, weight)
    distance, parent = tree("shortest_path", A, s) if weighted else (None, bfs_parents(A, s))
    if parent.get(t) is None:  # synchronizes
        return None
    vertices = chain(parent, t)[::-1]
    return Route(len(vertices) - 1 if distance is None else distance.get(t), vertices)


@algorithm()
def has_path(A: Matrix, source: Vertex, target: Vertex) -> bool:
    """Return whether there is a path from the source to the target; every vertex has one to itself.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    source, target : int, or a name in ``A.labels``

    Returns
    -------
    bool

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue

    Notes
    -----
    Cost O(n + nvals), that of a search.  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.has_path(A, 0, 2), sr.algorithms.has_path(A, 2, 0)
    (True, False)
    """
    n = square("has_path", A)
    start = Vector.from_coo([row("has_path", source, n)], True, size=n, device=A.device)
    t = row("has_path", target, n)
    return ops.closure(start, A, semiring.any_pair).get(t) is not None  # synchronizes


@algorithm("v")
def descendants(A: Matrix, source: Vertex) -> Vector:
    """d(v) = true for every v != source with a path from the source to v.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    source : int, or a name in ``A.labels``

    Returns
    -------
    Vector of size n, boolean, true where present.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue

    Notes
    -----
    Cost O(n + nvals), that of a search.  Synchronizes once.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (3, 2)])
    >>> sr.algorithms.descendants(A, 0).to_dict()
    {1: True, 2: True}
    """
    square("descendants", A)
    return _reached("descendants", A, source)


@algorithm("v")
def ancestors(A: Matrix, source: Vertex) -> Vector:
    """a(v) = true for every v != source with a path from v to the source.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    source : int, or a name in ``A.labels``

    Returns
    -------
    Vector of size n, boolean, true where present.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue

    Notes
    -----
    Cost O(n + nvals), that of a search of the transpose, which is derived and cached the first time.  Synchronizes
    once.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (3, 2)])
    >>> sr.algorithms.ancestors(A, 2).to_dict()
    {0: True, 1: True, 3: True}
    """
    square("ancestors", A)
    return _reached("ancestors", A.T, source)


def _reached(name: str, A: Matrix, source: Vertex) -> Vector:
    s = row(name, source, A.nrows)
    start = Vector.from_coo([s], True, size=A.nrows, device=A.device)
    found = ops.closure(start, A, semiring.any_pair[bool])
    del found[s]
    return found
