"""Messages without their arrays: one walk over a message splits its arrays from the rest.

The rest is the *plain form* of the message: numbers, text and tuples, because the pickles of arrays, types, numbers of
NumPy and dataclasses take several microseconds each.  What has no other form is in it as a pickle of its own.  Arrays
on the host are buffers of bytes.  Arrays on a GPU stay where they are for a transport that sends them from there
(`serialize`); for MPI they are copied to the host, and on arrival to the GPU of the receiver (`pack`).

`pack` makes one block of the plain form and of small buffers; large buffers are sent from where they are.
"""

from __future__ import annotations

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

# Arrays of fewer bytes are copied into the block: that costs less than a message of their own.
SMALL = 1 << 15
# Arrays begin at multiples of this in the block, so that they are aligned for every type.
ALIGNED = 16
# The numbers at the beginning of a block with arrays: the bytes of the pickle, and the count of arrays.  The most
# significant byte is the first, so it is 0; a pickle begins with another.
_START = struct.Struct(">qq")


class _Buffers:
    """The arrays of a message, in their order.

    host: the bytes of each; on arrival whatever holds them.  device: arrays on a GPU; None where they are copied to the
    host.  kind: the class of arrays on a GPU, None if there are none.
    """

    __slots__ = ("device", "host", "kind")

    def __init__(self, host: list[Any], device: list[Array] | None, kind: Any = None) -> None:
        self.host, self.device, self.kind = host, device, kind


_NO_ARRAYS = _Buffers([], None)


class Serialized(NamedTuple):
    """A message without its arrays on a GPU.

    plain: its plain form.  host: the bytes of its arrays on the host.  device: the shape of each of its arrays on a
    GPU, and its type as text, or as a pickle if it has fields.
    """

    plain: Any
    host: list[Any]
    device: tuple[tuple[tuple[int, ...], str | bytes], ...]

    def allocate(self, module: Any) -> list[Array]:
        """Return new arrays of a module for those on a GPU."""
        return [
            module.empty(shape, np.dtype(dtype) if type(dtype) is str else pickle.loads(dtype))  # type: ignore[arg-type]
            for shape, dtype in self.device
        ]


def serialize(message: Any, module: Any) -> tuple[Serialized | None, list[Array]]:
    """Return a message without its arrays of a module, and these arrays.  None is an empty message."""
    if message is None:
        return None, []
    arrays: list[Array] = []
    buffers = _Buffers([], arrays, module.ndarray)
    plain = _plain(message, buffers)
    return Serialized(plain, buffers.host, tuple([(array.shape, _type_text(array.dtype)) for array in arrays])), arrays


def deserialize(serialized: Serialized, arrays: list[Array]) -> Any:
    """Return the message, with its arrays on a GPU."""
    return _message(serialized.plain, _Buffers(serialized.host, arrays))


class Packed(NamedTuple):
    """A message as bytes: the block, and the bytes of the arrays that are not in it."""

    block: bytes
    arrays: list[Bytes]


def pack(message: Any, *, whole: bool = False) -> Packed:
    """Return a message as bytes.  Large arrays are not copied: they must not change before they are sent.

    whole: all arrays are in the block, whose bytes are a multiple of `ALIGNED`.

    The block is a pickle if there are no arrays.  Else it begins with numbers of 64 bits: the bytes of the pickle, the
    count of arrays, and the bytes of each array, negative where it is not in the block; the pickle and the small arrays
    follow.
    """
    if type(message) in _PLAIN:
        return Packed(_padded([pickle.dumps(message, protocol=5)], whole), [])
    found: list[Bytes] = []
    cupy = sys.modules.get("cupy")
    pickled = pickle.dumps(_plain(message, _Buffers(found, None, None if cupy is None else cupy.ndarray)), protocol=5)
    if not found:
        return Packed(_padded([pickled], whole), [])
    sizes = [array.size if whole or array.size < SMALL else -array.size for array in found]
    parts: list[Any] = [_START.pack(len(pickled), len(sizes)), struct.pack(f">{len(sizes)}q", *sizes), pickled]
    at = _START.size + 8 * len(sizes) + len(pickled)
    for array, size in zip(found, sizes, strict=True):
        if size > 0:
            padding = -at % ALIGNED
            parts += bytes(padding), array
            at += padding + size
    return Packed(_padded(parts, whole), [] if whole else [array for array in found if array.size >= SMALL])


