"""The structure of a sparse matrix: which entries are stored, without their values.

Patterns are immutable and shared: every matrix that differs only in values (a cast, an `apply`, an
iso-valued view) holds the same Pattern, and so shares what has been derived from it.  That is why a
cached transpose can never be stale: a matrix that changes has another Pattern.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .arrays import Array, device_of, to_device


@dataclass(frozen=True, eq=False)
class Pattern:
    """Compressed sparse rows without values.

    Row ``i`` holds the columns ``indices[indptr[i]:indptr[i + 1]]``, ascending, without duplicates.

    nrows, ncols: the shape.
    indptr: ``nrows + 1`` offsets, from 0 to ``nvals``; `index_dtype(nvals)`.
    indices: ``nvals`` columns; `index_dtype(ncols)`.
    facts: what has been derived so far and stays true for ever: ``"symmetric"`` (bool), ``"transpose"``
        (Pattern), ``"max_degree"`` (int), and what an engine wants to remember (its keys start with
        the engine's name).
    """

    nrows: int
    ncols: int
    indptr: Array
    indices: Array
    facts: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def nvals(self) -> int:
        """The number of stored entries."""
        return int(self.indices.size)

    @property
    def device(self) -> str:
        """Where the arrays live."""
        return device_of(self.indices)

    @property
    def nbytes(self) -> int:
        """Bytes of both arrays."""
        return int(self.indptr.nbytes + self.indices.nbytes)

    def to(self, device: str) -> Pattern:
        """The same pattern on another device; facts that hold no arrays travel along."""
        if device == self.device:
            return self
        facts = {key: value for key, value in self.facts.items() if isinstance(value, (bool, int))}
        return Pattern(self.nrows, self.ncols, to_device(self.indptr, device), to_device(self.indices, device), facts)
