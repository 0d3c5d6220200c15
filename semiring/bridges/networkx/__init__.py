"""The backend of NetworkX that `semiring.nx_backend` publishes."""

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
