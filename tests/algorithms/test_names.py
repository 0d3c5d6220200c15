"""Names of vertices in every algorithm: as arguments, in errors, and on results, whatever the numbering.

An algorithm commutes with a renumbering of its graph: of ``A`` and of ``A.permute(p)``, which have the same names, the
results are the same by name.  This finds axes and values with wrong names, or without any.  It needs no second engine,
so that all tests run on the specification.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Labels, Matrix, Vector
from semiring.exceptions import (
    GraphProperty,
    IndexOutOfBound,
    InvalidValue,
    NegativeCycle,
    SemiringError,
)
from tests import sampling
from tests.algorithms.calls import FUNCTIONS, Call, calls, differences, outcome

# A graph without symmetries, a directed one, one without cycles, a bipartite one, and a tree: (source, target) pairs.
_PATHS = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)]
GRAPHS: dict[str, tuple[list[tuple[int, int]], bool]] = {
    "asymmetric": ([*_PATHS, (0, 2), (0, 3), (2, 5), (1, 3)], True),
    "directed": ([*_PATHS, (6, 2), (3, 0), (2, 0), (5, 1), (4, 0)], False),
    "acyclic": ([*_PATHS, (0, 2), (0, 3), (2, 5), (2, 6)], False),
    "bipartite": ([*_PATHS, (0, 3), (1, 4), (3, 6)], True),
    "tree": ([(0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (5, 6)], True),
}
NAMES = ["dan", "gil", "ann", "eve", "bob", "cat", "fay"]
ORDER = [4, 0, 6, 2, 5, 1, 3]


@pytest.fixture(autouse=True)
def specification() -> Iterator[None]:
    with sr.use("reference"):
        yield


def graph(kind: str, *, labeled: bool = True) -> Matrix:
    arcs, both = GRAPHS[kind]
    weights = [(1 + (3 * u + 5 * v + u * v) % 17) / 20 for u, v in arcs]
    triples = [(u, v, w) for (u, v), w in zip(arcs, weights, strict=True)]
    A = Matrix.from_edgelist(triples, symmetric=both)
    A.labels = Labels(NAMES) if labeled else None
    return A


VERTICES = ("source", "sources", "starts", "target", "u", "v", "vertices")


def by_name(A: Matrix, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call on a graph, with names in place of rows, and mappings in place of Vectors."""
    assert A.labels is not None
    made = {}
    for name, value in given.items():
        value = value(A) if callable(value) else value
        if name in VERTICES or (name == "personalization" and isinstance(value, int)):
            value = A.labels[value] if isinstance(value, int) else list(A.labels[list(value)])
        elif isinstance(value, Vector):
            vertices = name == "labels"
            value = {A.labels[v]: A.labels[x] if vertices else x for v, x in value.items()}
        elif isinstance(value, Matrix) and value.labels is None and value.shape == A.shape:
            value.labels = A.labels
        made[name] = value
    return made


