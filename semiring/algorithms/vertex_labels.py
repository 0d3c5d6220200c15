"""Names of vertices in algorithms: as arguments, and on the axes and the values of results.

An algorithm computes with row numbers and without labels.  `named` gives it those of the names in its arguments, and
labels what it returns by the entry of the function in `RESULTS`.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from semiring import Labels, Matrix, Vector
from semiring.exceptions import ConvergenceFailure, InvalidValue

P = ParamSpec("P")
R = TypeVar("R")

# Parameters that name vertices, and those that give vertices values, where a mapping may have names as keys.
_VERTICES = frozenset({"source", "sources", "starts", "target", "u", "v", "vertices"})
_VALUED = frozenset({"beta", "dangling", "personalization", "start"})

# What the axes of a result are, a letter for each, and behind ">" its values, where these are vertices too:
#   v  the vertices of the graph: its rows, and on the right axis of a result of two different ones its columns
#   c  its columns
#   s  the vertices that the parameter for sources names, in that order; "x" those of `vertices`
#   k  the vertices of the first part of the result
#   .  anything else
# A number, or a list of numbers, has no axes: ">v" where they are vertices.
# Alternatives for Vectors and matrices are separated by "|"; parts of tuples are in order, parts of records by name.
RESULTS: dict[str, Any] = {
    "adamic_adar": "vv",
    "all_pairs": "vv",
    "ancestors": "v",
    "articulation_points": "v",
    "average_neighbor_degree": "v",
    "betweenness": "v",
    "bfs_layers": "v",
    "bfs_levels": "v|sv",
    "bfs_order": ".>v",
    "bfs_parents": "v>v",
    "bfs_trace": {"levels": "v"},
    "biconnected_components": {"edges": "vv", "heads": ".>v", "articulation_points": "v"},
    "bridges": "vv",
    "cdlp": "v>v",
    "closeness": "v",
    "clustering": "v",
    "coarsen": "..",
    "colouring": "v",
    "common_neighbors": "vv",
    "complement": "vv",
    "condensation": {"component": "v", "representative": ".>v"},
    "connected_components": "v>v",
    "context_free_path_query": "vv",
    "core_numbers": "v",
    "cosine": "vv",
    "degree_centrality": "v",
    "degree_order": ".>v",
    "degrees": "v",
    "descendants": "v",
    "eccentricity": "v",
    "edge_betweenness": "vv",
    "edge_boundary": "vv",
    "edge_triangles": "vv",
    "ego_graph": ("v", "kk"),
    "eigenvector_centrality": "v",
    "ensemble_clustering": {"labels": "v", "levels": "v"},
    "fiedler_vector": {"vector": "v"},
    "generalized_degree": "v.",
    "google_matrix": "vv",
    "graphlet_degrees": "v.",
    "harmonic": "v",
    "hits": {"hubs": "v", "authorities": "v"},
    "in_degree_centrality": "v",
    "incidence_matrix": {"matrix": "v.", "tails": ".>v", "heads": ".>v"},
    "induced_subgraph": "xx",
    "isolates": "v",
    "jaccard": "vv",
    "k_core": "vv",
    "k_shortest_paths": {"vertices": ">v"},
    "k_truss": "vv",
    "katz_centrality": "v",
    "label_propagation": "v>v",
    "laplacian": {"matrix": "vv", "degrees": "v"},
    "lcc": "v",
    "leiden": {"labels": "v", "levels": "v"},
    "line_graph": {"tails": ".>v", "heads": ".>v"},
    "local_efficiency": "v",
    "locality_order": ".>v",
    "longest_paths": "v",
    "louvain": {"labels": "v", "levels": "v"},
    "lowest_common_ancestor": ">v",
    "lowest_common_ancestors": "v",
    "markov_clustering": "v",
    "maximal_independent_set": "v",
    "maximal_matching": "v>v",
    "maximum_bipartite_matching": "v>c",
    "maximum_flow": {"flow": "vv", "source_side": "v"},
    "minimum_spanning_forest": "vv",
    "modularity_matrix": "vv",
    "most_reliable_paths": "v",
    "node2vec_walks": "..>v",
    "node_boundary": "v",
    "number_of_walks": "vv",
    "out_degree_centrality": "v",
    "overlap": "vv",
    "pagerank": "v|sv",
    "peer_pressure": "v",
    "random_walks": "..>v",
    "regular_path_query": "v",
    "resource_allocation": "vv",
    "reverse_cuthill_mckee": ".>v",
    "sample_neighbors": "vv",
    "shortest_path": ">v",
    "square_clustering": "v",
    "sssp": "v|sv",
    "sssp_parents": {"distance": "v", "parent": "v>v"},
    "strongly_connected_components": "v>v",
    "swap_edges": "vv",
    "topological_generations": "v",
    "topological_order": ".>v",
    "transitive_closure": "vv",
    "triangle_centrality": "v",
    "triangles": "v",
    "truss_numbers": "vv",
    "two_colouring": "v",
    "vertex_reciprocity": "v",
    "voterank": "v",
    "widest_paths": "v|sv",
}


def named(name: str, function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, which accepts the names of the vertices of its graph, and whose results have them."""
    parameters = list(inspect.signature(function).parameters)
    translated = [at for at in parameters if at in _VERTICES or at in _VALUED]
    spec = RESULTS.get(name)
    if spec is None and not translated:
        return function
    first = parameters[0]

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        A: Any = args[0] if args else kwargs.get(first)
        labels = _labels_of(A)
        if labels is None:
            return function(*args, **kwargs)
        given: dict[str, Any] = {**dict(zip(parameters, args, strict=False)), **kwargs}
        given[first] = {key: B.unlabelled() for key, B in A.items()} if isinstance(A, Mapping) else A.unlabelled()
        for parameter in translated:
            if parameter in given:
                given[parameter] = _translated(name, parameter, given[parameter], labels[0])
        try:
            result = function(**given)  # type: ignore[call-arg]
        except ConvergenceFailure as error:
            _label(error.result, spec, labels, given)
            raise
        _label(result, spec, labels, given)
        return result

    return called


