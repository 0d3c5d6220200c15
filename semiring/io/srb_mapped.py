"""Reading and writing of matrices and vectors as ``.srb`` files (the layout is in :mod:`semiring.io.srb`)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from semiring.config import default_device, engine_for
from semiring.engines.registry import run
from semiring.engines.requests.storage import CheckCompressed
from semiring.exceptions import DuplicateIndex, IndexOutOfBound, InvalidFormat, NotSupported
from semiring.facade.matrix import Matrix
from semiring.facade.vector import Vector
from semiring.formats import CSR, Bitmap, BitmapPattern, Codec, Full, FullPattern, HyperPattern, IndexList
from semiring.formats.bitmap import flags_of_words
from semiring.formats.vectors import Count
from semiring.io.files import PathLike, Progress, naming_memory_errors
from semiring.io.label_sets import label_sets, set_label_sets
from semiring.io.placement import check_storage, convert, load, mapped_matrix, narrowed
from semiring.io.srb import DESCRIPTION_AT, Store, write_store
from semiring.io.srb_reading import map_store
from semiring.memory.allocation import allocating
from semiring.memory.arrays import Array, index_dtype, to_device, to_host
from semiring.ops import structure
from semiring.record_types import zero

__all__ = ["open", "read_srb", "write_srb"]

_VECTOR_FORMATS = {IndexList: "index", Bitmap: "bitmap", Full: "full"}


@naming_memory_errors
def open(
    path: PathLike, *, placement: str | None = None, compress: str | None = None, verify: bool = False
) -> Matrix | Vector:
    """Open a ``.srb`` file by mapping it: milliseconds for any size, where nothing is copied.

    The file must not change while the object is in use: on the CPU, and for pinned or streamed matrices, its arrays are
    the pages of the file, read from the disk on first access.

    Parameters
    ----------
    path : str or PathLike
    placement : ``"device"``, ``"pinned"``, ``"host"``, ``"auto"`` or None
        Where the entries of a matrix reside while they are used; None is ``"device"``.

        - ``"device"``: in the memory of the GPU, read by several threads at the bandwidth of the disk or of the
          interconnect (PCIe). On the CPU they are mapped.
        - ``"pinned"``: the pages of the file are locked in place, and kernels read them over the interconnect; where
          the system does not allow that, they are read once into page-locked memory.
        - ``"host"``: mapped; operations stream the rows that they need. The file need not fit into memory.
        - ``"auto"``: ``"device"`` if that leaves memory for operations, else ``"pinned"``, else ``"host"``.
    compress : a codec, as in `Matrix.compress`, or None
        Compress a matrix that is uncompressed in the file, slice by slice: the uncompressed matrix is never in device
        memory as a whole. A file with the other codec is re-encoded; by default the codec of the file is kept.
    verify : bool
        Read the whole file first, and check every section, index and stated fact. The header is always checked: sizes,
        types, and that sections are within the file and consistent. Leave it False only for files that you trust.
        Then the contents of the sections are assumed to be valid: row offsets ascend, columns ascend within a row and
        are below ``ncols``, compressed tiles decode, a bitmap has as many bits as entries, bools are 0 or 1, and the
        matrix is symmetric if the file states it. For an invalid file, results are wrong, and kernels may read and
        write out of bounds.

    Returns
    -------
    Matrix, or Vector.

    Raises
    ------
    InvalidFormat
        Not a ``.srb`` file, damaged, or contradictory; the message contains file and byte.
    InvalidValue
        An unknown placement or codec.
    NotSupported
        A codec or a placement other than ``"device"`` for a vector.
    OutOfMemory
        The matrix does not fit in the chosen memory; the message lists what fits, in bytes.

    Notes
    -----
    Labels that are text are decoded on first use.
    Cost O(1) where the mapped pages are used directly, else O(bytes) that are read, locked, encoded or verified.
    Copies to the GPU may still run, in order on the current stream; encoding and verifying synchronize.

    Examples
    --------
    >>> sr.io.write("graph.srb", Matrix.identity(3))
    >>> A = sr.io.open("graph.srb")
    >>> A.nvals
    3
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
    """Read a ``.srb`` file and check all of it: ``open(..., verify=True)``.

    Parameters
    ----------
    path, placement, compress : as `open`
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    Matrix, or Vector.

    Raises
    ------
    InvalidFormat, InvalidValue, NotSupported, OutOfMemory

    Notes
    -----
    Cost O(bytes).  Synchronizes on the GPU.

    Examples
    --------
    >>> sr.io.write_srb("graph.srb", Matrix.identity(3))
    >>> sr.io.read_srb("graph.srb").nvals
    3
    """
    return _opened(path, placement, compress, True, progress)


