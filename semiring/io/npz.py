"""``.npz``: SciPy's layout of a sparse matrix in NumPy's archive, so that either program reads the other's files."""

from __future__ import annotations

import os
import zipfile
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat
from semiring.io.atomic import atomic_writer
from semiring.io.files import PathLike
from semiring.io.triples import Triples

if TYPE_CHECKING:
    from semiring.matrix import Matrix

__all__ = ["load_npz", "parse_npz", "save_npz", "write_npz"]


def load_npz(path: PathLike, *, dup_op: Any = "plus") -> Matrix:
    """Read a sparse matrix that ``scipy.sparse.save_npz`` wrote (csr, csc or coo), or `save_npz`.

    Entries at the same position are added, as SciPy takes them to mean; ``dup_op`` says otherwise.

    Raises
    ------
    InvalidFormat
        Not such an archive, a damaged one, or arrays that do not fit together; with the file and the array's name.
    """
    return parse_npz(path).to_matrix(dup_op)


def save_npz(path: PathLike, A: Matrix, *, compressed: bool = True) -> None:
    """Write a matrix for ``scipy.sparse.load_npz``: csr, all values written out. Whole, or not at all.

    Synchronises and copies to the host where ``A`` is on the GPU.
    """
    from semiring.formats.arrays import to_host

    indptr, indices, values = A.to_csr(index_dtype=None)
    filled = np.full(A.nvals, A.iso_value, dtype=A.dtype) if A.is_iso else to_host(values)
    write_npz(path, to_host(indptr), to_host(indices), filled, (A.nrows, A.ncols), compressed=compressed)


def write_npz(
    path: PathLike,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    values: NDArray[Any],
    shape: tuple[int, int],
    *,
    compressed: bool = True,
) -> None:
    """Write plain arrays in SciPy's layout."""
    # SciPy wants one width for both index arrays.
    wide = np.result_type(indptr.dtype, indices.dtype)
    save = np.savez_compressed if compressed else np.savez
    with atomic_writer(path) as stream:
        save(
            stream,
            indices=indices.astype(wide, copy=False),
            indptr=indptr.astype(wide, copy=False),
            format=np.array(b"csr"),
            shape=np.array(shape),
            data=values,
        )


def parse_npz(path: PathLike) -> Triples:
    """The entries of an archive in SciPy's layout."""
    name = os.fspath(path)
    arrays = _arrays(path)

    def array(key: str, kinds: str, size: int | None = None) -> NDArray[Any]:
        if key not in arrays:
            raise InvalidFormat(f"{name}: expected an array {key!r}, found {sorted(arrays)}")
        found = arrays[key]
        if found.dtype.kind not in kinds or found.ndim > 1 or (size is not None and found.size != size):
            wanted = "any number of" if size is None else str(size)
            raise InvalidFormat(
                f"{name}: array {key!r}: expected {wanted} elements of kind {' or '.join(kinds)}, found {found.size} "
                f"of {found.dtype} in {found.ndim} dimensions"
            )
        return found

    layout = array("format", "SU", 1).item()
    layout = layout.decode("utf-8", "replace") if isinstance(layout, bytes) else layout
    nrows, ncols = (int(size) for size in array("shape", "iu", 2))
    if min(nrows, ncols) < 0:
        raise InvalidFormat(f"{name}: array 'shape': expected sizes of at least 0, found {nrows} x {ncols}")
    data = array("data", "biuf")
    if layout == "coo":
        rows, cols = array("row", "iu", data.size), array("col", "iu", data.size)
    elif layout in ("csr", "csc"):
        major = nrows if layout == "csr" else ncols
        indptr, minor = array("indptr", "iu", major + 1), array("indices", "iu", data.size)
        lengths = np.asarray(indptr[1:], dtype=np.int64) - np.asarray(indptr[:-1], dtype=np.int64)
        if indptr[0] != 0 or indptr[-1] != data.size or (lengths < 0).any():
            at = int(np.argmax(lengths < 0)) + 1 if (lengths < 0).any() else 0 if indptr[0] != 0 else major
            raise InvalidFormat(
                f"{name}: array 'indptr', position {at}: expected offsets that rise from 0 to {data.size}, found "
                f"{int(indptr[at])}"
            )
        rows, cols = np.repeat(np.arange(major, dtype=np.int64), lengths), minor
        if layout == "csc":
            rows, cols = cols, rows
    else:
        raise InvalidFormat(f"{name}: array 'format': expected csr, csc or coo, found {layout!r}")
    for what, indices, size in (("row", rows, nrows), ("column", cols, ncols)):
        wrong = np.flatnonzero((indices < 0) | (indices >= size))
        if wrong.size:
            at = int(wrong[0])
            raise InvalidFormat(f"{name}: entry {at}: expected a {what} from 0 to {size - 1}, found {int(indices[at])}")
    return Triples(nrows, ncols, rows, cols, data.astype(data.dtype.newbyteorder("="), copy=False), None, name)


def _arrays(path: PathLike) -> dict[str, NDArray[Any]]:
    """All arrays of an archive; whatever is wrong with one is `InvalidFormat`."""
    # np.load leaves a file open that it cannot read.
    with open(path, "rb") as stream:
        try:
            with np.load(stream, allow_pickle=False) as archive:
                return {key: archive[key] for key in archive.files}
        except Exception as error:
            # Zip, its compressions, and NumPy's headers each have exceptions of their own: zlib.error, LZMAError,
            # BadZipFile, NotImplementedError, KeyError, struct.error, SyntaxError, ... A damaged header may also
            # announce an array that no memory holds: the checksums tell it from one that is really so large.
            if isinstance(error, MemoryError) and _is_whole(stream):
                raise
            reason = str(error) or type(error).__name__
            raise InvalidFormat(f"{os.fspath(path)}: expected a whole .npz archive, found: {reason}") from error


def _is_whole(stream: IO[bytes]) -> bool:
    """True if each member of the archive has the content that its checksum is of."""
    try:
        with zipfile.ZipFile(stream) as archive:
            return archive.testzip() is None
    except Exception:  # as above: a member that cannot even be unpacked
        return False
