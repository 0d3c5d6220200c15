"""Show objects as text, as HTML and in plots: a header line and a preview.

A small object, and a large one with most positions stored, is shown as a grid, ``.`` where nothing is stored; a large
sparse one as a list of its first and last entries.  The preview reads these entries alone, whatever the size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..devices import dispatched
from ..engines.rows.residency import entries_between, resident_rows
from ..formats import Bitmap, IndexList
from ..memory.arrays import to_host

if TYPE_CHECKING:
    from .matrix import Matrix
    from .vector import Vector


_SHOWN = 10
_HALF = _SHOWN // 2
_LONGEST_LABEL = 24
# Columns of a grid, whose rows are decoded.
_WIDEST = 1 << 16
# The words of a bitmap, at either end, in which entries are searched for.
_SEARCHED = 2048

# The lines of a table: the first is its header; None marks what is left out.
_Lines = list[list[str | None]]


def _escape(text: str) -> str:
    from html import escape

    return escape(text)


def matrix(a: Matrix) -> str:
    """Return the text of a matrix."""
    return "\n".join([header(a), *_aligned(preview(a))])


def vector(v: Vector) -> str:
    """Return the text of a vector."""
    return "\n".join([header(v), *_aligned(preview(v))])


def html(x: Any) -> str:
    """Return the same preview as an HTML table, for notebooks."""
    return f"<p><code>{_escape(header(x))}</code></p>{html_table(preview(x))}"


def html_line(text: str) -> str:
    """Return one line of code as HTML: an object that is not a table."""
    return f"<p><code>{_escape(text)}</code></p>"


def html_table(lines: Sequence[Sequence[str | None]]) -> str:
    """Return lines of cells as an HTML table; the first line and the first column are headers, None is ``…``."""
    rows = []
    for at, line in enumerate(lines):
        texts = ["…" if text is None else "" if text == "." else _escape(text) for text in line]
        tags = ["th", *(["td" if at else "th"] * (len(texts) - 1))]
        rows.append("".join(f"<{tag}>{text}</{tag}>" for tag, text in zip(tags, texts, strict=True)))
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


@dispatched()
def header(x: Any) -> str:
    """Return the line that describes an object."""
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


@dispatched()
def preview(x: Any) -> _Lines:
    """Return the lines that show entries of an object."""
    if x.ndim == 1:
        if x.size > _SHOWN and x.format != "full":
            return _listed_vector(x)
        shown = _shown_positions(x.size)
        cells = {(0, j): _value(x, value) for j, value in _elements(x, shown)}
        return _named(_grid(cells, None, shown), None, _names(x, 0))
    nrows, ncols = x.shape
    if max(nrows, ncols) > _SHOWN and (2 * x.nvals < nrows * ncols or ncols > _WIDEST):
        return _listed_matrix(x)
    rows, columns = _shown_positions(nrows), _shown_positions(ncols)
    return _named(_grid(_cells(x, rows, columns), rows, columns), _names(x, 0), _names(x, 1))


def _names(x: Any, axis: int) -> Any:
    """Return the function from a position on an axis to what is shown for it: its label, or its number."""
    labels = None if x._labels is None else x._labels[axis]
    return str if labels is None else lambda position: _shortened(labels[int(position)])


def _value(x: Any, value: Any) -> str:
    labels = x.value_labels
    inside = labels is not None and x.dtype.kind in "iu" and 0 <= value < len(labels)
    return _shortened(labels[int(value)]) if inside else _text(value)


def _shortened(label: Any) -> str:
    text = str(label)
    text = text if text.isprintable() else repr(text)
    if _width(text) <= _LONGEST_LABEL:
        return text
    kept = text[: _LONGEST_LABEL - 1]
    while _width(kept) >= _LONGEST_LABEL:
        kept = kept[:-1]
    return f"{kept}…"


def _named(lines: _Lines, rows: Any, columns: Any) -> _Lines:
    """Return the lines of a grid with names in place of the numbers of its columns and its rows."""
    if not lines:
        return lines
    head = [lines[0][0], *(None if text is None else columns(int(text)) for text in lines[0][1:])]
    if rows is None:
        return [head, *lines[1:]]
    return [head, *([line[0] if line[0] is None else rows(int(line[0])), *line[1:]] for line in lines[1:])]


# -- the first and last entries --------------------------------------------------------------------------


def _listed_matrix(a: Any) -> _Lines:
    store, of_row, of_column = a.store, _names(a, 0), _names(a, 1)
    lines: _Lines = []
    for first, last in _ends(a.nvals):
        parts = entries_between(store, first, last)
        lines += [[of_row(i), of_column(j), _value(a, x)] for i, j, x in zip(*parts, strict=True)]
    return [["i", "j", "value"], *_with_gap_line(lines, a.nvals)] if lines else []


def _listed_vector(v: Any) -> _Lines:
    entries = [*_first_entries(v.store, False), *_first_entries(v.store, True)]
    if v.nvals <= _SHOWN:
        entries = sorted(dict(entries).items())
    name = _names(v, 0)
    texts: _Lines = [[name(i), _value(v, x)] for i, x in entries]
    columns = _with_gap_line(texts, v.nvals)
    return [["i", *(line[0] for line in columns)], ["value", *(line[1] for line in columns)]] if entries else []


def _first_entries(store: Any, from_end: bool) -> list[tuple[int, Any]]:
    """Return the first entries of a vector, or the last ones, ascending: fewer where a bitmap has few at that end."""
    ends = slice(-_HALF, None) if from_end else slice(_HALF)
    if isinstance(store, IndexList):
        indices = to_host(store.indices[ends])
        values = None if store.values is None else to_host(store.values[ends])
    else:
        assert isinstance(store, Bitmap)
        before = max(int(store.words.size) - _SEARCHED, 0) if from_end else 0
        words = to_host(store.words[before : before + _SEARCHED])
        indices = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))[ends] + 32 * before
        values = None
        if store.values is not None and indices.size:
            low = int(indices[0])
            values = to_host(store.values[low : int(indices[-1]) + 1])[indices - low]
    return [(int(i), store.iso if values is None else values[p]) for p, i in enumerate(indices)]


def _ends(count: int) -> list[tuple[int, int]]:
    """Return the ranges of entry numbers that are shown: all of a few, else the first and the last five."""
    if count <= _SHOWN:
        return [(0, count)] if count else []
    return [(0, _HALF), (count - _HALF, count)]


def _with_gap_line(lines: _Lines, count: int) -> _Lines:
    """Return the lines, with a line of None behind the first five where entries are left out."""
    if count <= len(lines):
        return lines
    half = min(_HALF, len(lines))
    return [*lines[:half], [None] * len(lines[0]), *lines[half:]] if lines else []


# -- a grid ----------------------------------------------------------------------------------------------


def _shown_positions(size: int) -> list[int]:
    """Return the positions that are shown: all of a few, else the first and the last five."""
    return list(range(size)) if size <= _SHOWN else [*range(_HALF), *range(size - _HALF, size)]


def _elements(v: Any, positions: list[int]) -> list[tuple[int, Any]]:
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
            cells[first + r, columns[c]] = _value(a, value)
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
    if isinstance(value, (np.complexfloating, complex)):
        return f"{complex(value):.6g}"
    if isinstance(value, (np.bool_, bool)):
        return "T" if value else "F"
    return str(value)


def _with_gap(positions: list[int]) -> list[int | None]:
    """Return the positions, with None where some are left out."""
    marked: list[int | None] = []
    for previous, position in zip([-1, *positions], positions, strict=False):
        marked += [position] if position == previous + 1 else [None, position]
    return marked


def _grid(cells: dict[tuple[int, int], str], rows: list[int] | None, columns: list[int]) -> _Lines:
    """Lines of cells: one for the columns' numbers, one for each row (a vector has one, without a number)."""
    if not columns or rows == []:
        return []
    lines: _Lines = [["", *(None if j is None else str(j) for j in _with_gap(columns))]]
    for i in _with_gap([0] if rows is None else rows):
        if i is None:
            lines.append([None] * len(lines[0]))
            continue
        shown = (None if j is None else cells.get((i, j), ".") for j in _with_gap(columns))
        lines.append(["" if rows is None else str(i), *shown])
    return lines


