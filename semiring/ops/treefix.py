"""Sums along the paths of a forest: over the descendants of each vertex, or over its ancestors.

    towards the roots    t(v) = (+) of u(w) over the descendants w of v, v included
    towards the leaves   t(v) = (+) of u(w) over the ancestors w of v, v included

Source: Leiserson, Maggs, "Communication-Efficient Parallel Algorithms for Distributed Random-Access Machines",
Algorithmica 3, 1988 (treefix computations: leaffix and rootfix).
"""

from __future__ import annotations

from typing import Any, cast

from .. import operators
from ..dtypes import INT32, INT64
from ..engines import registry
from ..engines.requests.graphs import Treefix
from ..exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from ..formats import Full, VectorStore
from . import check
from .cast import cast_store

__all__ = ["treefix"]


def treefix(parent: VectorStore, values: VectorStore, monoid: Any, *, towards: str) -> Full:
    """Return the sums, of the type of the monoid; see `semiring.ops.treefix`."""
    if towards not in ("roots", "leaves"):
        raise InvalidValue(f"treefix: towards is 'roots' or 'leaves', got {towards!r}")
    typed = operators.lookup_monoid(monoid).typed(values.dtype)
    if typed.is_any:
        raise DomainMismatch("treefix: the monoid any is not supported; use min, max, plus, ...")
    engine = check.engine_of("treefix", parent, values)
    n = parent.size
    if values.size != n:
        raise DimensionMismatch(f"treefix: parent has size {n}, and values has size {values.size}")
    above = check.full_vector("treefix", "parent", parent, n, (INT32, INT64))
    full = check.full_vector("treefix", "values", values, n, (values.dtype,))
    spec = Treefix(above, cast(Full, cast_store(full, typed.z, engine)), typed, towards == "roots")
    return cast(Full, registry.run(spec, engine))
