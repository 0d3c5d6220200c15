"""The figures of the pages are those of the newest result files; the command that writes them reports differences."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from benchmarks import figures
from benchmarks.figures import FigureError, Results, rewritten


def row(what: str, value: float | None, **more: Any) -> dict[str, Any]:
    known = {"unit": "ms", "bound": None, "at_most": True, "passed": None, "peers": [], "samples": [value]}
    return {"what": what, "value": value} | known | more


def write(folder: Path, name: str, stamp: str, rows: list[dict[str, Any]]) -> None:
    lines = [{"date": stamp}, *rows]
    (folder / f"{name}.jsonl").write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    (folder / f"{name}.txt").write_text("what  measured\n\nsearch, kron8  7 ms\n")


@pytest.fixture
def results(tmp_path: Path) -> Results:
    peer = {"name": "cuGraph", "value": 20.04, "unit": "ms", "recorded": True}
    search = row("search, kron8", 1.2345, bound=2.0, passed=True, peers=[peer], samples=[1.0, 1.2345, 9.0])
    write(tmp_path, "gpu-speed", "2026-01-02T10:00:00", [search, row("gone", None)])
    write(tmp_path, "gpu-first-speed", "2026-01-01T10:00:00", [row("search, kron8", 5.0), row("gone", 3.0)])
    write(tmp_path, "gpu-more", "2026-01-02T11:00:00", [row("search kron9", 1234.5)])
    report = (
        "2026-01-03T00:00:00+00:00\n\nwhat          measured\nsearch kron9  0.5001 ms   other 3 ms\n  note\n"
        "mxv kron9  2 ms  <= 1.5  FAIL  older 3 ms (recorded) = 1.50 x ours; other 5 ms = 2.50 x ours\n"
    )
    (tmp_path / "cpu-demo.txt").write_text(report)
    return Results(tmp_path)


def test_the_pages_have_the_figures_of_the_result_files() -> None:
    assert figures.main(["--check"]) == 0, "run `python -m benchmarks.figures`"


def test_every_result_file_is_named() -> None:
    """A file that no page or comment names is deleted: git keeps it."""
    sources = [
        *figures.pages(),
        *(figures.ROOT / "semiring").rglob("*.cuh"),
        *(figures.ROOT / "semiring").rglob("*.py"),
    ]
    names = {name for path in sources for name in re.findall(r"[a-z0-9*]+(?:-[a-z0-9*]+)+", path.read_text("utf-8"))}
    patterns = [name for name in names if "*" in name]
    stems = {path.stem for path in figures.RESULTS.iterdir()}
    unnamed = [stem for stem in stems - names if not any(fnmatch(stem, pattern) for pattern in patterns)]
    assert not unnamed, f"delete {sorted(unnamed)}"


def test_main_tables_are_marked() -> None:
    """Otherwise the check of the pages would compare nothing."""
    for page, least in (("README.md", 2), ("docs/performance.md", 5), ("docs/index.md", 1), ("docs/demo.md", 1)):
        text = (figures.ROOT / page).read_text(encoding="utf-8")
        assert text.count("<!-- figures: ") + text.count("<!-- lines: ") >= least, page


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("9<!-- gpu-speed: search kron8 -->", "1.23"),
        ("9.1<!-- gpu-speed: `search`, kron8 @ cuGraph -->", "20"),
        ("1,000<!-- gpu-speed: search kron8 @ most -->", "9"),
        ("9<!-- gpu-*speed: gone -->", "3"),  # the newest file that has a figure
        ("9<!-- gpu-*: search kron9 -->", "1,234"),
        ("9<!-- cpu-demo: search kron9 -->", "0.5"),  # without a .jsonl file
    ],
)
def test_a_number_is_replaced(results: Results, mark: str, expected: str) -> None:
    comment = mark[mark.index("<!--") :]
    assert rewritten(f"takes {mark} ms, 7 times\n", results) == f"takes {expected}{comment} ms, 7 times\n"


def test_a_table_is_filled(results: Results) -> None:
    page = "<!-- figures: gpu-speed -->\nFrom `old.txt`,\n`older.txt`.\n\n{}\n"
    header = "| | measured | target | verdict | compared with | spread |\n|---|---|---|---|---|---|"
    table = header + "\n| the search <!-- search kron8 --> | {} |"
    filled = table.format("1.23 ms | at most 2 ms | met | cuGraph 20 ms (recorded) | 1 to 9")
    expected = f"<!-- figures: gpu-speed -->\nFrom `benchmarks/results/`: `gpu-speed.txt`.\n\n{filled}\n"
    assert rewritten(page.format(table.format("9 ms | | | | ")), results) == expected
    assert rewritten(expected, results) == expected


def test_a_row_of_a_text_has_target_and_peers(results: Results) -> None:
    header = "| | measured | target | verdict | times as fast as |\n|---|---|---|---|---|"
    page = f"<!-- figures: cpu-demo -->\n\n{header}\n| mxv kron9 | |\n"
    cells = "2 ms | at most 1.5 ms | missed | older (recorded) 1.5, other 2.5"
    assert f"\n| mxv kron9 | {cells} |\n" in rewritten(page, results)
    page = "<!-- figures: cpu-demo -->\n\n| | kron9 | kron9, times as fast |\n|---|---|---|\n| mxv | | |\n"
    assert "\n| mxv | 2 | 1.5 |\n" in rewritten(page, results)


def test_cells_of_a_table_by_row_and_header(results: Results) -> None:
    table = "| | kron8 | kron9 | kron10 |\n|---|---|---|---|\n| `search` | | | 5 |\n"
    page = f"<!-- figures: gpu-speed, gpu-more -->\n\n{table}"
    assert "| `search` | 1.23 | 1,234 | |\n" in rewritten(page, results)


def test_lines_are_quoted(results: Results) -> None:
    page = '<!-- lines: cpu-demo, from "what" to "  note" -->\n```text\nold\n```\n'
    quoted = "what          measured\nsearch kron9  0.5001 ms   other 3 ms"
    named = "From `benchmarks/results/`: `cpu-demo.txt`."
    expected = f'<!-- lines: cpu-demo, from "what" to "  note" -->\n{named}\n\n```text\n{quoted}\n```\n'
    assert rewritten(page, results) == expected


@pytest.mark.parametrize(
    "page",
    [
        "9<!-- gpu-speed: absent -->",
        "9<!-- gpu-absent: search kron8 -->",
        "9<!-- gpu-speed: search kron8 @ absent -->",
        "<!-- figures: gpu-speed -->\n\n| | kron8 |\n|---|---|\n| absent | 5 |\n",
        "<!-- figures: gpu-speed -->\n\n| | measured |\n|---|---|\n| absent | 5 |\n",
        '<!-- lines: cpu-demo, from "absent" -->\n```text\nold\n```\n',
        '<!-- lines: cpu-demo, from "what" to "absent" -->\n```text\nold\n```\n',
    ],
)
def test_a_figure_without_a_result_is_refused(results: Results, page: str) -> None:
    with pytest.raises(FigureError, match="absent"):
        rewritten(page, results)


@pytest.mark.parametrize(
    "page",
    [
        "about <!-- gpu-speed: search kron8 --> ms\n",
        "<!-- figures: gpu-speed -->\n\nno table\n",
        '<!-- lines: cpu-demo, from "what" -->\n```sh\nno text\n```\n',
    ],
)
def test_a_mark_without_its_figure_is_refused(results: Results, page: str) -> None:
    with pytest.raises(FigureError, match="1 of 1 marks"):
        rewritten(page, results)


def test_marks_in_blocks_are_examples(results: Results) -> None:
    page = "```\n9<!-- gpu-speed: absent -->\n```\n"
    assert rewritten(page, results) == page


def test_differences_are_reported(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    write(tmp_path, "gpu-speed", "2026-01-02T10:00:00", [row("search", 4.0)])
    page = tmp_path / "page.md"
    page.write_text("takes 3<!-- gpu-speed: search --> ms\n")
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "Results", lambda: Results(tmp_path))
    assert figures.main(["--check"]) == 1
    assert "-takes 3<!-- gpu-speed: search --> ms\n+takes 4<!--" in capsys.readouterr().out
    assert figures.main([]) == 0
    assert page.read_text() == "takes 4<!-- gpu-speed: search --> ms\n"
    assert figures.main(["--check"]) == 0
