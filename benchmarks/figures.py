"""Rewrite the figures of the pages from the newest result files.

    python -m benchmarks.figures            rewrite all pages
    python -m benchmarks.figures --check    print the differences, and exit with 1 if there are any

A page marks a figure with a comment that names its source: the name of a result file without its suffix, in which ``*``
matches any characters.  The figure is that of the newest file that has the row, by the date inside the file; a ``.txt``
file is read where there is no ``.jsonl`` file beside it.  Names of rows are compared without commas, colons and
backticks.  Marks:

``0.65<!-- nvidia-h200-speed: bfs_levels kron22 -->``
    The number before the comment.  ``@ NAME`` after the row selects the figure of a peer, or the ``median``, ``least``
    or ``most`` of the samples.

``<!-- figures: nvidia-h200-more, nvidia-h200-centrality -->``, above a table
    A column with a header of `FIELDS` has that property of the row that the first cell names; any other cell has the
    figure of the row ``<first cell> <header>``, and is empty without one.  After a header that ends with ``, times as
    fast`` it has the time of the fastest peer over ours.  A comment in the first cell takes the place
    of its text.  The lines between mark and table name the files.

``<!-- lines: amd-epyc-2-cores-demo, from "bfs_levels" to "ms:" -->``, above a ``text`` block
    The lines of the file from the first that begins with one text, to the last before one that begins with the other.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import statistics
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"

Row = Mapping[str, Any]

_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"([\d.,]*\d)(<!-- ([^\s:]+): ([^>]+?)(?: @ ([^>]+?))? -->)")
_TABLE = re.compile(r"^(<!-- figures: ([^>]+?) -->)\n(?:From (?:[^\n]+\n)+)?\n?((?:\|[^\n]*\n)+)", re.MULTILINE)
_LINES = re.compile(
    r'^(<!-- lines: ([^\s,]+), from "([^"]+)"(?: to "([^"]+)")? -->)\n(?:From (?:[^\n]+\n)+)?\n?```text\n.*?^```$',
    re.MULTILINE | re.DOTALL,
)
_HIDDEN = re.compile(r"<!-- (.+?) -->")
_MARK = re.compile(r"<!-- [\w*-]+: ")
_UNITS = {"x slower": "times as long", "x faster": "times as fast", "x": "times as fast"}


class FigureError(Exception):
    """A mark names what no result file contains."""


def number(value: float) -> str:
    """Three significant digits, or all digits before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _amount(value: float, unit: str) -> str:
    return f"{number(value)} {_UNITS.get(unit, unit)}"


def _target(row: Row) -> str:
    bound = row.get("bound")
    return "" if bound is None else f"{'at most' if row['at_most'] else 'at least'} {_amount(bound, row['unit'])}"


def _verdict(row: Row) -> str:
    return {None: "", True: "met", False: "missed"}[row.get("passed")]


def _peers(row: Row) -> str:
    texts = [
        f"{peer['name']} {_amount(peer['value'], peer['unit'])}{' (recorded)' if peer['recorded'] else ''}"
        for peer in row.get("peers", ())
    ]
    return ", ".join(texts)


def _ratios(row: Row) -> dict[str, float]:
    """How many times our figure each peer with the same unit takes, by the name to show."""
    return {
        f"{peer['name']}{' (recorded)' if peer['recorded'] else ''}": peer["value"] / row["value"]
        for peer in row.get("peers", ())
        if peer["unit"] == row["unit"]
    }


def _spread(row: Row) -> str:
    samples = row.get("samples")
    return f"{number(min(samples))} to {number(max(samples))}" if samples else ""


# The property of a row that a column shows, by the column's header.
FIELDS: Mapping[str, Callable[[Row], str]] = {
    "measured": lambda row: _amount(row["value"], row["unit"]),
    "spread": _spread,
    "target": _target,
    "verdict": _verdict,
    "compared with": _peers,
    "times as fast as": lambda row: ", ".join(f"{name} {number(ratio)}" for name, ratio in _ratios(row).items()),
}
_FASTEST = ", times as fast"
_SAMPLES: Mapping[str, Callable[[Any], float]] = {"median": statistics.median, "least": min, "most": max}


