"""Apply: t(i, j) = op(a(i, j), i, j, k)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, VectorStore, with_values
from ..registry import implements
from ..requests.operations import Apply
from ..shared.iso_results import apply_value
from . import presence, types
from .compile import kernel
from .operands import indices_of, rows_of, values_of
from .rows import share
from .threads import parts_for, run
from .types import call_at, position, put, value_at


@implements(Apply, engine="cpu")
def apply(q: Apply) -> Any:
    """t(i, j) = op(a(i, j), i, j, k) on the entries of a."""
    a: CSR | VectorStore = q.a
    op = q.op
    constant = apply_value(q)
    if constant is not None:
        return with_values(a, op.z, None, constant)
    read = values_of(a, "x" in op.uses)
    k = q.k if "k" in op.uses else None
    if isinstance(a, CSR):
        made = np.empty(a.nvals, op.z)
        parts = parts_for(a.nvals + a.nrows)
        if op.uses & {"i", "j"}:
            run(_apply_rows, parts, *rows_of(a), read, types.indexunary(op), k, made)
            return with_values(a, op.z, made, None)
        run(_apply, parts, None, read, types.indexunary(op), k, made)
        return with_values(a, op.z, made, None)
    indices = indices_of(a) if "i" in op.uses else None
    made = presence.empty_slots("apply", a.nvals if a.format == "index" else a.size, op.z)
    run(_apply, parts_for(made.size), indices, read, types.indexunary(op), k, made)
    return with_values(a, op.z, made, None)


@kernel
def _apply(t, threads, control, indices, values, op, k, made):
    for p in range(t * made.size // threads, (t + 1) * made.size // threads):
        put(made, p, call_at(op, value_at(values, p), position(indices, p), np.int64(0), k))


@kernel
def _apply_rows(t, threads, control, indptr, indices, values, op, k, made):
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        for p in range(np.int64(indptr[i]), np.int64(indptr[i + 1])):
            put(made, p, call_at(op, value_at(values, p), np.int64(i), position(indices, p), k))