def parts(result: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The parts of a result by their paths: Vectors and matrices as {names or positions: name or value}."""
    if isinstance(result, (Vector, Matrix)):
        *at, values = result.to_coo(index_dtype=np.int64)
        axes = (result.labels,) if result.ndim == 1 else (result.row_labels, result.column_labels)
        shown = [list(p) if names is None else list(names[p]) for p, names in zip(at, axes, strict=True)]
        of_values = list(values) if result.value_labels is None else list(result.value_labels[values])
        yield path, dict(zip(zip(*shown, strict=True), of_values, strict=True))
    elif dataclasses.is_dataclass(result):
        for field in dataclasses.fields(result):
            yield from parts(getattr(result, field.name), f"{path}.{field.name}")
    elif isinstance(result, (list, tuple)):
        for at, part in zip(getattr(result, "_fields", range(len(result))), result, strict=True):
            yield from parts(part, f"{path}.{at}")
    else:
        yield path, result


def result_of(call: Call, A: Matrix) -> dict[str, Any] | type[SemiringError]:
    try:
        return dict(parts(call(A)))
    except SemiringError as error:
        return type(error)


def edges_of(A: Matrix) -> set[tuple[Any, Any]]:
    return set(next(parts(A))[1])


def is_order(A: Matrix, found: dict[str, Any]) -> bool:
    return sorted(found[""].values()) == sorted(NAMES)


def is_part(A: Matrix, found: dict[str, Any]) -> bool:
    """Matrices whose entries are edges of the graph."""
    return all(set(part) <= edges_of(A) for part in found.values())


def is_matching(A: Matrix, found: dict[str, Any]) -> bool:
    return {(u, v) for (u,), v in found[""].items()} <= edges_of(A)


def are_walks(A: Matrix, found: dict[str, Any]) -> bool:
    walk, edges = found[""], edges_of(A)
    return all((v, walk[i, t + 1]) in edges for (i, t), v in walk.items() if (i, t + 1) in walk)


def vertex_of(A: Matrix) -> Callable[[Any], Any]:
    """The name of a vertex that a number or list of Python holds: a row where the call named no vertex."""
    labels = A.labels
    assert labels is not None
    return lambda vertex: labels[vertex] if isinstance(vertex, int) else vertex


def are_paths(A: Matrix, found: dict[str, Any]) -> bool:
    edges, name = edges_of(A), vertex_of(A)
    listed = [(found[path], found.get(f".{path[1]}.vertices.{int(path[-1]) + 1}")) for path in found if "vert" in path]
    return all((name(u), name(v)) in edges for u, v in listed if v is not None)


def is_path(A: Matrix, found: dict[str, Any]) -> bool:
    edges, name = edges_of(A), vertex_of(A)
    vertices = [name(found[part]) for part in found if re.fullmatch(r"\.vertices\.\d+", part)]
    return all(pair in edges for pair in pairwise(vertices))


def lists_edges(A: Matrix, found: dict[str, Any]) -> bool:
    tails, heads, edges = found[".tails"], found[".heads"], edges_of(A)
    listed = {(v, heads[k]) for k, v in tails.items()}
    return listed <= edges and edges <= listed | {(v, u) for u, v in listed}


def names_groups(A: Matrix, found: dict[str, Any]) -> bool:
    """A name for each vertex, of a vertex."""
    return set(found[""]) == {(name,) for name in NAMES} and set(found[""].values()) <= set(NAMES)


def has_a_number_each(A: Matrix, found: dict[str, Any]) -> bool:
    (numbers,) = (part for path, part in found.items() if path in ("", ".labels", ".vector"))
    return set(numbers) == {(name,) for name in NAMES}


def names_some(A: Matrix, found: dict[str, Any]) -> bool:
    return {name for (name,) in found[""]} <= set(NAMES)


def names_of_blocks(A: Matrix, found: dict[str, Any]) -> bool:
    """A block of each edge, and a vertex of each block."""
    heads, blocks = found[".heads"], found[".edges"]
    return set(blocks) == edges_of(A) and all(
        heads[k,] in {v for e in blocks if blocks[e] == k for v in e} for k in blocks.values()
    )


def names_components(A: Matrix, found: dict[str, Any]) -> bool:
    component, representative = found[".component"], found[".representative"]
    return all(component[name,] == k for (k,), name in representative.items())


def keeps_degrees(A: Matrix, found: dict[str, Any]) -> bool:
    edges = edges_of(A)
    return sorted(u for u, _ in found[""]) == sorted(u for u, _ in edges)


def has_numbers(A: Matrix, found: dict[str, Any]) -> bool:
    return {type(part) for pair in found[""] for part in pair} == {np.int64}


# Results that depend on the numbering, because one of several equal ones is chosen, by the order of rows or at random,
# or because they number groups: what they are by name.
CHOICES: dict[str, Callable[[Matrix, dict[str, Any]], bool]] = {
    "bfs_order": is_order,
    "biconnected_components": names_of_blocks,
    "coarsen": has_numbers,
    "coloring": has_a_number_each,
    "condensation": names_components,
    "connected_components": names_groups,
    "degree_order": is_order,
    "ensemble_clustering": has_a_number_each,
    "fiedler_vector": has_a_number_each,
    "incidence_matrix": lists_edges,
    "k_shortest_paths": are_paths,
    "label_propagation": names_groups,
    "leiden": has_a_number_each,
    "line_graph": lists_edges,
    "locality_order": is_order,
    "louvain": has_a_number_each,
    "maximal_independent_set": names_some,
    "maximal_matching": is_matching,
    "maximum_bipartite_matching": is_matching,
    "minimum_spanning_forest": is_part,
    "node2vec_walks": are_walks,
    "peer_pressure": has_a_number_each,
    "random_walks": are_walks,
    "reverse_cuthill_mckee": is_order,
    "shortest_path": is_path,
    "sample_neighbors": is_part,
    "strongly_connected_components": names_groups,
    "swap_edges": keeps_degrees,
    "voterank": names_some,
}
# Random sources, and the first of equal entries.
BY_CHANCE = {"betweenness_centrality": "samples", "common_neighbors": "top"}
# Results with vertices in lists and numbers of Python, which are rows where the call has rows.
ROWS = {"lowest_common_ancestor"}


def sampled(of: str, population: Any, count: int) -> list[Any]:
    """The rows of a product for `parametrize`, of which the short tier takes some."""
    rows = list(population)
    sample = sampling.draw(of, rows, count)
    return [
        pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=sampling.marks(row, sample, pytest.mark.wide))
        for row in rows
    ]


@pytest.mark.costly
@pytest.mark.parametrize("name", sampled("names of results", FUNCTIONS, 16))
def test_results_do_not_depend_on_the_numbering(name: str) -> None:
    results = 0
    for kind in GRAPHS:
        A = graph(kind)
        B = A.permute(ORDER)
        assert A.labels is not None
        assert B.labels is not None
        for call in calls(name):
            if BY_CHANCE.get(name) in call.given:
                continue
            named = Call(name, by_name(A, call.given))
            found, expected = result_of(named, B), result_of(named, A)
            if isinstance(found, type) or isinstance(expected, type):
                assert found is expected, (kind, call)
                continue
            results += 1
            if name in CHOICES:
                assert CHOICES[name](A, expected), (kind, call)
                assert CHOICES[name](B, found), (kind, call)
                continue
            for part, value in expected.items():
                if name in ROWS:
                    assert found[part] == vertex_of(A)(value), (kind, call)
                else:
                    assert found[part] == pytest.approx(value), (kind, call, part)
    assert results


def listings(names: list[str]) -> dict[str, Any]:
    """Several vertices in every form."""
    made: dict[str, Any] = {
        "list": names,
        "tuple": tuple(names),
        "array": np.array(names),
        "objects": np.array(names, object),
    }
    for library, column in (("pandas", "Series"), ("polars", "Series"), ("pyarrow", "array")):
        try:
            made[library] = getattr(__import__(library), column)(names)
        except ImportError:
            continue
    if "pandas" in made:
        made["filtered"] = made["pandas"].set_axis(range(5, 5 + len(names)))
        made["categories"] = made["pandas"].astype("category")
    return made


SEVERAL = [
    (name, parameter)
    for name, function in FUNCTIONS.items()
    for parameter, its in inspect.signature(function).parameters.items()
    if "Vertices" in str(its.annotation) or (name == "bfs_levels" and parameter == "source")
]
ONE = [
    (name, parameter)
    for name, function in FUNCTIONS.items()
    for parameter, its in inspect.signature(function).parameters.items()
    if "Vertex" in str(its.annotation).split(" | ") or parameter in ("personalization", "source")
    if (name, parameter) != ("google_matrix", "personalization")
]
VALUED = [
    (name, parameter)
    for name, function in FUNCTIONS.items()
    for parameter, its in inspect.signature(function).parameters.items()
    if "Values" in str(its.annotation)
    or (name, parameter) in (("pagerank", "personalization"), ("pagerank", "dangling"))
]


def test_every_vertex_is_a_parameter_of_these_tests() -> None:
    """By the names of parameters: a new one of vertices is annotated as such, and so translated."""
    tested = {*SEVERAL, *ONE, *VALUED}
    for name, function in FUNCTIONS.items():
        for parameter in inspect.signature(function).parameters:
            if parameter in (*VERTICES, "beta", "dangling", "labels", "order", "personalization", "start"):
                assert (name, parameter) in tested, (name, parameter)
    assert [len(part) > 10 for part in (SEVERAL, ONE, VALUED)] == [True] * 3


def one_call(name: str, parameter: str, value: Any) -> Call:
    return Call(name, {**calls(name)[0].given, parameter: value if not callable(value) else lambda A: value})


def kind_of(name: str) -> str:
    """A graph on which the function has a result."""
    return next(kind for kind in GRAPHS if not isinstance(result_of(calls(name)[0], graph(kind)), type))


def assert_same(name: str, parameter: str, given: Any, rows: Any, what: str = "") -> None:
    A, plain = graph(kind_of(name)), graph(kind_of(name), labeled=False)
    call, other = one_call(name, parameter, given), one_call(name, parameter, rows)
    expected = outcome(other, plain)
    assert not isinstance(expected, type), expected
    found = outcome(call, A)
    if isinstance(found, dict) and name in {*ROWS, "k_shortest_paths", "shortest_path"}:
        found = {path: NAMES.index(part) if isinstance(part, str) else part for path, part in found.items()}
    wrong = differences(call, found, expected)
    assert not wrong, f"{name}({parameter}={what or given}): {wrong}"


@pytest.mark.costly
@pytest.mark.parametrize(("name", "parameter"), sampled("names in arguments", SEVERAL, 5))
def test_several_names_are_rows(name: str, parameter: str) -> None:
    rows = [5, 0, 3, 1, 6, 2, 4] if parameter == "order" else [5, 0, 3]
    for what, names in listings([NAMES[row] for row in rows]).items():
        assert_same(name, parameter, names, rows, what)
    assert_same(name, parameter, {NAMES[row] for row in rows}, sorted(rows))
    assert_same(name, parameter, frozenset(rows), sorted(rows))


@pytest.mark.parametrize(("name", "parameter"), sampled("names in arguments", ONE, 8))
def test_a_name_is_a_row(name: str, parameter: str) -> None:
    assert_same(name, parameter, "eve", 3)
    assert_same(name, parameter, np.str_("eve"), 3)


@pytest.mark.parametrize(("name", "parameter"), sampled("names in arguments", VALUED, 5))
def test_a_mapping_of_vertices_is_a_vector(name: str, parameter: str) -> None:
    """By rows without labels, by names or rows with them; missing vertices are missing entries."""
    plain = graph(kind_of(name), labeled=False)
    full: dict[int, Any] = {v: v // 2 * 2 if parameter == "labels" else v + 1.0 for v in range(len(NAMES))}
    if parameter == "start" and name == "connected_components":
        full = sr.algorithms.connected_components(plain).to_dict()
    whole = parameter == "labels" or name == "connected_components"
    part = full if whole else {v: full[v] for v in (5, 0, 3)}
    for values in (full, part):
        v = Vector.from_coo(list(values), list(values.values()), size=len(NAMES))
        mapping = one_call(name, parameter, values)
        assert not differences(mapping, outcome(mapping, plain), outcome(one_call(name, parameter, v), plain))
        assert_same(name, parameter, values, v)
        assert_same(name, parameter, {NAMES[row]: x for row, x in values.items()}, v)
    if parameter == "labels":
        assert_same(
            name, parameter, {NAMES[v]: NAMES[x] for v, x in full.items()}, Vector.from_dense(list(full.values()))
        )


@pytest.mark.parametrize(("name", "parameter"), sampled("names in errors", sorted({*SEVERAL, *ONE, *VALUED}), 12))
def test_errors_begin_with_the_function(name: str, parameter: str) -> None:
    A, plain = graph(kind_of(name)), graph(kind_of(name), labeled=False)
    wrong: list[Any] = []
    if (name, parameter) in ONE:
        wrong += ["evee"]
    if (name, parameter) in SEVERAL:
        wrong += [["evee"], {"evee"}, np.array(["evee", "eve"])]
    if (name, parameter) in VALUED:
        wrong += [{"evee": 1}]
        mistaken = [{"eve": 1, 3: 2}, {"eve": object()}]
        for given in mistaken:
            with pytest.raises(InvalidValue, match=f"^{name}: {parameter}: "):
                one_call(name, parameter, given)(A)
    for given in wrong:
        with pytest.raises(
            InvalidValue, match=f"^{name}: {parameter}: no vertex is labeled 'evee'; did you mean 'eve'"
        ):
            one_call(name, parameter, given)(A)
        with pytest.raises(InvalidValue, match=f"^{name}: .*evee.*labels of the graph, and A.labels is None"):
            one_call(name, parameter, given)(plain)


def test_a_row_that_is_a_label_is_out_of_bounds_with_a_hint() -> None:
    A = Matrix.from_edgelist([(70, 80), (80, 90)], relabel=True)
    for given in (90, [0, 90]):
        with pytest.raises(IndexOutOfBound, match=r"^sssp: .*; 90 is a label, of the row A.labels.row\(90\)$"):
            sr.algorithms.sssp(A, given)
    with pytest.raises(IndexOutOfBound, match=r"matrix of 3 rows$"):
        sr.algorithms.sssp(A, 91)


def test_messages_name_vertices() -> None:
    A = Matrix.from_edgelist([("ann", "bob", 1), ("bob", "eve", -3), ("eve", "bob", 1)], relabel=True)
    with pytest.raises(NegativeCycle, match="can be reached from 'ann': 'bob' -> 'eve' -> 'bob'") as caught:
        sr.algorithms.sssp(A, "ann")
    assert (caught.value.vertex, caught.value.cycle) == (1, (1, 2))
    with pytest.raises(NegativeCycle, match="from 0: 1 -> 2 -> 1"):
        sr.algorithms.sssp(A.dup().unlabeled(), 0)
    with pytest.raises(GraphProperty, match="two_coloring: vertex 'bob' is on a closed walk"):
        sr.algorithms.two_coloring(
            Matrix.from_edgelist([("bob", "ann"), ("ann", "eve"), ("eve", "bob")], relabel=True, symmetric=True)
        )


def test_several_seeds_name_the_rows_of_the_ranks() -> None:
    A = graph("directed")
    seeds = Matrix.from_coo([0, 1], [2, 5], [1.0, 1.0], shape=(2, A.nrows))
    seeds.row_labels = Labels(["first", "second"])
    ranks = sr.algorithms.pagerank(A, personalization=seeds)
    assert (ranks.row_labels, ranks.column_labels) == (seeds.row_labels, A.labels)


def test_states_of_an_automaton_are_no_vertices() -> None:
    A = Matrix.from_edgelist([("ann", "bob"), ("bob", "eve")], relabel=True)
    step = Matrix.from_edgelist([(0, 1)], nrows=2, ncols=2)
    for sources in ("ann", ["ann"]):
        found = sr.algorithms.regular_path_query({"e": A}, {"e": step}, 0, 1, sources)
        assert found.labels is not None
        assert found.labels.to_dict(found) == {"bob": True}
    with pytest.raises(InvalidValue, match=r"^regular_path_query: .*'ann'"):
        sr.algorithms.regular_path_query({"e": A}, {"e": step}, "ann", 1, 0)  # type: ignore[arg-type]
    other = Matrix.from_edgelist([("x", "y"), ("y", "z")], relabel=True)
    assert sr.algorithms.regular_path_query({"e": A, "f": other}, {"e": step}, 0, 1, 0).labels is None


def test_rows_and_columns_with_different_labels_are_no_vertices() -> None:
    A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)])
    A.row_labels, A.column_labels = Labels(["ann", "bob", "eve"]), Labels(["tea", "milk", "rice"])
    assert sr.algorithms.pagerank(A).labels is None
    assert sr.algorithms.cosine(A, A).row_labels == A.row_labels
    with pytest.raises(InvalidValue, match=r"^sssp: .*A\.labels is None"):
        sr.algorithms.sssp(A, "ann")