def vertices_of(function: str, part: str | int, ndim: int) -> tuple[bool, ...]:
    """Return which axes of a part of a function's result are vertices, and last whether its values are.

    part: the name in a record, the number in a tuple; of no account in other results.  ndim: 0 for a number, or a list.
    """
    spec = RESULTS.get(function, "")
    if not isinstance(spec, str):
        spec = spec.get(part, "") if isinstance(spec, dict) else spec[part]
    axes, values = _of_dimension(spec, ndim)
    return (*(letter != "." for letter in axes.ljust(ndim, ".")), values != "")


def _of_dimension(spec: str, ndim: int) -> tuple[str, str]:
    """Return the axes and the values of the alternative of a specification with that many axes."""
    for axes, _, values in (part.partition(">") for part in spec.split("|")):
        if len(axes) == ndim:
            return axes, values
    return "", ""


def _labels_of(A: Any) -> tuple[Labels | None, ...] | None:
    """Return the labels of the rows and the columns of a graph, or of the first of several that has any."""
    if isinstance(A, Matrix):
        rows, columns = A.row_labels, A.column_labels
        return None if rows is None and columns is None else (rows, columns)
    if isinstance(A, Mapping):
        return next((found for B in A.values() if (found := _labels_of(B)) is not None), None)
    return None


def _translated(name: str, parameter: str, value: Any, labels: Labels | None) -> Any:
    try:
        if labels is None:
            return value
        if isinstance(value, Mapping):
            return {labels.index(key): x for key, x in value.items()}
        return labels.index(value)
    except InvalidValue as error:
        raise InvalidValue(f"{name}: {parameter}: {error}") from None


def _label(result: Any, spec: Any, labels: tuple[Labels | None, ...], given: dict[str, Any]) -> None:
    """Set the labels of a result by its specification."""
    if spec is None or result is None or spec == ">v":
        return
    if isinstance(result, (Vector, Matrix)):
        _set(result, spec, labels, given, None)
    elif isinstance(result, Mapping):
        for part in result.values():
            _label(part, spec, labels, given)
    elif isinstance(spec, tuple):
        for part, its in zip(result, spec, strict=True):
            _set(part, its, labels, given, result[0])
    elif isinstance(spec, dict) and (dataclasses.is_dataclass(result) or isinstance(result, tuple)):
        for field, its in spec.items():
            _label(getattr(result, field), its, labels, given)
    elif isinstance(result, (list, tuple)):
        for part in result:
            _label(part, spec, labels, given)


def _set(result: Any, spec: str, labels: tuple[Labels | None, ...], given: dict[str, Any], first: Any) -> None:
    axes, values = _of_dimension(spec, result.ndim)
    rows, columns = labels
    of = {"v": rows, "c": columns}
    if "k" in axes:
        of["k"] = None if rows is None else rows.take(first.to("cpu").to_coo()[0])
    for letter, parameter in (("s", ("source", "personalization")), ("x", ("vertices",))):
        if letter in axes:
            of[letter] = _chosen(rows, next((given[p] for p in parameter if p in given), None))
    for axis, letter in enumerate(axes):
        if (found := of.get(letter)) is not None and len(found) == result.shape[axis]:
            setattr(result, "labels" if result.ndim == 1 else ("row_labels", "column_labels")[axis], found)
    if values:
        result.value_labels = of[values]


def _chosen(labels: Labels | None, vertices: Any) -> Labels | None:
    """Return the labels of the vertices of an argument; None if one occurs twice, or they are not listed."""
    if isinstance(vertices, Vector):
        vertices = vertices.to("cpu").to_coo()[0]
    elif isinstance(vertices, Matrix) or vertices is None:
        return None
    if labels is None or not hasattr(vertices, "__len__"):
        return None
    rows = np.asarray(vertices.get() if hasattr(vertices, "get") else vertices)
    return labels.take(rows) if rows.size and len(np.unique(rows)) == rows.size else None
