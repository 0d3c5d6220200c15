"""Write into a region:  C<M, replace>(I, J) accum= A.

`assign`: the mask and `replace` cover all of C.  `subassign` (`sub=True`): they cover only the region, which
is otherwise written exactly as `ops.write` defines.  In both, entries of the region that the source lacks are
deleted, unless an accumulator keeps them.  `assign_line`: mask and `replace` cover one whole row or column.

Scatter: where an index repeats, the accumulator combines the values (without one, the last value is stored).
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np

from ..config import config, engine_for
from ..devices import dispatched
from ..engines import recording, registry
from ..engines.programs import traced
from ..engines.requests.operands import Index
from ..engines.requests.operations import Keep, Outside, ReplaceRows, ScatterMatrix, ScatterVector
from ..exceptions import DimensionMismatch
from ..formats import (
    CSR,
    Full,
    HyperPattern,
    IndexList,
    Pattern,
    Store,
    VectorStore,
    array_module,
    index_dtype,
    with_values,
)
from ..formats.hypersparse import prefers_hypersparse
from ..memory.allocation import require
from ..memory.arrays import as_type
from . import check, structure
from .apply import scalar_dtype
from .build import filled_region
from .cast import cast_scalar, cast_store, typed_second
from .extract import extract_matrix, extract_vector
from .write import PLAIN, Write, finish, merge


def assign_vector(c: VectorStore, index: Index, source: Any, *, write: Write = PLAIN, sub: bool = False) -> VectorStore:
    """Return the store of C<M, replace>(I) accum= source; source: a vector as long as I, or a scalar."""
    listener = recording.listener()
    if listener is None:
        return _assign_vector(c, index, source, write, sub=sub)
    run = partial(_assign_vector, c, index, source, write, sub=sub)
    return cast(VectorStore, listener.region(c, (index,), source, write, run))


def _assign_vector(c: VectorStore, index: Index, source: Any, write: Write, *, sub: bool) -> VectorStore:
    engine = check.engine_of("assign", c, *_stores(source, write))
    if not isinstance(source, VectorStore):
        source = Full(index.count, *_iso(source, c, write), c.device)
    elif source.size != index.count:
        raise DimensionMismatch(f"assign: the region has {index.count} positions, the source {source.size}")
    check.output_shape("assign", None, write.mask, (index.count if sub else c.size,))
    if index.is_all:
        return finish(source, engine, c, write)  # type: ignore[no-any-return]
    if sub and write.mask is not None:
        source, write = _masked(source, lambda: extract_vector(c, index).into(), write, engine)
    if source.format == "full":  # the positions in the region, and their values
        require("assign", c.device, index.count * (index_dtype(c.size).itemsize + c.dtype.itemsize))
    if write.accum is None and source.format == "full":
        write = write._replace(accum=_Second)  # it covers the region, so nothing there is deleted
    t = registry.run(ScatterVector(source, index, _dup(write, source)), engine)
    if write.accum is None:
        t = merge(registry.run(Outside(c, index, None), engine), cast_store(t, c.dtype, engine), engine)
    return finish(t, engine, c, write)  # type: ignore[no-any-return]


def write_element(c: Store, at: tuple[Any, ...], value: Any, write: Write) -> Any:
    """Return the store of C(at) accum= value in a loop that is traced, as requests of one entry.

    Elsewhere `ops.elements` collects such writes.
    """
    if isinstance(c, CSR):
        raise traced.Untraceable("a write to an element of a Matrix")
    engine = engine_for(c.device)
    source = Full(1, *_iso(value, c, write), c.device)
    if write.accum is None:
        write = write._replace(accum=_Second)
    t = traced.current().request(ScatterVector(source, Index(c.size, 1, at[0]), None))
    return finish(t, engine, c, write)


def assign_matrix(c: CSR, rows: Index, cols: Index, source: Any, *, write: Write = PLAIN, sub: bool = False) -> CSR:
    """Return the store of C<M, replace>(I, J) accum= source; source: a matrix of the region's shape, or a scalar."""
    listener = recording.listener()
    if listener is None:
        return _assign_matrix(c, rows, cols, source, write, sub=sub)
    run = partial(_assign_matrix, c, rows, cols, source, write, sub=sub)
    return cast(CSR, listener.region(c, (rows, cols), source, write, run))


def _assign_matrix(c: CSR, rows: Index, cols: Index, source: Any, write: Write, *, sub: bool) -> CSR:
    engine = check.engine_of("assign", c, *_stores(source, write))
    region = (rows.count, cols.count)
    whole = rows.is_all and cols.is_all
    if isinstance(source, CSR) and source.shape != region:
        hint = check.transpose_hint(source.shape, region)
        raise DimensionMismatch(f"assign: the region has shape {region}, the source {source.shape}{hint}")
    check.output_shape("assign", None, write.mask, region if sub else c.shape)
    if not isinstance(source, CSR):
        source = _filled(source, c, rows, cols, write, engine, sub=sub or whole)
        if write.accum is None:
            write = write._replace(accum=_Second)  # it covers all that may change, so nothing is deleted
    if whole:
        return cast(CSR, finish(source, engine, c, write))
    if sub and write.mask is not None:
        source, write = _masked(source, lambda: extract_matrix(c, rows, cols).into(), write, engine)
    if write.accum is None and cols.is_all:
        replaced = _replaced(ReplaceRows(c, rows, cast_store(source, c.dtype, engine)), engine)
        if replaced is not None:
            return cast(CSR, finish(replaced, engine, c, write))
    if prefers_hypersparse(c.nrows, source.nvals):
        source = structure.listed_rows(source)
    t = registry.run(ScatterMatrix(source, rows, cols, _dup(write, source)), engine)
    if write.accum is None:
        t = merge(registry.run(Outside(c, rows, cols), engine), cast_store(t, c.dtype, engine), engine)
    return cast(CSR, finish(t, engine, c, write))


