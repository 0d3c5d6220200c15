"""The transpose:  C(i, j) = A(j, i)."""

from __future__ import annotations

from ..formats import CSR
from . import structure
from .write import Plan


def transpose(a: CSR) -> Plan[CSR]:
    """C = A'.  Cost O(nvals) the first time; the transpose stays cached with A."""
    return Plan("transpose", (a.ncols, a.nrows), a.dtype, a.device, lambda: structure.transposed(a))
