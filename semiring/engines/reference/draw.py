"""Generated graphs: the functions of NumPy that define them."""

from __future__ import annotations

from ...formats import Array, Pattern
from ..registry import implements
from ..requests.draw import BuildKeys, DrawEdges, DrawOrder, DrawWeights, Lattice, Star
from ..shared import draw_numpy


@implements(DrawEdges, engine="reference")
def draw_edges(q: DrawEdges) -> Array:
    """Keys of random edges, by chunks of edges."""
    return draw_numpy.draw_edges(q)


@implements(BuildKeys, engine="reference")
def build_keys(q: BuildKeys) -> Pattern:
    """The structure of distinct keys: a sort, then a scan."""
    return draw_numpy.build_keys(q)


@implements(DrawOrder, engine="reference")
def draw_order(q: DrawOrder) -> Array:
    """A random order of ``range(n)``: a stable sort by random keys."""
    return draw_numpy.draw_order(q)


@implements(DrawWeights, engine="reference")
def draw_weights(q: DrawWeights) -> Array:
    """Random weights, by chunks of entries."""
    return draw_numpy.draw_weights(q)


@implements(Lattice, engine="reference")
def lattice(q: Lattice) -> Pattern:
    """The structure of a grid of points."""
    return draw_numpy.lattice(q)


@implements(Star, engine="reference")
def star(q: Star) -> Pattern:
    """The structure of a star."""
    return draw_numpy.star(q)
