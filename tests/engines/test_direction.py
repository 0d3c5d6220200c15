"""The cost model of push and pull: its shape, and the same decisions in Python, in numba's code and in a kernel's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import semiring as sr
from semiring.engines.cpu import tuning as cpu
from semiring.engines.cuda import tuning as cuda
from semiring.engines.shared.direction import Costs, Work, ends_early, expected_probes, prefers_pull, reading_less

from .test_cuda_device_functions import built

# Reads lines of a `Work` without its flag, then rows and edges; writes the decision for each.
DECIDE = """
#include <cstdio>
int main() {
    Work work;
    f32 rows, edges;
    while (std::scanf("%f %f %f %f %f %f %f %f", &work.entries, &work.open_rows, &work.open_edges, &work.pull_rows,
                      &work.pull_words, &work.push_words, &rows, &edges) == 8)
        std::printf("%d", int(prefers_pull(work, rows, edges)));
}
"""


def drawn(count: int) -> list[tuple[Work, int, int]]:
    """Steps of searches at random: (work, rows, edges)."""
    draw = np.random.default_rng(7)
    steps = []
    for _ in range(count):
        nrows = int(draw.integers(1, 1 << 20))
        entries = nrows * int(draw.integers(1, 40))
        open_rows, edges = int(draw.integers(0, nrows + 1)), int(draw.integers(1, entries + 1) ** draw.random())
        open_edges = int(draw.integers(0, entries + 1))
        work = Work(
            entries, open_rows, open_edges, True, pull_rows=nrows, pull_words=nrows // 32, push_words=nrows // 64
        )
        steps.append((work, min(edges, nrows), edges))
    return steps


@pytest.mark.parametrize("costs", [cpu.COSTS, cuda.DEVICE, cuda.HOST])
def test_more_edges_never_turn_a_pull_into_a_push(costs: Costs) -> None:
    """Bounds of the edges may then stand for their number."""
    for step, rows, edges in drawn(300):
        for work in (step, step._replace(early=False)):
            assert prefers_pull(costs, work, rows, edges) <= prefers_pull(costs, work, rows, 2 * edges)


def test_probes_end_at_the_first_hit_or_with_the_row() -> None:
    work = Work(entries=1000, open_rows=10, open_edges=400, early=True)
    assert expected_probes(work, 100) == 100  # ten rows, and one entry in ten leads to the frontier
    assert expected_probes(work, 1) == 400
    assert expected_probes(work._replace(early=False), 100) == 400


def test_a_sum_of_values_is_pulled_where_hits_are_predictable() -> None:
    work = Work(entries=1000, open_rows=100, open_edges=1000, early=False)
    chosen = {share: prefers_pull(cpu.COSTS, work, 0, 10 * share) for share in (30, 60, 99)}
    assert chosen == {30: False, 60: True, 99: True}
    sums = work._replace(sums=True)
    assert {share: prefers_pull(cpu.COSTS, sums, 0, 10 * share) for share in chosen} == {30: False, 60: False, 99: True}


@pytest.mark.parametrize(("name", "dtype", "early"), [
    ("lor", bool, True), ("any", float, True), ("min", float, False), ("times", int, False), ("plus", int, False),
])  # fmt: skip
def test_sums_end_early_where_terminal_values_are_usual(name: str, dtype: type, early: bool) -> None:
    assert ends_early(getattr(sr.monoid, name)[np.dtype(dtype)]) == early


def test_reading_less_names_an_available_direction() -> None:
    assert (reading_less(3, 3), reading_less(2, 3), reading_less(None, 9), reading_less(9, None)) == (
        "pull",
        "push",
        "pull",
        "push",
    )


@pytest.mark.skipif(shutil.which("g++") is None, reason="the kernel's function is run by a C++ compiler for the host")
@pytest.mark.parametrize("costs", [cuda.DEVICE, cuda.HOST])
def test_a_kernel_decides_as_python_does(costs: Costs, tmp_path: Path) -> None:
    declared = "#include <cmath>\n" + "".join(
        f"constexpr long long {name} = {value};\n" for name, value in cuda.cost_constants(costs).items()
    )
    program = built(tmp_path, "decide", ("types.cuh", "direction.cuh"), declared, DECIDE)
    # Not on the border, where single precision may decide otherwise.
    clear = [
        (work, rows, edges)
        for work, rows, edges in drawn(300)
        if prefers_pull(costs, work, rows, edges * 0.999) == prefers_pull(costs, work, rows * 1.001, edges * 1.001)
    ]
    lines = [
        (w.entries, w.open_rows, w.open_edges, w.pull_rows, w.pull_words, w.push_words, rows, edges)
        for w, rows, edges in clear
    ]
    given = "".join(" ".join(map(str, line)) + "\n" for line in lines)
    done = subprocess.run([program], input=given, capture_output=True, text=True, check=True, timeout=20)
    expected = "".join(str(int(prefers_pull(costs, work, rows, edges))) for work, rows, edges in clear)
    assert {"0", "1"} == set(expected)
    assert done.stdout == expected


def test_a_search_pushes_its_first_levels_and_pulls_its_largest() -> None:
    with sr.use("cpu"):
        A = sr.random.kronecker(12, seed=1)
        rows, degrees = A.reduce_rowwise("plus").to_coo()
        steps = sr.algorithms.bfs_trace(A, int(rows[degrees.argmin()])).steps
    assert steps[0].direction == "push"
    assert max(steps, key=lambda step: step.edges).direction == "pull"
