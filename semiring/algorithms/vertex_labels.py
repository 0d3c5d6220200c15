"""Names of vertices in algorithms: as arguments, and on the axes and the values of results.

An algorithm computes with row numbers and without labels.  `named` gives it those of the names in its arguments, and
labels what it returns by the entry of the function in `RESULTS`.  Numbers and lists of Python, which carry no
labels, hold names if an argument was one.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Set
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from semiring import Labels, Matrix, Vector
from semiring.exceptions import ConvergenceFailure, IndexOutOfBound, InvalidValue, SemiringError
from semiring.renamed import KEYWORDS, keyword_error

P = ParamSpec("P")
R = TypeVar("R")

# Parameters that are vertices, and those with a value for each vertex, where mappings may have names as keys; of labels
# of communities the values are vertices too.
_VERTICES = frozenset({"order", "personalization", "source", "sources", "starts", "target", "u", "v", "vertices"})
_VALUED = frozenset({"beta", "dangling", "labels", "personalization", "start"})

# What the axes of a result are, a letter for each, and behind ">" its values, where these are vertices too:
#   v  the vertices of the graph; none are named if its rows and its columns have different labels
#   r  its rows, and "c" its columns, of functions of rectangular matrices
#   s  the vertices that the parameter for sources names, in that order; "x" those of `vertices`
#   k  the vertices of the first part of the result
#   .  anything else
# A number, or a list of numbers, has no axes: ">v" where they are vertices, which are named as the call names its own.
# Alternatives for Vectors and matrices are separated by "|"; parts of tuples are in order, parts of records by name.
RESULTS: dict[str, Any] = {
    "adamic_adar": "rr",
    "all_pairs": "vv",
    "ancestors": "v",
    "articulation_points": "v",
    "average_neighbor_degree": "v",
    "betweenness_centrality": "v",
    "bfs_levels": "v|sv",
    "bfs_order": ".>v",
    "bfs_parents": "v>v",
    "bfs_trace": {"levels": "v"},
    "biconnected_components": {"edges": "vv", "heads": ".>v", "articulation_points": "v"},
    "bridges": "vv",
    "closeness_centrality": "v",
    "clustering": "v",
    "coarsen": "..",
    "coloring": "v",
    "common_neighbors": "rr",
    "complement": "vv",
    "condensation": {"component": "v", "representative": ".>v"},
    "connected_components": "v>v",
    "context_free_path_query": "vv",
    "core_numbers": "v",
    "cosine": "rr",
    "degree_centrality": "v",
    "degree_order": ".>v",
    "degrees": "v",
    "descendants": "v",
    "eccentricity": "v",
    "edge_betweenness_centrality": "vv",
    "edge_boundary": "vv",
    "edge_triangles": "vv",
    "ego_graph": ("v", "kk"),
    "eigenvector_centrality": "v",
    "ensemble_clustering": {"labels": "v", "levels": "v"},
    "fiedler_vector": {"vector": "v"},
    "generalized_degree": "v.",
    "google_matrix": "vv",
    "graphlet_degrees": "v.",
    "harmonic_centrality": "v",
    "hits": {"hubs": "v", "authorities": "v"},
    "in_degree_centrality": "v",
    "incidence_matrix": {"matrix": "v.", "tails": ".>v", "heads": ".>v"},
    "induced_subgraph": "xx",
    "isolates": "v",
    "jaccard": "rr",
    "k_core": "vv",
    "k_shortest_paths": {"vertices": ">v"},
    "k_truss": "vv",
    "katz_centrality": "v",
    "label_propagation": "v>v",
    "laplacian": {"matrix": "vv", "degrees": "v"},
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
    "maximum_bipartite_matching": "r>c",
    "maximum_flow": {"flow": "vv", "source_side": "v"},
    "minimum_spanning_forest": "vv",
    "modularity_matrix": "vv",
    "most_reliable_paths": "v",
    "node2vec_walks": "..>v",
    "node_boundary": "v",
    "number_of_walks": "vv",
    "out_degree_centrality": "v",
    "overlap": "rr",
    "pagerank": "v|sv",
    "peer_pressure": "v",
    "random_walks": "..>v",
    "regular_path_query": "v",
    "resource_allocation": "rr",
    "reverse_cuthill_mckee": ".>v",
    "sample_neighbors": "vv",
    "shortest_path": {"vertices": ">v"},
    "shortest_path_tree": {"distance": "v", "parent": "v>v"},
    "square_clustering": "v",
    "sssp": "v|sv",
    "sssp_parents": "v>v",
    "strongly_connected_components": "v>v",
    "swap_edges": "vv",
    "topological_generations": "v",
    "topological_order": ".>v",
    "transitive_closure": "vv",
    "triangle_centrality": "v",
    "triangles": "v",
    "truss_numbers": "vv",
    "two_coloring": "v",
    "vertex_reciprocity": "v",
    "voterank": "v",
    "widest_paths": "v|sv",
}


def named(name: str, function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, which accepts the names of the vertices of its graph, and whose results have them."""
    parameters = list(inspect.signature(function).parameters)
    translated = [at for at in parameters if at in _VERTICES or at in _VALUED]
    spec = RESULTS.get(name)
    if spec is None and not translated and name not in KEYWORDS:
        return function
    first = parameters[0]

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        A: Any = args[0] if args else kwargs.get(first)
        labels = _labels_of(A)
        try:
            return function(*args, **kwargs) if labels is None else with_names(A, labels, args, kwargs)
        except TypeError:
            if (error := keyword_error(name, kwargs)) is None:
                raise
        raise error

    def with_names(A: Any, labels: _Names, args: tuple[Any, ...], kwargs: dict[str, Any]) -> R:
        given: dict[str, Any] = {**dict(zip(parameters, args, strict=False)), **kwargs}
        given[first] = {key: B.unlabeled() for key, B in A.items()} if isinstance(A, Mapping) else A.unlabeled()
        by_name = False
        if labels.vertices is not None:
            for parameter in translated:
                if parameter in given:
                    its = given[parameter]
                    given[parameter] = _translated(name, parameter, its, labels.vertices)
                    by_name |= given[parameter] is not its and isinstance(given[parameter], int)
        try:
            result = function(**given)  # type: ignore[call-arg]
        except SemiringError as error:
            if isinstance(error, ConvergenceFailure):
                _label(error.result, spec, labels, given)
            if labels.vertices is not None:
                _name_vertices(error, labels.vertices)
            raise
        _label(result, spec, labels, given)
        return _listed(result, spec, labels.vertices) if by_name and labels.vertices is not None else result

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


