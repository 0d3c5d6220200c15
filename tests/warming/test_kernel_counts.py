"""How many kernels the first call of a function compiles: each costs a user a second or more."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.cases import first_calls
from tests import sampling

# At most so many on the CPU engine and on a GPU: as measured, and a tenth more.
LIMITS = {
    "bfs_levels": (4, 4),
    "pagerank": (5, 7),
    "sssp": (2, 4),
    "connected_components": (4, 4),
    "triangles": (18, 21),
    "betweenness_centrality": (54, 41),
    "louvain": (36, 44),
    "jaccard": (20, 22),
    "clustering": (25, 28),
    "minimum_spanning_forest": (13, 41),
    "core_numbers": (11, 11),
    "mxv": (2, 3),
    "mxm": (10, 3),
    "ewise_add": (6, 6),
    "transpose": (4, 5),
}
# Those that compile in a few seconds.
_FEW = {"mxv", "transpose"}


def test_every_function_that_is_measured_has_a_limit() -> None:
    assert set(LIMITS) == set(first_calls.FIFTEEN)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=sampling.marks(name, _FEW, pytest.mark.wide)) for name in LIMITS]
)
def test_the_first_call_compiles_few_kernels(name: str, engine: str) -> None:
    if engine == "reference":
        pytest.skip("the reference engine compiles nothing")
    found = first_calls.in_new_process(name, engine, "float64")
    assert 0 < found["kernels"] <= LIMITS[name][engine == "cuda"]


@pytest.mark.wide
@pytest.mark.parametrize(
    "name", ["articulation_points", "biconnected_components", "maximum_bipartite_matching", "two_coloring"]
)
def test_the_first_call_with_a_pack_compiles_nothing(name: str, tmp_path: Path, engine: str) -> None:
    """Of functions that need other kernels on uniform or bipartite graphs than on R-MAT graphs."""
    if engine != "cpu":
        pytest.skip("the kernels of the CPU engine are compiled by running functions")
    first_calls.packed(tmp_path, [name], "cpu", "float64")
    assert first_calls.in_new_process(name, "cpu", "float64", str(tmp_path))["kernels"] == 0
