"""Trees and sets: spanning forests, independent sets, colorings, matchings, flows."""

from .flows import Flow, maximum_flow
from .independent import coloring, maximal_independent_set
from .matching import maximal_matching
from .maximum_matching import maximum_bipartite_matching
from .spanning import minimum_spanning_forest

__all__ = [
    "Flow",
    "coloring",
    "maximal_independent_set",
    "maximal_matching",
    "maximum_bipartite_matching",
    "maximum_flow",
    "minimum_spanning_forest",
]
