"""A backend of NetworkX: ``nx.pagerank(G, backend="semiring")`` runs here.

NetworkX finds it through the entry points ``networkx.backends`` and ``networkx.backend_info`` of this distribution.
The functions have the signatures, results and errors of NetworkX, and receive a `Graph`, to which NetworkX converts
its graphs and which it keeps until they change.
"""

from __future__ import annotations

from semiring.optional import missing

try:
    import networkx  # noqa: F401
except ImportError as error:
    raise missing("the NetworkX backend", "networkx") from error

from .convert import convert_from_nx, convert_to_nx
from .graph import Graph
from .interface import backend

__all__ = ["Graph", "backend", "convert_from_nx", "convert_to_nx"]
