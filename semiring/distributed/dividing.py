"""Messages without their arrays on a GPU: a pickle, and the shapes and types of the arrays, which go another way.

What is left of a message is made of bytes, lists and tuples alone, which pickle in fewer bytes and less time than
classes do.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

from ..memory.arrays import Array

# The arrays of a message, in their order.
Arrays = list[Array]
# The shape and the type of an array: its `str`, or itself if it has fields.
Described = tuple[tuple[int, ...], Any]
# A message without its arrays: a pickle with their places in it, arrays on the host, and the description of each array.
Divided = tuple[bytes, list[Any], list[Described]]


def divided(message: Any, module: Any) -> tuple[Divided | None, Arrays]:
    """Return a message without its arrays of a module, and these arrays; None is an empty message."""
    if message is None:
        return None, []
    buffers: list[pickle.PickleBuffer] = []
    file = io.BytesIO()
    pickler = _Pickler(file, module, buffers)
    pickler.dump(message)
    described = [
        (array.shape, array.dtype.str if array.dtype.names is None else array.dtype) for array in pickler.found
    ]
    return (file.getvalue(), [np.frombuffer(b.raw(), np.uint8) for b in buffers], described), pickler.found


def joined(message: Divided, arrays: Arrays) -> Any:
    """Return a message with the arrays that have arrived."""
    return _Unpickler(message, arrays).load()


def expected(message: Divided, module: Any) -> Arrays:
    """Return new arrays of a module for those of a message."""
    return [module.empty(shape, np.dtype(dtype)) for shape, dtype in message[2]]


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

    def __init__(self, message: Divided, arrays: Arrays) -> None:
        super().__init__(io.BytesIO(message[0]), buffers=message[1])
        self.arrays = arrays

    def persistent_load(self, number: Any) -> Array:
        """Return an array by its number."""
        return self.arrays[number]
