"""Format objects as text: a header line and a preview of 10 x 10, ``.`` where nothing is stored."""

from __future__ import annotations

import html as _html
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engines.residency import resident_rows
from ..memory.arrays import to_host

if TYPE_CHECKING:
    from .matrix import Matrix
    from .vector import Vector

_SHOWN = 10


def matrix(a: Matrix) -> str:
    """Return the text of a matrix."""
    columns, rows = _shown_positions(a.ncols), _shown_positions(a.nrows)
    return "\n".join([_header(a), *_table(_cells(a, rows, columns), rows, columns)])


def vector(v: Vector) -> str:
    """Return the text of a vector."""
    positions = _shown_positions(v.size)
    cells = {(0, j): _text(value) for j, value in _entries(v, positions)}
    return "\n".join([_header(v), *_table(cells, None, positions)])


def html(x: Any) -> str:
    """Return the same preview as an HTML table, for notebooks."""
    if x.ndim == 1:
        rows, columns = [0], _shown_positions(x.size)
        cells = {(0, j): _text(value) for j, value in _entries(x, columns)}
    else:
        rows, columns = _shown_positions(x.nrows), _shown_positions(x.ncols)
        cells = _cells(x, rows, columns)
    marked = _with_gap(columns)
    lines = [["<th></th>", *("<th>…</th>" if j is None else f"<th>{j}</th>" for j in marked)]]
    for i in _with_gap(rows):
        texts = ("…" if i is None or j is None else _html.escape(cells.get((i, j), "")) for j in marked)
        label = "" if x.ndim == 1 else "…" if i is None else str(i)
        lines.append([f"<th>{label}</th>", *(f"<td>{text}</td>" for text in texts)])
    table = "".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    return f"<p><code>{_html.escape(_header(x))}</code></p><table>{table}</table>"


def _header(x: Any) -> str:
    kind = type(x).__name__
    name = f" {x.name!r}" if x.name else ""
    shape = f"{x.shape[0]} x {x.shape[1]}" if x.ndim == 2 else f"size {x.size}"
    iso = f", all {_text(x.iso_value)}" if x.is_iso and x.nvals else ""
    return f"{kind}{name}: {shape}, {counted(x.nvals)} of {x.dtype}{iso}, {_held(x)} on {x.device}"


def _held(x: Any) -> str:
    """Return the format, with the codec of compressed rows, and the placement if it is not ``"device"``."""
    codec = f" ({x.codec})" if x.ndim == 2 and x.codec is not None else ""
    return f"{x.format}{codec}{'' if x.placement == 'device' else f', {x.placement},'}"


def counted(entries: int) -> str:
    """``"1 entry"``, ``"2 entries"``."""
    return f"{entries} {'entry' if entries == 1 else 'entries'}"


def _shown_positions(size: int) -> list[int]:
    """Return the positions that are shown: all of a few, else the first and the last five."""
    half = _SHOWN // 2
    return list(range(size)) if size <= _SHOWN else [*range(half), *range(size - half, size)]


def _entries(v: Any, positions: list[int]) -> list[tuple[int, Any]]:
    if not positions:
        return []
    indices, values = (to_host(part) for part in v[positions].to_coo(index_dtype=None))
    return [(positions[i], values[p]) for p, i in enumerate(indices.tolist())]


def _cells(a: Any, rows: list[int], columns: list[int]) -> dict[tuple[int, int], str]:
    if not rows or not columns:
        return {}
    cells = {}
    for first, last in _runs(rows):
        # Only the displayed rows are decoded or copied.
        part = a.with_store(resident_rows(a.store, first, last))
        i, j, values = (to_host(part) for part in part[:, columns].to_coo(index_dtype=None))
        for r, c, value in zip(i.tolist(), j.tolist(), values, strict=True):
            cells[first + r, columns[c]] = _text(value)
    return cells


def _runs(positions: list[int]) -> list[tuple[int, int]]:
    """Return the ranges [first, last) of consecutive positions."""
    runs: list[tuple[int, int]] = []
    for position in positions:
        if runs and runs[-1][1] == position:
            runs[-1] = runs[-1][0], position + 1
        else:
            runs.append((position, position + 1))
    return runs


def _text(value: Any) -> str:
    if isinstance(value, (np.floating, float)):
        return f"{float(value):.6g}"
    if isinstance(value, (np.bool_, bool)):
        return "T" if value else "F"
    return str(value)


def _with_gap(positions: list[int]) -> list[int | None]:
    """Return the positions, with None where some are left out."""
    marked: list[int | None] = []
    for previous, position in zip([-1, *positions], positions, strict=False):
        marked += [position] if position == previous + 1 else [None, position]
    return marked


def _table(cells: dict[tuple[int, int], str], rows: list[int] | None, columns: list[int]) -> list[str]:
    """Lines of text: one for the columns' numbers, one for each row (a vector has one, without a number)."""
    if not columns or rows == []:
        return []
    texts = [["", *("..." if j is None else str(j) for j in _with_gap(columns))]]
    for i in _with_gap([0] if rows is None else rows):
        if i is None:
            texts.append(["..."])
            continue
        shown = ("..." if j is None else cells.get((i, j), ".") for j in _with_gap(columns))
        texts.append(["" if rows is None else str(i), *shown])
    widths = [max(len(line[p]) for line in texts if p < len(line)) for p in range(len(texts[0]))]
    return ["  ".join(text.rjust(width) for text, width in zip(line, widths, strict=False)).rstrip() for line in texts]
