"""Regular and context-free path queries, against searches of words by definition."""

from __future__ import annotations

import itertools
import re
from typing import Any

import networkx as nx
import numpy as np
import pytest

from semiring import Matrix
from semiring.algorithms import context_free_path_query, regular_path_query
from semiring.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue

Edges = dict[str, list[tuple[int, int]]]


def drawn(n: int, m: int, labels: str, seed: int) -> Edges:
    rng = np.random.default_rng(seed)
    pairs = [(int(u), int(v)) for u, v in rng.integers(0, n, (m, 2))]
    return {label: sorted(set(pairs[at :: len(labels)])) for at, label in enumerate(labels)}


def matrices(edges: Edges, n: int) -> dict[Any, Matrix]:
    return {
        label: Matrix.from_coo([u for u, _ in pairs], [v for _, v in pairs], True, shape=(n, n))
        for label, pairs in edges.items()
    }


def words(edges: Edges, source: int, length: int) -> set[tuple[str, int]]:
    """The words of at most this length on walks from a vertex, each with the last vertex."""
    found = last = {("", source)}
    for _ in range(length):
        last = {(word + label, v) for word, u in last for label, pairs in edges.items() for x, v in pairs if x == u}
        found = found | last
    return found


AUTOMATA: dict[str, tuple[dict[str, list[tuple[int, int]]], list[int], list[int]]] = {
    "a*b": ({"a": [(0, 0)], "b": [(0, 1)]}, [0], [1]),
    "(ab)*": ({"a": [(0, 1)], "b": [(1, 0)]}, [0], [0]),
    "a(b|c)?": ({"a": [(0, 1)], "b": [(1, 2)], "c": [(1, 2)]}, [0], [1, 2]),
    "[abc]*c": ({"a": [(0, 0)], "b": [(0, 0)], "c": [(0, 0), (0, 1)]}, [0], [1]),
}


@pytest.mark.parametrize("expression", AUTOMATA)
@pytest.mark.parametrize("seed", range(2))
def test_regular(expression: str, seed: int) -> None:
    """Words of up to 7 edges suffice where states times vertices are few and cycles short: checked by one more."""
    edges = drawn(5, 9, "abc", seed)
    transitions, start, final = AUTOMATA[expression]
    graph, automaton = matrices(edges, 5), matrices(transitions, 3)
    for sources in ([0], [1, 3]):
        found = set(regular_path_query(graph, automaton, start, final, sources).to_dict())
        walks = set().union(*(words(edges, source, 8) for source in sources))
        expected = {v for word, v in walks if re.fullmatch(expression, word)}
        assert found == expected
        product = nx.DiGraph()
        product.add_nodes_from(itertools.product(range(3), range(5)))
        for label, pairs in transitions.items():
            product.add_edges_from(((p, u), (q, v)) for p, q in pairs for u, v in edges[label])
        reached = set().union(*({(p, s)} | nx.descendants(product, (p, s)) for p in start for s in sources))
        assert found == {v for p, v in reached if p in final}


def test_storage_kinds() -> None:
    edges = drawn(6, 14, "ab", 4)
    graph = matrices(edges, 6)
    automaton = matrices(AUTOMATA["a*b"][0], 2)
    rules = [("S", "a", "b"), ("S", "a", "R"), ("R", "S", "b")]
    found, derived = regular_path_query(graph, automaton, 0, 1, 0), context_free_path_query(graph, rules)
    for kind in ("packed", "varint"):
        other = {label: A.compress(kind) for label, A in graph.items()}
        assert regular_path_query(other, automaton, 0, 1, 0).isequal(found)
        assert context_free_path_query(other, rules)["S"].isequal(derived["S"])


def derivable(word: str) -> bool:
    """Whether a word is in the language  S -> ( S ) S | empty: balanced brackets."""
    depth = 0
    for letter in word:
        depth += 1 if letter == "(" else -1
        if depth < 0:
            return False
    return depth == 0


@pytest.mark.parametrize("seed", range(3))
def test_balanced_brackets(seed: int) -> None:
    n = 4
    edges = {"(": drawn(n, 3, "a", seed)["a"], ")": drawn(n, 4, "a", seed + 10)["a"]}
    rules = [("S",), ("S", "S", "S"), ("S", "L", ")"), ("L", "(", "S")]
    found = context_free_path_query(matrices(edges, n), rules)
    assert sorted(found) == ["L", "S"]
    pairs = {(u, v) for u, row in found["S"].to_dicts().items() for v in row}
    expected = {(u, v) for u in range(n) for word, v in words(edges, u, 10) if derivable(word)}
    assert expected <= pairs
    # The least fixed point by definition, for words of any length.
    least = {(v, v) for v in range(n)}
    while True:
        more = least | {(u, w) for u, v in least for x, w in least if v == x}
        more |= {(u, y) for u, v in edges["("] for x, w in least if x == v for z, y in edges[")"] if z == w}
        if more == least:
            break
        least = more
    assert pairs == least


def test_bad_input() -> None:
    A, small = Matrix(bool, 3, 3), Matrix(bool, 2, 2)
    assert regular_path_query({"a": A}, {"b": small}, 0, 0, 1).to_dict() == {1: True}
    assert regular_path_query({"a": A}, {"a": small}, 0, 1, 1).nvals == 0
    for wrong in ({}, [A]):
        with pytest.raises(InvalidValue, match="regular_path_query: graph must be a mapping"):
            regular_path_query(wrong, {"a": small}, 0, 1, 0)  # type: ignore[arg-type]
    with pytest.raises(DimensionMismatch, match="the matrices of graph have equal shapes"):
        regular_path_query({"a": A, "b": small}, {"a": small}, 0, 1, 0)
    with pytest.raises(DimensionMismatch, match="square"):
        context_free_path_query({"a": Matrix(bool, 2, 3)}, [("S", "a")])
    for arguments in ((2, 0, 0), (0, 2, 0), (0, 0, 3)):
        with pytest.raises(IndexOutOfBound, match="regular_path_query"):
            regular_path_query({"a": A}, {"a": small}, *arguments)
    for rule, message in (
        (("S", "a", "a", "a"), "at most two others"),
        (("S", "x"), "'x' is neither"),
        ((), "a rule has"),
    ):
        with pytest.raises(InvalidValue, match=message):
            context_free_path_query({"a": A}, [rule])
