"""Other programs that do the same work, called on the same graph where they are installed.

Each program has calls by kernel: ``call(argument)``, and a number of its result that must be that of ours: how many
vertices are reached, components or triangles there are, the sum of distances or coefficients, the largest rank or
dependency.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

import semiring as sr
from semiring.bridges.bench.measuring import Contender, Samples, compare

# NetworkX takes tens of seconds on more entries, and is called once.
NETWORKX, NETWORKX_ENTRIES = "NetworkX", 2_500_000
# How often other programs are called, in turns with ours.
_CALLS: Final = 4
_AGREEMENT: Final = 1e-3

Calls = dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]


def module(name: str) -> Any:
    """Return an optional module; None if it is not installed."""
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def edges_of(A: sr.Matrix) -> Any:
    """Return the edges, one row each; of a symmetric matrix each edge once."""
    rows, columns, _ = _once(A).to_coo(device="cpu")
    return np.stack([rows, columns], 1)


def weights_of(A: sr.Matrix) -> Any:
    """Return the weights of `edges_of` a matrix, as float64."""
    return np.asarray(_once(A).to_coo(device="cpu")[2], np.float64)


def _once(A: sr.Matrix) -> sr.Matrix:
    return A.select("tril", -1) if A.is_symmetric_structure else A.select("offdiag")


def igraph_graph(A: sr.Matrix, *, directed: bool = False, most: float = float("inf")) -> Any:
    """Return the graph in igraph, without weights; None without igraph, or if A has more entries than `most`."""
    igraph = module("igraph") if A.nvals <= most else None
    return igraph and igraph.Graph(n=A.nrows, edges=edges_of(A), directed=directed)


def networkx_graph(
    A: sr.Matrix, weights: Any = None, *, directed: bool = False, most: float = NETWORKX_ENTRIES
) -> tuple[Any, Any]:
    """Return the module and the graph of NetworkX; None and None if A has more entries than `most`."""
    nx = module("networkx") if A.nvals <= most else None
    if nx is None:
        return None, None
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_nodes_from(range(A.nrows))
    edges = edges_of(A)
    if weights is None:
        G.add_edges_from(edges.tolist())
    else:
        G.add_weighted_edges_from(zip(*edges.T.tolist(), weights.tolist(), strict=True))
    return nx, G


def scipy_matrix(A: sr.Matrix, dtype: Any = np.float64) -> Any:
    """Return the matrix in SciPy, with values of that type; of float64, others are converted in every call."""
    from scipy.sparse import csr_array

    indptr, indices, values = A.to_csr(index_dtype=None, device="cpu")
    return csr_array((np.asarray(values, dtype), indices, indptr), shape=A.shape)


def scipy_search(A: sr.Matrix, dtype: Any) -> Callable[[int], Any]:
    """Return SciPy's `breadth_first_order` on the same arrays: the order in which rows are reached."""
    from scipy.sparse.csgraph import breadth_first_order

    graph = scipy_matrix(A.apply("one"), dtype)
    return lambda source: breadth_first_order(graph, source, return_predecessors=False)


def graphblas_available() -> bool:
    """Return whether python-graphblas is installed."""
    return importlib.util.find_spec("graphblas") is not None


def graphblas() -> Any:
    """Return the module of python-graphblas."""
    return importlib.import_module("graphblas")


def graphblas_matrix(A: sr.Matrix, values: Any) -> Any:
    """Return the same arrays as a python-graphblas Matrix."""
    indptr, indices, _ = A.to_csr(index_dtype=None, device="cpu")
    return graphblas().Matrix.from_csr(indptr, indices, values, ncols=A.ncols)


def graphblas_search(A: sr.Matrix) -> Callable[[int], Any]:
    """Return the six lines of `examples/bfs_six_lines.py` in python-graphblas."""
    gb = graphblas()
    graph = graphblas_matrix(A, True)

    def levels(source: int) -> Any:
        level = gb.Vector(np.int32, graph.nrows)
        frontier = gb.Vector.from_coo([source], True, size=graph.nrows)
        depth = 0
        while frontier.nvals:
            level(frontier.S) << depth
            frontier(~level.S, replace=True) << frontier.vxm(graph, gb.semiring.any_pair)
            depth += 1
        return level

    return levels


