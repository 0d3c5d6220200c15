"""Paths whose labels spell a word of a language: regular and context-free path queries.

The edges of each label are a matrix.  A regular language is an automaton, whose transitions of each label are a matrix
too; the paths of both together are those of one graph of pairs (state, vertex):

    K = sum over the labels of  N(label) (x) A(label)             the Kronecker product
    R = closure({(start, source)}, K, any_pair)                   the pairs that are reached

A context-free language is a grammar with rules of at most two symbols, and T(X) the pairs of vertices between which a
path spells a word of the symbol X: the least solution of

    T(X) = A(X) | T(Y) T(Z)  for every rule  X -> Y Z             over any_pair

Sources: Mendelzon, Wood, "Finding Regular Simple Paths in Graph Databases", SIAM J. Computing 24(6), 1995; Azimov,
Grigorev, "Context-Free Path Querying by Matrix Multiplication", GRADES-NDA 2018.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semiring import Matrix, Vector, ops, semiring
from semiring.exceptions import DimensionMismatch, InvalidValue

from ..checks import Vertex, Vertices, each_row, is_many, square
from ..vertex_labels import algorithm


@algorithm("v")
def regular_path_query(
    graph: Mapping[Any, Matrix],
    automaton: Mapping[Any, Matrix],
    start: int | Sequence[int],
    final: int | Sequence[int],
    sources: Vertex | Vertices,
) -> Vector:
    """r(v) = true for every v to which a path from a source spells a word that the automaton accepts.

    Parameters
    ----------
    graph : mapping of labels to Matrices, n x n
        The edges of each label: an entry (u, v) is an edge from u to v.  Values are not read.
    automaton : mapping of labels to Matrices, q x q
        The transitions of each label: an entry (p, q) is one from state p to state q.  An edge whose label has no
        transitions is on no path.
    start, final : int, or sequences of them
        States.  If one is both, the sources are reached by paths without edges.
    sources : int, or a name in the labels of the graph; or a sequence of them
        Vertices.

    Returns
    -------
    Vector of size n, boolean, true where present.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue

    Notes
    -----
    Cost and memory of the product graph: the sum over the labels of transitions times edges, and one search.

    Examples
    --------
    >>> follows = Matrix.from_edgelist([(0, 1), (1, 2)], nrows=4, ncols=4)
    >>> likes = Matrix.from_edgelist([(2, 3), (0, 3)], nrows=4, ncols=4)
    >>> some, then = Matrix.from_edgelist([(0, 0)], nrows=2, ncols=2), Matrix.from_edgelist([(0, 1)], nrows=2, ncols=2)
    >>> sr.algorithms.regular_path_query({"f": follows, "l": likes}, {"f": some, "l": then}, 0, 1, 1).to_dict()
    {3: True}
    """
    n = _size("regular_path_query", "graph", graph)
    states = _size("regular_path_query", "automaton", automaton)
    device = next(iter(graph.values())).device
    starts, finals = (_rows("regular_path_query", part, states) for part in (start, final))
    pairs = Matrix(bool, states * n, states * n, device=device)
    for label, transitions in automaton.items():
        if label in graph:
            steps = transitions.to(device).apply("one").dup(bool).kronecker(graph[label].apply("one").dup(bool), "land")
            pairs = pairs.ewise_add(steps, "lor").dup()
    first = sorted({p * n + v for p in starts for v in _rows("regular_path_query", sources, n)})
    reached = ops.closure(
        Vector.from_coo(first, True, bool, size=states * n, device=device), pairs, semiring.any_pair[bool]
    )
    return reached.reshape(states, n)[finals, :].reduce_columnwise("lor").dup()


@algorithm("vv")
def context_free_path_query(graph: Mapping[Any, Matrix], rules: Sequence[Sequence[Any]]) -> dict[Any, Matrix]:
    """T(X)(u, v) = true where a path from u to v spells a word that the grammar derives from the symbol X.

    Parameters
    ----------
    graph : mapping of labels to Matrices, n x n
        The edges of each label: an entry (u, v) is an edge from u to v.  Values are not read.
    rules : sequence of tuples
        ``("S", "A", "B")``, ``("S", "a")`` or ``("S",)`` for S -> A B, S -> a, and the empty word.  A symbol is a
        label of the graph or the first of a rule.

    Returns
    -------
    dict of Matrices, n x n, boolean, true where present: one for each symbol that is the first of a rule.

    Raises
    ------
    DimensionMismatch
    InvalidValue
        For another rule, or a symbol that is neither.

    Notes
    -----
    Products of matrices until nothing changes: at most n^2 rounds for each symbol, in practice few.  The results may
    have n^2 entries.  Synchronizes once a round.

    Source: Azimov, Grigorev, "Context-Free Path Querying by Matrix Multiplication", GRADES-NDA 2018.

    Examples
    --------
    >>> down, up = Matrix.from_edgelist([(0, 1), (1, 2)], nrows=5, ncols=5), Matrix.from_edgelist([(2, 3), (3, 4)])
    >>> rules = [("S", "(", ")"), ("S", "(", "R"), ("R", "S", ")")]
    >>> sr.algorithms.context_free_path_query({"(": down, ")": up}, rules)["S"].to_dicts()
    {0: {4: True}, 1: {3: True}}
    """
    name = "context_free_path_query"
    n = _size(name, "graph", graph)
    device = next(iter(graph.values())).device
    heads = dict.fromkeys(rule[0] for rule in rules if len(rule) > 0)
    found = {symbol: A.apply("one").dup(bool) for symbol, A in graph.items()}
    found |= {head: found.get(head, Matrix(bool, n, n, device=device)) for head in heads}
    for rule in rules:
        if not 1 <= len(rule) <= 3:
            raise InvalidValue(f"{name}: a rule has a symbol and at most two others, got {rule!r}")
        if unknown := [symbol for symbol in rule[1:] if symbol not in found]:
            raise InvalidValue(f"{name}: {unknown[0]!r} is neither a label of the graph nor the first of a rule")
        if len(rule) == 1:
            found[rule[0]] = found[rule[0]].ewise_add(Matrix.identity(n, dtype=bool, device=device), "lor").dup()
    before = -1
    while before < (entries := sum(found[head].nvals for head in heads)):  # synchronizes
        before = entries
        for head, *body in rules:
            if body:
                made = found[body[0]] if len(body) == 1 else found[body[0]].mxm(found[body[1]], semiring.any_pair[bool])
                found[head] = found[head].ewise_add(made, "lor").dup()
    return {head: found[head] for head in heads}


def _size(name: str, parameter: str, matrices: Any) -> int:
    """Return the number of rows that all matrices have."""
    if not isinstance(matrices, Mapping) or not matrices:
        raise InvalidValue(f"{name}: {parameter} must be a mapping of labels to matrices, with one at least")
    sizes = {label: square(name, A) for label, A in matrices.items()}
    if len(set(sizes.values())) > 1:
        raise DimensionMismatch(f"{name}: the matrices of {parameter} have equal shapes, got sizes {sizes}")
    return next(iter(sizes.values()))


def _rows(name: str, given: Any, n: int) -> list[int]:
    return sorted(set(each_row(name, given if is_many(given) else [given], n)))
