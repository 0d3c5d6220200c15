"""Matrices and vectors to and from ``.srb`` files (the layout is in :mod:`semiring.io.srb`)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from semiring.config import default_device, engine_for
from semiring.engines.registry import run
from semiring.engines.spec_forms import CheckCompressed
from semiring.exceptions import DuplicateIndex, IndexOutOfBound, InvalidFormat, NotSupported
from semiring.facade.matrix import Matrix
from semiring.facade.vector import Vector
from semiring.formats import CSR, Bitmap, Codec, CompressedPattern, Full, IndexList
from semiring.formats.vectors import Count
from semiring.io.files import PathLike, Progress, naming_memory_errors
from semiring.io.placing import check_form, load, mapped_matrix, narrowed, settled
from semiring.io.srb import DESCRIPTION_AT, Store, write_store
from semiring.io.srb_reading import map_store
from semiring.memory.allocation import allocating
from semiring.memory.arrays import Array, index_dtype, to_device, to_host
from semiring.ops import structure

__all__ = ["open", "read_srb", "write_srb"]

_VECTOR_FORMATS = {IndexList: "index", Bitmap: "bitmap", Full: "full"}
_COMPRESSED_ARRAYS = ("indptr", "base", "at", "stream")


@naming_memory_errors
def open(
    path: PathLike, *, placement: str | None = None, compress: str | None = None, verify: bool = False
) -> Matrix | Vector:
    """Open a ``.srb`` file by mapping it: milliseconds, whatever its size, where nothing has to be copied.

    The file must stay as it is as long as the object is in use: on the CPU, pinned and streamed, its arrays are the
    pages of the file, read from the disk as they are touched.

    Parameters
    ----------
    path : str or PathLike
    placement : ``"device"``, ``"pinned"``, ``"host"``, ``"auto"`` or None
        Where the entries of a matrix lie while they are used; None is ``"device"``.

        - ``"device"``: in the memory of the GPU, read there by several threads at the speed of disk or link. On the
          CPU they are mapped.
        - ``"pinned"``: the pages of the file are locked in memory where they lie, and kernels read them through the
          link; where the system does not allow that, they are read once into memory that it does lock.
        - ``"host"``: mapped; operations stream the rows that they need. The file need not fit into memory.
        - ``"auto"``: ``"device"`` if that leaves room to work, else ``"pinned"``, else ``"host"``.
    compress : ``"varint"``, ``"packed"`` or None
        Compress a matrix that the file holds plain, slice by slice: its plain form is never in device memory as a
        whole. A file that is compressed by the other codec is encoded anew; by default it comes as it is.
    verify : bool
        Read the whole file first, and check every section, index and stated fact. The header is always checked: sizes,
        types, and sections that lie within the file and fit together. Leave it False only for files that you trust.
        Then the contents of the sections are used as they are: row offsets ascend, columns ascend within a row and lie
        below ``ncols``, compressed tiles decode, bits of a bitmap are as many as its entries, bools are 0 or 1, and the
        matrix is symmetric if the file states it. Of a file where that is not so, results are wrong, and kernels may
        read and write outside their arrays.

    Raises
    ------
    InvalidFormat
        Not a ``.srb`` file, damaged, or contradictory; the message gives file and byte.
    InvalidValue
        Another placement or codec.
    NotSupported
        A codec or a memory other than the device's for a vector.
    OutOfMemory
        The matrix does not fit where it is to lie; the message says what would, in bytes.

    Notes
    -----
    Cost O(1) where the pages are used as they are, else O(bytes) for what is read, locked, encoded or verified.  Copies
    to the GPU may still be under way, in order on the current stream; encoding and verifying synchronise.
    """
    return _opened(path, placement, compress, verify, None)


@naming_memory_errors
def read_srb(
    path: PathLike,
    *,
    placement: str | None = None,
    compress: str | None = None,
    progress: Progress | None = None,
) -> Matrix | Vector:
    """Read a ``.srb`` file and check all of it: ``open(..., verify=True)``, with its parameters and errors.

    progress : called as ``progress(what, share)``.  Cost O(bytes).  Synchronises on the GPU.
    """
    return _opened(path, placement, compress, True, progress)


def write_srb(path: PathLike, A: Matrix | Vector, *, progress: Progress | None = None) -> None:
    """Write a ``.srb`` file, whole or not at all; what is compressed stays compressed, and a vector keeps its format.

    What is known of a matrix's symmetry is written too; where its entries lay is not. O(bytes). Synchronises and copies
    to the host what is in the GPU's memory.
    """
    held = A.store
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    facts: dict[str, Any] = {}
    codec: Codec | None = None
    kind: str
    form: str
    shape: tuple[int, ...]
    if isinstance(held, CSR):
        kind, form, shape = "matrix", held.format, held.shape
        pattern = held.pattern
        if isinstance(pattern, CompressedPattern):
            codec = pattern.codec
            arrays |= {name: to_host(getattr(pattern, name)) for name in _COMPRESSED_ARRAYS}
        else:
            arrays |= {"indptr": to_host(pattern.indptr), "indices": to_host(pattern.indices)}
        if "symmetric" in pattern.facts:
            facts["symmetric"] = bool(pattern.facts["symmetric"])
    else:
        kind, form, shape = "vector", _VECTOR_FORMATS[type(held)], (held.size,)
        if isinstance(held, IndexList):
            arrays["indices"] = to_host(held.indices)
        elif isinstance(held, Bitmap):
            arrays["words"] = to_host(held.words)
    if held.values is not None:
        arrays["values"] = _written_values(held, to_host(held.values))
    write_store(path, Store(kind, form, shape, held.nvals, held.dtype, held.iso, arrays, facts, codec), progress)


def _written_values(held: Any, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The values as they are written: 0 in the slots of a bitmap that are absent.

    What lies there is whatever the memory held before, which is nobody's business, and equal vectors give equal files.
    """
    if not isinstance(held, Bitmap):
        return values
    bits = np.unpackbits(to_host(held.words).view(np.uint8), bitorder="little")[: held.size]
    return np.where(bits, values, held.dtype.type(0))


