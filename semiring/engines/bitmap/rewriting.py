"""Requests with uncompressed rows in place of bitmap matrices: for operations that read rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...formats import AnyPattern, is_bitmap, structure_only
from ...formats.bitmap import BitmapPattern
from .. import recording, registry
from ..operands import Mask, Rows, Spec
from ..registry import on_bits
from ..sliced.row_slices import run_masked
from ..spec import Mxm, Mxv
from .rows import rows_of


@on_bits(Mxv, fuses=("mask",), by_rows=True)
@on_bits(Mxm, fuses=("mask",), by_rows=True)
def rows_first(q: Spec, engine: str) -> Any:
    """Execute a request with its bitmap matrices as uncompressed rows, which are cached with them."""
    recording.note(kernel="rows of bitmaps")
    request = replace(q, **{name: _with_rows(vars(q)[name], engine, q.name) for name in q.matrices})
    return run_masked(request, engine) if isinstance(request, (Mxv, Mxm)) else registry.run(request, engine)


def _with_rows(item: Any, engine: str, operation: str) -> Any:
    if isinstance(item, Mask):
        return replace(item, store=_with_rows(item.store, engine, operation))
    if isinstance(item, Rows):
        ready = _with_rows(item.get(), engine, operation) if item.ready else None
        return Rows(ready, lambda: _with_rows(item.get(), engine, operation))
    if isinstance(item, AnyPattern):
        return rows_of(structure_only(item), engine, operation).pattern if isinstance(item, BitmapPattern) else item
    return rows_of(item, engine, operation) if is_bitmap(item) else item