def _graphblas(A: sr.Matrix) -> Calls:
    gb = graphblas()
    calls: Calls = {"bfs": (graphblas_search(A), lambda found: found.nvals)}
    if A.is_symmetric_structure:
        lower = A.select("tril", -1)
        L = graphblas_matrix(lower, np.int64(1))

        def triangles(_: Any) -> Any:
            C = gb.Matrix(np.int64, *A.shape)
            C(L.S) << L.mxm(L.T, gb.semiring.plus_pair)
            return C.reduce_scalar().new().value

        calls["tc"] = triangles, float
    return calls


def _scipy(A: sr.Matrix) -> Calls:
    from scipy.sparse import csgraph

    S = scipy_matrix(A)
    return {
        "bfs": (lambda source: csgraph.breadth_first_order(S, source), lambda found: found[0].size),
        "sssp": (lambda source: csgraph.dijkstra(S, indices=source), finite_sum),
        "cc": (lambda _: csgraph.connected_components(S, connection="weak"), lambda found: found[0]),
    }


def _networkx(A: sr.Matrix) -> Calls:
    undirected = A.is_symmetric_structure
    nx, G = networkx_graph(A, weights_of(A), directed=not undirected)
    if nx is None:
        return {}
    once = 2 if undirected else 1  # pairs of vertices count once on undirected graphs
    calls: Calls = {
        "bfs": (lambda source: dict(nx.bfs_predecessors(G, source)), lambda found: len(found) + 1),
        "sssp": (partial(nx.single_source_dijkstra_path_length, G), lambda found: sum(found.values())),
        "pr": (lambda _: nx.pagerank(G, tol=1e-4 / A.nrows, weight=None), lambda found: max(found.values())),
        "cc": (
            lambda _: list(nx.weakly_connected_components(G) if not undirected else nx.connected_components(G)),
            len,
        ),
        "bc": (
            lambda sources: nx.betweenness_centrality_subset(G, sources, list(G)),
            lambda found: once * max(found.values()),
        ),
    }
    if undirected:
        calls["tc"] = (lambda _: sum(nx.triangles(G).values()) // 3, float)
        calls["lcc"] = (lambda _: nx.clustering(G), lambda found: sum(found.values()))
    return calls


def _igraph(A: sr.Matrix) -> Calls:
    undirected = A.is_symmetric_structure
    G = igraph_graph(A, directed=not undirected)
    weights = weights_of(A)
    once = 2 if undirected else 1
    calls: Calls = {
        "bfs": (lambda source: G.bfs(source, mode="out"), lambda found: len(found[0])),
        "sssp": (lambda source: G.distances([source], weights=weights, mode="out")[0], finite_sum),
        "pr": (lambda _: G.pagerank(), max),
        "cc": (lambda _: G.connected_components(mode="weak"), len),
        "bc": (lambda sources: G.betweenness(sources=sources), lambda found: once * max(found)),
    }
    if undirected:
        calls["tc"] = (lambda _: G.list_triangles(), len)
        calls["lcc"] = (lambda _: G.transitivity_local_undirected(mode="zero"), sum)
    return calls


def _networkit(A: sr.Matrix) -> Calls:
    nk = module("networkit")
    undirected = A.is_symmetric_structure
    G = nk.GraphFromCoo((weights_of(A), tuple(edges_of(A).T)), n=A.nrows, weighted=True, directed=not undirected)
    components = nk.components.ConnectedComponents if undirected else nk.components.WeaklyConnectedComponents
    calls: Calls = {
        "bfs": (lambda source: nk.distance.BFS(G, source, storePaths=False).run(), lambda run: _reached(run)[0]),
        "sssp": (lambda source: nk.distance.Dijkstra(G, source, storePaths=False).run(), lambda run: _reached(run)[1]),
        "cc": (lambda _: components(G).run(), lambda run: run.numberOfComponents()),
    }
    if undirected:
        coefficient = nk.centrality.LocalClusteringCoefficient
        calls["lcc"] = (lambda _: coefficient(G, turbo=True).run(), lambda run: sum(run.scores()))
    return calls


def _reached(run: Any) -> tuple[int, float]:
    """Return how many vertices NetworKit has reached, and the sum of their distances; others are at 1.8e308."""
    found = np.asarray(run.getDistances())
    found = found[found < 1e300]
    return int(found.size), float(found.sum())


def _cugraph(A: sr.Matrix) -> Calls:
    cugraph, cudf = module("cugraph"), module("cudf")
    undirected = A.is_symmetric_structure
    rows, columns, values = A.to_coo()
    frame = cudf.DataFrame({"source": rows, "target": columns, "weight": values.astype(np.float32)})
    G = cugraph.Graph(directed=True)
    G.from_cudf_edgelist(frame, source="source", destination="target", edge_attr="weight", renumber=False)

    def reached(found: Any) -> Any:
        return found[found["distance"] < np.float32(1e30)]["distance"]

    calls: Calls = {
        "bfs": (lambda source: cugraph.bfs(G, source), lambda found: int((found["predecessor"] >= 0).sum()) + 1),
        "sssp": (lambda source: cugraph.sssp(G, source), lambda found: float(reached(found).sum())),
        "pr": (lambda _: cugraph.pagerank(G, tol=1e-4), lambda found: float(found["pagerank"].max())),
        "cc": (lambda _: cugraph.weakly_connected_components(G), lambda found: int(found["labels"].nunique())),
    }
    if undirected:
        calls["tc"] = (lambda _: cugraph.triangle_count(G), lambda found: int(found["counts"].sum()) // 3)
    return calls


#: Name -> its module, the most entries that it is called on, and its calls.
PROGRAMS: Final[dict[str, tuple[str, float, Callable[[sr.Matrix], Calls]]]] = {
    "SciPy": ("scipy", math.inf, _scipy),
    "python-graphblas": ("graphblas", math.inf, _graphblas),
    "igraph": ("igraph", 5e7, _igraph),
    "NetworKit": ("networkit", 2e8, _networkit),
    "cuGraph": ("cugraph", math.inf, _cugraph),
    NETWORKX: ("networkx", NETWORKX_ENTRIES, _networkx),
}


def missing() -> list[str]:
    """Return the programs that are not installed."""
    return [name for name, (package, _, _) in PROGRAMS.items() if importlib.util.find_spec(package) is None]


def programs(A: sr.Matrix) -> dict[str, Calls]:
    """Return the calls of the installed programs on a graph, which they store as their own."""
    installed = {name: row for name, row in PROGRAMS.items() if name not in missing()}
    return {name: calls(A) for name, (_, most, calls) in installed.items() if A.nvals <= most}


def finite_sum(found: Any) -> float:
    """Return the sum of the numbers that are finite."""
    found = np.asarray(found)
    return float(found[np.isfinite(found)].sum())


def beside(
    kernel: str,
    ours: Contender,
    number: Callable[[Any], Any],
    others: Mapping[str, Calls],
    arguments: Sequence[Any],
    device: str,
) -> tuple[Samples, dict[str, Samples], list[str]]:
    """Time ours on all arguments, and other programs in turns with it on the first four, NetworkX on the first.

    Returns the times of ours, of the programs whose results agree with it, and the names of those whose do not.
    """
    expected: dict[str, float] = {}
    differ: set[str] = set()

    def check_ours(argument: Any, result: Any) -> None:
        ours.check(argument, result)
        expected[repr(argument)] = float(number(result))

    def check_other(name: str, number: Callable[[Any], Any], argument: Any, result: Any) -> None:
        if not math.isclose(float(number(result)), expected[repr(argument)], rel_tol=_AGREEMENT):
            differ.add(name)

    own = Contender(ours.call, check_ours, ours.prepare)
    calls = {name: known[kernel] for name, known in others.items() if kernel in known}
    made = {name: Contender(call, partial(check_other, name, counted)) for name, (call, counted) in calls.items()}
    slow = {NETWORKX: made.pop(NETWORKX)} if NETWORKX in made else {}
    first = arguments[: _CALLS if calls else len(arguments)]
    times = compare({"": own, **made}, first, device)
    mine = times.pop("")
    if len(arguments) > len(first):
        rest = compare({"": own}, arguments[len(first) :], device)[""]
        mine = Samples(mine.wall_ms + rest.wall_ms, mine.device_ms + rest.device_ms)
    if slow:
        times |= compare(slow, arguments[:1], device)
    return mine, {name: samples for name, samples in times.items() if name not in differ}, sorted(differ)
