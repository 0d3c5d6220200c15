"""Generated graphs: the functions of NumPy that define them."""

from __future__ import annotations

from ..registry import implements
from ..requests.draw import BuildKeys, DrawEdges, DrawOrder, DrawWeights, Lattice, Star
from ..shared import draw_numpy

implements(DrawEdges, engine="cpu")(draw_numpy.draw_edges)
implements(BuildKeys, engine="cpu")(draw_numpy.build_keys)
implements(DrawOrder, engine="cpu")(draw_numpy.draw_order)
implements(DrawWeights, engine="cpu")(draw_numpy.draw_weights)
implements(Lattice, engine="cpu")(draw_numpy.lattice)
implements(Star, engine="cpu")(draw_numpy.star)
