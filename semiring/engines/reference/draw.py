"""Generated graphs: the functions of NumPy that define them."""

from __future__ import annotations

from ..registry import implements
from ..requests.draw import BuildKeys, DrawEdges, DrawOrder, DrawWeights, Lattice, Star
from ..shared import draw_numpy

implements(DrawEdges, engine="reference")(draw_numpy.draw_edges)
implements(BuildKeys, engine="reference")(draw_numpy.build_keys)
implements(DrawOrder, engine="reference")(draw_numpy.draw_order)
implements(DrawWeights, engine="reference")(draw_numpy.draw_weights)
implements(Lattice, engine="reference")(draw_numpy.lattice)
implements(Star, engine="reference")(draw_numpy.star)