def _key(what: str) -> str:
    return " ".join(re.sub(r"[`,:]", " ", what).split())


@cache
def _read(path: Path) -> tuple[str, dict[str, Row]]:
    """When a result file was written, as text that sorts, and its rows."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        facts, *lines = map(json.loads, text.splitlines())
        return facts["date"], {_key(row["what"]): row for row in lines if row["value"] is not None}
    rows = [row for line in text.splitlines() if (row := _row_of(line)) is not None]
    stamp = re.search(r"\d{4}-\d\d-\d\d(?:T[\d:+]+)?", text)
    return stamp[0] if stamp else "", {_key(row["what"]): row for row in rows}


_ROW = re.compile(r"(\S.*?) {2,}([\d,]*\.?\d+) (\S+(?: \S+)*)(?: {2,}(.*))?")
_BOUND = re.compile(r"([<>])= ([\d.e+]+)")
_PEER = re.compile(r"(.+?) ([\d.e+]+) (\S+)( \(recorded\))?(?: = .*)?")


def _row_of(line: str) -> dict[str, Any] | None:
    """The row of a line of a `.txt` file, as `report` writes it; None for another line."""
    if (found := _ROW.match(line)) is None:
        return None
    row: dict[str, Any] = {"what": found[1], "value": float(found[2].replace(",", "")), "unit": found[3]}
    for cell in re.split(r" {2,}", found[4] or ""):
        if bound := _BOUND.fullmatch(cell):
            row |= {"bound": float(bound[2]), "at_most": bound[1] == "<"}
        elif cell in ("pass", "FAIL"):
            row["passed"] = cell == "pass"
        else:
            peers = [_PEER.fullmatch(part) for part in cell.split("; ")]
            row["peers"] = [
                {"name": peer[1], "value": float(peer[2]), "unit": peer[3], "recorded": bool(peer[4])}
                for peer in peers
                if peer is not None
            ]
    return row


class Results:
    """The result files of a folder."""

    def __init__(self, folder: Path = RESULTS) -> None:
        self.folder = folder

    def files(self, source: str) -> list[Path]:
        """The files of a source, the newest first."""
        found = {path.stem: path for suffix in ("txt", "jsonl") for path in self.folder.glob(f"{source}.{suffix}")}
        return sorted(found.values(), key=lambda path: _read(path)[0], reverse=True)

    def find(self, sources: str, what: str) -> tuple[Path, Row] | None:
        """The newest file of some sources, separated by commas, with a row, and the row."""
        paths = [path for source in sources.split(",") for path in self.files(source.strip())]
        if not paths:
            raise FigureError(f"no result file is called {sources}")
        holders = [path for path in paths if _key(what) in _read(path)[1]]
        if not holders:
            return None
        newest = max(holders, key=lambda path: _read(path)[0])
        return newest, _read(newest)[1][_key(what)]

    def row(self, sources: str, what: str) -> tuple[Path, Row]:
        """`find`; FigureError if there is none."""
        found = self.find(sources, what)
        if found is None:
            raise FigureError(f"no file of {sources} has the row {_key(what)!r}")
        return found


def _figure(results: Results, mark: re.Match[str]) -> str:
    _, comment, source, what, selected = mark.groups()
    _, row = results.row(source, what)
    value = row["value"]
    if selected in _SAMPLES:
        value = _SAMPLES[selected](row["samples"])
    elif selected:
        values = [peer["value"] for peer in row.get("peers", ()) if peer["name"] == selected]
        if not values:
            raise FigureError(f"the row {what!r} of {source} has no peer {selected!r}")
        value = values[0]
    return number(value) + comment


def _named(paths: Iterable[Path]) -> str:
    names = ", ".join(f"`{path.stem}.txt`" for path in sorted(paths))
    return textwrap.fill(f"From `benchmarks/results/`: {names}.", 130, break_on_hyphens=False)


def _table(results: Results, mark: re.Match[str]) -> str:
    comment, sources, table = mark.groups()
    heading, rule, *lines = table.splitlines()
    headers = [cell.strip() for cell in heading.split("|")[2:-1]]
    used: set[Path] = set()
    filled = [heading, rule]
    for line in lines:
        first = line.split("|")[1].strip()
        cells, what = [first], hidden[1] if (hidden := _HIDDEN.search(first)) else first
        for name in headers:
            field = FIELDS.get(name)
            header = name.removesuffix(_FASTEST)
            found = results.find(sources, f"{what} {header}") if field is None else results.row(sources, what)
            if found is None:
                cells.append("")
                continue
            path, row = found
            used.add(path)
            if header != name:
                ratios = _ratios(row).values()
                cells.append(number(min(ratios)) if ratios else "")
            else:
                cells.append(field(row) if field else number(row["value"]))
        if not any(cells[1:]):
            raise FigureError(f"no file of {sources} has a figure of {_key(what)!r}")
        filled.append("| " + " | ".join(cells) + " |")
    return "\n".join([comment, _named(used), "", *filled, ""]).replace("|  |", "| |").replace("|  |", "| |")


def _quoted(results: Results, mark: re.Match[str]) -> str:
    comment, source, first, last = mark.groups()
    paths = results.files(source)
    if not paths:
        raise FigureError(f"no result file is called {source}")
    lines = paths[0].with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    starts = [place for place, line in enumerate(lines) if line.startswith(first)]
    if not starts:
        raise FigureError(f"no line of {paths[0].stem}.txt begins with {first!r}")
    ends = [place for place, line in enumerate(lines) if last and place > starts[0] and line.startswith(last)]
    if last and not ends:
        raise FigureError(f"no later line of {paths[0].stem}.txt begins with {last!r}")
    text = "\n".join(lines[starts[0] : ends[0] if ends else None]).rstrip()
    return f"{comment}\n{_named(paths[:1])}\n\n```text\n{text}\n```"


def rewritten(text: str, results: Results) -> str:
    """The text of a page with every marked figure replaced; marks within fenced blocks are examples."""
    text, replaced = _LINES.subn(partial(_quoted, results), text)
    parts = _FENCED.split(text)
    for place in range(0, len(parts), 2):
        for pattern, function in ((_TABLE, _table), (_NUMBER, _figure)):
            parts[place], count = pattern.subn(partial(function, results), parts[place])
            replaced += count
    marks = sum(len(_MARK.findall(part)) for part in parts[::2])
    if marks != replaced:
        raise FigureError(f"{marks - replaced} of {marks} marks have no number before, or no table or block below them")
    return "".join(parts)


def pages() -> list[Path]:
    """The pages of the project."""
    built = {"_build", "api", "jupyter_execute"}
    return [*sorted(ROOT.glob("*.md")), *sorted(p for p in (ROOT / "docs").rglob("*.md") if not built & set(p.parts))]


def main(arguments: list[str] | None = None) -> int:
    """Rewrite or check all pages."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.figures", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--check", action="store_true", help="print the differences, and exit with 1 if there are any")
    check = parser.parse_args(arguments).check
    changed = 0
    for page in pages():
        name, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
        try:
            new = rewritten(text, Results())
        except FigureError as error:
            sys.exit(f"{name}: {error}")
        if new != text:
            changed += 1
            print("\n".join(difflib.unified_diff(text.splitlines(), new.splitlines(), name, name, n=0, lineterm="")))
            if not check:
                page.write_text(new, encoding="utf-8")
    print(f"{changed} pages {'differ from their result files' if check else 'rewritten'}")
    return int(check and changed > 0)


if __name__ == "__main__":
    sys.exit(main())
