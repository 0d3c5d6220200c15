"""A product and the reduction or selection that reads it, in one request: the product is then not stored.

A plan is fused once.  A second use of it computes and stores the product, so that no program computes one more than
twice.  Where the engine has no implementation for the operands, and under ``config.fusion = False``, the product is
computed first; the result is the same.
"""

from __future__ import annotations

from typing import Any

from ..config import config, engine_for
from ..engines import registry
from ..engines.spec import Mxm
from ..engines.spec_fused import FusedMxm
from ..formats import Store
from .write import Plan

__all__ = ["fused_or_stored", "is_product"]


def is_product(plan: Plan[Any]) -> bool:
    """Return whether a reduction or a selection may be fused into the operation."""
    return isinstance(plan.request, Mxm)


def fused_or_stored(source: Store | Plan[Any], spec: type[FusedMxm], *rest: Any) -> tuple[Any, Any]:
    """Return the result of a request of class `spec` and None; or None and the store of the source.

    rest: the fields of the request after those of the product.
    """
    if not isinstance(source, Plan):
        return None, source
    product = source.request
    if config.fusion and source.pending and not source.fused and isinstance(product, Mxm):
        operands = product.a, product.by_row, product.by_column, product.semiring
        request = spec(*operands, source.mask, product.method, *rest)
        row = registry.find(request, engine_for(source.device))
        if row is not None:
            source.fused = True
            return registry.call(row, request), None
    return None, source.result()
