"""Number many labels: the distinct ones by hash tables of compiled loops, in ascending order.

Every thread numbers the labels of its part as they occur.  The distinct labels of all parts, which are few beside the
edges, are sorted, and each edge's number is replaced by the rank of its label.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..engines import registry
from ..exceptions import InvalidValue
from ..formats import index_dtype

Array = np.ndarray[Any, Any]

# Labels from which numba is imported (a quarter of a second) and its loops are loaded.
MANY = 200_000
# Slots of a new table, and how many times as many a larger one has.
_SLOTS, _GROWTH = 1 << 16, 4
# Every part has a table of all the labels in it: more parts do not pay (reasoned).
_MOST_PARTS = 8
# Integers are numbered by a table of their range, if it has at most so many elements a label.
_RANGE_SHARE = 2


class Texts(NamedTuple):
    """A column of text in UTF-8: text k is ``data[starts[k]:stops[k]]``; texts are in ascending order, and apart."""

    data: Array
    starts: Array
    stops: Array

    @classmethod
    def of_offsets(cls, data: Array, offsets: Array) -> Texts:
        """Return texts without gaps: text k is ``data[offsets[k]:offsets[k + 1]]``."""
        return cls(data, offsets[:-1], offsets[1:])


class _Engine:
    """The compiled loops, and how they are run."""

    def __init__(self) -> None:
        registry.load("cpu")  # first, so that no interrupt breaks numba's import
        from ..engines.cpu import operands, threads
        from . import distinct_kernel

        self.loops: Any = distinct_kernel
        self._array, self._run, self._threads = operands.kernel_array, threads.run, threads.threads_for

    def parts(self, work: int) -> int:
        """Return the number of parts of a loop over `work` labels."""
        return min(_MOST_PARTS, self._threads(work))

    def run(self, loop: Any, parts: int, *arguments: Any, work: int = 0) -> None:
        """Run a loop."""
        given = (self._array(part) if isinstance(part, np.ndarray) else part for part in arguments)
        self._run(loop, parts, *given, work=work)

    def fill(self, loop: Any, parts: int, state: Array, sizes: tuple[int, int], *arguments: Any, hashed: bool) -> None:
        """Run a loop that fills tables, enlarged until they hold all labels of two columns of these sizes."""
        tables = np.zeros((parts, 2 * _SLOTS), np.uint64)
        while True:
            self.run(loop, parts, tables, state, *arguments, work=sum(sizes))
            if int(state[:, self.loops.DONE_A].sum() + state[:, self.loops.DONE_B].sum()) == sum(sizes):
                return
            larger = np.zeros((parts, _GROWTH * tables.shape[1]), np.uint64)
            self.run(self.loops.enlarge, parts, tables, larger, hashed, work=tables.size)
            tables = larger

    def look_up(self, values: Array, least: Any, table: Array, found: Array) -> None:
        """found[p] = table[values[p] - least]"""
        self.run(self.loops.look_up, self.parts(values.size), values, least, table, found, work=values.size)


# -- integers ----------------------------------------------------------------------------------------------


def number_integers(columns: Sequence[Array]) -> tuple[Array, list[Array]]:
    """Return the distinct integers of columns of one type, int64 or uint64, ascending; and the rank of each integer."""
    least, most = min(int(c.min()) for c in columns), max(int(c.max()) for c in columns)
    total = sum(c.size for c in columns)
    if most - least < _RANGE_SHARE * total:
        return _by_range(columns, least, most)
    engine = _Engine()
    parts = engine.parts(total)
    a, b = (column.view(np.uint64) for column in _two(columns))
    codes, each = _numbered(engine, parts, a, b)
    joined, bounds = np.concatenate(each), np.cumsum([0, *(part.size for part in each)])
    again = None
    if parts > 1:  # the same again, of the distinct integers of all parts
        (again, _), (joined,) = _numbered(engine, 1, joined, joined[:0])
    labels = joined.view(columns[0].dtype)
    order = np.argsort(labels)
    rank = np.empty(labels.size, index_dtype(labels.size))
    rank[order] = np.arange(labels.size, dtype=rank.dtype)
    found = [np.empty(code.size, rank.dtype) for code in codes]
    for t in range(parts):
        table = rank if again is None else rank[again[bounds[t] : bounds[t + 1]]]
        for code, rows in zip(codes, found, strict=True):
            part = slice(t * code.size // parts, (t + 1) * code.size // parts)
            engine.look_up(code[part], code.dtype.type(0), table, rows[part])
    return labels[order], _split(found, columns)


def _numbered(engine: _Engine, parts: int, a: Array, b: Array) -> tuple[tuple[Array, Array], list[Array]]:
    """Return the number of each integer among the distinct ones of its part, and these of each part."""
    total = a.size + b.size
    codes = np.empty(a.size, index_dtype(total)), np.empty(b.size, index_dtype(total))
    distinct, state = np.empty(total, np.uint64), np.zeros((parts, engine.loops.STATE_SIZE), np.int64)
    engine.fill(
        engine.loops.number_integers, parts, state, (a.size, b.size), a, b, *codes, distinct, hashed=False
    )  # fmt: skip
    starts = [t * a.size // parts + t * b.size // parts for t in range(parts)]
    counts = state[:, engine.loops.DISTINCT].tolist()
    return codes, [distinct[start : start + count] for start, count in zip(starts, counts, strict=True)]


def _by_range(columns: Sequence[Array], least: int, most: int) -> tuple[Array, list[Array]]:
    engine = _Engine()
    first = columns[0].dtype.type(least)
    present = np.zeros(most - least + 1, np.bool_)
    for column in columns:
        engine.run(engine.loops.mark, engine.parts(column.size), column, first, present, work=column.size)
    labels = np.flatnonzero(present).astype(columns[0].dtype) + first
    rank = np.cumsum(present, dtype=index_dtype(present.size))
    rank -= 1
    found = [np.empty(column.size, rank.dtype) for column in columns]
    for column, rows in zip(columns, found, strict=True):
        engine.look_up(column, first, rank, rows)
    return labels, found


# -- texts -------------------------------------------------------------------------------------------------


def number_texts(columns: Sequence[Texts]) -> tuple[list[str], list[Array]]:
    """Return the distinct texts of columns in ascending order (of code points), and the rank of each text.

    InvalidValue for text that is not UTF-8.
    """
    engine = _Engine()
    a, b = _two_texts(columns)
    sizes = a.starts.size, b.starts.size
    parts = engine.parts(sum(sizes))
    starts = np.array([_words_before(a, t, parts) + _words_before(b, t, parts) for t in range(parts + 1)])
    arena = np.empty(int(starts[-1]), np.uint64)  # a bound: what is not written occupies no memory
    codes = [np.empty(size, index_dtype(arena.size)) for size in sizes]
    state = np.zeros((parts, engine.loops.STATE_SIZE), np.int64)
    state[:, engine.loops.END] = starts[:-1]
    engine.fill(engine.loops.number_texts, parts, state, sizes, *a, *b, *codes, arena, hashed=True)

    # A text is named by its place in the arena; some are in the range of more than one part.
    count = int(state[:, engine.loops.DISTINCT].sum())
    places, first = np.empty(count, codes[0].dtype), np.empty(count, codes[0].dtype)
    table = np.zeros(4 << max(count - 1, 1).bit_length(), np.uint64)
    ends = np.ascontiguousarray(state[:, engine.loops.END])
    engine.run(engine.loops.merge_texts, 1, table, arena, starts[:-1], ends, first, places, work=count)
    distinct = places[first == places]
    ascending = distinct[_order(arena, distinct)]
    rank = np.empty(arena.size, index_dtype(count))
    rank[ascending] = np.arange(distinct.size, dtype=rank.dtype)
    rank[places] = rank[first]
    found = [np.empty(code.size, rank.dtype) for code in codes]
    for code, rows in zip(codes, found, strict=True):
        engine.look_up(code, code.dtype.type(0), rank, rows)
    return _decoded(engine, arena, ascending), _split(found, [c.starts for c in columns])


def _words_before(texts: Texts, t: int, parts: int) -> int:
    """Return a bound on the words in an arena of the texts of the parts before t."""
    p = t * texts.starts.size // parts
    if not p:
        return 0
    return (int(texts.stops[p - 1]) - int(texts.starts[0])) // 8 + 2 * p


def _order(arena: Array, texts: Array) -> Array:
    """Return the permutation that sorts distinct texts: by their first words, those that tie by the next, and so on."""
    order, tied, group, depth = np.arange(texts.size), np.arange(texts.size), np.zeros(texts.size, np.int64), 0
    lengths = arena[texts].astype(np.int64)
    while tied.size:
        chosen = order[tied]
        inside = lengths[chosen] > 8 * depth
        if inside.any():
            words = np.zeros(tied.size, np.uint64)
            words[inside] = arena[texts[chosen[inside]] + (1 + depth)]
        else:  # they differ in the number of zeros at the end
            words = lengths[chosen].astype(np.uint64)
        within = group[tied]
        turn = np.lexsort((words, within)) if depth else np.argsort(words)
        order[tied], words, within = chosen[turn], words[turn], within[turn]
        differs = np.ones(tied.size + 1, np.bool_)
        differs[1:-1] = (words[1:] != words[:-1]) | (within[1:] != within[:-1])
        group[tied] = np.cumsum(differs[:-1])
        tied, depth = tied[~(differs[:-1] & differs[1:])], depth + 1
    return order


def _decoded(engine: _Engine, arena: Array, texts: Array) -> list[str]:
    data, ends = np.empty(int(arena[texts].sum()), np.uint8), np.zeros(texts.size + 1, np.int64)
    engine.run(engine.loops.copy_texts, 1, arena, texts, data, ends[1:], work=texts.size)
    try:
        whole = data.tobytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise InvalidValue(f"labels must be text in UTF-8: {error}") from error
    bounds = ends.tolist()
    return list(map(whole.__getitem__, map(slice, bounds[:-1], bounds[1:])))


def addresses(objects: Array) -> Array:
    """Return the address of each object of an array, which stores just these."""
    objects = np.ascontiguousarray(objects)
    return np.ctypeslib.as_array((ctypes.c_int64 * objects.size).from_address(objects.ctypes.data)).copy()


def encoded(texts: list[str]) -> Texts:
    """Return a list of text as a column of UTF-8."""
    data = "".join(texts).encode("utf-8", "surrogatepass")
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    if len(data) != lengths.sum():  # not ASCII
        each = [text.encode("utf-8", "surrogatepass") for text in texts]
        lengths = np.fromiter(map(len, each), np.int64, len(each))
    return Texts.of_offsets(np.frombuffer(data, np.uint8), np.append(0, np.cumsum(lengths)))


# -- columns -----------------------------------------------------------------------------------------------


def _two(columns: Sequence[Array]) -> tuple[Array, Array]:
    """Return any number of columns as two, which is what the loops take."""
    if len(columns) == 2:
        return columns[0], columns[1]
    joined = columns[0] if len(columns) == 1 else np.concatenate(columns)
    return joined, joined[:0]


def _two_texts(columns: Sequence[Texts]) -> tuple[Texts, Texts]:
    if len(columns) == 2 and columns[0].starts.dtype == columns[1].starts.dtype:
        return columns[0], columns[1]
    shift, data, starts, stops = 0, [], [], []
    for column in columns:
        first, last = (int(column.starts[0]), int(column.stops[-1])) if column.starts.size else (0, 0)
        data.append(column.data[first:last])
        starts.append(column.starts.astype(np.int64) + (shift - first))
        stops.append(column.stops.astype(np.int64) + (shift - first))
        shift += last - first
    joined = Texts(np.concatenate(data), np.concatenate(starts), np.concatenate(stops))
    return joined, Texts(joined.data[:0], joined.starts[:0], joined.stops[:0])


def _split(found: Sequence[Array], columns: Sequence[Array]) -> list[Array]:
    """Return the rows of two columns as those of the columns that they were made of."""
    if len(columns) == 2 and found[0].size == columns[0].size:
        return list(found)
    bounds = np.cumsum([0, *(column.size for column in columns)])
    return [found[0][bounds[k] : bounds[k + 1]] for k in range(len(columns))]
