"""Sparse linear algebra over semirings: graphs as matrices, on the GPU through CuPy and on the CPU through numba.

    import semiring as sr
    A = sr.Matrix.from_edgelist([(0, 1), (1, 2)], nrows=3, ncols=3)
    sr.algorithms.bfs_levels(A, 0)

Importing this package loads NumPy and nothing else; engines are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import dtypes, exceptions, ops
from .config import config, cuda_available, use
from .exceptions import SemiringError
from .facade.explain import explain
from .facade.matrix import Matrix
from .facade.scalar import Scalar
from .facade.vector import Vector
from .operators import agg, binary, indexunary, monoid, op, select, semiring, unary

if TYPE_CHECKING:
    from . import algorithms, io
    from .io import generators as random

__version__ = "0.1.0"

__all__ = [
    "Matrix",
    "Scalar",
    "SemiringError",
    "Vector",
    "agg",
    "algorithms",
    "binary",
    "config",
    "cuda_available",
    "dtypes",
    "exceptions",
    "explain",
    "indexunary",
    "io",
    "monoid",
    "op",
    "ops",
    "random",
    "select",
    "semiring",
    "unary",
    "use",
]

# Loaded when first named: they are not needed to make a matrix.
_LAZY = {"algorithms": ".algorithms", "io": ".io", "random": ".io.generators"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        module = import_module(_LAZY[name], __name__)
        globals()[name] = module
        return module
    raise AttributeError(f"module 'semiring' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
