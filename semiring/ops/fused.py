"""A product and the reduction or selection that reads it, in one request: the product is then not stored.

A plan is fused once, and only if no other use has been requested by then: pending reductions and selections of one
product store it, and read it.  A use that is requested after a fused one computes and stores the product, so that no
program computes one more than twice.  Where the engine has no implementation for the operands, and under
``config.fusion = False``, the product is computed first; the result is the same.
"""

from __future__ import annotations

from typing import Any

from ..config import config, engine_for
from ..engines import registry
from ..engines.requests.operations import FusedMxm, Mxm
from ..formats import Store
from .write import Plan

__all__ = ["fused_or_stored", "is_product", "requested"]


def is_product(plan: Plan[Any]) -> bool:
    """Return whether a reduction or a selection may be fused into the operation."""
    return isinstance(plan.request, Mxm)


def requested(source: Plan[Any]) -> Plan[Any]:
    """Count a pending use of a plan, and return the plan."""
    source.uses += 1
    return source


def fused_or_stored(source: Store | Plan[Any], spec: type[FusedMxm], *rest: Any) -> tuple[Any, Any]:
    """Return the result of a request of class `spec` and None; or None and the store of the source.

    A plan is one that was `requested` for this use.  rest: the fields of the request after those of the product.
    """
    if not isinstance(source, Plan):
        return None, source
    product = source.request
    if config.fusion and source.pending and source.uses == 1 and isinstance(product, Mxm):
        operands = product.a, product.by_row, product.by_column, product.semiring
        request = spec(*operands, source.mask, product.method, *rest)
        row = registry.find(request, engine_for(source.device))
        if row is not None:
            source.uses += 1  # the next use stores the product
            return registry.call(row, request), None
    return None, source.result()
