"""The inner product over a semiring:  s = (+)_k  u(k) (x) v(k)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import operators
from ..config import config
from ..engines import registry
from ..engines.requests.operations import Inner, scalar_value
from ..formats import VectorStore
from ..operators.types import TypedSemiring
from . import check
from .ewise import ewise_mult
from .reduce import reduce_scalar
from .write import Plan, stored


class InnerPlan(NamedTuple):
    """An inner product that is checked and not yet executed; an operand that is a plan is computed with it."""

    u: VectorStore | Plan[VectorStore]
    v: VectorStore | Plan[VectorStore]
    semiring: TypedSemiring

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of s."""
        return self.semiring.add.z

    def queue(self) -> Callable[[], np.generic | None]:
        """Queue the product; the returned function waits for s (None: u and v have no position in common).

        One pass over both vectors if the engine fuses the products with their sum; else it computes the vector of the
        products and reduces it.
        """
        u: VectorStore = stored(self.u)
        v: VectorStore = stored(self.v)
        typed = self.semiring
        spec = Inner(u, v, typed)
        row = registry.find(spec, check.engine_of("inner", u, v)) if config.fusion else None
        if row is not None:
            return partial(scalar_value, registry.call(row, spec))
        # As a factor u is a row, but element by element both are columns: its row and column are swapped.
        op = replace(typed.mult, expr=typed.mult.expr.renamed({"xi": "xj", "xj": "xi"}))
        products: Plan[VectorStore] = ewise_mult(u, v, op)
        return reduce_scalar(products.into(), typed.add)

    def value(self) -> np.generic | None:
        """Execute the product and return s.  Synchronizes."""
        return self.queue()()


def inner(u: VectorStore | Plan[VectorStore], v: VectorStore | Plan[VectorStore], semiring: Any) -> InnerPlan:
    """S = (+)_k u(k) (x) v(k).  Shapes: both n."""
    check.same_shape("inner", u, v)
    check.one_device("inner", u.device, v)
    return InnerPlan(u, v, operators.typed("semiring", semiring, u.dtype, v.dtype))
