"""The other functions of `semiring.csgraph`: results of SciPy where they are unique, else their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph as theirs

import semiring as sr
from semiring import csgraph as ours
from semiring.bridges.csgraph import conversion, spanning
from semiring.exceptions import NotSupported
from semiring.memory.arrays import Transfers
from tests.csgraph.given import DRAWN, Array, formats, given, near, on_gpu, same, weights


@pytest.mark.parametrize("drawn", DRAWN)
def test_connected_components(drawn: Any) -> None:
    D = weights(*drawn)
    for graph in formats(D):
        for directed in (True, False):
            expected = theirs.connected_components(graph, directed)
            same(ours.connected_components(given(graph), directed), expected)
            assert ours.connected_components(given(graph), directed, return_labels=False) == expected[0]
    count, labels = near(ours.connected_components(given(sp.csr_array(D)), connection="Strong"))
    expected_count, expected_labels = theirs.connected_components(D, connection="strong")
    assert count == expected_count
    pairs = {(int(a), int(b)) for a, b in zip(labels, expected_labels, strict=True)}
    assert len(pairs) == count
    assert {a for a, _ in pairs} == set(range(count)) == {b for _, b in pairs}
    with pytest.raises(ValueError, match="connection must be 'weak' or 'strong'"):
        ours.connected_components(given(D), connection="both")


@pytest.mark.parametrize("drawn", DRAWN)
def test_breadth_first_orders_are_scipys(drawn: Any) -> None:
    D = weights(*drawn)
    for graph in formats(D):
        for directed in (True, False):
            if not directed and getattr(graph, "format", "") == "csc":
                continue  # SciPy transposes it, and so visits columns first
            for start in {0, D.shape[0] // 2}:
                same(
                    ours.breadth_first_order(given(graph), start, directed),
                    theirs.breadth_first_order(graph, start, directed),
                )
                same(
                    ours.breadth_first_tree(given(graph), start, directed),
                    theirs.breadth_first_tree(graph, start, directed),
                )
    with pytest.raises(ValueError, match="i_start"):
        ours.breadth_first_order(given(sp.csr_array(D)), D.shape[0])


@pytest.mark.parametrize("drawn", DRAWN)
def test_depth_first_orders(drawn: Any) -> None:
    S = sp.csr_array(weights(*drawn))
    same(ours.depth_first_order(given(S), 0), theirs.depth_first_order(S, 0))
    same(ours.depth_first_tree(given(S), 0), theirs.depth_first_tree(S, 0))


@pytest.mark.parametrize("drawn", DRAWN)
def test_minimum_spanning_trees(drawn: Any) -> None:
    D = weights(*drawn)
    for graph in formats(D):
        expected = theirs.minimum_spanning_tree(graph.copy())
        tree = near(ours.minimum_spanning_tree(given(graph)))
        assert tree.nnz == expected.nnz
        assert tree.sum() == expected.sum()
        of_tree = tree.toarray()
        assert ((of_tree == 0) | (of_tree == D)).all()
        count, labels = theirs.connected_components(tree, directed=False)
        assert (count, labels.tolist()) == (
            theirs.connected_components(D)[0],
            theirs.connected_components(D)[1].tolist(),
        )
        if not on_gpu():
            assert type(tree) is type(expected)


@pytest.mark.parametrize("seed", range(6))
def test_trees_from_the_lightest_edges(seed: int) -> None:
    if on_gpu():
        pytest.skip("a graph in host memory")
    rng = np.random.default_rng(seed)
    D = weights(60, 0.8, seed, *((0, 5) if seed == 0 else (1, 10_000)))
    # Some vertices have heavy edges alone, and some none.
    D[:9], D[:, :9] = D[:9] + 10_000 * (D[:9] > 0), D[:, :9] + 10_000 * (D[:, :9] > 0)
    D[20:25] = D[:, 20:25] = 0
    D[40, 41] = D[41, 40] = 0
    S = sp.csr_array(D)
    S.data[rng.integers(0, S.nnz, 5)] = 0.0  # edges, and no entries of the result
    expected, found = theirs.minimum_spanning_tree(S), spanning._filtered(S)
    assert type(found) is type(expected)
    assert (found.nnz, found.sum()) == (expected.nnz, expected.sum())
    assert ((found.toarray() == 0) | (found.toarray() == S.toarray())).all()
    assert theirs.connected_components(found)[0] == theirs.connected_components(expected)[0]


def test_a_tree_with_edges_of_weight_zero() -> None:
    S = sp.csr_array((np.array([0.0, 3.0, 2.0]), np.array([1, 2, 2]), np.array([0, 2, 3, 3])), shape=(3, 3))
    same(ours.minimum_spanning_tree(given(S)), theirs.minimum_spanning_tree(S))


LAPLACIANS = [
    {"normed": normed, "use_out_degree": out, "symmetrized": symmetrized}
    for normed in (False, True)
    for out in (False, True)
    for symmetrized in (False, True)
]


@pytest.mark.parametrize("keywords", LAPLACIANS, ids=str)
def test_laplacians(keywords: dict[str, bool]) -> None:
    D = weights(20, 0.2, 21)
    D[3] = D[:, 3] = 0
    for graph in (D, sp.csr_array(D), sp.csc_matrix(D), sp.coo_array(D), sp.csr_array(D + np.eye(20))):
        expected = theirs.laplacian(graph, return_diag=True, **keywords)
        same(ours.laplacian(given(graph), return_diag=True, **keywords), expected, exact=False)
        same(ours.laplacian(given(graph), **keywords), expected[0], exact=False)
        if isinstance(graph, np.ndarray) or graph.format == "csr":
            v = np.random.default_rng(1).random((20, 3))
            for form in ("function", "lo"):
                L, diagonal = ours.laplacian(given(graph), return_diag=True, form=form, **keywords)
                wide, thin = (
                    (near(L(given(v))), near(L(given(v[:, 0]))))
                    if form == "function"
                    else (
                        near(L.matmat(given(v))),
                        near(L.matvec(given(v[:, 0]))),
                    )
                )
                dense = expected[0] if isinstance(expected[0], np.ndarray) else expected[0].toarray()
                np.testing.assert_allclose(wide, dense @ v, atol=1e-12)
                np.testing.assert_allclose(thin, dense @ v[:, 0], atol=1e-12)
                np.testing.assert_allclose(near(diagonal), expected[1])
    with pytest.raises(ValueError, match="Invalid form"):
        ours.laplacian(given(D), form="list")
    with pytest.raises(ValueError, match="square"):
        ours.laplacian(given(D[:4]))


def test_laplacians_of_other_types() -> None:
    D = weights(8, 0.4, 22)
    if not on_gpu():
        same(ours.laplacian(D.astype(np.int32)), theirs.laplacian(D.astype(np.int32)))
        same(ours.laplacian(sp.csr_array(D.astype(int)), normed=True), theirs.laplacian(sp.csr_array(D), normed=True))
    looped = D.copy()
    looped[2, 2] = np.inf
    same(ours.laplacian(given(looped)), theirs.laplacian(looped))
    single = D.astype(np.float32)
    same(ours.laplacian(given(single), dtype=np.float64), theirs.laplacian(single, dtype=np.float64))


@pytest.mark.costly
@pytest.mark.parametrize("shape", [(12, 12), (9, 20), (20, 9), (5, 0), (0, 5)])
@pytest.mark.parametrize("density", [0.05, 0.2])
def test_matchings(shape: tuple[int, int], density: float) -> None:
    S = sp.random_array(shape, density=density, format="csr", rng=np.random.default_rng(3))
    size = int((theirs.maximum_bipartite_matching(S, "column") >= 0).sum())
    of_row, of_column = (near(ours.maximum_bipartite_matching(given(S), kind)) for kind in ("column", "row"))
    assert (of_row.dtype, of_row.shape, of_column.shape) == (np.int32, shape[:1], shape[1:])
    matched = np.flatnonzero(of_row >= 0)
    assert matched.size == size == (of_column >= 0).sum()
    assert np.unique(of_row[matched]).size == size
    stored = S.toarray() != 0
    assert all(stored[i, of_row[i]] for i in matched)
    assert all(stored[of_column[j], j] for j in np.flatnonzero(of_column >= 0))
    assert int(ours.structural_rank(given(S))) == int(theirs.structural_rank(S)) == size
    with pytest.raises(TypeError):
        ours.maximum_bipartite_matching(given(S.toarray()))


def test_full_matchings() -> None:
    S = sp.csr_array(weights(6, 0.8, 31))
    for rows, columns in (ours.min_weight_full_bipartite_matching(given(S)),):
        np.testing.assert_array_equal(near(rows), theirs.min_weight_full_bipartite_matching(S)[0])
        np.testing.assert_array_equal(near(columns), theirs.min_weight_full_bipartite_matching(S)[1])


@pytest.mark.wide  # a flow compiles many kernels
@pytest.mark.parametrize("seed", range(4))
def test_maximum_flows(seed: int) -> None:
    D = weights(15, 0.25, 40 + seed)
    S = sp.csr_array(D.astype(np.int32))
    expected = theirs.maximum_flow(S, 0, 14)
    found = ours.maximum_flow(given(S), 0, 14)
    assert found.flow_value == expected.flow_value
    flow = near(found.flow)
    assert flow.nnz == expected.flow.nnz
    dense = flow.toarray()
    np.testing.assert_array_equal(dense, -dense.T)
    assert (dense <= D).all()
    assert (dense[1:-1].sum(axis=1) == 0).all()
    assert dense[0].sum() == expected.flow_value == -dense[14].sum()
    for source, sink in ((0, 0), (-1, 3), (0, 15)):
        with pytest.raises(ValueError):  # noqa: PT011
            ours.maximum_flow(given(S), source, sink)
    with pytest.raises(ValueError, match="not supported"):
        ours.maximum_flow(given(S), 0, 1, method="other")
    with pytest.raises(TypeError, match="CSR"):
        ours.maximum_flow(given(S.tocsc()), 0, 1)
    with pytest.raises(ValueError, match="integer"):
        ours.maximum_flow(given(sp.csr_array(D / 2)), 0, 1)


@pytest.mark.wide
def test_a_flow_in_a_hypersparse_graph() -> None:
    n = 1 << 20
    S = sp.csr_array((np.array([5, 3, 4], np.int32), ([0, 7, 0], [7, n - 1, n - 1])), shape=(n, n))
    found = ours.maximum_flow(given(S), 0, n - 1)
    assert found.flow_value == 7
    flow = near(found.flow)
    assert (flow[0, 7], flow[n - 1, 7], flow[0, n - 1]) == (3, -3, 4)


@pytest.mark.parametrize("drawn", DRAWN)
def test_cuthill_mckee(drawn: Any) -> None:
    D = weights(*drawn)
    S = sp.csr_array(D)
    both = (D + D.T) != 0
    order = near(ours.reverse_cuthill_mckee(given(S)))[::-1]
    assert order.dtype == np.int32
    assert np.array_equal(np.sort(order), np.arange(D.shape[0]))
    degree = both.sum(axis=1)
    _, component = theirs.connected_components(sp.csr_array(both))
    place = np.empty(order.size, int)
    place[order] = np.arange(order.size)
    for label in range(component.max() + 1):
        members = order[component[order] == label]
        assert np.array_equal(np.diff(place[members]), np.ones(members.size - 1)), "a component is not in one piece"
        assert degree[members[0]] == degree[members].min()
        # A vertex follows its first neighbor in the order, and those of one such neighbor ascend by degree.
        first = [min(place[np.flatnonzero(both[v])]) for v in members[1:]]
        assert first == sorted(first)
        for one, other, here, there in zip(first, first[1:], members[1:], members[2:], strict=False):
            assert one != other or degree[here] <= degree[there]
    starts = [degree[order[component[order] == label][0]] for label in dict.fromkeys(component[order].tolist())]
    assert starts == sorted(starts)
    same(ours.reverse_cuthill_mckee(given(sp.csr_array(both * 1.0)), True), order[::-1].copy())
    with pytest.raises(TypeError, match=r"CSC or CSR|must be sparse"):
        ours.reverse_cuthill_mckee(given(D))


@pytest.mark.skipif(on_gpu(), reason="a graph in host memory")
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_an_order_has_the_type_of_the_indices(kind: type) -> None:
    S = sp.csr_array(weights(7, 0.3, 3))
    S.indices, S.indptr = S.indices.astype(kind), S.indptr.astype(kind)
    assert ours.reverse_cuthill_mckee(S).dtype == theirs.reverse_cuthill_mckee(S).dtype == kind


def outcome(function: Any, graph: Any) -> tuple[str, str]:
    try:
        result = function(graph)
    except Exception as error:  # each must be SciPy's
        return type(error).__name__, str(error)
    return type(result).__name__, str(result.dtype)


@pytest.mark.skipif(on_gpu(), reason="a graph in host memory")
@pytest.mark.filterwarnings("ignore:the matrix subclass", "ignore:Casting complex values")
@pytest.mark.parametrize("by_time", [True, pytest.param(False, marks=pytest.mark.costly)])
def test_errors_are_scipys(by_time: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs that SciPy's conversions refuse, also those large enough to be computed here."""
    monkeypatch.setattr(conversion.Policy, "by_time", by_time)
    n = 120
    dense = (np.arange(n * n).reshape(n, n) % 3).astype(float)
    sparse = sp.csr_array(np.ones((n, n)))
    graphs = [
        *(sparse.asformat(kind) for kind in ("csr", "csc", "coo", "lil", "dok", "bsr")),
        *(dense.astype(kind) for kind in (bool, np.int8, float, complex, object, "U3", "M8[s]")),
        *(np.zeros(shape) for shape in [(n, n + 1), (30, 30, 30), (n * n,)]),
        *(np.matrix(dense), np.ma.masked_equal(dense, 0), sp.csr_array((n, n + 1)), dense.tolist(), "graph", 3, None),
    ]
    for name in ("csgraph_from_dense", "csgraph_to_dense", "reverse_cuthill_mckee", "maximum_bipartite_matching"):
        for graph in graphs:
            if name == "reverse_cuthill_mckee" and sp.issparse(graph) and graph.shape != (n, n):
                continue  # ValueError from another operation of each library
            assert outcome(getattr(ours, name), graph) == outcome(getattr(theirs, name), graph), (name, type(graph))