def write_srb(path: PathLike, A: Matrix | Vector, *, progress: Progress | None = None) -> None:
    """Write a ``.srb`` file atomically; compressed rows stay compressed, and a vector keeps its format.

    Labels and the cached symmetry of a matrix are written too; its placement is not.

    Parameters
    ----------
    path : str or PathLike
    A : Matrix or Vector
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Raises
    ------
    InvalidValue
        Labels other than text, numbers, and tuples of these.
    OSError

    Notes
    -----
    Cost O(bytes).  Synchronizes and copies arrays in GPU memory to the host.

    Examples
    --------
    >>> sr.io.write_srb("graph.srb", Matrix.identity(3).compress("varint"))
    >>> sr.io.read_srb("graph.srb").codec
    'varint'
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
        pattern, codec = held.pattern, held.pattern.codec
        arrays |= {name: to_host(getattr(pattern, name)) for name in pattern.ARRAYS}
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
    made = Store(
        kind, form, shape, held.nvals, held.dtype, held.iso, arrays, facts, codec, labels=label_sets(A)
    )  # fmt: skip
    write_store(path, made, progress)


def _written_values(held: Any, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the values to write: 0 in the absent slots of a bitmap.

    Those slots are uninitialized memory, which must not leak into a file, and equal vectors must produce equal files.
    """
    words = held.words if isinstance(held, Bitmap) else getattr(getattr(held, "pattern", None), "words", None)
    if words is None:
        return values
    return np.where(flags_of_words(to_host(words), values.size), values, zero(held.dtype))


def _opened(
    path: PathLike, placement: str | None, compress: Any, verify: bool, progress: Progress | None
) -> Matrix | Vector:
    check_storage(placement, compress)
    store = map_store(path, verify=verify, progress=progress)
    try:
        if store.kind == "matrix":
            made = _matrix(store, path, "device" if placement is None else placement, compress, verify=verify)
            return set_label_sets(made, store.labels)
        if placement not in (None, "device", "auto") or compress is not None:
            raise NotSupported(
                f"{os.fspath(path)}: a Vector resides in the memory of its device, and cannot be compressed"
            )
        with allocating("open", default_device()):
            return set_label_sets(vector_of(store, verify=verify), store.labels)
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
        return Matrix._new(convert("open", held, placement, codec))
    if encode:
        if verify:
            _check_stream(mapped_matrix(store), store)
        return Matrix._new(convert("open", mapped_matrix(near), placement, codec))
    held = load(path, near, placement, device)
    if verify and store.codec is None:
        held = _checked(held, near, device, "device")
    elif verify:
        _check_stream(mapped_matrix(store) if held.placement == "host" else held, store)
    return Matrix._new(held)


def _checked(held: CSR, described: Store, device: str, placement: str) -> CSR:
    """Check every index and fact of a matrix without codec; return it, with its rows sorted if they are not.

    O(nvals), with a stated symmetry O(nvals log degree); synchronizes.
    """
    if isinstance(held.pattern, (FullPattern, BitmapPattern)):  # its only array was checked with the header
        _check_facts(held, described)
        return held
    values: Any = held.iso if held.values is None else held.values
    if isinstance(held.pattern, HyperPattern):
        rows, offsets, columns = (getattr(held.pattern, name) for name in HyperPattern.ARRAYS)
        listed = Matrix.from_dcsr(
            rows, offsets, columns, values, held.dtype, shape=held.shape, copy=False, device=device
        )
        store: CSR = listed.convert(HyperPattern.format).store
    else:
        store = Matrix.from_csr(
            held.indptr, held.indices, values, ncols=held.ncols, copy=False, device=device, placement=placement
        ).store
    _check_facts(store, described)
    return store


def _check_stream(held: CSR, described: Store) -> None:
    """Check every tile of compressed rows, and the facts; O(nvals), and synchronizes."""
    run(CheckCompressed(held.pattern), engine_for(held.device))
    _check_facts(held, described)


def _check_facts(held: CSR, described: Store) -> None:
    """Raise InvalidFormat unless the stated symmetry of the file is that of the matrix; O(1) if none is stated."""
    stated = described.facts.get("symmetric")
    if stated is None:
        return
    held.pattern.facts.pop("symmetric", None)  # from the header; `is_symmetric` computes it and stores it again
    if structure.is_symmetric(held.pattern) != stated:
        raise InvalidFormat(
            f"byte {DESCRIPTION_AT}: expected facts that are true of the matrix, found {dict(described.facts)}"
        )


def vector_of(store: Store, *, verify: bool) -> Vector:
    """Return the Vector of a file, on the device of new objects."""
    device, size = default_device(), store.shape[0]

    def on_device(name: str) -> Array:
        return to_device(store.arrays[name], device)

    values = None if store.iso is not None else on_device("values")
    dtype, iso = store.dtype, store.iso
    if store.format == "index":
        if verify:
            return Vector.from_coo(store.arrays["indices"], iso if values is None else values, size=size)
        indices = narrowed(store.arrays["indices"], index_dtype(size), "indices")
        return Vector._new(IndexList(size, dtype, to_device(indices, device), values, iso))
    if store.format == "bitmap":
        if verify:
            _check_bitmap(store)
        return Vector._new(Bitmap(size, dtype, on_device("words"), values, iso, Count(store.nvals)))
    return Vector._new(Full(size, dtype, values, iso, device))


def _check_bitmap(store: Store) -> None:
    """Raise InvalidFormat unless the bitmap has `nvals` bits, and none past the size."""
    bits = np.unpackbits(store.arrays["words"].astype("<u4", copy=False).view(np.uint8), bitorder="little")
    found = int(bits[: store.shape[0]].sum())
    if found != store.nvals or bits[store.shape[0] :].any():
        raise InvalidFormat(
            f"section 'words': expected {store.nvals} bits set, none past {store.shape[0]}; found {found}"
        )
