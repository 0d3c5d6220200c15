"""The extreme entry of each row, column or group, with its position:  w(i) = min_j A(i, j);  p(i), the first such j."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, cast

from .. import operators
from ..config import engine_for
from ..devices import dispatched
from ..engines import registry
from ..engines.programs import traced
from ..engines.requests.operands import Index, Mask
from ..engines.requests.operations import Keep, LocateGroups, LocateRows, ScatterVector
from ..exceptions import DimensionMismatch, DomainMismatch
from ..formats import CSR, Array, Full, Pattern, VectorStore, array_module, dense_values, device_of
from ..memory.arrays import copied
from . import check, structure
from .build import bounded_indices, build_matrix
from .cast import cast_store
from .convert import index_list
from .extract import extract_vector
from .write import Plan

__all__ = ["Groups", "as_rows", "grouped", "locate", "locate_by", "reduce_by"]


class Groups(NamedTuple):
    """The entries of a vector that have a label: u(p) is in group ``labels[p]``.

    origin: the index of position p in the vector that was given; None if it is p.
    """

    u: VectorStore
    labels: Index
    origin: Array | None


def locate(a: CSR, largest: bool, *, by_columns: bool = False) -> tuple[VectorStore, VectorStore]:
    """Return the smallest (or largest) value of each row, or column, that has entries, and its column, or row."""
    _check_ordered("maxloc" if largest else "minloc", a)
    engine = engine_for(a.device)
    if by_columns and isinstance(a.pattern, Pattern) and a.placement == "device" and not structure.has_transpose(a):
        # The columns are groups of the entries, in storage order.
        entries = Full(a.nvals, a.dtype, a.values, a.iso, a.device)
        made = registry.run(LocateGroups(entries, Index(a.ncols, a.nvals, array=a.indices), largest), engine)
        return made.values, replace(made.positions, values=_rows_of(a.indptr, made.positions.values))
    made = registry.run(LocateRows(structure.transposed(a) if by_columns else a, largest), engine)
    return made.values, made.positions


def _rows_of(indptr: Array, places: Array) -> Array:
    """Return the row of each entry, as int64; some number for slots that hold no entry."""
    return array_module(device_of(indptr)).searchsorted(indptr, places, side="right") - 1  # int64


def grouped(u: VectorStore, labels: VectorStore | Array, size: int) -> Groups:
    """Return the entries of u that have a label, by groups.  On the GPU two numbers are read back: synchronizes."""
    if isinstance(labels, VectorStore):
        check.one_device("labels", u.device, labels)
    if int(labels.size) != u.size:
        raise DimensionMismatch(f"labels: one for each of the {u.size} positions is expected, got {int(labels.size)}")
    if traced.users and isinstance(labels, VectorStore) and (traced.is_traced(labels) or traced.is_traced(u)):
        index = traced.current().index(labels, size, partial=True)
        if labels.format != "full":
            u = registry.run(Keep(u, Mask(labels, True, False)), engine_for(u.device))
        return Groups(u, index, None)
    return groups_of(u, labels, size)


@dispatched()
def groups_of(u: VectorStore, labels: VectorStore | Array, size: int) -> Groups:
    """Return the groups of a vector by labels of as many positions."""
    origin, given = None, labels
    if isinstance(labels, VectorStore):
        if labels.format != "full" and labels.nvals != labels.size:
            labels = index_list(labels)
            origin = labels.indices
            u = extract_vector(u, Index(u.size, labels.nvals, array=origin)).into()
        labels = dense_values(labels)
    numbers = bounded_indices("labels", labels, size, u.device)
    if numbers is given:
        numbers = copied(labels)  # an operation that is pending reads the labels of this moment
    return Groups(u, Index(size, u.size, array=numbers), origin)


def locate_by(groups: Groups, largest: bool) -> tuple[VectorStore, VectorStore]:
    """Return the smallest (or largest) value of each group that has entries, and its index in the vector."""
    u, labels, origin = groups
    _check_ordered("maxloc_by" if largest else "minloc_by", u)
    made = registry.run(LocateGroups(u, labels, largest), engine_for(u.device))
    if origin is None:
        return made.values, made.positions
    positions = index_list(made.positions)
    assert positions.values is not None
    return made.values, replace(positions, values=origin[positions.values].astype(positions.dtype, copy=False))


def reduce_by(groups: Groups, monoid: Any) -> Plan[VectorStore]:
    """W(g) = (+) of the entries in group g."""
    u, labels, _ = groups
    typed = operators.lookup_monoid(monoid).typed(u.dtype)

    def request() -> VectorStore:
        engine = engine_for(u.device)
        dup = None if typed.is_any else typed.op
        return cast(VectorStore, registry.run(ScatterVector(cast_store(u, typed.z, engine), labels, dup), engine))

    return Plan("reduce_by", (labels.size,), typed.z, u.device, request)


def as_rows(groups: Groups, ncols: int) -> CSR:
    """Return the matrix whose rows are the groups, with each entry in the column of its index."""
    return rows_of_groups(*groups, ncols)


@dispatched()
def rows_of_groups(u: VectorStore, labels: Index, origin: Array | None, ncols: int) -> CSR:
    """Return the matrix whose rows are the groups; the arguments are those of `Groups`."""
    entries = index_list(u)
    assert labels.array is not None
    columns = entries.indices if origin is None else origin[entries.indices]
    values = entries.iso if entries.values is None else entries.values
    return build_matrix(labels.array[entries.indices], columns, values, labels.size, ncols, u.dtype, None, u.device)


def _check_ordered(operation: str, a: CSR | VectorStore) -> None:
    """Raise DomainMismatch if the values have no order."""
    if a.dtype.kind not in "biuf":
        raise DomainMismatch(f"{operation}: values of {a.dtype} have no order")
