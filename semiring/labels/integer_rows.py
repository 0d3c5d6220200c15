"""From integer labels to their rows: a table of the range of dense ones, else a search in ascending order."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# A table has at most so many rows a label.
_TABLE_ROWS_A_LABEL = 32


class IntegerRows:
    """The row of each integer of an array of int64 or uint64, all different."""

    def __init__(self, values: Array) -> None:
        self._dtype = values.dtype
        self._table: Array | None = None
        self._least, most = (int(values.min()), int(values.max())) if len(values) else (0, -1)
        span = most - self._least + 1
        if span <= _TABLE_ROWS_A_LABEL * len(values):
            self._table = np.full(span + 1, -1, np.int64)  # the last element is for integers out of range
            self._table[values - values.dtype.type(self._least)] = np.arange(len(values))
        else:
            self._order = np.argsort(values, kind="stable")
            self._ordered = values[self._order]

    def row(self, label: Any) -> int | None:
        """Return the row of a label; None for what is none."""
        if isinstance(label, (int, np.integer)) or (isinstance(label, float) and label.is_integer()):
            limits = np.iinfo(self._dtype)
            if limits.min <= int(label) <= limits.max:
                row = int(self.of(np.array([int(label)], self._dtype))[0])
                return None if row < 0 else row
        return None

    def of(self, given: Array) -> Array:
        """Return the row of each integer of an array of int64 or uint64; -1 for those that are no label."""
        wanted = given.astype(self._dtype, copy=False)
        if self._table is not None:
            inside = (wanted >= self._least) & (wanted <= self._least + len(self._table) - 2)
            rows: Array = self._table[np.where(inside, wanted - wanted.dtype.type(self._least), -1)]
        else:
            at = np.minimum(np.searchsorted(self._ordered, wanted), len(self._ordered) - 1)
            rows = np.where(self._ordered[at] == wanted, self._order[at], -1)
        if given.dtype != self._dtype:  # what the other type cannot hold is no label
            rows[given > 2**63 - 1 if given.dtype == np.uint64 else given < 0] = -1
        return rows