def _aligned(lines: _Lines) -> list[str]:
    """Return lines of cells as text, each column as wide as its longest cell."""
    texts = [["..."] if line[0] is None else ["..." if text is None else text for text in line] for line in lines]
    if not texts:
        return []
    widths = [max(_width(line[p]) for line in texts if p < len(line)) for p in range(len(texts[0]))]
    return ["  ".join(map(_right, line, widths)).rstrip() for line in texts]


def _right(text: str, width: int) -> str:
    return " " * (width - _width(text)) + text


def _width(text: str) -> int:
    """Return the columns of a terminal that a text takes: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        0 if category(letter) in ("Mn", "Me", "Cf") else 2 if east_asian_width(letter) in "WF" else 1 for letter in text
    )


def spy(self: Matrix, order: Any = None, *, resolution: int = 400, title: str | None = None, ax: Any = None) -> Any:
    """Draw where the entries are, through matplotlib: `semiring.plot.spy`.

    Parameters
    ----------
    order, resolution, title, ax : as in `semiring.plot.spy`

    Returns
    -------
    matplotlib.axes.Axes, or a list of two with `order`

    Raises
    ------
    NotSupported
        If matplotlib is not installed.
    DimensionMismatch, InvalidValue

    Notes
    -----
    Cost O(nvals).  Synchronizes, and copies only the counts of the cells from a GPU.

    Examples
    --------
    >>> axes = sr.random.grid2d(4, 4).spy(resolution=100)
    >>> len(axes.images)
    1
    """
    from ..plot import spy

    return spy(self, order, resolution=resolution, title=title, ax=ax)


def draw(
    self: Matrix,
    positions: Any = None,
    *,
    weights: bool = False,
    labels: bool | None = None,
    seed: int = 0,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a small graph as vertices and edges, through matplotlib: `semiring.plot.draw`.

    Parameters
    ----------
    positions, weights, labels, seed, title, ax : as in `semiring.plot.draw`

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NotSupported
        If matplotlib is not installed.
    DimensionMismatch, InvalidValue

    Notes
    -----
    At most 1,000 vertices and 10,000 entries.  Cost of `semiring.plot.layout`.  Synchronizes.

    Examples
    --------
    >>> axes = sr.random.grid2d(3, 3).draw()
    >>> len(axes.texts), axes.get_title(loc="left")
    (9, '9 vertices, 12 edges')
    """
    from ..plot import draw

    return draw(self, positions, weights=weights, labels=labels, seed=seed, title=title, ax=ax)
