"""Messages as bytes: one block with all that is small, and the large arrays, which are sent from where they are.

A block is the pickle of a *plain* form of the message, and its small arrays.  The plain form consists of numbers, text
and tuples, because the pickles of arrays, types, numbers of NumPy and dataclasses take several microseconds each.  What
has no other form is in it as a pickle of its own.  Arrays on a GPU are copied to the host, and from there to the GPU of
the process that receives them.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..memory.arrays import Array, to_device, to_host

T = TypeVar("T")

Bytes = NDArray[np.uint8]
# The bytes of the arrays of a message, in their order; on arrival they are whatever holds them.
Buffers = list[Any]

# Arrays of fewer bytes are copied into the block: that costs less than a message of their own.
SMALL = 1 << 15
# Arrays begin at multiples of this in the block, so that they are aligned for every type.
_ALIGNED = 16
# The numbers at the beginning of a block with arrays: the bytes of the pickle, and the count of arrays.  The most
# significant byte is the first, so it is 0; a pickle begins with another.
_START = struct.Struct(">qq")


class Packed(NamedTuple):
    """A message: the block, and the bytes of the arrays that are not in it."""

    block: bytes
    arrays: list[Bytes]


def packed(message: Any) -> Packed:
    """Return a message as bytes.  Large arrays are not copied: they must not change before they are sent.

    The block is a pickle if there are no arrays.  Else it begins with numbers of 64 bits: the bytes of the pickle, the
    count of arrays, and the bytes of each array, negative where it is not in the block; the pickle and the small arrays
    follow.
    """
    found: Buffers = []
    pickled = pickle.dumps(_plain(message, found), protocol=5)
    if not found:
        return Packed(pickled, [])
    sizes = [array.size if array.size < SMALL else -array.size for array in found]
    parts: list[Any] = [_START.pack(len(pickled), len(sizes)), struct.pack(f">{len(sizes)}q", *sizes), pickled]
    at = _START.size + 8 * len(sizes) + len(pickled)
    for array, size in zip(found, sizes, strict=True):
        if size > 0:
            padding = -at % _ALIGNED
            parts += bytes(padding), array
            at += padding + size
    return Packed(b"".join(parts), [array for array in found if array.size >= SMALL])


def sizes_of_large(block: Any) -> list[int]:
    """Return the bytes of the arrays that are not in a block."""
    if block[0]:
        return []
    _, count = _START.unpack_from(block)
    return [-size for size in struct.unpack_from(f">{count}q", block, _START.size) if size < 0]


def unpacked(block: Any, large: Sequence[Any]) -> Any:
    """Return the message.  Its arrays use the memory of `block` and `large`, which can be written."""
    if block[0]:
        return _message(pickle.loads(block), [])
    length, count = _START.unpack_from(block)
    view, at = memoryview(block), _START.size + 8 * count
    plain = pickle.loads(view[at : at + length])
    buffers: Buffers = []
    rest = iter(large)
    at += length
    for size in struct.unpack_from(f">{count}q", block, _START.size):
        if size < 0:
            buffers.append(next(rest))
        else:
            at += -at % _ALIGNED if size else 0
            buffers.append(view[at : at + size])
            at += size
    return _message(plain, buffers)


# -- the plain form --------------------------------------------------------------------------------------
#
# Numbers and text of Python are their own plain form.  That of all else is a tuple, which begins with a code.

PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
_TUPLE, _LIST, _ARRAY, _NUMBER, _TYPE, _PICKLE, _ON_GPU = range(7)
# The types whose name without fields and byte order is all of them.
_NUMERIC = tuple(map(np.dtype, "?bhilqBHILQefdgFDG"))
_names = {kind: kind.str for kind in _NUMERIC}

# The classes that are sent field by field, and what returns the fields.
FIELDS: dict[type, Callable[[Any], tuple[Any, ...]]] = {}
_forms: dict[type, Callable[[Any, Buffers], Any]] = {}
_made: dict[int | str, Callable[[Any, Buffers], Any]] = {}


def by_fields(kind: type[T]) -> type[T]:
    """Let the objects of a dataclass be sent field by field.  A decorator."""
    name, values = kind.__qualname__, attrgetter(*(item.name for item in fields(kind)))  # type: ignore[arg-type]
    FIELDS[kind] = values
    _forms[kind] = lambda value, buffers: (name, *_all_plain(values(value), buffers))
    _made[name] = lambda plain, buffers: kind(*_messages(plain, buffers))
    return kind


def _plain(value: Any, buffers: Buffers) -> Any:
    """Return the plain form; the bytes of arrays are appended to `buffers`."""
    kind = type(value)
    if kind in PLAIN:
        return value
    return _forms.get(kind, _other)(value, buffers)


def _all_plain(values: Sequence[Any], buffers: Buffers) -> list[Any]:
    return [each if type(each) in PLAIN else _forms.get(type(each), _other)(each, buffers) for each in values]


def _message(plain: Any, buffers: Buffers) -> Any:
    """Return what has this plain form."""
    return _made[plain[0]](plain, buffers) if type(plain) is tuple else plain


def _messages(plain: Sequence[Any], buffers: Buffers) -> list[Any]:
    """Return the messages whose plain forms follow a code."""
    return [_made[each[0]](each, buffers) if type(each) is tuple else each for each in plain[1:]]


def _array(value: NDArray[Any], buffers: Buffers) -> Any:
    dtype = value.dtype
    name = _names.get(dtype)
    if name is None:
        return _pickled(value, buffers)
    fortran = not value.flags.c_contiguous and value.flags.f_contiguous
    contiguous = value.T if fortran else np.ascontiguousarray(value)
    buffers.append(np.ndarray(value.nbytes, np.uint8, contiguous))
    return _ARRAY, len(buffers) - 1, name, value.shape, fortran


def _of_array(plain: Any, buffers: Buffers) -> NDArray[Any]:
    _, place, name, shape, fortran = plain
    return np.ndarray(shape, name, buffers[place], order="F" if fortran else "C")


def _pickled(value: Any, buffers: Buffers) -> Any:
    """Return a pickle; its arrays are appended to `buffers`."""
    file, found = io.BytesIO(), list[pickle.PickleBuffer]()
    pickler = pickle.Pickler(file, protocol=5, buffer_callback=found.append)
    cupy = sys.modules.get("cupy")
    if cupy is not None:
        pickler.dispatch_table = {**copyreg.dispatch_table, cupy.ndarray: _through_host}
    pickler.dump(value)
    first = len(buffers)
    buffers += [np.frombuffer(each.raw(), np.uint8) for each in found]
    return _PICKLE, file.getvalue(), first, len(buffers)


def _through_host(array: Array) -> Any:
    """Return what a pickle has of an array on a GPU: CuPy's own pickles make copies that are not counted."""
    return to_device, (to_host(array), "cuda")


