"""Reduce entries with a monoid:  w(i) = (+)_j A(i, j);  s = (+) of all entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .. import operators
from ..engines import registry
from ..engines.requests.operations import MxmReduceRows, MxmReduceScalar, ReduceRows, ReduceScalar, scalar_value
from ..formats import CSR, Full, Store, VectorStore
from ..operators.types import TypedMonoid, TypedSemiring
from . import check
from .cast import cast_scalar, typed_second
from .fused import fused_or_stored, requested
from .mxv import vxm
from .write import Plan, stored


def reduce_rows(a: CSR | Plan[CSR], monoid: Any, *, transposed: bool = False) -> Plan[VectorStore]:
    """Reduce each row of A that has entries (each column under `transposed`).

    Columns are reduced by a product with a vector of ones, u (+).second A, which needs no transpose of A.  Rows of a
    product that is a plan are reduced with it.
    """
    typed = operators.lookup_monoid(monoid).typed(a.dtype)
    if isinstance(a, Plan) and not transposed:
        return Plan("reduce_rows", a.shape[:1], typed.z, a.device, partial(_rows_of_product, requested(a), typed))
    a = stored(a)
    if transposed:
        ones = Full(a.nrows, typed.dtype, None, cast_scalar(1, typed.dtype), a.device)
        product = vxm(ones, a, TypedSemiring(typed, typed_second(typed.dtype)))
        return replace(product, operation="reduce_columns")
    return Plan("reduce_rows", (a.nrows,), typed.z, a.device, ReduceRows(a, typed))


def _rows_of_product(a: Plan[CSR], monoid: TypedMonoid) -> VectorStore | Plan[VectorStore]:
    result, store = fused_or_stored(a, MxmReduceRows, monoid)
    return result if store is None else reduce_rows(store, monoid)


def reduce_scalar(a: Store | Plan[Any], monoid: Any) -> Callable[[], np.generic | None]:
    """Queue the reduction of all entries; the returned function waits for the result (None: there is no entry).

    A product that is a plan is reduced with it.
    """
    typed = monoid if isinstance(monoid, TypedMonoid) else operators.lookup_monoid(monoid).typed(a.dtype)
    result, store = fused_or_stored(requested(a) if isinstance(a, Plan) else a, MxmReduceScalar, typed)
    if store is not None:
        result = registry.run(ReduceScalar(store, typed), check.engine_of("reduce", store))
    return partial(scalar_value, result)
