"""Matrices and vectors to and from ``.srb`` files (the layout is in :mod:`semiring.io.srb`)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from semiring.config import default_device
from semiring.exceptions import IndexOutOfBound, InvalidFormat, NotSupported
from semiring.formats import CSR, Bitmap, Full, IndexList, Pattern
from semiring.formats.arrays import Array, index_dtype, to_device, to_host
from semiring.formats.vectors import Count
from semiring.io.files import PathLike, Progress
from semiring.io.srb import Store, map_store, write_store
from semiring.matrix import Matrix
from semiring.vector import Vector

__all__ = ["open", "read_srb", "write_srb"]

_VECTOR_FORMATS = {IndexList: "index", Bitmap: "bitmap", Full: "full"}


def open(path: PathLike, *, placement: str | None = None, verify: bool = False) -> Matrix | Vector:
    """Open a ``.srb`` file by mapping it: milliseconds, whatever its size.

    On the CPU the arrays are the file's pages, read from the disk as they are touched; the file must stay as it is
    meanwhile. Where new objects live on the GPU, they are copied there.

    Parameters
    ----------
    path : str or PathLike
    placement : ``"device"`` or None
        Where the arrays lie while they are used.
    verify : bool
        Read the whole file first, and check every section and index. The header is always checked. Leave it False
        only for files that you trust: nothing else looks at an index before a kernel uses it.

    Raises
    ------
    InvalidFormat
        Not a ``.srb`` file, or damaged; the message gives file and byte.
    NotSupported
        Another placement.
    """
    if placement not in (None, "device"):
        raise NotSupported(
            f"placement={placement!r}: zero-copy and streamed placement come with compressed matrices; "
            f'use placement="device"'
        )
    return read_srb(path) if verify else _wrap(map_store(path))


def read_srb(path: PathLike, *, progress: Progress | None = None) -> Matrix | Vector:
    """Read a ``.srb`` file and check all of it, O(bytes); else as `open`."""
    store = map_store(path, verify=True, progress=progress)
    values = store.iso if store.iso is not None else store.arrays["values"]
    try:
        if store.kind == "matrix":
            checked = Matrix.from_csr(store.arrays["indptr"], store.arrays["indices"], values, ncols=store.shape[1])
            checked.store.pattern.facts.update(_pattern_facts(store))
            return checked
        if store.format == "index":
            return Vector.from_coo(store.arrays["indices"], values, size=store.shape[0])
        if store.format == "bitmap":
            _check_bitmap(store)
    except (InvalidFormat, IndexOutOfBound) as error:
        raise InvalidFormat(f"{os.fspath(path)}: {error}") from error
    return _wrap(store)


def write_srb(path: PathLike, A: Matrix | Vector, *, progress: Progress | None = None) -> None:
    """Write a ``.srb`` file, whole or not at all; a vector keeps its format, a matrix what is known of its symmetry.

    O(bytes). Synchronises and copies to the host where ``A`` is on the GPU.
    """
    held = A.store
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    facts: dict[str, Any] = {}
    shape: tuple[int, ...]
    if isinstance(held, CSR):
        kind, form, shape = "matrix", "csr", held.shape
        arrays |= {"indptr": to_host(held.indptr), "indices": to_host(held.indices)}
        if "symmetric" in held.pattern.facts:
            facts["symmetric"] = bool(held.pattern.facts["symmetric"])
    else:
        kind, form, shape = "vector", _VECTOR_FORMATS[type(held)], (held.size,)
        if isinstance(held, IndexList):
            arrays["indices"] = to_host(held.indices)
        elif isinstance(held, Bitmap):
            arrays["words"] = to_host(held.words)
    if held.values is not None:
        arrays["values"] = to_host(held.values)
    write_store(path, Store(kind, form, shape, held.nvals, held.dtype, held.iso, arrays, facts), progress)


def _wrap(store: Store) -> Matrix | Vector:
    """The object over a store's arrays as they are, on the device where new objects live."""
    device = default_device()

    def placed(name: str, dtype: np.dtype[Any] | None = None) -> Array:
        array = store.arrays[name]
        return to_device(array if dtype is None else array.astype(dtype, copy=False), device)

    values = None if store.iso is not None else placed("values")
    dtype, iso = store.dtype, store.iso
    if store.kind == "matrix":
        nrows, ncols = store.shape
        indptr, indices = placed("indptr", index_dtype(store.nvals)), placed("indices", index_dtype(ncols))
        return Matrix._new(CSR(Pattern(nrows, ncols, indptr, indices, _pattern_facts(store)), dtype, values, iso))
    size = store.shape[0]
    if store.format == "index":
        return Vector._new(IndexList(size, dtype, placed("indices", index_dtype(size)), values, iso))
    if store.format == "bitmap":
        return Vector._new(Bitmap(size, dtype, placed("words"), values, iso, Count(store.nvals)))
    return Vector._new(Full(size, dtype, values, iso))


def _pattern_facts(store: Store) -> dict[str, Any]:
    return {"symmetric": True} if store.facts.get("symmetric") is True else {}


def _check_bitmap(store: Store) -> None:
    """The bits must be as many as the entries, and none past the size."""
    bits = np.unpackbits(store.arrays["words"].astype("<u4", copy=False).view(np.uint8), bitorder="little")
    found = int(bits[: store.shape[0]].sum())
    if found != store.nvals or bits[store.shape[0] :].any():
        raise InvalidFormat(
            f"section 'words': expected {store.nvals} bits set, none past {store.shape[0]}; found {found}"
        )