@pytest.mark.parametrize("null", [0, np.nan, np.inf, 3])
def test_conversions(null: float) -> None:
    D = weights(10, 0.5, 61)
    D[2, 3:6] = [np.inf, -np.inf, np.nan]
    for nans in (True, False):
        for infinities in (True, False):
            expected = theirs.csgraph_from_dense(D.copy(), null, nans, infinities)
            same(ours.csgraph_from_dense(given(D.copy()), null, nans, infinities), expected)
    S = sp.csr_array((np.array([5.0, 2.0, 0.0]), np.array([1, 1, 2]), np.array([0, 2, 3, 3])), shape=(3, 3))
    for graph in (S, S.tocsc()):
        same(ours.csgraph_to_dense(given(graph), null), theirs.csgraph_to_dense(graph, null))
    with pytest.raises(ValueError, match="csr, or csc"):
        ours.csgraph_to_dense(given(S.tocoo()))


def test_masked_arrays() -> None:
    D = weights(6, 0.5, 62)
    if on_gpu():
        with pytest.raises(NotSupported, match="masked"):
            ours.csgraph_masked_from_dense(given(D))
        with pytest.raises(NotSupported, match="masked"):
            ours.csgraph_to_masked(given(sp.csr_array(D)))
        return
    masked = ours.csgraph_masked_from_dense(D)
    assert isinstance(masked, np.ma.MaskedArray)
    same(ours.csgraph_from_masked(masked), theirs.csgraph_from_dense(D))
    np.testing.assert_array_equal(ours.csgraph_to_masked(sp.csr_array(D)).mask, D == 0)


