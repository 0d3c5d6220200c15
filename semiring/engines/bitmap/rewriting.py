"""Requests with uncompressed rows in place of bitmap matrices: for operations that read rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...formats import AnyPattern, is_bitmap, structure_only
from ...formats.bitmap import BitmapPattern
from .. import recording, registry
from ..registry import bitmap_rule, slicing_rule
from ..requests.operands import Mask, Rows, Spec
from ..requests.operations import Mxm, Mxv
from ..rows.bits import rows_of
from ..rows.slices import run_masked


def _reads_rows(q: Spec, engine: str) -> bool:
    """Return whether rows serve a request: outside the memory of the device slices do, if the operation has some."""
    away = any(kind.format == BitmapPattern.format and kind.placement != "device" for kind in q.kinds())
    return not away or q.name not in slicing_rule.rows()


@bitmap_rule(Mxv, fuses=("mask",), when=_reads_rows)
@bitmap_rule(Mxm, fuses=("mask",), when=_reads_rows)
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


def default(spec: Spec, engine: str) -> registry.Rewriting | None:
    """Return the rewriting of operations without one on bits; None if matrices cannot be decoded."""
    return registry.Rewriting(rows_first, when=_reads_rows) if spec.decodable else None


def execute(function: Callable[[Any, str], Any], q: Spec, engine: str) -> Any:
    """Call the function of a request."""
    return function(q, engine)
