"""Placement of a matrix from a file: mapped, locked in place, read to the device, or encoded slice by slice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from semiring.config import default_device, use
from semiring.exceptions import InvalidFormat
from semiring.formats import CSR, FORMATS, Placement
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

__all__ = ["check_storage", "convert", "load", "mapped_matrix", "narrowed", "on_the_host"]


def check_storage(placement: Any, codec: Any) -> None:
    """Raise InvalidValue for an unknown placement or codec, before the file is read."""
    if placement is not None:
        checked_placement(placement)
    if codec is not None:
        checked_codec(codec)


@contextmanager
def on_the_host() -> Iterator[None]:
    """Make matrices inside the block reside in host memory."""
    if default_device() == "cpu":
        yield
        return
    with use("cpu"):
        yield


def convert(operation: str, held: CSR, placement: str | None, codec: Any, device: str | None = None) -> CSR:
    """Convert a matrix in host memory to a codec and placement, on `device` or that of new objects.

    It is encoded slice by slice, from host memory to host memory: the uncompressed matrix is never in GPU memory as a
    whole, and the compressed one only where `placement` requires it.

    Raises
    ------
    OutOfMemory
        It does not fit; the message lists what fits.
    """
    device = default_device() if device is None else device
    if codec is not None:
        with allocating("compress", device):
            held = compress(place(held, "host", device), codec)
    return moved(held, "device" if placement is None else placement, device, operation)


def mapped_matrix(store: Store) -> CSR:
    """Return the matrix over the pages of its file, for the CPU. O(1), unless indices of the file must be narrowed."""
    return _assembled(store, {name: _native(store, name) for name in store.arrays}, "device")


def load(path: PathLike, store: Store, placement: str, device: str) -> CSR:
    """Load the matrix of a file with this placement of its entries, for `device`.

    Raises
    ------
    InvalidValue
    OutOfMemory
        It does not fit; the message lists what fits.
    InvalidFormat
        The file has been truncated meanwhile.
    """
    held = mapped_matrix(store)
    chosen = destined("open", held, placement, device)
    with allocating("open", device):
        arrays = _arrays(path, store, chosen, device)
    return _assembled(store, arrays, chosen)


def _arrays(path: PathLike, store: Store, placement: Placement, device: str) -> dict[str, Array]:
    """Return the sections of a file in the memory of their placement."""
    arrays: dict[str, Array] = {}
    placed_by_choice = FORMATS[store.format].ENTRIES, "values"
    direct: dict[str, tuple[int, int, np.dtype[Any]]] = {}  # read to the device, all in one call
    for name in store.arrays:
        array = _native(store, name)
        if device == "cpu":
            arrays[name] = array
            continue
        where = placement if name in placed_by_choice else "device"
        section = store.offsets[name], array.size, array.dtype
        if where == "host" or array.dtype != store.arrays[name].dtype or not array.size:
            arrays[name] = placed(array, where, device)
        elif where == "device":
            direct[name] = section
        else:
            locked = lock(array)
            arrays[name] = seen_by_device(read_to_locked(path, *section) if locked is None else locked)
    if direct:
        arrays.update(zip(direct, read_to_device(path, direct.values()), strict=True))
    return arrays


def _native(store: Store, name: str) -> np.ndarray[Any, Any]:
    """Return a section in native byte order, with the index dtype of the matrix."""
    array, kind = store.arrays[name], FORMATS[store.format]
    nrows, ncols = store.shape
    elements = 0 if kind.COUNTED is None else store.arrays[kind.COUNTED].size
    sections = kind.sections(nrows, ncols, store.nvals, store.codec, elements)
    return narrowed(array, sections[name][1] if name in sections else store.dtype, name)


def narrowed(array: np.ndarray[Any, Any], dtype: np.dtype[Any], name: str) -> np.ndarray[Any, Any]:
    """Convert the numbers of a section to `dtype`; O(1) if they have that type already.

    Raises
    ------
    InvalidFormat
        The type does not hold one of them: an index of 2**32 would become 0.
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
    kind = FORMATS[store.format]
    pattern = kind.of_arrays(nrows, ncols, store.nvals, store.codec, arrays, facts, placement)
    return CSR(pattern, store.dtype, arrays.get("values"), store.iso)