def _opened(
    path: PathLike, placement: str | None, compress: Any, verify: bool, progress: Progress | None
) -> Matrix | Vector:
    check_form(placement, compress)
    store = map_store(path, verify=verify, progress=progress)
    try:
        if store.kind == "matrix":
            return _matrix(store, path, "device" if placement is None else placement, compress, verify=verify)
        if placement not in (None, "device", "auto") or compress is not None:
            raise NotSupported(f"{os.fspath(path)}: a Vector lies in the memory of its device, and is not compressed")
        with allocating("open", default_device()):
            return _vector(store, verify=verify)
    except (InvalidFormat, IndexOutOfBound, DuplicateIndex) as error:
        if str(error).startswith(f"{os.fspath(path)}: "):
            raise
        raise InvalidFormat(f"{os.fspath(path)}: {error}") from error


def _matrix(store: Store, path: PathLike, placement: str, codec: Codec | None, *, verify: bool) -> Matrix:
    device = default_device()
    # Read-only pages can be locked; locking private ones would copy them.
    near = store if device == "cpu" else map_store(path, writable=False)
    encode = codec is not None and codec != store.codec
    if store.codec is None and (encode or (verify and (device == "cpu" or placement != "device"))):
        held = mapped_matrix(near)
        held = _checked(held, near, device, "host") if verify else held
        return Matrix._new(settled("open", held, placement, codec))
    if encode:
        if verify:
            _check_stream(mapped_matrix(store), store)
        return Matrix._new(settled("open", mapped_matrix(near), placement, codec))
    held = load(path, near, placement, device)
    if verify and store.codec is None:
        held = _checked(held, near, device, "device")
    elif verify:
        _check_stream(mapped_matrix(store) if held.placement == "host" else held, store)
    return Matrix._new(held)


def _checked(held: CSR, described: Store, device: str, placement: str) -> CSR:
    """A plain matrix with every index and fact checked, and its rows sorted if they are not.

    O(nvals), with a stated symmetry O(nvals log degree); synchronises.
    """
    values = held.iso if held.values is None else held.values
    store: CSR = Matrix.from_csr(
        held.indptr, held.indices, values, ncols=held.ncols, device=device, placement=placement
    ).store
    _check_facts(store, described)
    return store


def _check_stream(held: CSR, described: Store) -> None:
    """Every tile of compressed rows, and the facts; O(nvals), and synchronises."""
    run(CheckCompressed(held.pattern), engine_for(held.device))
    _check_facts(held, described)


def _check_facts(held: CSR, described: Store) -> None:
    """InvalidFormat unless the matrix is symmetric if, and only if, the file states it; O(1) if it states nothing."""
    stated = described.facts.get("symmetric")
    if stated is None:
        return
    held.pattern.facts.pop("symmetric", None)  # as the header states it; it is derived and kept in its place
    if structure.is_symmetric(held.pattern) != stated:
        raise InvalidFormat(
            f"byte {DESCRIPTION_AT}: expected facts that are true of the matrix, found {dict(described.facts)}"
        )


def _vector(store: Store, *, verify: bool) -> Vector:
    device, size = default_device(), store.shape[0]

    def here(name: str) -> Array:
        return to_device(store.arrays[name], device)

    values = None if store.iso is not None else here("values")
    dtype, iso = store.dtype, store.iso
    if store.format == "index":
        if verify:
            return Vector.from_coo(store.arrays["indices"], iso if values is None else values, size=size)
        indices = narrowed(store.arrays["indices"], index_dtype(size), "indices")
        return Vector._new(IndexList(size, dtype, to_device(indices, device), values, iso))
    if store.format == "bitmap":
        if verify:
            _check_bitmap(store)
        return Vector._new(Bitmap(size, dtype, here("words"), values, iso, Count(store.nvals)))
    return Vector._new(Full(size, dtype, values, iso))


def _check_bitmap(store: Store) -> None:
    """The bits must be as many as the entries, and none past the size."""
    bits = np.unpackbits(store.arrays["words"].astype("<u4", copy=False).view(np.uint8), bitorder="little")
    found = int(bits[: store.shape[0]].sum())
    if found != store.nvals or bits[store.shape[0] :].any():
        raise InvalidFormat(
            f"section 'words': expected {store.nvals} bits set, none past {store.shape[0]}; found {found}"
        )