class _Names(NamedTuple):
    """The labels of a graph: of its rows, of its columns, and those that both share."""

    rows: Labels | None
    columns: Labels | None
    vertices: Labels | None


def _labels_of(A: Any) -> _Names | None:
    """Return the labels of a graph, or those on which several agree; None if there are none."""
    if isinstance(A, Matrix):
        if A.unlabeled() is A:
            return None
        names = _Names(A.row_labels, A.column_labels, A.labels)
        return None if names.rows is None and names.columns is None else names
    if isinstance(A, Mapping):
        found = [its for its in map(_labels_of, A.values()) if its is not None]
        return found[0] if found and all(its == found[0] for its in found) else None
    return None


def _translated(name: str, parameter: str, value: Any, labels: Labels) -> Any:
    """Return an argument with row numbers in place of names."""
    try:
        if isinstance(value, Mapping) and parameter in _VALUED:
            found = {labels.index(key): labels.index(x) if parameter == "labels" else x for key, x in value.items()}
            if len(found) < len(value):
                raise InvalidValue("a vertex occurs twice, by its name and by its row")
            return found
        if parameter not in _VERTICES:
            return value
        if isinstance(value, Set):
            rows = labels.index(list(value))
            return np.sort(rows) if isinstance(rows, np.ndarray) else value
        return labels.index(value)
    except InvalidValue as error:
        raise InvalidValue(f"{name}: {parameter}: {error}") from None


def _name_vertices(error: SemiringError, labels: Labels) -> None:
    """Put names in place of the row numbers in a message; behind a row that is out of bounds, that it is a label."""
    if error.template is None:
        return
    text, vertices = error.template
    if isinstance(error, IndexOutOfBound):
        row = vertices[0]
        if row in labels:
            error.args = (f"{error}; {row} is a label, of the row A.labels.row({row})",)
    else:
        error.args = (text.format(*(repr(labels[vertex]) for vertex in vertices)),)


def _listed(result: Any, spec: Any, labels: Labels) -> Any:
    """Return a result with names in place of the vertices in numbers and lists of Python, if it has any."""
    if spec == ">v":
        if isinstance(result, list):
            return [labels[row] for row in result]
        return None if result is None else labels[result]
    if isinstance(spec, dict) and isinstance(result, list):
        return [_listed(part, spec, labels) for part in result]
    lists = [name for name, its in spec.items() if its == ">v"] if isinstance(spec, dict) and result is not None else []
    if lists:  # of a record
        return dataclasses.replace(result, **{name: _listed(getattr(result, name), ">v", labels) for name in lists})
    return result


def _label(result: Any, spec: Any, labels: _Names, given: dict[str, Any]) -> None:
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


def _set(result: Any, spec: str, labels: _Names, given: dict[str, Any], first: Any) -> None:
    axes, values = _of_dimension(spec, result.ndim)
    of: dict[str, Labels | None] = {"v": labels.vertices, "r": labels.rows, "c": labels.columns}
    if "k" in axes and labels.vertices is not None:
        of["k"] = labels.vertices.take(first.to("cpu").to_coo()[0])
    for letter, parameters in (("s", ("source", "personalization")), ("x", ("vertices",))):
        if letter in axes:
            of[letter] = _chosen(labels.vertices, next((given[p] for p in parameters if p in given), None))
    for axis, letter in enumerate(axes):
        if (found := of.get(letter)) is not None and len(found) == result.shape[axis]:
            setattr(result, "labels" if result.ndim == 1 else ("row_labels", "column_labels")[axis], found)
    if values:
        result.value_labels = of[values]


def _chosen(labels: Labels | None, vertices: Any) -> Labels | None:
    """Return the labels of the vertices of an argument; None if one occurs twice, or they are not listed."""
    if isinstance(vertices, Matrix):  # of seeds, a row for each result
        return vertices.row_labels
    if labels is None or vertices is None:
        return None
    if isinstance(vertices, Vector):
        vertices = vertices.to("cpu").to_coo()[0]
    elif isinstance(vertices, Set):
        vertices = sorted(vertices)
    rows = np.atleast_1d(np.asarray(vertices.get() if hasattr(vertices, "get") else vertices))
    return labels.take(rows) if rows.size and len(np.unique(rows)) == rows.size else None
