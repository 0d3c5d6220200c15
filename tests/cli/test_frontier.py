"""Frontier sizes against a simple search, and the two ways to draw them."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path

import numpy as np
import pytest

import semiring as sr
from semiring.bridges.cli import chart, frontier, picture, report
from semiring.bridges.cli.frontier import Frontiers, frontiers
from semiring.bridges.cli.progress import Progress, seconds
from semiring.bridges.cli.search import search
from semiring.bridges.plot import style
from semiring.exceptions import NotSupported

GRAPHS = {
    "directed": lambda: sr.random.rmat(6, 4, seed=2),
    "symmetric": lambda: sr.random.kronecker(6, 4, seed=2),
    "grid": lambda: sr.random.grid2d(4, 7),
    "star": lambda: sr.random.star(9),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_sizes(name: str) -> None:
    A = GRAPHS[name]()
    neighbors = {i: list(row) for i, row in A.to_dicts().items()}
    source = max(neighbors, key=lambda i: len(neighbors[i]))
    plot = frontiers(name, A, search(A, source))
    level, seen = [source], {source}
    vertices, ends, edges = [], [], []
    while level:
        reached = [j for i in level for j in neighbors.get(i, [])]
        vertices.append(len(level))
        ends.append(len(set(reached)))
        edges.append(len(reached))
        level = sorted(set(reached) - seen)
        seen |= set(level)
    assert plot.vertices.tolist() == vertices
    assert plot.ends is not None
    assert plot.ends.tolist() == ends
    assert plot.edges.tolist() == edges


def test_many_levels_leave_the_distinct_ends_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontier, "MOST_PRODUCTS", 5)
    A = sr.random.path(10)
    plot = frontiers("path", A, search(A, 0))
    assert plot.ends is None
    assert [name for name, _ in plot.series] == ["edge frontier", "vertex frontier"]
    assert chart.chart(plot)


def sizes(*levels: tuple[int, int, int]) -> Frontiers:
    vertices, ends, edges = np.array(levels, np.int64).T
    return Frontiers("some graph", vertices, ends, edges)


FEW = sizes((1, 9, 9), (9, 400, 1000), (391, 300, 5000), (2, 0, 0))
ONE = sizes((1, 0, 0))
MANY = sizes(*[(i + 1, 2 * i + 1, 3 * i + 1) for i in range(500)])


@pytest.mark.parametrize("plot", [FEW, ONE, MANY], ids=["few", "one", "many"])
@pytest.mark.parametrize("color", [True, False])
def test_chart_is_a_block_of_lines(plot: Frontiers, color: bool) -> None:
    drawn = chart.chart(plot, width=72, color=color)
    plain = re.sub(r"\x1b\[[\d;]*m", "", drawn)
    assert (plain != drawn) == color
    lines = plain.splitlines()
    assert lines[0] == "some graph"
    assert all(len(line) <= 72 + 8 + len("  level") + 4 for line in lines)
    assert lines[-1].split()[0] == "0"
    assert lines[-1].endswith("level")


def test_chart_in_shades() -> None:
    lines = chart.chart(FEW, color=False).splitlines()
    heights = ["".join(line[8 + 8 * level] for line in lines[2:-2] if len(line) > 8 + 8 * level) for level in range(4)]
    assert "█" in heights[0]
    assert heights[1].count("░") > 0
    assert heights[2].strip().startswith("░")
    assert set(heights[3].strip()) == {"█"}


def test_chart_in_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chart, "supports_unicode", lambda: False)
    assert chart.chart(FEW, color=False).isascii()


@pytest.mark.parametrize("plots", [[FEW], [MANY, FEW], [ONE]], ids=["one panel", "two panels", "one level"])
def test_picture(plots: list[Frontiers], tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    picture.draw(str(path), plots)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [file.name for file in tmp_path.iterdir()] == ["plot.png"]


def test_picture_without_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(style, "can_draw", lambda: False)
    with pytest.raises(NotSupported, match=r"semiring\[plot\]"):
        picture.draw(str(tmp_path / "plot.png"), [FEW])


def test_runs() -> None:
    assert report.runs(["push", "pull", "pull", "push"]) == "push, pull x2, push"
    assert report.runs([]) == ""


@pytest.mark.parametrize(("count", "said"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2.5e12, "2.5 TB")])
def test_size(count: float, said: str) -> None:
    assert report.size(count) == said


@pytest.mark.parametrize(("spent", "said"), [(0.123, "0.12 s"), (9.94, "9.9 s"), (42.4, "42 s"), (200, "3 min 20 s")])
def test_seconds(spent: float, said: str) -> None:
    assert seconds(spent) == said


def test_progress_is_silent_for_short_steps() -> None:
    stream = io.StringIO()
    with Progress(stream=stream).step("reading"):
        pass
    assert stream.getvalue() == ""


def test_progress_on_request() -> None:
    stream = io.StringIO()
    with Progress(True, stream).step("reading") as report_share:
        report_share("reading a file", 0.5)
        time.sleep(0.2)
    lines = stream.getvalue().splitlines()
    assert lines[0].endswith("...")
    assert lines[-1].startswith("semiring: reading: ")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_leaves_nothing_behind() -> None:
    stream = Terminal()
    with Progress(stream=stream).step("reading") as report_share:
        report_share("reading a file", 0.5)
        time.sleep(0.6)
    assert "\n" not in stream.getvalue()
    assert "[============            ]  50%" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")
