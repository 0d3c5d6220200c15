"""The entries of an object, one by one in order, by rows and columns, and as a data frame: one row an entry.

`Matrix` and `Vector` bind these functions as their methods.  Libraries of data frames are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..devices import whole_of
from ..dtypes import is_record
from ..engines.rows.residency import listed_or_resident
from ..formats import HyperPattern, IndexList
from ..formats.hypersparse import hypersparse
from ..memory.arrays import to_host
from ..optional import needed
from .concatenation import stored

if TYPE_CHECKING:
    from .matrix import Matrix
    from .vector import Vector


# Entries that are converted to Python objects at once.
_CHUNK = 1 << 16


def items(self: Matrix) -> Iterator[tuple[tuple[int, int], Any]]:
    """Yield ((i, j), value) for each entry, row by row, as Python numbers.

    Cost O(nvals), and arrays of all entries in host memory; synchronizes on the GPU.

    Examples
    --------
    >>> list(Matrix.from_coo([1, 0], [0, 2], [5, 6], shape=(2, 3)).items())
    [((0, 2), 6), ((1, 0), 5)]
    """
    rows, columns, values = (to_host(part) for part in self.to_coo(index_dtype=None))
    for part in _chunks(values.size):
        yield from zip(
            zip(rows[part].tolist(), columns[part].tolist(), strict=True), values[part].tolist(), strict=True
        )


def vector_items(self: Vector) -> Iterator[tuple[int, Any]]:
    """Yield (i, value) for each entry, in order, as Python numbers; cost as `Matrix.items`.

    Examples
    --------
    >>> list(Vector.from_coo([0, 2], [5, 6], size=3).items())
    [(0, 5), (2, 6)]
    """
    indices, values = (to_host(part) for part in self.to_coo(index_dtype=None))
    for part in _chunks(values.size):
        yield from zip(indices[part].tolist(), values[part].tolist(), strict=True)


def _chunks(count: int) -> Iterator[slice]:
    """Yield slices that together cover `count` entries."""
    for first in range(0, count, _CHUNK):
        yield slice(first, first + _CHUNK)


def iter_rows(self: Matrix) -> Iterator[tuple[int, Vector]]:
    """Yield (i, w) for each row that has entries, in order, with w(j) = self(i, j).

    Each Vector shares the arrays of this matrix.  Cost O(nrows), or of the listed rows of a
    hypersparse matrix, and O(1) for each row; synchronizes on the GPU before the first.
    Where a whole algorithm would iterate, an operation on all rows is many times faster: `reduce_rowwise`, `scan`,
    `sort`, `selectk`.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 2], [1, 0], [5, 6], shape=(3, 2))
    >>> [(i, w.to_dict()) for i, w in A.iter_rows()]
    [(0, {1: 5}), (2, {0: 6})]
    """
    a = hypersparse(listed_or_resident(whole_of(stored(self))))
    assert isinstance(a.pattern, HyperPattern)
    rows, offsets, indices = to_host(a.pattern.rows), to_host(a.pattern.offsets), a.pattern.indices
    for p, i in enumerate(rows.tolist()):
        part = slice(int(offsets[p]), int(offsets[p + 1]))
        values = None if a.values is None else a.values[part]
        yield i, self._vector_class._new(IndexList(a.ncols, a.dtype, indices[part], values, a.iso))


def iter_columns(self: Matrix) -> Iterator[tuple[int, Vector]]:
    """Yield (j, w) for each column that has entries, in order, with w(i) = self(i, j); `iter_rows` of the transpose.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 2], [1, 0], [5, 6], shape=(3, 2))
    >>> [(j, w.to_dict()) for j, w in A.iter_columns()]
    [(0, {2: 6}), (1, {0: 5})]
    """
    return iter_rows(self.T)


def to_pandas(self: Matrix | Vector) -> Any:
    """Return a pandas frame with a row for each entry: source, target and weight, or of a Vector index and value.

    Vertices are shown by their labels if there are any, values too (``.value_labels``); the first column of a Vector
    with labels is ``label``.  The fields of records are columns.

    Raises
    ------
    NotSupported
        If pandas is not installed.

    Notes
    -----
    Cost O(nvals); values are not copied.  Entries are by row and then by column.  Synchronizes, and copies to the host.
    `Matrix.from_edgelist` reads the frame of a Matrix back.

    Examples
    --------
    >>> A = Matrix.from_edgelist([("ann", "bob", 2.5)], relabel=True)
    >>> A.to_pandas().to_dict("list")
    {'source': ['ann'], 'target': ['bob'], 'weight': [2.5]}
    """
    return needed("to_pandas", "pandas").DataFrame(_columns(self))


def to_polars(self: Matrix | Vector) -> Any:
    """Return a polars frame, with the columns of `to_pandas`.

    Raises
    ------
    NotSupported
        If polars is not installed.

    Notes
    -----
    Cost and synchronization as `to_pandas`.

    Examples
    --------
    >>> Vector.from_coo([0, 2], [1.5, 2.5], size=3).to_polars().rows()
    [(0, 1.5), (2, 2.5)]
    """
    polars = needed("to_polars", "polars")
    return polars.DataFrame(
        {name: polars.Series(name, _listed(column), strict=True) for name, column in _columns(self).items()}
    )


def to_arrow(self: Matrix | Vector) -> Any:
    """Return a pyarrow table, with the columns of `to_pandas`.

    Raises
    ------
    NotSupported
        If pyarrow is not installed.

    Notes
    -----
    Cost and synchronization as `to_pandas`.

    Examples
    --------
    >>> Vector.from_coo([0, 2], [1.5, 2.5], size=3).to_arrow().to_pydict()
    {'index': [0, 2], 'value': [1.5, 2.5]}
    """
    return needed("to_arrow", "pyarrow").table({name: _listed(column) for name, column in _columns(self).items()})


def _columns(a: Any) -> dict[str, Any]:
    """Return the columns of a frame by name."""
    *places, values = a.to_coo(index_dtype=np.int64, device="cpu")
    *of_axes, of_values = a._labels or (None,) * (a.ndim + 1)
    names = ["source", "target"] if a.ndim == 2 else ["index" if of_axes[0] is None else "label"]
    shown = [place if labels is None else labels[place] for labels, place in zip(of_axes, places, strict=True)]
    values = values if of_values is None else of_values[values]
    made = dict(zip(names, shown, strict=True))
    if is_record(a.dtype) and a.dtype.names is not None:
        return made | {name: values[name] for name in a.dtype.names if name not in made}
    return made | {"weight" if a.ndim == 2 else "value": values}


def _listed(column: Any) -> Any:
    """Return a column in a form that infers its type: an array of numbers, or a list of objects."""
    return column.tolist() if column.dtype.kind == "O" else column
