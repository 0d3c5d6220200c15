"""Results as text: one fact a line, tables in columns, numbers with thousands separators; or one JSON object."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np


def emit(facts: Mapping[str, Any], *, as_json: bool) -> None:
    """Print facts: as aligned lines of text, or as one JSON object with the same names.

    JSON has no numbers that are not finite: they are the strings ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``.
    """
    if as_json:
        print(json.dumps(_json_value(facts), allow_nan=False))
        return
    shown = {name.replace("_", " "): value for name, value in facts.items() if value is not None}
    width = max(map(len, shown), default=0)
    for name, value in shown.items():
        print(f"{name:<{width}}  {text(value)}")


def text(value: Any) -> str:
    """Format a fact as text."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return " x ".join(text(part) for part in value) if value else "none"
    return str(value)


def _json_value(value: Any) -> Any:
    """Return a value of the types that JSON has; NumPy's numbers become Python's."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, Mapping):
        return {str(name): _json_value(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def cell(value: Any) -> str:
    """Format a value of a table: floats in six digits; of a list each member, in quotes where it holds blanks."""
    if isinstance(value, list):
        return " ".join(f'"{part}"' if " " in str(part) else str(part) for part in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Format rows in columns: the first `left` columns are left-aligned text, the others right-aligned numbers."""
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = (
            f"{cell:<{w}}" if at < left else f"{cell:>{w}}"
            for at, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join(cells).rstrip()

    return "\n".join([line(head), "  ".join(rule() * width for width in widths), *map(line, rows)])


def rule() -> str:
    """Return the character of a table's rule."""
    return "─" if supports_unicode() else "-"


def runs(words: Sequence[str]) -> str:
    """Format runs of equal words with their counts: push x3, pull x2, push."""
    counted = ((word, len(list(same))) for word, same in groupby(words))
    return ", ".join(word if count == 1 else f"{word} x{count}" for word, count in counted)


def size(count: float) -> str:
    """Format a number of bytes: 812 B, 5.6 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def shown(path: str | os.PathLike[str]) -> str:
    """Return a file name that any stream can print."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def supports_unicode() -> bool:
    """Return whether standard output can show block characters."""
    try:
        "─█▓░·".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
