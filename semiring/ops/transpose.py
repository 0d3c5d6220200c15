"""The transpose:  C(i, j) = A(j, i)."""

from __future__ import annotations

from ..formats import CSR
from . import structure
from .write import Plan, stored


def transpose(a: CSR | Plan[CSR]) -> Plan[CSR]:
    """C = A'.  Cost O(nvals) the first time; the transpose is cached with A.  A plan is computed with C."""
    nrows, ncols = a.shape
    return Plan("transpose", (ncols, nrows), a.dtype, a.device, lambda: structure.transposed(stored(a)))