def _padded(parts: list[Any], whole: bool) -> bytes:
    """Return the parts of a block one after another."""
    block = b"".join(parts)
    return block + bytes(-len(block) % ALIGNED) if whole and len(block) % ALIGNED else block


def large_sizes(block: Any) -> list[int]:
    """Return the bytes of the arrays that are not in a block."""
    if block[0]:
        return []
    _, count = _START.unpack_from(block)
    return [-size for size in struct.unpack_from(f">{count}q", block, _START.size) if size < 0]


def unpack(block: Any, large: Sequence[Any]) -> Any:
    """Return the message.  Its arrays use the memory of `block` and `large`, which can be written."""
    if block[0]:
        return _message(pickle.loads(block), _NO_ARRAYS)
    length, count = _START.unpack_from(block)
    view, at = memoryview(block), _START.size + 8 * count
    plain = pickle.loads(view[at : at + length])
    buffers: list[Any] = []
    rest = iter(large)
    at += length
    for size in struct.unpack_from(f">{count}q", block, _START.size):
        if size < 0:
            buffers.append(next(rest))
        else:
            at += -at % ALIGNED if size else 0
            buffers.append(view[at : at + size])
            at += size
    return _message(plain, _Buffers(buffers, None))


# -- the plain form --------------------------------------------------------------------------------------
#
# Numbers and text of Python are their own plain form.  That of all else is a tuple, which begins with a code.

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
_TUPLE, _LIST, _ARRAY, _NUMBER, _TYPE, _PICKLE, _ON_GPU, _COPIED, _SERIALIZED = range(9)
# The types whose name without fields and byte order is all of them.
_NUMERIC = tuple(map(np.dtype, "?bhilqBHILQefdgFDG"))
_names = {kind: kind.str for kind in _NUMERIC}

_forms: dict[type, Callable[[Any, _Buffers], Any]] = {}
_made: dict[int | str, Callable[[Any, _Buffers], Any]] = {}


def by_fields(kind: type[T]) -> type[T]:
    """Let the objects of a dataclass be sent field by field.  A decorator."""
    name, values = kind.__qualname__, attrgetter(*(item.name for item in fields(kind)))  # type: ignore[arg-type]
    _forms[kind] = lambda value, buffers: (name, *_all_plain(values(value), buffers))
    _made[name] = lambda plain, buffers: kind(*_messages(plain, buffers))
    return kind


