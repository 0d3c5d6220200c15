"""The rows of a measurement: a table for readers, and JSON lines for programs.

The files of a case on one kind of machine replace those of the run before; git keeps the older ones.  A row is written
as soon as it is measured, so that an interrupted run keeps its rows.  Both files are replaced as a whole, never left
half-written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from semiring.bridges.bench.rows import Peer, Row, timed

from . import machine

__all__ = ["RESULTS", "Peer", "Report", "Row", "change", "last_results", "timed", "worse"]

RESULTS = Path(__file__).resolve().parent / "results"
_COLUMNS = ("what", "measured", "target", "", "beside it")


# A row that is worse than in the last result file by more than this share is named at the end of a run.
_TOLERATED = 0.10


def last_results(name: str, device: str, folder: Path = RESULTS) -> tuple[str, dict[str, Any]]:
    """The result file of a case on this kind of machine: its name and its rows by `what`; empty if there is none."""
    path = folder / f"{machine.slug(device)}-{name}.jsonl"
    if not path.exists():
        return "", {}
    _, *rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return path.name, {row["what"]: row for row in rows}


def change(row: Row, before: Mapping[str, Any]) -> float | None:
    """How many times worse a row is than before; None where a figure is missing, or the figures are not of one kind."""
    if row.unit != before["unit"]:
        return None
    if row.relative is not None:
        then = before.get("relative")
        return row.relative / then if then else None
    now, then = row.value, before.get("value")
    if now is None or not then:
        return None
    ratio: float = now / then if row.at_most else then / now if now else float("inf")
    return ratio


def worse(row: Row, before: Mapping[str, Any]) -> str | None:
    """What to report of a row that is worse than before by more than 10%; None otherwise."""
    ratio = change(row, before)
    if ratio is None or ratio <= 1 + _TOLERATED:
        return None
    figures = f"{row.value:.4g} {row.unit}, was {before['value']:.4g}"
    if row.relative is not None:
        figures = f"best {row.relative:.3g} x the reference program, was {before['relative']:.3g}"
    return f"{row.what}: {figures} ({ratio - 1:.0%} worse)"


class Report:
    """The rows of one run, in two files beside each other, and what became worse since the last run kept."""

    def __init__(self, name: str, device: str, folder: Path = RESULTS) -> None:
        # Read before this run replaces it.
        self._last, self._before = last_results(name, device)
        self.device = device
        self.rows: list[Row] = []
        self._stem = folder / f"{machine.slug(device)}-{name}"
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, row: Row) -> None:
        """Print a row and keep it."""
        self.rows.append(row)
        print("  ".join(cell for cell in (*row.cells(), row.note) if cell), flush=True)
        self._save()

    @property
    def failed(self) -> bool:
        """Whether a bound is missed, or nothing was measured."""
        return not self.rows or any(row.passed is False for row in self.rows)

    def table(self) -> str:
        """The rows, after the facts of the machine."""
        cells = [_COLUMNS, *(row.cells() for row in self.rows)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(_COLUMNS))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
        notes = [
            "  ".join("-" * width for width in widths),
            *(f"    {row.note}" if row.note else "" for row in self.rows),
        ]
        body = [part.rstrip() for line, note in zip(lines, notes, strict=True) for part in (line, note) if part.strip()]
        return "\n".join([machine.describe(self.device), "", *body, ""])

    def _save(self) -> None:
        lines = [json.dumps(machine.facts(self.device))]
        lines += [json.dumps(asdict(row) | {"passed": row.passed}) for row in self.rows]
        _replace(self._stem.with_suffix(".jsonl"), "\n".join(lines) + "\n")
        _replace(self._stem.with_suffix(".txt"), self.table())

    def close(self) -> None:
        """Print the table and the names of the files."""
        if not self.rows:
            print("nothing was measured, and nothing written", flush=True)
            return
        print(f"\n{self.table()}\nwritten: {self._stem}.jsonl and .txt", flush=True)
        if self._last:
            both = [(row, self._before[row.what]) for row in self.rows if row.what in self._before]
            compared = [pair for pair in both if change(*pair) is not None]
            lines = [line for pair in compared if (line := worse(*pair)) is not None]
            print(f"against {self._last}: {len(lines)} of {len(compared)} rows are more than 10% worse", flush=True)
            for line in lines:
                print(f"    WORSE  {line}", flush=True)


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".part")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
