"""A spanning forest in the order of values: the entries that join two trees of a growing forest.

The result is that of Kruskal's algorithm, whichever an engine uses.

Source: Kruskal, "On the Shortest Spanning Subtree of a Graph and the Traveling Salesman Problem", Proc. AMS 7, 1956.
"""

from __future__ import annotations

from typing import cast

from ..engines import registry
from ..engines.requests.graphs import Span
from ..exceptions import DimensionMismatch, DomainMismatch
from ..formats import CSR
from . import check

__all__ = ["span"]


def span(a: CSR, *, largest: bool = False) -> CSR:
    """Return the entries that join two trees, visited in the order of values; see `semiring.ops.span`."""
    if a.nrows != a.ncols:
        raise DimensionMismatch(f"span: the matrix must be square, got shape {a.shape}")
    if a.dtype.kind not in "biuf":
        raise DomainMismatch(f"span: values are visited in order, and those of {a.dtype} have none")
    return cast(CSR, registry.run(Span(a, largest), check.engine_of("span", a)))