@pytest.mark.parametrize("directed", [True, False])
def test_trees_of_predecessors(directed: bool) -> None:
    D = weights(20, 0.15, 63)
    _, before = theirs.breadth_first_order(D, 4, directed)
    for graph in formats(D):
        same(
            ours.reconstruct_path(given(graph), given(before), directed),
            theirs.reconstruct_path(graph, before, directed),
        )
    # A predecessor without an edge.
    stray = np.full(20, -9999, np.int32)
    absent = np.flatnonzero((D[0] == 0) & (np.arange(20) > 0))[0]
    stray[absent] = 0
    same(ours.reconstruct_path(given(sp.csr_array(D)), given(stray)), theirs.reconstruct_path(sp.csr_array(D), stray))


def test_graphs_that_are_not_square() -> None:
    S = sp.csr_array(np.ones((3, 4)))
    for name in (
        "connected_components",
        "dijkstra",
        "bellman_ford",
        "johnson",
        "shortest_path",
        "minimum_spanning_tree",
    ):
        for graph in (S, S.toarray()):
            with pytest.raises(ValueError):  # noqa: PT011
                getattr(ours, name)(given(graph))


def test_graphs_stay_unchanged() -> None:
    S = sp.csr_array(weights(20, 0.2, 71))
    S.indices.flags.writeable = S.indptr.flags.writeable = S.data.flags.writeable = False  # raises where written to
    for name in ("connected_components", "dijkstra", "bellman_ford", "johnson", "minimum_spanning_tree", "laplacian"):
        getattr(ours, name)(given(S))
    ours.breadth_first_tree(given(S), 0)


