"""Command-line arguments that the benchmarks share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import semiring as sr

from .report import RESULTS

Rows = Sequence[Callable[[Any], object]]


def parser(name: str, about: str | None, *, rows: Rows = ()) -> argparse.ArgumentParser:
    """For ``python -m benchmarks.NAME``: the device and the folder of results; with `rows`, a selection of rows."""
    made = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=(about or "").partition("\n")[0])
    made.add_argument("--device", choices=("cpu", "cuda"), help="default: the device of new objects")
    made.add_argument("--out", type=Path, default=RESULTS, help="the folder of the result files")
    if rows:
        names = [row.__name__ for row in rows]
        made.add_argument("--rows", nargs="+", choices=names, metavar="ROW", help="only these: " + ", ".join(names))
    return made


def device_of(options: argparse.Namespace) -> str:
    """The requested device, or the GPU if there is one."""
    return options.device or ("cuda" if sr.cuda_available() else "cpu")


def measure_rows(rows: Rows, options: argparse.Namespace, bench: Any) -> None:
    """The requested names, in the order of the table."""
    for row in rows:
        if options.rows is None or row.__name__ in options.rows:
            row(bench)
