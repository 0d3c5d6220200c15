"""Operations that write all entries in another order: the matrix is made plain first, as a whole.

They raise OutOfMemory where the plain form does not fit into the memory of the device.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ...formats import CSR
from .. import recording, registry
from ..registry import slices
from ..spec import ScatterMatrix, Transpose
from .pieces import whole


@slices(Transpose)
def transpose(q: Transpose, engine: str) -> CSR:
    """t(j, i) = a(i, j)."""
    recording.note(kernel="plain first")
    return cast(CSR, registry.run(Transpose(whole(q.a, engine, "transpose")), engine))


@slices(ScatterMatrix)
def scatter_matrix(q: ScatterMatrix, engine: str) -> CSR:
    """t(rows[p], cols[q]) = a(p, q)."""
    recording.note(kernel="plain first")
    return cast(CSR, registry.run(replace(q, a=whole(q.a, engine, "assign")), engine))
