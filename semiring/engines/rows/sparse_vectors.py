"""Requests on index lists of very large size, as requests on matrices of one row, which cost nothing for a column.

For an engine whose vectors of several operands have a slot for each index: on 10^9 indices that is gigabytes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...formats import CSR, Full, IndexList, Pattern, VectorStore, array_module, index_dtype
from ...operators.types import TypedBinary
from .. import recording, registry
from ..requests.operands import Index, Mask
from ..requests.operations import (
    Ewise,
    ExtractMatrix,
    ExtractVector,
    Keep,
    ScatterMatrix,
    ScatterVector,
    WriteMatrix,
    WriteVector,
)

__all__ = ["are_long", "ewise", "extract_vector", "keep", "scatter_vector", "write_vector"]

# The slots of fewer indices take less memory than the kernels that read them are designed for.
_LONG = 1 << 27
# The largest share of the indices that has entries: 1 in 2^10.
_SHARE = 10
# A vector is a column; as a row, its index is the column.
_POSITIONS = {"xi": "xj", "yi": "yj", "xj": "0", "yj": "0"}
_ONE = Index(1, 1)


def are_long(q: Any) -> bool:
    """Return True if all vectors of a request on vectors are index lists of few entries, of a very large size."""
    if isinstance(q, ExtractVector):
        return _is_long(q.u)
    if isinstance(q, ScatterVector):
        size = q.index.size
        return size >= _LONG and isinstance(q.u, (IndexList, Full)) and q.u.nvals <= size >> _SHARE
    mask = getattr(q, "mask", None)
    if mask is not None and not _is_long(mask.store):
        return False
    if isinstance(q, WriteVector):
        return _is_long(q.c) and _is_long(q.t)
    return _is_long(q.a) and (not isinstance(q, Ewise) or _is_long(q.b))


def _is_long(u: Any) -> bool:
    return isinstance(u, IndexList) and u.size >= _LONG and u.nvals <= u.size >> _SHARE


def ewise(q: Ewise, engine: str) -> IndexList:
    """T = op(a, b)."""
    return _run(replace(q, a=_row(q.a), b=_row(q.b), op=_of_row(q.op)), engine)


def keep(q: Keep, engine: str) -> IndexList:
    """T = the entries of a that the mask admits."""
    return _run(Keep(_row(q.a), _mask(q.mask)), engine)


def write_vector(q: WriteVector, engine: str) -> IndexList:
    """C<M, replace> accum= T."""
    mask, accum = (None if q.mask is None else _mask(q.mask)), (None if q.accum is None else _of_row(q.accum))
    return _run(WriteMatrix(_row(q.c), _row(q.t), mask, accum, q.replace), engine)


def extract_vector(q: ExtractVector, engine: str) -> IndexList:
    """t(p) = u(index[p])."""
    return _run(ExtractMatrix(_row(q.u), _ONE, q.index), engine)


def scatter_vector(q: ScatterVector, engine: str) -> IndexList:
    """t(index[p]) = u(p)."""
    return _run(ScatterMatrix(_row(q.u), _ONE, q.index, q.dup), engine)


def _run(request: Any, engine: str) -> IndexList:
    """Execute a request on matrices of one row; return the row."""
    recording.note(kernel="one row")
    t = registry.run(request, engine)
    return IndexList(t.ncols, t.dtype, t.indices, t.values, t.iso)


def _row(u: Any) -> CSR:
    """Return a vector as a matrix of one row, which shares its arrays."""
    assert isinstance(u, VectorStore)
    xp, nvals = array_module(u.device), u.nvals
    offsets = xp.asarray(np.array([0, nvals], index_dtype(nvals)))
    indices = u.indices if isinstance(u, IndexList) else xp.arange(nvals, dtype=index_dtype(u.size))
    return CSR(Pattern(1, u.size, offsets, indices), u.dtype, u.values, u.iso)


def _mask(mask: Mask) -> Mask:
    return replace(mask, store=_row(mask.store))


def _of_row(op: TypedBinary) -> TypedBinary:
    """Return the operator with positions in a row in place of those in a column."""
    if not op.uses & _POSITIONS.keys():
        return op
    return replace(op, name=f"{op.name}_of_row", expr=op.expr.renamed(_POSITIONS))