def assign_line(c: CSR, rows: Index, cols: Index, source: Any, *, write: Write, column: bool) -> CSR:
    """Return the store of C(i, :)<M, replace> = Z, where Z = C(i, :) and Z(J) accum= source; a column likewise.

    The mask is a matrix of one row (column) as long as that of C: GrB_Row_assign and GrB_Col_assign.
    """
    assert write.mask is not None
    part, size, got = rows if column else cols, c.shape[not column], check.shape_of(write.mask.store)[not column]
    if got != size:
        kind, place = ("column", "[I, j]") if column else ("row", "[i, J]")
        raise DimensionMismatch(
            f"assign: C(m){place} needs a mask of the whole {kind}, of size {size}, got {got}; "
            f"the mask of the part is given after it, C{place}(m)"
        )
    if part.is_all:
        return assign_matrix(c, rows, cols, source, write=write, sub=True)
    listener = recording.listener()
    run = partial(_assign_line, c, rows, cols, source, write, column=column)
    return run() if listener is None else cast(CSR, listener.region(c, (rows, cols), source, write, run))


def _assign_line(c: CSR, rows: Index, cols: Index, source: Any, write: Write, *, column: bool) -> CSR:
    check.engine_of("assign", c, *_stores(source, write))
    whole, one = Index(c.shape[not column], c.shape[not column]), Index(1, 1)
    at, inside = ((whole, cols), (rows, one)) if column else ((rows, whole), (one, cols))
    z = extract_matrix(c, *at).into()
    z = _assign_matrix(z, *inside, source, Write(None, write.accum), sub=False)
    return _assign_matrix(c, *at, z, write._replace(accum=None), sub=True)


def _replaced(q: ReplaceRows, engine: str) -> CSR | None:
    """Return c with rows of a if the engine can replace whole rows at once and none repeats; else None."""
    row = registry.find(q, engine) if config.fusion else None
    return None if row is None else cast("CSR | None", registry.call(row, q))


def _masked(source: Any, region: Any, write: Write, engine: str) -> tuple[Any, Write]:
    """Return the source and write for the whole region that are equal to a write under a mask of its shape."""
    if write.accum is None or write.replace:
        return finish(source, engine, region(), write), Write(lease=write.lease)
    assert write.mask is not None
    return registry.run(Keep(source, write.mask), engine), Write(None, write.accum, lease=write.lease)


def _filled(value: Any, c: CSR, rows: Index, cols: Index, write: Write, engine: str, *, sub: bool) -> CSR:
    """Return a scalar as a matrix of the region's shape: on the mask's entries, or full (no mask, or complemented)."""
    if write.mask is None or write.mask.complement:
        dtype, _, iso = _iso(value, c, write)
        return filled_region((rows.count, cols.count), iso, dtype, c.device, operation="assign")
    admitted: CSR = registry.run(Keep(write.mask.store, write.mask), engine)
    if not sub:
        admitted = extract_matrix(admitted, rows, cols).into()
    return with_values(admitted, *_iso(value, c, write))


class _SecondFamily:
    """z = y, both of the type of the output: the assigned value replaces the stored one."""

    @staticmethod
    def typed(x: np.dtype[Any], y: np.dtype[Any]) -> Any:
        return typed_second(y)


_Second = _SecondFamily()


def _dup(write: Write, source: Store) -> Any:
    return None if write.accum is None else write.accum.typed(source.dtype, source.dtype)


def _iso(value: Any, c: Store, write: Write) -> tuple[np.dtype[Any], None, np.generic]:
    """Return a scalar as the values of a store: in C's type, or in its own type if an accumulator combines it."""
    dtype = c.dtype if write.accum is None else scalar_dtype(value, c.dtype)
    return dtype, None, cast_scalar(value, dtype)


def _stores(source: Any, write: Write) -> list[Store]:
    found: list[Store] = [source] if isinstance(source, (CSR, VectorStore)) else []
    return found if write.mask is None else [*found, write.mask.store]


@dispatched()
def row_matrix(u: IndexList) -> CSR:
    """Return a vector as a matrix of one row, sharing its arrays."""
    xp = array_module(u.device)
    offsets = xp.asarray(np.array([0, u.nvals], dtype=index_dtype(u.nvals)))
    return CSR(Pattern(1, u.size, offsets, u.indices), u.dtype, u.values, u.iso)


@dispatched()
def column_matrix(u: IndexList) -> CSR:
    """Return a vector as a matrix of one column."""
    xp = array_module(u.device)
    if prefers_hypersparse(u.size, u.nvals):
        listed = HyperPattern(
            u.size, 1, u.indices, xp.arange(u.nvals + 1, dtype=index_dtype(u.nvals)), xp.zeros(u.nvals, dtype=np.int32)
        )
        return CSR(listed, u.dtype, u.values, u.iso)
    bounds = xp.arange(u.size + 1, dtype=u.indices.dtype)
    offsets = as_type(xp.searchsorted(u.indices, bounds), index_dtype(u.nvals))
    columns = xp.zeros(u.nvals, dtype=np.int32)
    return CSR(Pattern(u.size, 1, offsets, columns), u.dtype, u.values, u.iso)
