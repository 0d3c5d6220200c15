"""Operations that are not processed in slices: their matrices are first copied, uncompressed and device-resident.

These write all entries in another order; and, by default, every operation that has no implementation in this package.
The engine then executes the operation as a whole.  OutOfMemory is raised where the copies do not fit in the memory of
the device.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from ...formats import CSR, AnyPattern, structure_only
from ...formats.placement import place
from .. import recording, registry
from ..operands import Mask, Rows, Spec
from ..registry import slices
from ..residency import is_resident
from ..spec import ScatterMatrix, Transpose
from . import dense_rows
from .row_slices import require_copies, uncompressed


@slices(Transpose)
def transpose(q: Transpose, engine: str) -> CSR:
    """t(j, i) = a(i, j)."""
    made = dense_rows.transpose(q)
    return cast(CSR, uncompressed_first(q, engine)) if made is None else made


@slices(ScatterMatrix)
def scatter_matrix(q: ScatterMatrix, engine: str) -> CSR:
    """t(rows[p], cols[q]) = a(p, q)."""
    return cast(CSR, uncompressed_first(q, engine, "assign"))


def uncompressed_first(q: Spec, engine: str, operation: str | None = None) -> Any:
    """Execute a request on uncompressed, device-resident copies of its matrices; one that is both is not copied.

    operation: the name for OutOfMemory; by default that of the request.
    """
    name = operation or q.name
    fields = {field: value for field in q.matrices if (value := vars(q)[field]) is not None}
    stores = {field: _store(value) for field, value in fields.items()}
    distinct = {id(store): store for store in stores.values() if store is not None}
    absent = [a for a in distinct.values() if not is_resident(a)]
    recording.note(kernel="uncompressed first", copies=len(absent))
    if absent:
        require_copies(name, absent[0].device, absent)
    copies = {key: _copy(store, engine, name) for key, store in distinct.items()}
    made: dict[str, Any] = {}
    for field, value in fields.items():
        store = stores[field]
        if store is not None:
            made[field] = _with_store(value, copies[id(store)])
        elif isinstance(value, Rows):
            made[field] = Rows(None, lambda rows=value: _copy(rows.get(), engine, name))  # type: ignore[misc]
    return registry.run(replace(q, **made), engine)


def _copy(a: CSR, engine: str, operation: str) -> CSR:
    """Return the matrix uncompressed and device-resident; itself if it is."""
    return place(uncompressed(a, engine, operation), "device")


def _store(value: Any) -> CSR | None:
    """Return the matrix of a field; None for a vector, and for an orientation that is not available."""
    if isinstance(value, Rows):
        return value.get() if value.ready else None
    if isinstance(value, Mask):
        return _store(value.store)
    if isinstance(value, CSR):
        return value
    return structure_only(value) if isinstance(value, AnyPattern) else None


def _with_store(value: Any, store: CSR) -> Any:
    """Return the field with another matrix."""
    if isinstance(value, Rows):
        return Rows(store)
    if isinstance(value, Mask):
        return Mask(store, value.structural, value.complement)
    return store if isinstance(value, CSR) else store.pattern
