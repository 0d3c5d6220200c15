"""Requests with an offset for each row in place of lists: for operations on vectors as long as the matrix is high."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...exceptions import NotSupported
from ...formats import CSR, AnyPattern, HyperPattern, hypersparse, structure_only
from ...formats.hypersparse import with_all_rows
from .. import recording, registry
from ..requests.operands import Mask, Rows, Spec
from ..requests.operations import Mxm, Mxv
from ..rows.slices import run_masked


def with_all_rows_first(q: Spec, engine: str) -> Any:
    """Execute a request with its hypersparse matrices as uncompressed rows.

    Memory O(nrows); OutOfMemory where the offsets do not fit.
    """
    recording.note(kernel="offsets of all rows")
    made = {name: _with_all_rows(vars(q)[name]) for name in q.matrices}
    request = replace(q, **made)
    return run_masked(request, engine) if isinstance(request, (Mxv, Mxm)) else registry.run(request, engine)


def has_few_rows(q: Spec) -> bool:
    """Return True if offsets for all rows of its matrices are small, so that `with_all_rows_first` costs little."""
    return all(_nrows(vars(q)[name]) < hypersparse.FEWEST_ROWS for name in q.matrices)


def _nrows(item: Any) -> int:
    """Return the number of rows of a matrix; 0 for a vector, and for an orientation that is not available."""
    if isinstance(item, Rows):
        return item.get().nrows if item.ready else 0
    return int(getattr(getattr(item, "store", item), "nrows", 0))


def _with_all_rows(item: Any) -> Any:
    if isinstance(item, CSR):
        return with_all_rows(item)
    if isinstance(item, HyperPattern):
        return with_all_rows(structure_only(item)).pattern
    if isinstance(item, Mask):
        return Mask(_with_all_rows(item.store), item.structural, item.complement)
    if isinstance(item, Rows):
        return Rows(with_all_rows(item.get()) if item.ready else None, lambda: with_all_rows(item.get()))
    assert not isinstance(item, AnyPattern) or item.format != HyperPattern.format
    return item


def default(spec: Spec, engine: str) -> registry.Rewriting | None:
    """Return the rewriting of operations without one on listed rows; None if matrices cannot be decoded."""
    return registry.Rewriting(with_all_rows_first) if spec.decodable else None


def execute(function: Callable[[Any, str], Any], q: Spec, engine: str) -> Any:
    """Call the function of a request."""
    try:
        return function(q, engine)
    except NotSupported:  # an operator reads too much for rows to be renumbered
        if not has_few_rows(q):
            raise
        return with_all_rows_first(q, engine)
