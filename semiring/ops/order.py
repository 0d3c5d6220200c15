"""Entries of each row in the order of their values: sorted rows, and a choice of k entries."""

from __future__ import annotations

from typing import Any

from ..config import engine_for
from ..dtypes import is_record
from ..engines import registry
from ..engines.requests.operations import HOW, SelectK, SortRows
from ..exceptions import DomainMismatch, InvalidValue
from ..formats import CSR, IndexList, VectorStore
from . import structure
from .assign import row_matrix
from .convert import index_list
from .layout import row_vector
from .write import Plan

__all__ = ["select_k", "select_k_vector", "sort", "sort_vector"]

# The comparisons that a sort accepts: whether it descends.
_DESCENDING = {"lt": False, "<": False, "gt": True, ">": True}


def sort(a: CSR, op: Any, *, by_columns: bool = False) -> tuple[CSR, CSR]:
    """Return the sorted values of each row, from column 0, and the columns that they had; or of each column."""
    _check_ordered("sort", a)
    spec = SortRows(structure.transposed(a) if by_columns else a, _descends(op))
    made = registry.run(spec, engine_for(a.device))
    both = made.values, made.columns
    return (structure.transposed(both[0]), structure.transposed(both[1])) if by_columns else both


def sort_vector(u: VectorStore, op: Any) -> tuple[VectorStore, VectorStore]:
    """Return the sorted values, from index 0, and the indices that they had."""
    values, columns = sort(row_matrix(index_list(u)), op)
    return row_vector(values), row_vector(columns)


def _check_ordered(operation: str, a: CSR) -> None:
    """Raise DomainMismatch if the values have no order."""
    if is_record(a.dtype):
        raise DomainMismatch(f"{operation}: records have no order; sort a field, A.apply(lambda x: x.name)")
    if a.dtype.kind == "c":
        raise DomainMismatch(f"{operation}: complex numbers have no order; sort their abs or real values")


def _descends(op: Any) -> bool:
    name = getattr(op, "name", op)
    if not isinstance(name, str) or name not in _DESCENDING:
        raise InvalidValue(f"sort: the order is 'lt' (ascending) or 'gt' (descending), got {op!r}")
    return _DESCENDING[name]


def select_k(a: CSR, how: str, k: int, seed: int, *, by_columns: bool = False) -> Plan[CSR]:
    """Return up to k entries of each row, or of each column, where they are."""
    if how not in HOW:
        raise InvalidValue(f"selectk: how is one of {', '.join(HOW)}; got {how!r}")
    if how in ("smallest", "largest"):
        _check_ordered("selectk", a)

    def request() -> CSR:
        spec = SelectK(structure.transposed(a) if by_columns else a, k, how, seed)
        made: CSR = registry.run(spec, engine_for(a.device))
        return structure.transposed(made) if by_columns else made

    return Plan("selectk", a.shape, a.dtype, a.device, request)


def select_k_vector(u: VectorStore, how: str, k: int, seed: int) -> Plan[VectorStore]:
    """Return up to k entries."""
    plan = select_k(row_matrix(index_list(u)), how, k, seed)

    def request() -> IndexList:
        return row_vector(plan.into())

    return Plan("selectk", (u.size,), u.dtype, u.device, request)
