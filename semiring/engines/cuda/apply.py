"""An operator on every entry."""

from __future__ import annotations

import functools
from itertools import product
from typing import Any

import cupy
import numpy as np

from ...dtypes import FP64, INT32, INT64
from ...formats import Store
from ...formats.values import with_values
from ...operators.types import TypedIndexUnary
from ..registry import implements
from ..requests.operations import Apply
from ..shared.expression_numpy import cast
from ..shared.iso_results import apply_value
from . import compile_samples
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, values_of
from .primitives import DENSE, LIST, ROWS, entry_form, form_text
from .specialize import indexunary, typedefs


@implements(Apply, engine="cuda")
def apply(q: Apply) -> Store:
    """t = op(a(i, j), i, j, k): one launch; none where the result is iso-valued."""
    a, op = q.a, q.op
    constant = apply_value(q)
    if constant is not None:
        return with_values(a, op.z, None, constant)
    form, n, places = entry_form(a)
    out = cupy.empty(n, op.z)
    k = q.k if q.k.dtype == op.k else cast(q.k, op.k)[()]
    _plan(form, op, a.dtype)(grid(n), BLOCK, n, *places, *values_of(a), k, out)
    return with_values(a, op.z, out, None)


@functools.lru_cache(maxsize=1024)
def _plan(form: str, op: TypedIndexUnary, element: np.dtype[Any]) -> Kernel:
    """Return the kernel for entries of this form (`entry_form`) and type."""
    prologue = form + indexunary("function", op) + typedefs(A=element, K=op.k, Z=op.z)
    return kernel("apply.cuh", "apply_entries", prologue)


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    forms = form_text(DENSE, INT32, INT32), form_text(LIST, INT32, INT64), form_text(ROWS, INT64, INT32)
    ops = compile_samples.VALUE, compile_samples.ROW, compile_samples.BAND
    return tuple(_plan(form, op, FP64) for form, op in product(forms, ops))
