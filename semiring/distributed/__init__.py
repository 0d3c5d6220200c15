"""The same programs on several processes: matrices and vectors whose parts are held by the processes of a grid."""

from . import random
from .building import from_coo, from_edgelist, vector_from_coo
from .checkpoint import Checkpoint, Saved
from .communicator import Traffic
from .grid import Grid, run
from .local_parts import LocalPart, from_part, local_part
from .reading import read
from .scattering import gather, scatter
from .writing import write

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
    "local_part",
    "random",
    "read",
    "run",
    "scatter",
    "vector_from_coo",
    "write",
]
