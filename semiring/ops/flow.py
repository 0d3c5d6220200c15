"""A maximum flow from many supplies to many demands through the entries of a matrix.

    max over F, s, d of sum_v s(v),   0 <= F <= A,  0 <= s <= supply,  0 <= d <= demand,
    s(v) + sum_u F(u, v) = d(v) + sum_w F(v, w)  for every v

Its loops are over paths, each of which depends on what the paths before it left, and changes a few entries of a matrix
in place; a composition of products copies the matrix in each step.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from ..dtypes import FP64, INT64
from ..engines import registry
from ..engines.requests.graphs import MaximumFlow, MaximumFlowResult
from ..engines.requests.operations import ReduceScalar, scalar_value
from ..exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from ..formats import CSR, VectorStore
from ..operators import monoid
from . import check, structure
from .cast import cast_store
from .ewise import ewise_union

__all__ = ["flow"]

# Integers below it are exact in float64; and the share of a bound up to which the difference of floats counts as zero.
_EXACT, _SMALL = 1 << 53, 2.0**-48


def flow(supply: VectorStore, a: CSR, demand: VectorStore, *, transposed: bool = False) -> MaximumFlowResult:
    """Return the flow, what it takes of supplies and gives to demands, and a minimum cut; see `semiring.ops.flow`."""
    if a.nrows != a.ncols:
        raise DimensionMismatch(f"flow: the matrix must be square, got shape {a.shape}")
    engine = check.engine_of("flow", supply, a, demand)
    for u in (supply, demand):
        check.vector_size("flow", u, a.nrows, a, transposed)
    operands = (supply, a, demand)
    if any(operand.dtype.kind not in "biuf" for operand in operands):
        kinds = ", ".join(str(operand.dtype) for operand in operands)
        raise DomainMismatch(f"flow: supplies, capacities and demands are real numbers, got {kinds}")
    supply, demand = (cast_store(u, FP64, engine) for u in (supply, demand))
    bound = min(_total("supplies", supply, engine), _total("demands", demand, engine))
    whole = all(operand.dtype.kind != "f" for operand in operands)
    if whole and bound >= _EXACT:
        raise InvalidValue("flow: integers are exact below 2**53, and supplies and demands sum to more; use floats")
    back = structure.transposed(a)
    if not structure.is_symmetric(a.pattern):
        a, back = _both_ways(a, back), _both_ways(back, a)
    if transposed:
        a, back = back, a
    made: MaximumFlowResult = registry.run(
        MaximumFlow(a, back, supply, demand, 0.0 if whole else bound * _SMALL), engine
    )
    if not whole:
        return made
    sent, received = (cast_store(u, INT64, engine) for u in (made.sent, made.received))
    return MaximumFlowResult(cast_store(made.flow, INT64, engine), sent, received, made.side)


def _total(what: str, u: VectorStore, engine: str) -> float:
    """Return the sum of amounts; InvalidValue unless all are finite and none is negative."""
    if u.nvals == 0:
        return 0.0
    found = (scalar_value(registry.run(ReduceScalar(u, op.typed(FP64)), engine)) for op in (monoid.plus, monoid.min))
    total, least = (float(cast(np.generic, x).item()) for x in found)
    if not (np.isfinite(total) and least >= 0):
        raise InvalidValue(f"flow: {what} must be finite, in sum too, and not negative")
    return total


def _both_ways(a: CSR, back: CSR) -> CSR:
    """Return a with a zero where its transpose alone has an entry."""
    made: CSR = ewise_union(a, back, "first", 0, 0).into()
    made.pattern.facts["symmetric"] = True
    return made
