"""Iterate over the entries, the rows and the columns of an object, in order.

`Matrix` and `Vector` bind these functions as their methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..engines.rows.residency import listed_or_resident
from ..formats import HyperPattern, IndexList
from ..formats.hypersparse import hypersparse
from ..formats.parts import whole_of
from ..memory.arrays import to_host
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
