"""Parquet files of edges, through pyarrow."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from semiring.exceptions import InvalidFormat
from semiring.io.atomic import atomic_writer
from semiring.io.files import PathLike, Progress, checked_progress
from semiring.optional import needed

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["read_parquet", "write_parquet"]


def read_parquet(
    path: PathLike,
    *,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    relabel: bool = False,
    symmetric: bool = False,
    dup_op: Any = None,
    progress: Progress | None = None,
) -> Matrix:
    """Read a Parquet file of edges: `Matrix.from_edgelist` of its table.

    Parameters
    ----------
    path : str or PathLike
    source, target, weight, relabel, symmetric, dup_op : as for `Matrix.from_edgelist`
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
    named = [name for name in (source, target, weight) if isinstance(name, str)]
    try:
        table = pa.parquet.read_table(path, columns=named if source is not None and target is not None else None)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InvalidFormat(f"{os.fspath(path)}: expected a Parquet file: {error}") from error
    return Matrix.from_edgelist(
        table, source=source, target=target, weight=weight, relabel=relabel, symmetric=symmetric, dup_op=dup_op
    )


def write_parquet(path: PathLike, A: Matrix) -> None:
    """Write the entries of a matrix as a Parquet file with columns source, target and weight.

    Parameters
    ----------
    path : str or PathLike
    A : Matrix
        With ``.labels``, its vertices are written by them.

    Raises
    ------
    NotSupported
        pyarrow is not installed.

    Notes
    -----
    The file does not hold the shape.  The write is atomic.  Cost O(nvals).  Synchronises, and copies a matrix on the
    GPU to the host.

    Examples
    --------
    >>> sr.io.write_parquet("graph.parquet", Matrix.from_coo([0, 1], [1, 2], [1.5, 2.5], shape=(3, 3)))
    >>> sr.io.read("graph.parquet").to_dicts()
    {0: {1: 1.5}, 1: {2: 2.5}}
    """
    pa = _pyarrow("write_parquet")
    made = io.BytesIO()
    pa.parquet.write_table(A.to_arrow(), made)
    with atomic_writer(path) as stream:
        stream.write(made.getbuffer())


def _pyarrow(function: str) -> Any:
    needed(function, "pyarrow.parquet")
    return needed(function, "pyarrow")
