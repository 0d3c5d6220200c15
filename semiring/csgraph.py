"""Graph routines with the signatures, semantics and result types of `scipy.sparse.csgraph`, on CPUs and GPUs.

    from semiring import csgraph            # instead of: from scipy.sparse import csgraph

Graphs of NumPy and SciPy give results of NumPy and SciPy; graphs of CuPy, on the GPU, results of CuPy, computed there.
"""

from semiring.bridges import csgraph as _bridge
from semiring.bridges.csgraph import *  # noqa: F403  # the names are listed once, in the bridge

__all__ = _bridge.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
