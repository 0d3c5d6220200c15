"""Writing into a region:  C<M, replace>(I, J) accum= A.

`assign`: the mask and `replace` cover all of C.  `subassign` (`sub=True`): they cover only the region, which
is otherwise written exactly as `ops.write` says.  In both, entries of the region that the source lacks are
deleted, unless an accumulator keeps them.

Scattering: where an index repeats, the values that meet combine by the accumulator (without one, the last stays).
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..engines import registry
from ..engines.spec import Index, Keep, Mask, Outside, ScatterMatrix, ScatterVector
from ..exceptions import DimensionMismatch
from ..formats import (
    CSR,
    Full,
    IndexList,
    Pattern,
    Store,
    VectorStore,
    array_module,
    index_dtype,
    with_values,
)
from . import check
from .cast import cast_scalar, cast_store, typed_second
from .extract import extract_matrix, extract_vector
from .write import PLAIN, Write, finish, merge


def assign_vector(
    c: VectorStore, index: Index, source: VectorStore | Any, *, write: Write = PLAIN, sub: bool = False
) -> VectorStore:
    """The store of C<M, replace>(I) accum= source, a vector as long as I or a scalar."""
    engine = check.engine_of("assign", c, *_stores(source, write))
    scalar = not isinstance(source, VectorStore)
    if not scalar and source.size != index.count:
        raise DimensionMismatch(f"assign: the region has {index.count} positions, the source {source.size}")
    if scalar:
        source = Full(index.count, *_scalar(source, c.dtype), c.device)
    if sub and not index.is_all:
        check.output_shape("subassign", None, write.mask, (index.count,))
        source = finish(source, engine, extract_vector(c, index).into(), write)
        scalar, write = False, PLAIN
    check.output_shape("assign", None, write.mask, (c.size,))
    t: Any = source
    if not index.is_all:
        dup = None if write.accum is None else write.accum.typed(source.dtype, source.dtype)
        t = registry.run(ScatterVector(source, index, dup), engine)
        if write.accum is None:
            t = cast_store(t, c.dtype, engine)
            if source.format == "full":
                write = Write(write.mask, _Second, write.replace)  # nothing in the region is deleted
            else:
                t = merge(registry.run(Outside(c, index, None), engine), t, engine)
    return cast(VectorStore, finish(t, engine, c, write))


def assign_matrix(
    c: CSR, rows: Index, cols: Index, source: CSR | Any, *, write: Write = PLAIN, sub: bool = False
) -> CSR:
    """The store of C<M, replace>(I, J) accum= source, a matrix of the region's shape or a scalar."""
    engine = check.engine_of("assign", c, *_stores(source, write))
    shape = (rows.count, cols.count)
    whole = rows.is_all and cols.is_all
    scalar = not isinstance(source, CSR)
    if not scalar and source.shape != shape:
        raise DimensionMismatch(f"assign: the region has shape {shape}, the source {source.shape}")
    if sub and not whole:
        check.output_shape("subassign", None, write.mask, shape)
        if scalar:
            source = _scalar_matrix(source, c, shape, write.mask, engine)
        source = finish(source, engine, extract_matrix(c, rows, cols).into(), _over(write, scalar))
        scalar, write = False, PLAIN
    check.output_shape("assign", None, write.mask, c.shape)
    if scalar:
        return _assign_scalar(c, rows, cols, source, write, engine)
    t = source
    if not whole:
        dup = None if write.accum is None else write.accum.typed(source.dtype, source.dtype)
        t = registry.run(ScatterMatrix(source, rows, cols, dup), engine)
        if write.accum is None:
            rest = registry.run(Outside(c, rows, cols), engine)
            t = merge(rest, cast_store(t, c.dtype, engine), engine)
    return cast(CSR, finish(t, engine, c, write))


def _assign_scalar(c: CSR, rows: Index, cols: Index, value: Any, write: Write, engine: str) -> CSR:
    """A scalar fills its region: existing entries are replaced, so the write is a union in which it wins."""
    mask = write.mask
    if mask is not None and not mask.complement:
        # Only what the mask admits can change, so only that is ever made: never a dense region.
        admitted = cast(CSR, registry.run(Keep(mask.store, mask), engine))
        if not (rows.is_all and cols.is_all):
            region = extract_matrix(admitted, rows, cols).into()
            admitted = registry.run(ScatterMatrix(region, rows, cols, None), engine)
        t = with_values(admitted, *_scalar(value, c.dtype))
    else:
        t = _full_matrix((rows.count, cols.count), value, c)
        if not (rows.is_all and cols.is_all):
            t = registry.run(ScatterMatrix(t, rows, cols, None), engine)
    return cast(CSR, finish(t, engine, c, _over(write, True)))


def _over(write: Write, scalar: bool) -> Write:
    """A scalar that covers its region without an accumulator: the accumulator `second` says the same."""
    return Write(write.mask, _Second, write.replace) if scalar and write.accum is None else write


class _SecondFamily:
    """z = y, both of the type of the output: what is assigned wins over what was there."""

    @staticmethod
    def typed(x: np.dtype[Any], y: np.dtype[Any]) -> Any:
        assert x == y
        return typed_second(x)


_Second = _SecondFamily()


def _scalar(value: Any, dtype: np.dtype[Any]) -> tuple[np.dtype[Any], None, np.generic]:
    return dtype, None, cast_scalar(value, dtype)


def _scalar_matrix(value: Any, c: CSR, shape: tuple[int, int], mask: Mask | None, engine: str) -> CSR:
    if mask is not None and not mask.complement:
        return with_values(cast(CSR, registry.run(Keep(mask.store, mask), engine)), *_scalar(value, c.dtype))
    return _full_matrix(shape, value, c)


def _full_matrix(shape: tuple[int, int], value: Any, like: CSR) -> CSR:
    nrows, ncols = shape
    xp = array_module(like.device)
    offsets = xp.arange(nrows + 1, dtype=np.int64) * ncols
    columns = xp.tile(xp.arange(ncols, dtype=index_dtype(ncols)), nrows)
    pattern = Pattern(nrows, ncols, offsets.astype(index_dtype(nrows * ncols)), columns)
    return CSR(pattern, *_scalar(value, like.dtype))


def _stores(source: Any, write: Write) -> list[Store]:
    found: list[Store] = [source] if isinstance(source, (CSR, VectorStore)) else []
    return found if write.mask is None else [*found, write.mask.store]


def row_matrix(u: IndexList) -> CSR:
    """A vector as a matrix of one row, sharing its arrays."""
    xp = array_module(u.device)
    offsets = xp.asarray(np.array([0, u.nvals], dtype=index_dtype(u.nvals)))
    return CSR(Pattern(1, u.size, offsets, u.indices), u.dtype, u.values, u.iso)


def column_matrix(u: IndexList) -> CSR:
    """A vector as a matrix of one column."""
    xp = array_module(u.device)
    bounds = xp.arange(u.size + 1, dtype=index_dtype(u.size + 1))
    offsets = xp.searchsorted(u.indices, bounds).astype(index_dtype(u.nvals))
    columns = xp.zeros(u.nvals, dtype=np.int32)
    return CSR(Pattern(u.size, 1, offsets, columns), u.dtype, u.values, u.iso)