def _other(value: Any, buffers: Buffers) -> Any:
    """Return the plain form of an array on a GPU, or of a class that has no form of its own."""
    cupy = sys.modules.get("cupy")
    if cupy is not None and type(value) is cupy.ndarray:
        return _ON_GPU, _plain(to_host(value), buffers)
    return _pickled(value, buffers)


_forms[tuple] = lambda value, buffers: (_TUPLE, *_all_plain(value, buffers))
_forms[list] = lambda value, buffers: (_LIST, *_all_plain(value, buffers))
_forms[np.ndarray] = _array
_forms.update({kind.type: lambda value, buffers: (_NUMBER, value.dtype.str, value.tobytes()) for kind in _NUMERIC})
_forms.update({type(kind): lambda value, buffers: (_TYPE, _names.get(value, value)) for kind in _NUMERIC})
_made[_TUPLE] = lambda plain, buffers: tuple(_messages(plain, buffers))
_made[_LIST] = lambda plain, buffers: _messages(plain, buffers)
_made[_ARRAY] = _of_array
_made[_NUMBER] = lambda plain, buffers: np.frombuffer(plain[2], plain[1])[0]
_made[_TYPE] = lambda plain, buffers: np.dtype(plain[1])
_made[_PICKLE] = lambda plain, buffers: pickle.loads(plain[1], buffers=buffers[plain[2] : plain[3]])
_made[_ON_GPU] = lambda plain, buffers: to_device(_message(plain[1], buffers), "cuda")
