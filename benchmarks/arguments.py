"""What the benchmarks' command lines have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import semiring as sr

from .report import RESULTS

Rows = Sequence[Callable[[Any], None]]


def parser(name: str, about: str | None, *, rows: Rows = ()) -> argparse.ArgumentParser:
    """For ``python -m benchmarks.NAME``: the device and the folder of results; with `rows`, which of them."""
    made = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=(about or "").partition("\n")[0])
    made.add_argument("--device", choices=("cpu", "cuda"), help="default: where new objects live")
    made.add_argument("--out", type=Path, default=RESULTS, help="where the result files go")
    if rows:
        names = [row.__name__ for row in rows]
        made.add_argument("--rows", nargs="+", choices=names, metavar="ROW", help="only these: " + ", ".join(names))
    return made


def device_of(asked: argparse.Namespace) -> str:
    """The device asked for, or the GPU if there is one."""
    return asked.device or ("cuda" if sr.cuda_available() else "cpu")


def measure_rows(rows: Rows, asked: argparse.Namespace, bench: Any) -> None:
    """Those asked for, in their own order."""
    for row in rows:
        if asked.rows is None or row.__name__ in asked.rows:
            row(bench)
