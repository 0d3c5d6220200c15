"""Lists of vectors in programs: the CUDA text of their steps, and the arrays that hold their entries.

A list is stored as its vectors' entries one after another: indices, values, and offsets of the vectors.  Every thread
has the number of its vectors and of its entries, so that these need no barrier.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ...dtypes import c_name
from ...formats import Full, IndexList, VectorStore, index_dtype
from ...memory.allocation import require
from ...memory.arrays import copied
from ..programs.lifetimes import Place
from ..programs.program import Compute, VectorList
from .launch import read_back
from .program_searches import Searches

# Entries and vectors for which there is memory at first, beside the size of a vector; and by what it grows.
_FIRST, _GROWTH = 1024, 2
# The numbers that every thread has of a list: its vectors and entries, and the least number of vectors that it had.
_NUMBERS = "length", "end", "least"


class Lists(Searches):
    """Writes the steps of lists of vectors."""

    optional: ClassVar[frozenset[str]] = Searches.optional | {"append", "clear", "drop", "item", "length"}

    def list_numbers(self) -> list[tuple[str, str]]:
        """Return the numbers of all lists that every thread has: type and name."""
        return [("i64", f"{name}{m}") for m, _ in enumerate(self.lists) for name in _NUMBERS]

    def list_arguments(self) -> list[tuple[str, str]]:
        """Return the fields of the argument for all lists: arrays, and how many entries and offsets they hold."""
        fields = []
        for m, vectors in enumerate(self.lists):
            index, dtype = _types(vectors)
            fields += [
                (f"{c_name(index)}*", f"J{m}"), (f"{c_name(dtype)}*", f"X{m}"), ("i64*", f"O{m}"),
                ("i64", f"entries{m}"), ("i64", f"offsets{m}"),
            ]  # fmt: skip
        return fields

    def _compute(self, step: Compute) -> None:
        if step.op not in ("length", "drop", "clear"):
            super()._compute(step)
            return
        m = self.list_number(step.operands[0])
        length, end, least = (f"s.{name}{m}" for name in _NUMBERS)
        if step.op == "length":
            self.put(f"{self.number(step.result)} = {length};")
        elif step.op == "drop":
            self._guard(f"{length} == 0")
            self.touch([f"list{m}"])
            self.put(f"{length} -= 1; {end} = a.O{m}[{length}]; {least} = {least} < {length} ? {least} : {length};")
        else:
            self.put(f"{length} = {end} = {least} = 0;")

    def _append(self, q: Any, made: Any, place: Place) -> None:
        m, store = self.list_number(q.vectors), q.store
        length, end, _ = (f"s.{name}{m}" for name in _NUMBERS)
        positions, n = self.set_of(store), self.n(store)
        self.touch(self.operands(store), [f"list{m}"])
        self.point(self.items(store))
        count = n if positions is None else f"{positions}.count"
        # The program continues at the point before this, with larger arrays.
        full = f"{length} + 2 > a.offsets{m} || {end} + {count} > a.entries{m}"
        self.put(f"if ({full}) {self.leave('OUTGROWN', self.points)}")
        store_entry = f"a.J{m}[{end} + p] = i; a.X{m}[{end} + p] = {self.value(store, 'i')};"
        if positions is None:
            self.put(f"each_position({n}, [&](i64 i) {{ const i64 p = i; {store_entry} }});")
        else:
            k = self.counter()
            visit = f"enumerate_entries(g, {positions}, {k}, b.c{k}, {n}, "
            self.put(f"{visit}[&](i64 p, i64 i) {{ {store_entry} }});")
            self.later(f"b.c{k} = counted[{k}];")
        self.put(f"{end} += {count}; {length} += 1;")
        self.put(f"if (group_thread() == 0) a.O{m}[{length}] = {end};")

    def _item(self, q: Any, made: Any, place: Place) -> None:
        m, at = self.list_number(q.vectors), self.number(q.at)
        self._guard(f"{at} < 0 || {at} >= s.length{m}")
        target, values, listed = self.set_of(made), self.values_of(made), f"list{m}"
        assert target is not None
        self.touch([listed], [target, values])
        self.put(f"clear({target}, {self.n(made)});")
        self.later(f"{target}.count = a.O{m}[{at} + 1] - a.O{m}[{at}]; {target}.listed = 1;", target)
        self.barrier()
        self.touch([listed], [target, values])
        self.point(f"{target}.count")
        self.put(f"enter_item({target}, a.J{m}, a.X{m}, a.O{m}, {at}, {values});")


def _types(vectors: VectorList) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Return the types of indices and values."""
    size = 1 if vectors.size is None else vectors.size
    return index_dtype(size), np.dtype(np.bool_) if vectors.dtype is None else vectors.dtype