def test_results_stay_where_the_graph_is() -> None:
    if not on_gpu():
        pytest.skip("a graph on a GPU")
    S = given(sp.csr_array(weights(400, 0.2, 72)))
    Transfers.reset()
    ours.connected_components(S)
    ours.dijkstra(S, indices=[0, 1], return_predecessors=True)
    ours.breadth_first_tree(S, 0)
    ours.minimum_spanning_tree(S)
    ours.laplacian(S, normed=True)
    ours.floyd_warshall(S, return_predecessors=True)
    assert Transfers.bytes < 64 << 10


def test_small_graphs_are_computed_by_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    if on_gpu():
        pytest.skip("a graph in host memory")
    monkeypatch.setattr(conversion.Policy, "by_time", True)

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("computed here")

    monkeypatch.setattr(sr.ops, "closure", refuse)
    D: Array = weights(60, 0.2, 73)
    same(ours.dijkstra(sp.csr_array(D), indices=0), theirs.dijkstra(sp.csr_array(D), indices=0))
    same(ours.dijkstra(csgraph=D.tolist()), theirs.dijkstra(D.tolist()))
    with pytest.raises(AssertionError, match="computed here"):
        ours.bellman_ford(sp.csr_array(D))


def test_the_names_are_scipys() -> None:
    import inspect

    missing = {name for name in theirs.__all__ if not hasattr(ours, name)}
    assert not missing
    for name in ours.__all__:
        if hasattr(theirs, name) and name != "NegativeCycleError":
            assert (
                inspect.signature(getattr(ours, name)).parameters.keys()
                == inspect.signature(getattr(theirs, name)).parameters.keys()
            ), name
