"""Components of graphs: weak, strong and biconnected ones, and two-colorings."""

from .biconnected import Blocks, articulation_points, biconnected_components, bridges
from .bipartite import is_bipartite, two_coloring
from .strong import Condensation, condensation, strongly_connected_components
from .weak import connected_components, is_connected

__all__ = [
    "Blocks",
    "Condensation",
    "articulation_points",
    "biconnected_components",
    "bridges",
    "condensation",
    "connected_components",
    "is_bipartite",
    "is_connected",
    "strongly_connected_components",
    "two_coloring",
]
