"""Construction of an object entry by entry, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..shared.expression_numpy import cast
from .dense import sparsify
from .evaluation import combine

if TYPE_CHECKING:
    from ...operators.types import TypedBinary


class Assembly:
    """Dense slots of a dtype; a slot that is written twice combines by `dup`, or without one keeps the last value."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], dup: TypedBinary | None) -> None:
        self.values = np.zeros(shape, dtype)
        self.present = np.zeros(shape, np.bool_)
        self.repeated = np.zeros(shape, np.bool_)
        self.dup = dup

    def put(self, at: tuple[int, ...], value: Any) -> None:
        """t(at) = value, or dup(t(at), value)."""
        new = cast(np.array([value]), self.values.dtype)
        if self.present[at]:
            self.repeated[at] = True
            if self.dup is not None:
                new = cast(combine(self.dup, self.values[at].reshape(1), new), self.values.dtype)
        self.values[at] = new[0]
        self.present[at] = True

    def first_repeated(self) -> tuple[int, ...] | None:
        """Return the smallest position (row-major) that was written more than once, or None."""
        found = np.argwhere(self.repeated)
        return tuple(int(p) for p in found[0]) if len(found) else None

    def store(self) -> Any:
        """Return the result as an index list or as CSR."""
        return sparsify(self.values, self.present, self.values.dtype)
