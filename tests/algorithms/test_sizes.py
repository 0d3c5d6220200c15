"""Weights of every size: sums, products and squares of weights neither overflow nor underflow on the way to a result.

Where all weights are multiplied by w, a result is multiplied by w^p: p = 0 for ranks, shares and partitions.  Powers of
two change no digit, and those near the limits of float64 and float32 are among them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring import algorithms as alg
from semiring.exceptions import ConvergenceFailure, InvalidValue
from tests import sampling
from tests.algorithms.calls import flattened

Function = Callable[[Matrix], Any]
LABELS = [0, 0, 0, 1, 1]
# What counts paths of infinite length, or compares weights only (`paths/test_infinite.py`).
OF_INFINITE = (
    "betweenness_centrality", "edge_betweenness_centrality", "average_shortest_path_length", "closeness_centrality",
    "harmonic_centrality", "global_efficiency", "label_propagation",
)  # fmt: skip


def single(function: Callable[..., Any]) -> Function:
    """The function with weights in float32."""
    return lambda A: function(A, weight=True, dtype="float32")


# The function, and the power of the weights in its result.
FUNCTIONS: dict[str, tuple[Function, int]] = {
    "pagerank": (lambda A: alg.pagerank(A, weight=True), 0),
    "pagerank, float32": (single(alg.pagerank), 0),
    "pagerank of a seed": (lambda A: alg.pagerank(A, weight=True, personalization=0), 0),
    "google_matrix": (lambda A: alg.google_matrix(A, weight=True), 0),
    "google_matrix, float32": (single(alg.google_matrix), 0),
    "hits": (lambda A: alg.hits(A, weight=True), 0),
    "hits, float32": (lambda A: alg.hits(A, weight=True, dtype="float32", tol=1e-5), 0),
    "eigenvector_centrality": (lambda A: alg.eigenvector_centrality(A, weight=True, tol=1e-9, max_iter=1000), 0),
    "eigenvector_centrality, float32": (single(alg.eigenvector_centrality), 0),
    "cosine": (lambda A: alg.cosine(A, weight=True), 0),
    "jaccard": (lambda A: alg.jaccard(A, weight=True), 0),
    "overlap": (lambda A: alg.overlap(A, weight=True), 0),
    "clustering": (lambda A: alg.clustering(A, weight=True), 0),
    "random_walks": (lambda A: alg.random_walks(A, [0, 1, 2, 3], 5, weight=True), 0),
    "node2vec_walks": (lambda A: alg.node2vec_walks(A, [0, 1, 2, 3], 5, weight=True, p=1e-300, q=2), 0),
    "modularity": (lambda A: alg.modularity(A, Vector.from_dense(LABELS)), 0),
    "modularity, directed": (lambda A: alg.modularity(A, Vector.from_dense(LABELS), directed=True), 0),
    "louvain": (alg.louvain, 0),
    "leiden": (alg.leiden, 0),
    "ensemble_clustering": (alg.ensemble_clustering, 0),
    "label_propagation": (alg.label_propagation, 0),
    "markov_clustering": (alg.markov_clustering, 0),
    "markov_clustering, inflation 2000": (lambda A: alg.markov_clustering(A, inflation=2000.0), 0),
    "peer_pressure": (alg.peer_pressure, 0),
    "normalized Laplacian": (lambda A: alg.laplacian(A, normalized=True).matrix, 0),
    "betweenness_centrality": (lambda A: alg.betweenness_centrality(A, weight=True), 0),
    "edge_betweenness_centrality": (lambda A: alg.edge_betweenness_centrality(A, weight=True), 0),
    "Fiedler vector": (lambda A: abs_of(alg.fiedler_vector(A, weight=True).vector), 0),
    "Fiedler value": (lambda A: alg.fiedler_vector(A, weight=True).value, 1),
    "modularity_matrix": (lambda A: alg.modularity_matrix(A, weight=True), 1),
    "average_shortest_path_length": (lambda A: alg.average_shortest_path_length(A, weight=True), 1),
    "closeness_centrality": (lambda A: alg.closeness_centrality(A, weight=True), -1),
    "harmonic_centrality": (lambda A: alg.harmonic_centrality(A, weight=True, normalized=True), -1),
    "global_efficiency": (lambda A: alg.global_efficiency(A, weight=True), -1),
    "maximum_flow": (lambda A: alg.maximum_flow(A, 0, 1, method="trees").flow, 1),
}
SIZES = (2.0**1023, 2.0**531, 2.0**-565, 2.0**-1000)
SAMPLE = sampling.draw("weights of every size", FUNCTIONS, 3)


def abs_of(x: Vector) -> Vector:
    return x.apply("abs").new()


def graph(shares: Any = (1, 0.5, 0.25, 1, 0.5, 0.25), *, w: float = 1.0) -> Matrix:
    """A triangle with a path of two edges at vertex 2, and weights w times the shares."""
    rows, columns = np.array([0, 0, 1, 2, 3, 1]), np.array([1, 2, 2, 3, 4, 4])
    values = np.asarray(shares, float) * w
    made = Matrix.from_coo(rows, columns, values, shape=(5, 5))
    return made.ewise_add(made.T, "any").new()


def check(name: str, A: Matrix, expected: Any, factor: float = 1.0) -> None:
    found = dict(flattened(FUNCTIONS[name][0](A)))
    parts = dict(flattened(expected))
    assert found.keys() == parts.keys()
    for key, part in parts.items():
        values, wanted = (x[-1] if isinstance(x, tuple) else x for x in (found[key], part))
        if isinstance(part, tuple):
            assert all(np.array_equal(a, b) for a, b in zip(found[key][2], part[2], strict=True)), (name, key)
        np.testing.assert_allclose(np.asarray(values) / factor, wanted, rtol=1e-4, atol=1e-6, err_msg=f"{name}.{key}")


@pytest.mark.costly
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_specification(name: str) -> None:
    with sr.use("reference"):
        of_every_size(name)


@pytest.mark.costly
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=sampling.marks(name, SAMPLE, pytest.mark.wide)) for name in FUNCTIONS]
)
def test_the_engine(name: str) -> None:
    of_every_size(name)


def of_every_size(name: str) -> None:
    function, power = FUNCTIONS[name]
    expected = function(graph())
    assert np.isfinite(
        np.concatenate([np.ravel(x[-1] if isinstance(x, tuple) else x) for _, x in flattened(expected)])
    ).all()
    for w in SIZES:
        check(name, graph(w=w), expected, w**power)
    if power == 0:  # the smallest number, whose half is 0
        check(name, graph(np.ones(6), w=5e-324), function(graph(np.ones(6))))


BY_ROWS = (
    "pagerank", "pagerank, float32", "pagerank of a seed", "google_matrix", "google_matrix, float32", "cosine",
    "random_walks",
)  # fmt: skip


@pytest.mark.parametrize("name", BY_ROWS)
def test_rows_of_different_sizes(name: str) -> None:
    """What depends on the proportions within rows alone."""
    with sr.use("reference"):
        sizes = Vector.from_dense([2.0**1000, 1.0, 2.0**-1000, 2.0**1022, 2.0**-1070])
        check(name, sizes.ewise_mult(graph(), "times").new(), FUNCTIONS[name][0](graph()))


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in OF_INFINITE])
def test_infinite_weights_are_refused(name: str) -> None:
    with sr.use("reference"), pytest.raises(InvalidValue, match="finite"):
        FUNCTIONS[name][0](graph((np.inf, 1, 1, 1, 1, 1)))


def test_katz() -> None:
    """alpha is divided by what the weights are multiplied by; beta of any size, of which the norm is 1."""
    dense = graph().to_numpy(fill_value=0)
    expected = np.linalg.solve(np.eye(5) - 0.1 * dense.T, np.ones(5))
    expected /= np.linalg.norm(expected)
    with sr.use("reference"):
        for kind in ("float64", "float32"):
            for w in (2.0**531, 2.0**-565):
                found = alg.katz_centrality(graph(w=w), 0.1 / w, weight=True, tol=1e-7, dtype=kind)
                np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-5)
        found = alg.katz_centrality(graph(), 0.1, 1e200, weight=True, tol=1e190)
        np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-5)
        found = alg.katz_centrality(graph(), 0.1, 1e-200, weight=True, tol=1e-210)
        np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-5)
        with pytest.raises(ConvergenceFailure):
            alg.katz_centrality(graph(w=1e300), weight=True)
        for beta in (1e200, 1e-200, np.inf):
            with pytest.raises(InvalidValue, match="beta"):
                alg.katz_centrality(graph(), beta=beta, dtype="float32")


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_seeds_and_starts(kind: str) -> None:
    """Entries of a size whose sum overflows, or is 0 in float32, count in proportion."""
    with sr.use("reference"):
        ones, A = Vector.from_coo([0, 3], [1.0, 1.0], size=5), graph()
        for w in (1e308, 1e-300, 5e-324):
            given = ones.apply("times", right=w).new()
            row = Matrix.from_coo([0, 0], [0, 3], [w, w], shape=(1, 5))
            expected = alg.pagerank(A, personalization=ones, dangling=ones, start=ones, dtype=kind)
            found = alg.pagerank(A, personalization=given, dangling=given, start=given, dtype=kind)
            assert found.isclose(expected, rel_tol=1e-5)
            assert (
                alg.pagerank(A, personalization=row, dtype=kind)[0, :]
                .new()
                .isclose(alg.pagerank(A, personalization=ones, dtype=kind), rel_tol=1e-5, abs_tol=1e-6)
            )
            for function, options in ((alg.hits, {"tol": 1e-5}), (alg.eigenvector_centrality, {})):
                results = [function(A, start=start, dtype=kind, **options) for start in (given, ones)]
                for one, other in zip(*(flattened(result) for result in results), strict=True):
                    if isinstance(one[1], tuple):
                        np.testing.assert_allclose(one[1][-1], other[1][-1], rtol=1e-5, atol=1e-6)


def test_flow_of_capacities_whose_sum_overflows() -> None:
    """The flow is exact; its value is infinite, as float64 does not hold it."""
    with sr.use("reference"):
        A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], 1e308, shape=(4, 4))
        for method in ("paths", "trees"):
            found = alg.maximum_flow(A, 0, 3, method=method)
            assert found.value == np.inf
            assert found.flow.isequal(A)
