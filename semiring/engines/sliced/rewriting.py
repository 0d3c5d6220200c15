"""Operations that write all entries in another order: the whole matrix is first made uncompressed and resident.

They raise OutOfMemory where it does not fit in the memory of the device.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ...formats import CSR
from .. import recording, registry
from ..registry import slices
from ..spec import ScatterMatrix, Transpose
from .row_slices import uncompressed


@slices(Transpose)
def transpose(q: Transpose, engine: str) -> CSR:
    """t(j, i) = a(i, j)."""
    recording.note(kernel="uncompressed first")
    return cast(CSR, registry.run(Transpose(uncompressed(q.a, engine, "transpose")), engine))


@slices(ScatterMatrix)
def scatter_matrix(q: ScatterMatrix, engine: str) -> CSR:
    """t(rows[p], cols[q]) = a(p, q)."""
    recording.note(kernel="uncompressed first")
    return cast(CSR, registry.run(replace(q, a=uncompressed(q.a, engine, "assign")), engine))
