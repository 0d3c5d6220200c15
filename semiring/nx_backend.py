"""A backend of NetworkX: ``nx.pagerank(G, backend="semiring")`` runs here.

NetworkX finds it through the entry points ``networkx.backends`` and ``networkx.backend_info`` of this distribution.
The functions have the signatures, results and errors of NetworkX, and receive a `Graph`, to which NetworkX converts
its graphs and which it keeps until they change.
"""

from semiring.bridges.networkx import Graph, backend, convert_from_nx, convert_to_nx

__all__ = ["Graph", "backend", "convert_from_nx", "convert_to_nx"]


def __dir__() -> list[str]:
    return sorted(__all__)
