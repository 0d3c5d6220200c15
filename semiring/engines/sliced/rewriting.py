"""Operations that are not processed in slices: their matrices are first copied, uncompressed and device-resident.

These write all entries in another order; and, by default, every operation that has no implementation in this package.
The engine then executes the operation as a whole.  OutOfMemory is raised where the copies do not fit in the memory of
the device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final, cast

from ...formats import CSR, AnyPattern, StorageKind, structure_only
from ...formats.placement import place
from .. import recording, registry
from ..registry import slicing_rule
from ..requests.operands import Mask, Rows, Spec
from ..requests.operations import ScatterMatrix, Transpose
from ..rows.residency import is_resident
from ..rows.slices import require_copies, uncompressed
from . import dense_rows

_COPIED: Final = StorageKind("csr", "none", "device")  # the kind of uncompressed copies
# Requests that are currently executed slice by slice: operation and matrices.
_running: ContextVar[frozenset[tuple[str, tuple[int, ...]]]] = ContextVar("semiring_slices", default=frozenset())


@slicing_rule(Transpose)
def transpose(q: Transpose, engine: str) -> CSR:
    """t(j, i) = a(i, j)."""
    made = dense_rows.transpose(q)
    return cast(CSR, uncompressed_first(q, engine)) if made is None else made


@slicing_rule(ScatterMatrix)
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


def default(spec: Spec, engine: str) -> registry.Rewriting | None:
    """Return the rewriting of operations that are not processed in slices; None if it does not apply.

    Its result is masked if all implementations for the copies fuse the mask.
    """
    rows = registry.accepting(type(spec), engine, _COPIED)
    if not rows or not spec.decodable or all(kind == _COPIED for kind in spec.kinds()):
        return None
    fuses = frozenset.intersection(*(row.fuses for row in rows))
    return registry.Rewriting(uncompressed_first, fuses, title="on uncompressed copies")


def execute(function: Callable[[Any, str], Any], q: Spec, engine: str) -> Any:
    """Call the function of a request; see `_once`."""
    with _once(q):
        return function(q, engine)


@contextmanager
def _once(spec: Spec) -> Iterator[None]:
    """Raise RecursionError where a sliced request leads to the same request for the whole matrix again.

    A sliced request leads to requests for uncompressed slices, so it terminates; this also guards future
    implementations.
    """
    fields = vars(spec)
    operands = [fields[name] for name in spec.matrices if fields[name] is not None]
    operands = [(item.get() if item.ready else None) if isinstance(item, Rows) else item for item in operands]
    operands = [getattr(item, "store", item) for item in operands]
    patterns = [getattr(item, "pattern", item) for item in operands if getattr(item, "kind", None) is not None]
    request = spec.name, tuple(id(pattern) for pattern in patterns if not pattern.kind.uncompressed)
    running = _running.get()
    if request[1] and request in running:
        raise RecursionError(f"{spec.name}: the slices of a matrix requested the whole matrix again")
    token = _running.set(running | {request})
    try:
        yield
    finally:
        _running.reset(token)
