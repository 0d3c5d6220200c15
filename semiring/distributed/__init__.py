"""The same programs on several processes: matrices and vectors whose parts are held by the processes of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .building import from_coo, from_edgelist, vector_from_coo
from .checkpoint import Checkpoint, Saved
from .communicator import Traffic
from .grid import Grid, run
from .local_parts import LocalPart, from_part, local_part
from .scattering import gather, scatter
from .writing import write

if TYPE_CHECKING:
    from .launching import launch

__all__ = [
    "Checkpoint",
    "Grid",
    "LocalPart",
    "Saved",
    "Traffic",
    "from_coo",
    "from_edgelist",
    "from_part",
    "gather",
    "launch",
    "local_part",
    "run",
    "scatter",
    "vector_from_coo",
    "write",
]


# The names of earlier versions, and the calls that replace them.
_REPLACED = {
    "random": "semiring.random: rmat(..., device=grid.device)",
    "read": "semiring.io.read(path, device=grid.device)",
}


def __getattr__(name: str) -> Any:
    # Loaded when first named: it imports `process`, which Python runs as a program after this package.
    if name == "launch":
        from .launching import launch

        globals()[name] = launch
        return launch
    if name in _REPLACED:
        raise AttributeError(f"{__name__}.{name} is replaced by {_REPLACED[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