class ListArrays:
    """The arrays of a list, with the vectors that it has before the program.

    given: indices of each vector, and values or the one value that all have.  module: CuPy, or NumPy in the emulation.
    """

    def __init__(self, vectors: VectorList, given: list[tuple[Any, Any]], module: Any) -> None:
        self._size, self._module = 1 if vectors.size is None else vectors.size, module
        self._index, self._dtype = _types(vectors)
        ends = np.zeros(len(given) + 1, np.int64)
        np.cumsum([indices.size for indices, _ in given], out=ends[1:])
        self.length, self.end = len(given), int(ends[-1])
        self._allocate(self.end * 2 + self._size + _FIRST, len(given) * 2 + _FIRST)
        self._offsets[: ends.size] = module.asarray(ends)
        for number, (indices, values) in enumerate(given):
            begin, end = map(int, ends[number : number + 2])
            self._indices[begin:end], self._values[begin:end] = indices, values

    def _allocate(self, entries: int, offsets: int) -> None:
        require("loop", "cuda", entries * (self._index.itemsize + self._dtype.itemsize) + offsets * 8)
        empty = self._module.empty
        self._indices, self._values = empty(entries, self._index), empty(entries, self._dtype)
        self._offsets = empty(offsets, np.int64)
        self._offsets[:1] = 0

    def numbers(self) -> list[int]:
        """Return the numbers that every thread has, before the program."""
        return [self.length, self.end, self.length]

    def arguments(self) -> list[int]:
        """Return the fields of the argument."""
        arrays = self._indices, self._values, self._offsets
        pointers = [a.ctypes.data if self._module is np else a.data.ptr for a in arrays]
        return [*pointers, self._indices.size, self._offsets.size]

    def grow(self, length: int, end: int) -> None:
        """Allocate more if another vector may not fit; the program continues with what the list has."""
        entries, offsets = self._indices.size, self._offsets.size
        if end + self._size <= entries and length + 2 <= offsets:
            return
        old = self._indices, self._values, self._offsets
        self._allocate(max(entries, end + self._size) * _GROWTH, max(offsets, length + 2) * _GROWTH)
        self._indices[:end], self._values[:end] = old[0][:end], old[1][:end]
        self._offsets[: length + 1] = old[2][: length + 1]

    def result(self, length: int, least: int) -> tuple[int, list[VectorStore]]:
        """Return the number of first vectors that did not change, and the vectors after them.  Synchronizes."""
        m, part = self._module, self._offsets[least : length + 1]
        ends = [int(end) for end in (part if m is np else read_back(part))]
        first, last = ends[0], ends[-1]
        indices, values = self._indices[first:last], self._values[first:last]
        if first < last:
            number = m.searchsorted(part[1:], m.arange(first, last), side="right")
            order = m.lexsort(m.stack([indices.astype(np.int64), number]))
            indices, values = indices[order], values[order]
        spans = [slice(begin - first, end - first) for begin, end in pairwise(ends)]
        return least, [self._store(indices[span], copied(values[span])) for span in spans]

    def _store(self, indices: Any, values: Any) -> VectorStore:
        if indices.size == self._size:
            return Full(self._size, self._dtype, values)
        return IndexList(self._size, self._dtype, copied(indices), values)
