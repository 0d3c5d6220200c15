"""Running totals by a monoid:  C(i, j) = (+)_l A(i, l) over the entries with l <= j;  w(i) = (+)_k u(k), k <= i."""

from __future__ import annotations

from typing import Any, cast

from .. import operators
from ..config import engine_for
from ..engines import registry
from ..engines.requests.operations import Scan
from ..formats import CSR, VectorStore
from . import structure
from .assign import row_matrix
from .convert import index_list
from .layout import row_vector
from .write import Plan

__all__ = ["scan", "scan_vector"]


def scan(a: CSR, monoid: Any, *, by_columns: bool = False) -> Plan[CSR]:
    """Return the running totals of each row, or of each column, on the structure of A."""
    typed = operators.lookup_monoid(monoid).typed(a.dtype)
    if not by_columns:
        return Plan("scan", a.shape, typed.z, a.device, Scan(a, typed))

    def request() -> CSR:
        turned = registry.run(Scan(structure.transposed(a), typed), engine_for(a.device))
        return structure.transposed(turned)

    return Plan("scan", a.shape, typed.z, a.device, request)


def scan_vector(u: VectorStore, monoid: Any) -> Plan[VectorStore]:
    """Return the running totals of the entries, on the structure of u."""
    typed = operators.lookup_monoid(monoid).typed(u.dtype)

    def request() -> VectorStore:
        entries = index_list(u)
        done = cast(CSR, registry.run(Scan(row_matrix(entries), typed), engine_for(u.device)))
        return row_vector(done)

    return Plan("scan", (u.size,), typed.z, u.device, request)
