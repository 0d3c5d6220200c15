"""The same programs on several processes: matrices and vectors whose parts are held by the processes of a grid."""

from .communicator import Traffic
from .grid import Grid, run
from .scattering import gather, scatter

__all__ = ["Grid", "Traffic", "gather", "run", "scatter"]
