"""Messages as bytes: one block with all that is small, and the large arrays, which are sent from where they are.

Arrays on a GPU are copied to the host, and from there to the GPU of the process that receives them.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..memory.arrays import Array, to_device, to_host

Bytes = NDArray[np.uint8]

# Arrays of fewer bytes are copied into the block: that costs less than a message of their own.
SMALL = 1 << 15
# Arrays begin at multiples of this in the block, so that they are aligned for every type.
_ALIGNED = 64


class Packed(NamedTuple):
    """A message: the block, and the bytes of the arrays that are not in it."""

    block: Bytes
    arrays: list[Bytes]


def packed(message: Any) -> Packed:
    """Return a message as bytes.  Large arrays are not copied: they must not change before they are sent.

    The block begins with numbers of 64 bits: the bytes of the pickle, the count of arrays, and the bytes of each array,
    negative where it is not in the block.  The pickle and the small arrays follow.
    """
    found: list[pickle.PickleBuffer] = []
    pickled = _pickled(message, found)
    arrays = [np.frombuffer(buffer.raw(), np.uint8) for buffer in found]
    numbers = [len(pickled), len(arrays), *(a.size if a.size < SMALL else -a.size for a in arrays)]
    head = np.array(numbers, np.int64).tobytes() + pickled
    if not arrays:
        return Packed(np.frombuffer(head, np.uint8), [])
    places = _places(len(head), numbers[2:])
    block = np.zeros(places[-1], np.uint8)
    block[: len(head)] = np.frombuffer(head, np.uint8)
    for array, place in zip(arrays, places, strict=False):
        if array.size < SMALL:
            block[place : place + array.size] = array
    return Packed(block, [array for array in arrays if array.size >= SMALL])


def _pickled(message: Any, buffers: list[pickle.PickleBuffer]) -> bytes:
    """Return the pickle of a message, whose arrays are appended to `buffers`."""
    cupy = sys.modules.get("cupy")
    if cupy is None:  # no array is on a GPU
        return pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
    file = io.BytesIO()
    pickler = pickle.Pickler(file, protocol=5, buffer_callback=buffers.append)
    pickler.dispatch_table = {**copyreg.dispatch_table, cupy.ndarray: _through_host}
    pickler.dump(message)
    return file.getvalue()


def _through_host(array: Array) -> Any:
    """Return what a pickle has of an array on a GPU: CuPy's own pickles make copies that are not counted."""
    return to_device, (to_host(array), "cuda")


def sizes_of_large(block: Bytes) -> list[int]:
    """Return the bytes of the arrays that are not in a block."""
    count = int(block[8:16].view(np.int64)[0])
    return [-size for size in block[16 : 16 + 8 * count].view(np.int64).tolist() if size < 0]


def unpacked(block: Bytes, large: Sequence[Bytes]) -> Any:
    """Return the message.  Its arrays use the memory of `block` and `large`."""
    length, count = block[:16].view(np.int64).tolist()
    first = 16 + 8 * count
    sizes = block[16:first].view(np.int64).tolist()
    rest = iter(large)
    buffers = [
        next(rest) if size < 0 else block[place : place + size]
        for size, place in zip(sizes, _places(first + length, sizes), strict=False)
    ]
    return pickle.loads(block[first : first + length].data, buffers=buffers)


def _places(head: int, sizes: Sequence[int]) -> list[int]:
    """Return where each array begins in the block, and at the end where the block does."""
    places, at = [], head
    for size in sizes:
        at = -(-at // _ALIGNED) * _ALIGNED
        places.append(at)
        at += max(size, 0)
    return [*places, at]
