"""The same programs on several processes: matrices and vectors whose parts are held by the processes of a grid."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .building import from_coo, from_edgelist, vector_from_coo
from .checkpoint import Checkpoint, Saved
from .communicator import Traffic
from .grid import Grid, run
from .local_parts import LocalPart, from_part, local_part
from .scattering import even_order, gather, scatter

if TYPE_CHECKING:
    from .launching import launch
    from .mpi import connect

__all__ = [
    "Checkpoint",
    "Grid",
    "LocalPart",
    "Saved",
    "Traffic",
    "connect",
    "even_order",
    "from_coo",
    "from_edgelist",
    "from_part",
    "gather",
    "launch",
    "local_part",
    "run",
    "scatter",
    "vector_from_coo",
]


_LATER = {"connect": ".mpi", "launch": ".launching"}
# The names of earlier versions, and the calls that replace them.
_REPLACED = {
    "random": "semiring.random: rmat(..., device=grid.device)",
    "read": "semiring.io.read(path, device=grid.device)",
    "write": "semiring.io.write(path, A)",
}


def __getattr__(name: str) -> Any:
    # Loaded when first named: they import `process`, which Python runs as a program after this package.
    if name in _LATER:
        found = globals()[name] = getattr(import_module(_LATER[name], __name__), name)
        return found
    if name in _REPLACED:
        raise AttributeError(f"{__name__}.{name} is replaced by {_REPLACED[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
