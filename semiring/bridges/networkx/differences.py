"""The tests of NetworkX that this backend does not pass, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["DIFFERENCES", "on_start_tests"]

_COMMUNITIES = "other communities than NetworkX's, whose partitions the test lists"
_FIRST_ENDS = "the test accepts an edge only if its first end is in the set, and here another one has the second"
_LAST_BIT = "sums of distances are rounded in another order, and the test compares floats for equality"
_MATCHING = "another maximum matching than the one that the test lists"
_PATH = "another of several shortest paths, so that a cycle is listed from another node"

#: Reason by test: the end of its path and name.
DIFFERENCES: dict[str, str] = {
    "test_closeness_centrality.py::TestIncrementalClosenessCentrality::test_incremental": _LAST_BIT,
    "test_cycles.py::TestMinimumCycleBasis::test_weighted_diamond": _PATH,
    "test_dominating_set.py::TestMinWeightDominatingSet::test_min_edge_dominating_set": _FIRST_ENDS,
    "test_cycles.py::TestMinimumCycleBasis::test_gh6787_and_edge_attribute_names": _PATH,
    "test_dag.py::TestDAG::test_topological_sort6": "a converted graph does not see changes during an iteration",
    "test_mis.py::test_random_seed": "another maximal independent set for the same seed",
    "test_non_randomness.py::test_non_randomness[None-None-7.21]": _COMMUNITIES,
    "test_non_randomness.py::test_non_randomness[None-weight-25.45]": _COMMUNITIES,
    "test_louvain.py::test_karate_club_partition": _COMMUNITIES,
    "test_louvain.py::test_undirected_selfloops": _COMMUNITIES,
    "test_louvain.py::test_none_weight_param": _COMMUNITIES,
    "test_louvain.py::test_max_level": "a hierarchy of one level, and the test expects several",
    "test_louvain.py::test_multigraph": "other communities for two graphs that differ in a weight",
    "bipartite/tests/test_matching.py::TestMatching::test_eppstein_matching_simple": _MATCHING,
    "bipartite/tests/test_matching.py::TestMatching::test_hopcroft_karp_matching_simple": _MATCHING,
}


def on_start_tests(items: Iterable[Any]) -> None:
    """Mark the tests of `DIFFERENCES` as expected to fail; NetworkX calls this before its tests run."""
    import pytest

    for item in items:
        name = f"{item.path.as_posix()}::{item.nodeid.partition('::')[2]}"
        reason = next((reason for end, reason in DIFFERENCES.items() if name.endswith(end)), None)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
