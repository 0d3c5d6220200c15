"""``.npz``: SciPy's layout of a sparse matrix in a NumPy archive; each program reads files of the other.

Labels are further arrays, which SciPy ignores: ``semiring_labels`` describes them, in JSON (`semiring.io.label_sets`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.dtypes import lookup
from semiring.exceptions import DomainMismatch, InvalidFormat
from semiring.io.atomic import atomic_writer
from semiring.io.files import PathLike, naming_memory_errors
from semiring.io.label_sets import check_labels, decode_sets, encode_sets, label_arrays, label_sets, set_label_sets
from semiring.io.npz_members import Members
from semiring.io.triples import Triples
from semiring.labels import Labels

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["load_npz", "parse_npz", "save_npz", "write_npz"]

_PREFIX: Final = "semiring_"
_LABELS: Final = "semiring_labels"


@naming_memory_errors
def load_npz(path: PathLike, *, dup_op: Any = "plus") -> Matrix:
    """Read a sparse matrix that ``scipy.sparse.save_npz`` wrote (csr, csc or coo), or `save_npz`.

    Entries at the same position are added, as SciPy defines them; ``dup_op`` changes that.  Only the arrays of the
    matrix are unpacked.

    Parameters
    ----------
    path : str or PathLike
    dup_op : binary operator
        How to combine entries at the same position.

    Returns
    -------
    Matrix
        With the labels that `save_npz` wrote.

    Raises
    ------
    InvalidFormat
        Not such an archive, a damaged one, or arrays that do not fit together or have other sizes than their headers
        announce; with the file and the array's name.
    OutOfMemory
        An array or the matrix does not fit in the free memory.

    Notes
    -----
    Cost O(bytes), and the building of the matrix.

    Examples
    --------
    >>> sr.io.save_npz("graph.npz", Matrix.identity(3))
    >>> sr.io.load_npz("graph.npz").to_dicts()
    {0: {0: 1}, 1: {1: 1}, 2: {2: 1}}
    """
    with Members(path) as members:
        entries, labels = _entries(members, os.fspath(path)), _labels(members, os.fspath(path))
    return set_label_sets(entries.to_matrix(dup_op), labels)


def save_npz(path: PathLike, A: Matrix, *, compressed: bool = True) -> None:
    """Write a matrix for ``scipy.sparse.load_npz``: csr, or coo if it is hypersparse, with all values, atomically.

    Labels are further arrays of the archive, which `load_npz` reads and SciPy ignores.

    Parameters
    ----------
    path : str or PathLike
    A : Matrix
    compressed : bool
        Compress the arrays in the file.

    Raises
    ------
    InvalidValue
        Labels other than text, numbers, and tuples of these.
    NotSupported, OSError

    Notes
    -----
    Cost O(bytes).  Synchronizes and copies to the host where ``A`` is on the GPU.

    Examples
    --------
    >>> import scipy.sparse
    >>> sr.io.save_npz("graph.npz", Matrix.identity(3))
    >>> scipy.sparse.load_npz("graph.npz").nnz
    3
    """
    from semiring.memory.arrays import to_host

    sets = label_sets(A)
    if A.format == "hypersparse":
        rows, columns, values = (to_host(part) for part in A.to_coo(index_dtype=None))
        _write(path, {"row": rows, "col": columns}, b"coo", A.shape, values, compressed, sets)
        return
    indptr, indices, values = A.to_csr(index_dtype=None)
    filled = np.full(A.nvals, A.iso_value, dtype=A.dtype) if A.is_iso else to_host(values)
    shape = A.nrows, A.ncols
    write_npz(path, to_host(indptr), to_host(indices), filled, shape, compressed=compressed, labels=sets)


def write_npz(
    path: PathLike,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    values: NDArray[Any],
    shape: tuple[int, int],
    *,
    compressed: bool = True,
    labels: Mapping[str, Labels] | None = None,
) -> None:
    """Write arrays in SciPy's layout."""
    _write(path, {"indices": indices, "indptr": indptr}, b"csr", shape, values, compressed, labels or {})


def _write(
    path: PathLike,
    arrays: dict[str, NDArray[Any]],
    layout: bytes,
    shape: tuple[int, int],
    values: NDArray[Any],
    compressed: bool,
    labels: Mapping[str, Labels],
) -> None:
    # SciPy needs one dtype for both index arrays.
    index = np.result_type(*(array.dtype for array in arrays.values()))
    save: Any = np.savez_compressed if compressed else np.savez
    members = {name: array.astype(index, copy=False) for name, array in arrays.items()}
    about, of_labels = encode_sets("save_npz", labels)
    if about:
        members |= {_LABELS: np.array(json.dumps(about).encode())}
        members |= {f"{_PREFIX}{name}": array for name, array in of_labels.items()}
    with atomic_writer(path) as stream:
        save(stream, **members, format=np.array(layout), shape=np.array(shape), data=values)


def parse_npz(path: PathLike) -> Triples:
    """Read the entries of an archive in SciPy's layout."""
    with Members(path) as members:
        return _entries(members, os.fspath(path))


def _labels(members: Members, name: str) -> dict[str, Labels]:
    """Return the labels of an archive; those of text are decoded when they are used."""
    if _LABELS not in members:
        return {}
    shape = tuple(int(size) for size in members.array("shape", "iu", 2))
    try:
        about = json.loads(members.array(_LABELS, "S", 1).item())
        expected = label_arrays(about, shape, lambda key: -1)
        arrays = {
            key: members.array(f"{_PREFIX}{key}", "iu", None if count < 0 else count)
            for key, (count, _) in expected.items()
        }
        for key, (_, types) in expected.items():
            if arrays[key].dtype.str not in types:
                raise ValueError(f"array {key!r} of type {arrays[key].dtype}")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, InvalidFormat):
            raise
        raise InvalidFormat(f"{name}: array {_LABELS!r}: expected a description of labels, found: {error}") from error
    found = decode_sets(about, arrays, name)
    check_labels(found, name)
    return found


def _entries(members: Members, name: str) -> Triples:
    array = members.array
    layout = array("format", "SU", 1).item()
    layout = layout.decode("utf-8", "replace") if isinstance(layout, bytes) else layout
    nrows, ncols = (int(size) for size in array("shape", "iu", 2))
    if min(nrows, ncols) < 0 or max(nrows, ncols) > 2**60:
        raise InvalidFormat(f"{name}: array 'shape': expected sizes from 0 to 2**60, found {nrows} x {ncols}")
    data = array("data", "biufcV")
    if data.dtype.names is not None:
        try:
            lookup(data.dtype)
        except DomainMismatch as error:
            raise InvalidFormat(f"{name}: array 'data': {error}") from None
    if layout == "coo":
        rows, cols = array("row", "iu", data.size), array("col", "iu", data.size)
    elif layout in ("csr", "csc"):
        major = nrows if layout == "csr" else ncols
        indptr, minor = array("indptr", "iu", major + 1), array("indices", "iu", data.size)
        # Compared and not subtracted: a difference of two extreme offsets overflows.
        falling = np.flatnonzero(indptr[1:] < indptr[:-1])
        if indptr[0] != 0 or indptr[-1] != data.size or falling.size:
            at = int(falling[0]) + 1 if falling.size else 0 if indptr[0] != 0 else major
            raise InvalidFormat(
                f"{name}: array 'indptr', position {at}: expected offsets that rise from 0 to {data.size}, found "
                f"{int(indptr[at])}"
            )
        lengths: NDArray[Any] = np.diff(indptr.astype(np.int64, copy=False))
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
