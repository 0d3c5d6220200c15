"""Messages without their arrays on a GPU: what is left, and the shapes and types of the arrays, which go another way.

In the usual messages an array gives way to an `Aside`, and the rest stays as it is: tuples, lists, and classes that are
sent field by field (`packing.by_fields`).  Others are pickled, with the numbers of the arrays in their places.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..memory.arrays import Array
from .serialization import FIELDS, PLAIN, by_fields

# The arrays of a message, in their order.
Arrays = list[Array]


@by_fields
@dataclass(frozen=True)
class Aside:
    """What a message has in the place of an array: its shape, and its type as a `str`, or as it is if it has fields."""

    shape: tuple[int, ...]
    dtype: Any

    @classmethod
    def of(cls, array: Array) -> Aside:
        """Describe an array."""
        return cls(array.shape, array.dtype.str if array.dtype.names is None else array.dtype)

    def empty(self, module: Any) -> Array:
        """Return a new array of a module."""
        return module.empty(self.shape, np.dtype(self.dtype))


# A message without its arrays: what is left of it and the arrays that it had, or its pickle, with arrays on the host.
Divided = tuple[Any, list[Aside]] | tuple[bytes, list[Aside], list[Any]]

# Objects of these classes hold no array on a GPU.
_NO_ARRAYS = (np.generic, np.dtype, np.ndarray)


class _Other(Exception):
    """An object of another class, which may hold arrays."""


def divided(message: Any, module: Any) -> tuple[Divided | None, Arrays]:
    """Return a message without its arrays of a module, and these arrays; None is an empty message."""
    if message is None:
        return None, []
    found: Arrays = []
    kind = module.ndarray

    def aside(value: Any) -> Any:
        if type(value) is not kind:
            if isinstance(value, _NO_ARRAYS):
                return value
            raise _Other
        found.append(value)
        return Aside.of(value)

    try:
        left = _replaced(message, aside)
    except _Other:
        return _pickled(message, module)
    return (left, [Aside.of(array) for array in found]), found


def joined(message: Divided, arrays: Arrays) -> Any:
    """Return a message with the arrays that have arrived."""
    if len(message) == 3:
        return _Unpickler(message[0], message[2], arrays).load()
    if not arrays:
        return message[0]
    rest = iter(arrays)
    return _replaced(message[0], lambda value: next(rest) if type(value) is Aside else value)


def expected(message: Divided, module: Any) -> Arrays:
    """Return new arrays of a module for those of a message."""
    return [aside.empty(module) for aside in message[1]]


def _replaced(value: Any, other: Callable[[Any], Any]) -> Any:
    """Return a message with ``other(value)`` in place of all but numbers, text, tuples, lists and classes of fields."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is tuple:
        return tuple([_replaced(each, other) for each in value])
    if kind is list:
        return [_replaced(each, other) for each in value]
    if kind is not Aside and kind in FIELDS:
        return kind(*[_replaced(each, other) for each in FIELDS[kind](value)])
    return other(value)


def _pickled(message: Any, module: Any) -> tuple[Divided, Arrays]:
    buffers: list[pickle.PickleBuffer] = []
    file = io.BytesIO()
    pickler = _Pickler(file, module, buffers)
    pickler.dump(message)
    on_host = [np.frombuffer(b.raw(), np.uint8) for b in buffers]
    return (file.getvalue(), [Aside.of(array) for array in pickler.found], on_host), pickler.found


class _Pickler(pickle.Pickler):
    """Writes a message, and puts its arrays of a module aside."""

    def __init__(self, file: io.BytesIO, module: Any, buffers: list[pickle.PickleBuffer]) -> None:
        super().__init__(file, protocol=5, buffer_callback=buffers.append)
        self.kind, self.found = module.ndarray, list[Array]()

    def persistent_id(self, item: Any) -> int | None:
        """Return the number of an array that is put aside."""
        if type(item) is not self.kind:
            return None
        self.found.append(item)
        return len(self.found) - 1


class _Unpickler(pickle.Unpickler):
    """Reads a message, with the arrays that have arrived."""

    def __init__(self, pickled: bytes, on_host: list[Any], arrays: Arrays) -> None:
        super().__init__(io.BytesIO(pickled), buffers=on_host)
        self.arrays = arrays

    def persistent_load(self, number: Any) -> Array:
        """Return an array by its number."""
        return self.arrays[number]
