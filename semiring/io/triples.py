"""The result of every reader: arrays of positions and values, before a Matrix is built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import DuplicateIndex, InvalidValue

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix
    from semiring.facade.vector import Vector
    from semiring.labels import Labels

__all__ = ["TRUE", "Triples", "host_triples"]

#: The value of an entry of a file without values: an unweighted edge.
TRUE = np.bool_(True)


@dataclass(frozen=True, eq=False)
class Triples:
    """Entries ``(rows[p], cols[p], values[p])`` of an ``nrows x ncols`` matrix, in any order.

    Attributes
    ----------
    rows, cols : integer arrays of the same length
    values : array of that length, or a NumPy scalar that all entries share
    line_of : callable, optional
        The line of the file from which entry ``p`` was read; used in messages.
    name : str
        The file's name, for messages.
    labels : Labels, or a pair of them, optional
        The names of rows and columns, which are one set or two.
    """

    nrows: int
    ncols: int
    rows: NDArray[Any]
    cols: NDArray[Any]
    values: NDArray[Any] | np.generic
    line_of: Callable[[int], int] | None = None
    name: str = ""
    labels: Labels | tuple[Labels, Labels] | None = None

    @property
    def axis_labels(self) -> tuple[Labels | None, Labels | None]:
        """The names of rows, and those of columns."""
        return self.labels if isinstance(self.labels, tuple) else (self.labels, self.labels)

    @property
    def are_true(self) -> bool:
        """Whether all values are True, so that a file needs none."""
        values = self.values
        return not isinstance(values, np.ndarray) and values.dtype == np.bool_ and bool(values)

    def symmetrized(self) -> Triples:
        """Add the mirrored entry of each entry off the diagonal; the shape must be square."""
        if self.nrows != self.ncols:
            raise InvalidValue(
                f"an undirected graph needs a square matrix; expected nrows == ncols, got {self.nrows} x {self.ncols}"
            )
        off = np.flatnonzero(self.rows != self.cols)
        count = len(self.rows)
        line_of = self.line_of
        return replace(
            self,
            rows=np.concatenate([self.rows, self.cols[off]]),
            cols=np.concatenate([self.cols, self.rows[off]]),
            values=np.concatenate([self.values, self.values[off]])
            if isinstance(self.values, np.ndarray)
            else self.values,
            line_of=None if line_of is None else lambda p: line_of(p if p < count else int(off[p - count])),
        )

    def first_duplicate(self) -> tuple[int, int] | None:
        """Return two entries ``p < q`` at the same position (the smallest such ``q``), or None."""
        order = np.lexsort((self.cols, self.rows))
        rows, cols = self.rows[order], self.cols[order]
        same = np.flatnonzero((rows[1:] == rows[:-1]) & (cols[1:] == cols[:-1]))
        if not same.size:
            return None
        # lexsort is stable, so within one position the entries are in the order of the file.
        at = same[np.argmin(order[same + 1])]
        return int(order[at]), int(order[at + 1])

    def to_matrix(self, dup_op: Any = None) -> Matrix:
        """Build the Matrix of these entries.

        Raises
        ------
        DuplicateIndex
            Two entries have the same position and there is no ``dup_op``; the message contains the file and line.
        """
        from semiring.facade.axis_labels import named_duplicate
        from semiring.facade.matrix import Matrix

        try:
            if dup_op == "plus" and getattr(getattr(self.values, "dtype", None), "names", None):
                dup_op = None  # records have no sum: repeated positions raise
            A = Matrix.from_coo(self.rows, self.cols, self.values, nrows=self.nrows, ncols=self.ncols, dup_op=dup_op)
            A.row_labels, A.column_labels = self.axis_labels
            return A
        except DuplicateIndex as error:
            found = self.first_duplicate()
            if found is None or not self.name:
                raise named_duplicate("", error, *self.axis_labels) from None
            raise DuplicateIndex(self._duplicate_message(*found)) from error

    def check_duplicates(self) -> None:
        """Raise the `DuplicateIndex` that `to_matrix` would, without building anything."""
        found = self.first_duplicate()
        if found is not None:
            raise DuplicateIndex(self._duplicate_message(*found))

    def _duplicate_message(self, first: int, second: int) -> str:
        where, earlier = self.name, ""
        place = f"row {int(self.rows[second])}, column {int(self.cols[second])}, counted from 0"
        names = self.axis_labels
        if names[0] is not None and names[1] is not None:
            place = f"({names[0][int(self.rows[second])]!r}, {names[1][int(self.cols[second])]!r})"
        if self.line_of is not None:
            where = f"{self.name}:{self.line_of(second)}"
            earlier = f" (first in line {self.line_of(first)})"
        return (
            f"{where}: expected one entry for each position, found a second one at {place}{earlier}; "
            f'pass dup_op= to combine them, for example dup_op="plus"'
        )


def host_triples(A: Matrix | Vector) -> Triples:
    """Return the entries of a Matrix, or of a Vector as a matrix of one column, on the host (synchronizes on a GPU)."""
    from semiring.facade.vector import Vector
    from semiring.memory.arrays import to_host

    if isinstance(A, Vector):
        indices, given = A.to_coo(index_dtype=None)
        rows = to_host(indices)
        nrows, ncols, cols = A.size, 1, np.zeros(len(rows), dtype=np.int64)
    else:
        row_indices, col_indices, given = A.to_coo(index_dtype=None)
        rows, cols = to_host(row_indices), to_host(col_indices)
        nrows, ncols = A.nrows, A.ncols
    values = A.dtype.type(A.iso_value) if A.is_iso else to_host(given)
    return Triples(nrows, ncols, rows, cols, values)
