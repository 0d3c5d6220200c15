"""The benchmarks measure, refuse wrong results, and know every kernel."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import semiring as sr
from benchmarks import checks, graphs, sanitize
from benchmarks.harness import Contender, compare, measure, peak_bytes
from benchmarks.report import Peer, Report, Row


@pytest.fixture
def A() -> sr.Matrix:
    return graphs.make("kron6w")


def test_contenders_take_turns_after_an_untimed_call() -> None:
    calls: list[tuple[str, int]] = []

    def contender(name: str) -> Contender:
        def call(argument: int) -> int:
            calls.append((name, argument))
            return argument

        return Contender(call, lambda argument, result: None)

    found = compare({"a": contender("a"), "b": contender("b")}, [7, 8], "cpu")
    assert {name: len(samples.wall_ms) for name, samples in found.items()} == {"a": 2, "b": 2}
    first = [("a", 8), ("a", 8), ("a", 7), ("b", 8), ("b", 8), ("b", 7)]
    assert calls == [*first, ("a", 7), ("a", 8), ("b", 7), ("b", 8)]


def test_a_wrong_result_has_no_time(A: sr.Matrix) -> None:
    source = graphs.sources(A, 1)[0]
    with pytest.raises(AssertionError):
        measure(lambda _: sr.Vector.full(0, A.nrows), checks.levels(A), [source], A.device)


def test_right_results_are_accepted(A: sr.Matrix) -> None:
    source = graphs.sources(A, 1)[0]
    checks.levels(A)(source, sr.algorithms.bfs_levels(A, source))
    checks.parents(A)(source, sr.algorithms.bfs_parents(A, source))
    checks.components(A)(None, sr.algorithms.connected_components(A))
    checks.distances(A)(source, sr.algorithms.sssp(A, source))
    checks.ranks(A, 5, 0.85, 1e-10)(None, sr.algorithms.pagerank(A, 0.85, 0, 5))


@pytest.mark.parametrize("change", [-1, 1])
def test_wrong_distances_are_refused(A: sr.Matrix, change: int) -> None:
    source = graphs.sources(A, 1)[0]
    distance = sr.algorithms.sssp(A, source)
    indices, values = distance.to_coo()
    far = int(values.argmax())
    values = values.copy()
    values[far] += change
    wrong = sr.Vector.from_coo(indices, values, size=A.nrows)
    with pytest.raises(AssertionError):
        checks.distances(A)(source, wrong)


def test_merged_components_are_refused() -> None:
    apart = sr.Matrix.from_edgelist([(0, 1), (1, 0), (2, 3), (3, 2)], nrows=4, ncols=4)
    with pytest.raises(AssertionError):
        checks.components(apart)(None, sr.Vector.full(0, 4, np.int32))


@pytest.mark.parametrize("name", ["grid7x9", "star20", "uniform50x1"])
def test_components_are_counted(name: str) -> None:
    A = graphs.make(name)
    labels = sr.algorithms.connected_components(A).to_numpy()
    assert checks.component_count(*graphs.arrays(A)) == np.unique(labels).size


def test_memory_is_counted(A: sr.Matrix) -> None:
    xp = graphs.module(A)

    def call() -> None:
        first = xp.empty(100_000)
        del first
        xp.empty(50_000)

    assert 800_000 <= peak_bytes(call, A.device) < 900_000


def test_a_report_is_a_table_and_json_lines(tmp_path: Path) -> None:
    report = Report("try", "cpu", tmp_path)
    report.add(Row("fast", "ms", 1.0, 2.0, peers=(Peer("other", 3.0), Peer("older", 4.0, recorded=True))))
    report.add(Row("slow", "x faster", 4.0, 5.0, at_most=False, note="why"))
    assert report.failed
    text, lines = (next(tmp_path.glob(pattern)).read_text() for pattern in ("*-try.txt", "*-try.jsonl"))
    assert "other 3 ms = 3.00 x ours; older 4 ms (recorded)" in text
    facts, *rows = [json.loads(line) for line in lines.splitlines()]
    assert facts["revision"]
    assert [row["passed"] for row in rows] == [True, False]


def test_every_kernel_is_known() -> None:
    names = sanitize.entries()
    assert "closure_level.cuh:closure_wide" in names
    assert not [name for name in names if "__" in name]
