"""Lists of vectors in a traced loop: `append`, `pop`, items, lengths and iteration.

A list in Python holds Vectors; one of a program holds copies of their entries.  Both are equal as long as no Vector is
written in place while a list holds it, so such a write is refused (`engines.programs.tracing.Recorder.held`).
"""

from __future__ import annotations

from typing import Any

from ..engines.programs import traced, tracing
from ..engines.programs.program import Append, Compute, Item, VectorList
from ..engines.programs.traced import Number, Untraceable
from ..facade.vector import Vector
from ..symbolic import Symbolic


class TracedList(Symbolic):
    """A list of vectors of one size and type; its methods are those of a list that programs have."""

    def __init__(self, recorder: Any, vectors: list[Vector] | None = None) -> None:
        self.recorder, self.symbol = recorder, VectorList()
        self._like: Vector | None = None
        self._iterating = 0
        for each in vectors or ():
            self._agree(each)

    def _agree(self, value: Any) -> None:
        """Set or check the size, the type and the labels."""
        if not isinstance(value, Vector):
            kind = "numbers" if isinstance(value, (Number, int, float)) else f"objects of type {type(value).__name__}"
            raise Untraceable(f"a list of {kind}: programs have lists of Vectors")
        if self._like is None:
            self._like = value
            self.symbol.size, self.symbol.dtype = value.size, value.dtype
        like = self._like
        if (value.size, value.dtype, type(value)) != (like.size, like.dtype, type(like)):
            raise Untraceable("a list of vectors of several types or sizes")
        if value._labels is not like._labels:
            raise Untraceable("a list of vectors with different labels")

    def named(self, store: Any) -> Vector:
        """Return a new Vector as those of the list are."""
        if self._like is None:
            raise Untraceable("an item of a list of which no vector is known")
        made: Vector = self._like._new(store)
        made._labels = self._like._labels
        return made

    def description(self) -> tuple[type[Vector], Any]:
        """Return the class and the labels of the vectors."""
        return (Vector, None) if self._like is None else (type(self._like), self._like._labels)

    def length(self) -> Number:
        """len(list)."""
        made = Number("int")
        self.recorder.emit(Compute(made, "length", (self.symbol,)))
        return made

    def traced_get(self, default: Any) -> Any:
        """Return the number whose truth is that of the list."""
        return self.length()

    def append(self, value: Any) -> None:
        """list.append(v)."""
        self._check_change()
        self._agree(value)
        store = self.recorder.operand(value.store)
        if store.dtype.kind not in "biuf":
            raise Untraceable(f"values of {store.dtype}")
        self.recorder.emit(tracing.Request(Append(self.symbol, store), None))
        self.recorder.held[id(value)] = value
        self.recorder.appended.add(id(value))

    def pop(self) -> Vector:
        """list.pop()."""
        self._check_change()
        made = self[-1]
        self.recorder.emit(Compute(Number("int"), "drop", (self.symbol,)))
        return made

    def clear(self) -> None:
        """list.clear()."""
        self._check_change()
        self.recorder.emit(Compute(Number("int"), "clear", (self.symbol,)))

    def __getitem__(self, key: Any) -> Vector:
        if traced.kind_of(key) != "int":
            raise Untraceable("an item of a list of vectors at what is no int")
        made = self._item(self.length() + key if isinstance(key, int) and key < 0 else key)
        self.recorder.held[id(made)] = made
        return made

    def _item(self, at: Any) -> Vector:
        if self._like is None:
            raise Untraceable("an item of a list of which no vector is known")
        store = tracing.vector(self._like.size, self._like.dtype)
        self.recorder.emit(tracing.Request(Item(self.symbol, at), store))
        return self.named(store)

    def _check_change(self) -> None:
        if self._iterating:
            raise Untraceable("a change of a list in a loop over it")
        if self.recorder.kept is not None:
            raise Untraceable("a change of a list within an expression that Python may not evaluate")

    def begin(self) -> None:
        """Open a loop over the list, in which it does not change."""
        self._iterating += 1

    def end(self) -> None:
        """Close a loop over the list."""
        self._iterating -= 1
