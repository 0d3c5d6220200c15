"""Parquet files of edges, through pyarrow."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from semiring.exceptions import DomainMismatch, InvalidFormat
from semiring.io.atomic import atomic_writer
from semiring.io.files import PathLike, Progress, checked_progress, errors_naming
from semiring.io.label_sets import label_sets, without_value_labels, written_labels
from semiring.optional import needed

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix
    from semiring.facade.vector import Vector

__all__ = ["read_columns", "read_parquet", "write_parquet"]


def read_parquet(
    path: PathLike,
    *,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    relabel: Any = False,
    bipartite: bool = False,
    symmetric: bool = False,
    dup_op: Any = None,
    progress: Progress | None = None,
) -> Matrix:
    """Read a Parquet file of edges: `Matrix.from_edgelist` of its table.

    Parameters
    ----------
    path : str or PathLike
    source, target, weight, relabel, bipartite, symmetric, dup_op : as for `Matrix.from_edgelist`
        Only the columns that are named are read.
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    Matrix

    Raises
    ------
    InvalidFormat
        A file that is no Parquet.
    NotSupported
        pyarrow is not installed.
    InvalidValue, DuplicateIndex

    Notes
    -----
    Cost O(bytes), and the building of the matrix.

    Examples
    --------
    >>> A = Matrix.from_edgelist([("bob", "ann", 2.5)], relabel=True)
    >>> sr.io.write("friends.parquet", A)
    >>> sr.io.read("friends.parquet", relabel=True).labels
    Labels(['ann', 'bob'], 2 in all)
    """
    from semiring.facade.matrix import Matrix

    pa = _pyarrow("read_parquet")
    report = checked_progress(progress)
    if report is not None:
        report(f"reading {os.fspath(path)}", 0.0)
    weights = weight if isinstance(weight, (list, tuple)) else [weight]
    named = [name for name in (source, target, *weights) if isinstance(name, str)]
    table = _table(pa, path, named if source is not None and target is not None else None)
    return Matrix.from_edgelist(
        table, source=source, target=target, weight=weight, relabel=relabel, bipartite=bipartite, symmetric=symmetric,
        dup_op=dup_op,
    )  # fmt: skip


def write_parquet(path: PathLike, A: Matrix | Vector) -> None:
    """Write a Parquet file: of a matrix with columns source, target and weight; of a vector label or index, and value.

    Parameters
    ----------
    path : str or PathLike
    A : Matrix or Vector
        Its labels are written in place of positions.

    Raises
    ------
    DomainMismatch
        Records and complex numbers, which the file does not hold.
    InvalidValue
        Labels that are neither text nor integers of 64 bits.
    NotSupported
        pyarrow is not installed.

    Notes
    -----
    The file does not hold the shape, nor labels without an entry.  `read_parquet` and `read_vector` read it.  The write
    is atomic.  Cost O(nvals).  Synchronizes, and copies a matrix on the GPU to the host.

    Examples
    --------
    >>> sr.io.write_parquet("graph.parquet", Matrix.from_coo([0, 1], [1, 2], [1.5, 2.5], shape=(3, 3)))
    >>> sr.io.read("graph.parquet").to_dicts()
    {0: {1: 1.5}, 1: {2: 2.5}}
    """
    pa = _pyarrow("write_parquet")
    if A.dtype.kind not in "biuf":
        advice = "a .srb file, or the columns of A.to_arrow()" if A.dtype.names else "a .srb file"
        raise DomainMismatch(f"write_parquet: the column of values holds numbers, not {A.dtype}; write {advice}")
    A = without_value_labels("write_parquet", A)
    for labels in label_sets(A).values():
        if labels.to_numpy().dtype.kind not in "iu":
            written_labels("write_parquet", labels)
    made = io.BytesIO()
    pa.parquet.write_table(A.to_arrow(), made)
    with atomic_writer(path) as stream:
        stream.write(made.getbuffer())


def read_columns(function: str, path: PathLike) -> tuple[str, Any, Any]:
    """Return the name of the first of two columns, and both columns.  Raises InvalidFormat."""
    table = _table(_pyarrow(function), path, None)
    if table.num_columns != 2:
        found = table.schema.names
        raise InvalidFormat(f"{os.fspath(path)}: expected columns of positions and values, found {found!s:.60}")
    keys, values = (column.to_numpy(zero_copy_only=False) for column in table.columns)
    return table.schema.names[0], keys, values


def _table(pa: Any, path: PathLike, columns: list[str] | None) -> Any:
    try:
        with errors_naming(path):
            return pa.parquet.read_table(path, columns=columns)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InvalidFormat(f"{os.fspath(path)}: expected a Parquet file: {error}") from error


def _pyarrow(function: str) -> Any:
    needed(function, "pyarrow.parquet")
    return needed(function, "pyarrow")
