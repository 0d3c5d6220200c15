"""Matrix Market files (.mtx): a writer whose files are read back as exactly the same matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from semiring.dtypes import INT64, UINT64
from semiring.exceptions import DomainMismatch, InvalidValue
from semiring.io.atomic import atomic_writer
from semiring.io.files import PathLike
from semiring.io.label_comments import label_comments
from semiring.io.label_sets import label_sets
from semiring.io.triples import Triples, host_triples
from semiring.labels import Labels

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix
    from semiring.facade.vector import Vector

__all__ = ["mmwrite", "write_matrix_market"]


# The field of a kind of type; of other kinds ``integer``.
_FIELDS: Final = {"f": "real", "c": "complex"}


def mmwrite(path: PathLike, A: Matrix | Vector, *, comment: str = "") -> None:
    """Write a Matrix, or a Vector as a matrix of one column, to a Matrix Market file; a known extension compresses.

    A ``%%GraphBLAS type`` comment states the type, and numbers are written with enough digits to read back the same
    ones. A matrix whose entries all share the value 1 is written as a ``pattern``. Labels are comments too, a line
    ``%%label`` each, in JSON.

    Parameters
    ----------
    path : str or PathLike
        With a known extension of a compression, ``.gz`` for example, the file is compressed.
    A : Matrix or Vector
    comment : str
        Lines for the header of the file.

    Raises
    ------
    InvalidValue
        A line of ``comment`` begins with ``%``, which could be read as part of the header; or labels are other than
        text, numbers, and tuples of these.

    Notes
    -----
    The write is atomic: on any error an older file is unchanged.  Cost O(bytes).  Copies a matrix on the GPU to the
    host (synchronizes).

    Examples
    --------
    >>> sr.io.mmwrite("graph.mtx", Matrix.from_coo([0, 1], [1, 2], [1.5, 2.5], shape=(3, 3)), comment="two edges")
    >>> sr.io.mmread("graph.mtx").to_dicts()
    {0: {1: 1.5}, 1: {2: 2.5}}
    """
    write_matrix_market(path, host_triples(A), comment=comment, labels=label_sets(A))


def write_matrix_market(
    path: PathLike, entries: Triples, *, comment: str = "", labels: Mapping[str, Labels] | None = None
) -> None:
    """Write entries to a Matrix Market file, atomically."""
    from scipy.io import mmwrite as scipy_mmwrite
    from scipy.sparse import coo_array

    dtype = np.dtype(entries.values.dtype)
    if dtype.names is not None:
        raise DomainMismatch("mmwrite: Matrix Market files hold numbers, not records; write a field, or a .srb file")
    lines = [_type_comment(dtype), *(f" {line}" for line in comment.splitlines())]
    if any(line.lstrip().startswith("%") for line in lines[1:]):
        raise InvalidValue(f"expected a comment without lines that begin with '%', got {comment!r}")
    lines += label_comments("mmwrite", labels or {})

    values = entries.values
    count = len(entries.rows)
    pattern = not isinstance(values, np.ndarray) and bool(values == 1)
    field = "pattern" if pattern else _FIELDS.get(dtype.kind, "integer")
    with atomic_writer(path) as stream:
        if not count:
            # SciPy's writer and reader divide by the shape, which may be 0 x n.
            body = "\n".join(f"%{line}" for line in lines)
            head = f"%%MatrixMarket matrix coordinate {field} general\n{body}\n{entries.nrows} {entries.ncols} 0\n"
            stream.write(head.encode())
            return
        data = values if isinstance(values, np.ndarray) else np.full(count, values)
        if dtype.kind == "u" and (dtype != UINT64 or int(data.max()) < 2**63):
            # SciPy would write the field as unsigned-integer, which other readers do not support.
            data = data.astype(INT64)
        matrix = coo_array((data, (entries.rows, entries.cols)), shape=(entries.nrows, entries.ncols))
        scipy_mmwrite(
            _WriteOnly(stream),
            matrix,
            comment="\n".join(lines),
            field="pattern" if pattern else None,
            symmetry="general",
        )


class _WriteOnly:
    """A stream without `tell`: SciPy would call it, and compressed streams do not support it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.write = stream.write
        self.flush = stream.flush


def _type_comment(dtype: np.dtype[Any]) -> str:
    names = {
        "bool": "bool",
        "float32": "float",
        "float64": "double",
        "complex64": "float complex",
        "complex128": "double complex",
    }
    return f"%GraphBLAS type {names.get(dtype.name, dtype.name + '_t')}"