def _plain(value: Any, buffers: _Buffers) -> Any:
    """Return the plain form; arrays are appended to `buffers`."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is buffers.kind:
        return _array_on_gpu(value, buffers)
    return _forms.get(kind, _pickled)(value, buffers)


def _all_plain(values: Sequence[Any], buffers: _Buffers) -> list[Any]:
    return [each if type(each) in _PLAIN else _plain(each, buffers) for each in values]


def _message(plain: Any, buffers: _Buffers) -> Any:
    """Return what has this plain form."""
    return _made[plain[0]](plain, buffers) if type(plain) is tuple else plain


def _messages(plain: Sequence[Any], buffers: _Buffers) -> list[Any]:
    """Return the messages whose plain forms follow a code."""
    return [_made[each[0]](each, buffers) if type(each) is tuple else each for each in plain[1:]]


def _array(value: NDArray[Any], buffers: _Buffers) -> Any:
    dtype = value.dtype
    name = _names.get(dtype)
    if name is None:
        return _pickled(value, buffers)
    fortran = not value.flags.c_contiguous and value.flags.f_contiguous
    contiguous = value.T if fortran else np.ascontiguousarray(value)
    buffers.host.append(np.ndarray(value.nbytes, np.uint8, contiguous))
    return _ARRAY, len(buffers.host) - 1, name, value.shape, fortran


def _of_array(plain: Any, buffers: _Buffers) -> NDArray[Any]:
    _, number, name, shape, fortran = plain
    return np.ndarray(shape, name, buffers.host[number], order="F" if fortran else "C")


def _array_on_gpu(value: Array, buffers: _Buffers) -> Any:
    if buffers.device is None:
        return _COPIED, _array(to_host(value), buffers)
    buffers.device.append(value)
    return _ON_GPU, len(buffers.device) - 1


def _of_array_on_gpu(plain: Any, buffers: _Buffers) -> Array:
    assert buffers.device is not None
    return buffers.device[plain[1]]


def _type_text(dtype: np.dtype[Any]) -> str | bytes:
    return dtype.str if dtype.names is None else pickle.dumps(dtype)


def _nested(value: Serialized, buffers: _Buffers) -> Any:
    """Return the plain form of a serialized message, which is not walked again."""
    first = len(buffers.host)
    buffers.host += value.host
    return _SERIALIZED, value.plain, first, len(buffers.host), value.device


class _Pickler(pickle.Pickler):
    """Writes an object of a class that has no form of its own.  Its arrays on a GPU have their plain form."""

    def __init__(self, file: io.BytesIO, buffers: _Buffers, found: list[pickle.PickleBuffer]) -> None:
        super().__init__(file, protocol=5, buffer_callback=found.append)
        self._buffers = buffers

    def persistent_id(self, item: Any) -> Any:
        """Return the plain form of an array on a GPU: CuPy's own pickles make copies that are not counted."""
        return _array_on_gpu(item, self._buffers) if type(item) is self._buffers.kind else None


class _Unpickler(pickle.Unpickler):
    """Reads what `_Pickler` has written."""

    def __init__(self, plain: Any, buffers: _Buffers) -> None:
        super().__init__(io.BytesIO(plain[1]), buffers=buffers.host[plain[2] : plain[3]])
        self._buffers = buffers

    def persistent_load(self, plain: Any) -> Array:
        """Return an array on a GPU."""
        return _message(plain, self._buffers)


def _pickled(value: Any, buffers: _Buffers) -> Any:
    """Return a pickle; its arrays are appended to `buffers`."""
    file, found = io.BytesIO(), list[pickle.PickleBuffer]()
    _Pickler(file, buffers, found).dump(value)
    first = len(buffers.host)
    buffers.host += [np.frombuffer(each.raw(), np.uint8) for each in found]
    return _PICKLE, file.getvalue(), first, len(buffers.host)


_forms[tuple] = lambda value, buffers: (_TUPLE, *_all_plain(value, buffers))
_forms[list] = lambda value, buffers: (_LIST, *_all_plain(value, buffers))
_forms[np.ndarray] = _array
_forms[Serialized] = _nested
_forms.update({kind.type: lambda value, buffers: (_NUMBER, value.dtype.str, value.tobytes()) for kind in _NUMERIC})
_forms.update({type(kind): lambda value, buffers: (_TYPE, _names.get(value, value)) for kind in _NUMERIC})
_made[_TUPLE] = lambda plain, buffers: tuple(_messages(plain, buffers))
_made[_LIST] = lambda plain, buffers: _messages(plain, buffers)
_made[_ARRAY] = _of_array
_made[_NUMBER] = lambda plain, buffers: np.frombuffer(plain[2], plain[1])[0]
_made[_TYPE] = lambda plain, buffers: np.dtype(plain[1])
_made[_PICKLE] = lambda plain, buffers: _Unpickler(plain, buffers).load()
_made[_ON_GPU] = _of_array_on_gpu
_made[_COPIED] = lambda plain, buffers: to_device(_message(plain[1], buffers), "cuda")
_made[_SERIALIZED] = lambda plain, buffers: Serialized(plain[1], buffers.host[plain[2] : plain[3]], plain[4])
