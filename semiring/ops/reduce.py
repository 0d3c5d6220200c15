"""Reduce entries with a monoid:  w(i) = (+)_j A(i, j);  s = (+) of all entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .. import operators
from ..engines import registry
from ..engines.spec import ReduceRows, ReduceScalar, scalar_value
from ..formats import CSR, Full, Store, VectorStore
from ..operators.types import TypedMonoid, TypedSemiring
from . import check
from .cast import typed_second
from .mxv import vxm
from .write import Plan


def reduce_rows(a: CSR, monoid: Any, *, transposed: bool = False) -> Plan[VectorStore]:
    """Reduce each row of A that has entries (each column under `transposed`).

    Columns are reduced by a product with a vector of ones, u (+).second A, which needs no transpose of A.
    """
    typed = operators.lookup_monoid(monoid).typed(a.dtype)
    if transposed:
        ones = Full(a.nrows, typed.dtype, None, typed.dtype.type(1), a.device)
        product = vxm(ones, a, TypedSemiring(typed, typed_second(typed.dtype)))
        return replace(product, operation="reduce_columns")
    return Plan("reduce_rows", (a.nrows,), typed.z, a.device, ReduceRows(a, typed))


def reduce_scalar(a: Store, monoid: Any) -> Callable[[], np.generic | None]:
    """Queue the reduction of all entries; the returned function waits for the result (None: there is no entry)."""
    typed = monoid if isinstance(monoid, TypedMonoid) else operators.lookup_monoid(monoid).typed(a.dtype)
    return partial(scalar_value, registry.run(ReduceScalar(a, typed), check.engine_of("reduce", a)))
