"""From a file to where a matrix is used: mapped, locked in place, read to the device, or encoded slice by slice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from semiring.config import default_device, use
from semiring.exceptions import InvalidFormat
from semiring.formats import CSR, AnyPattern, CompressedPattern, Pattern, Placement, index_dtype
from semiring.formats.placement import place
from semiring.io.files import PathLike
from semiring.io.loading import read_to_device, read_to_locked
from semiring.io.srb import Store
from semiring.memory.allocation import allocating
from semiring.memory.arrays import Array
from semiring.memory.locked import lock, seen_by_device
from semiring.memory.placement import placed
from semiring.storage.compression import checked_codec, compress
from semiring.storage.memory_plan import checked_placement, destined, moved

__all__ = ["check_form", "load", "mapped_matrix", "narrowed", "on_the_host", "settled"]


def check_form(placement: Any, codec: Any) -> None:
    """InvalidValue if either is neither None nor one that there is; before the file is read."""
    if placement is not None:
        checked_placement(placement)
    if codec is not None:
        checked_codec(codec)


@contextmanager
def on_the_host() -> Iterator[None]:
    """Matrices made inside the block lie in the host's memory."""
    if default_device() == "cpu":
        yield
        return
    with use("cpu"):
        yield


def settled(operation: str, held: CSR, placement: str | None, codec: Any) -> CSR:
    """A matrix that lies in the host's memory, in its form and place on the device where new objects live.

    It is encoded slice by slice out of host memory, and into it: on a GPU neither form is there as a whole, unless the
    compressed one is to lie there.

    Raises
    ------
    OutOfMemory
        It does not fit there; the message says what would.
    """
    device = default_device()
    if codec is not None:
        with allocating("compress", device):
            held = compress(place(held, "host", device), codec)
    return moved(held, "device" if placement is None else placement, device, operation)


def mapped_matrix(store: Store) -> CSR:
    """The matrix over the pages of its file, for the CPU. O(1), unless the file has wider indices than are needed."""
    return _assembled(store, {name: _right(store, name) for name in store.arrays}, "device")


def load(path: PathLike, store: Store, placement: str, device: str) -> CSR:
    """The matrix of a file with its entries where `placement` says, for `device`.

    Raises
    ------
    InvalidValue
    OutOfMemory
        It does not fit there; the message says what would.
    InvalidFormat
        The file has become shorter.
    """
    held = mapped_matrix(store)
    chosen = destined("open", held, placement, device)
    with allocating("open", device):
        arrays = _arrays(path, store, chosen, device)
    return _assembled(store, arrays, chosen)


def _arrays(path: PathLike, store: Store, placement: Placement, device: str) -> dict[str, Array]:
    """The sections of a file where they belong."""
    arrays: dict[str, Array] = {}
    direct: dict[str, tuple[int, int, np.dtype[Any]]] = {}  # straight to the device, all together
    for name in store.arrays:
        array = _right(store, name)
        if device == "cpu":
            arrays[name] = array
            continue
        where = placement if name in ("indices", "stream", "values") else "device"
        place = store.offsets[name], array.size, array.dtype
        if where == "host" or array.dtype != store.arrays[name].dtype or not array.size:
            arrays[name] = placed(array, where, device)
        elif where == "device":
            direct[name] = place
        else:
            locked = lock(array)
            arrays[name] = seen_by_device(read_to_locked(path, *place) if locked is None else locked)
    if direct:
        arrays.update(zip(direct, read_to_device(path, direct.values()), strict=True))
    return arrays


def _right(store: Store, name: str) -> np.ndarray[Any, Any]:
    """A section in the byte order of the machine, and of the width that the matrix needs."""
    array = store.arrays[name]
    dtype = array.dtype.newbyteorder("=")
    if name == "indptr":
        dtype = index_dtype(store.nvals)
    elif name == "indices":
        dtype = index_dtype(store.shape[1])
    return narrowed(array, dtype, name)


def narrowed(array: np.ndarray[Any, Any], dtype: np.dtype[Any], name: str) -> np.ndarray[Any, Any]:
    """The numbers of a section in another type; O(1) if it has that type already.

    Raises
    ------
    InvalidFormat
        The type does not hold one of them: an index of 2**32 must not become 0.
    """
    if dtype.kind == "i" and dtype.itemsize < array.dtype.itemsize and array.size:
        limits, low, high = np.iinfo(dtype), int(array.min()), int(array.max())
        if low < limits.min or high > limits.max:
            raise InvalidFormat(
                f"section {name!r}: expected numbers that {dtype} holds, found {low if low < limits.min else high}"
            )
    return array.astype(dtype, copy=False)


def _assembled(store: Store, arrays: dict[str, Array], placement: Placement) -> CSR:
    nrows, ncols = store.shape
    facts = {name: store.facts[name] for name in ("symmetric",) if name in store.facts}
    pattern: AnyPattern
    if store.codec is None:
        pattern = Pattern(nrows, ncols, arrays["indptr"], arrays["indices"], facts, placement)
    else:
        near = arrays["indptr"], arrays["base"], arrays["at"]
        pattern = CompressedPattern(nrows, ncols, store.nvals, store.codec, *near, arrays["stream"], facts, placement)
    return CSR(pattern, store.dtype, arrays.get("values"), store.iso)
