"""Lists of vectors in programs: the text of their steps, and the arrays that hold their entries.

A list is stored as its vectors' entries one after another: indices, values, and offsets of the vectors.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...formats import Bitmap, Full, IndexList, VectorStore, index_dtype
from ...memory.allocation import require
from ..programs.lifetimes import Place
from ..programs.program import Compute, VectorList
from .convert import as_index_list
from .program_searches import Searches

# Result of a program: a list has outgrown its arrays, and the program is to run again with larger ones.
OUTGROWN = -5
# Entries and vectors for which there is memory at first, beside the size of a vector; and by what it grows.
_FIRST, _GROWTH = 1024, 4


class Lists(Searches):
    """Writes the steps of lists of vectors."""

    optional: ClassVar[frozenset[str]] = Searches.optional | {"append", "item", "length", "drop", "clear"}

    def list_parameters(self) -> list[str]:
        """Return the names of the arguments of all lists: indices, values, offsets, and what else is counted."""
        return [f"{name}{number}" for number, _ in enumerate(self.lists) for name in ("J", "X", "B", "C")]

    def _compute(self, step: Compute) -> None:
        if step.op not in ("length", "drop", "clear"):
            super()._compute(step)
            return
        m = self.list_number(step.operands[0])
        if step.op == "length":
            self.put(f"{self.number(step.result)} = C{m}[0]")
        elif step.op == "drop":
            self._guard(f"C{m}[0] == 0")
            self.put(f"C{m}[0] -= 1")
            self.put(f"C{m}[1] = min(C{m}[1], C{m}[0])")
        else:
            self.put(f"C{m}[0] = 0")
            self.put(f"C{m}[1] = 0")

    def _append(self, q: Any, made: Any, place: Place) -> None:
        m, store = self.list_number(q.vectors), q.store
        c = self.size(store.size)
        count = f"{self.home(store.words)}n" if isinstance(store, Bitmap) else f"n{c}"
        self.put(f"d_ = C{m}[0]")
        self.put(f"o_ = B{m}[d_]")
        self.put(f"if d_ + 2 > B{m}.size or o_ + {count} > J{m}.size:")
        self.put_at(self.indent + 1, f"return {OUTGROWN}")
        self._each(store, "i_")
        self.put(f"J{m}[np.uintp(o_)] = i_")
        self.put(f"X{m}[np.uintp(o_)] = {self._value(store, 'i_')}")
        self.put("o_ += 1")
        self.indent -= 1
        self.put(f"B{m}[d_ + 1] = o_")
        self.put(f"C{m}[0] = d_ + 1")

    def _item(self, q: Any, made: Any, place: Place) -> None:
        m, at = self.list_number(q.vectors), self.number(q.at)
        self._guard(f"{at} < 0 or {at} >= C{m}[0]")
        c, s, v = self._fresh(made)
        assert s is not None
        q_ = self.name("q")
        self.put(f"budget -= B{m}[{at} + 1] - B{m}[{at}]")
        self.put(f"for {q_} in range(B{m}[{at}], B{m}[{at} + 1]):")
        self.indent += 1
        self.put(f"i_ = np.int64(J{m}[np.uintp({q_})])")
        self._insert(c, s, "i_")
        self._set(made, c, v, "i_", f"X{m}[np.uintp({q_})]")
        self.indent -= 1
        self._counted(c, s, "1")


class ListArrays:
    """The arrays of a list, with the vectors that it has before the program."""

    def __init__(self, vectors: VectorList, stores: tuple[VectorStore, ...]) -> None:
        self.size = 1 if vectors.size is None else vectors.size
        self.dtype = np.dtype(np.bool_) if vectors.dtype is None else vectors.dtype
        self._entries = [_entries(store) for store in stores]
        total = sum(indices.size for indices, _ in self._entries)
        self._allocate(total * 2 + self.size + _FIRST, len(stores) * 2 + _FIRST)

    def _allocate(self, entries: int, length: int) -> None:
        index = index_dtype(self.size)
        self.nbytes = entries * (index.itemsize + self.dtype.itemsize) + length * 8
        require("loop", "cpu", self.nbytes)
        self._indices, self._values = np.empty(entries, index), np.empty(entries, self.dtype)
        self._offsets, self._counts = np.zeros(length, np.int64), np.zeros(2, np.int64)
        self._counts[:] = len(self._entries)
        for number, (indices, values) in enumerate(self._entries):
            begin = int(self._offsets[number])
            end = self._offsets[number + 1] = begin + indices.size
            self._indices[begin:end], self._values[begin:end] = indices, values

    def grow(self) -> None:
        """Allocate more, with the vectors from before the program."""
        self._allocate(self._indices.size * _GROWTH, self._offsets.size * _GROWTH)

    def arguments(self) -> list[Any]:
        """Return the arrays: indices, values, offsets, and the counts: the present and the least length."""
        return [self._indices, self._values, self._offsets, self._counts]

    def result(self) -> tuple[int, list[VectorStore]]:
        """Return the number of first vectors that did not change, and the vectors after them."""
        length, least = map(int, self._counts)
        return least, [self._store(number) for number in range(least, length)]

    def _store(self, number: int) -> VectorStore:
        begin, end = map(int, self._offsets[number : number + 2])
        order = np.argsort(self._indices[begin:end], kind="stable")
        values = self._values[begin:end][order]
        if end - begin == self.size:
            return Full(self.size, self.dtype, values)
        return IndexList(self.size, self.dtype, self._indices[begin:end][order], values)


def _entries(store: VectorStore) -> tuple[Any, Any]:
    """Return indices and values, or the one value that all have."""
    if isinstance(store, Full):
        return np.arange(store.size), store.iso if store.values is None else store.values
    listed = as_index_list(store)
    return listed.indices, listed.iso if listed.values is None else listed.values
