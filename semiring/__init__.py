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
from .facade.concatenation import block, concat, hstack, vstack
from .facade.explain import explain
from .facade.matrix import Matrix
from .facade.scalar import Scalar
from .facade.vector import Vector
from .facade.writing import replace
from .operators import agg, binary, indexunary, monoid, op, select, semiring, unary

if TYPE_CHECKING:
    from . import algorithms, csgraph, distributed, io, plot
    from .facade.recorder import Recorder
    from .io import generators as random
    from .labels import Labels
    from .loops import compile, while_loop
    from .warming import warm

__version__ = "0.2.0"

__all__ = [
    "Labels",
    "Matrix",
    "Recorder",
    "Scalar",
    "SemiringError",
    "Vector",
    "agg",
    "algorithms",
    "binary",
    "block",
    "compile",
    "concat",
    "config",
    "csgraph",
    "cuda_available",
    "distributed",
    "dtypes",
    "exceptions",
    "explain",
    "hstack",
    "indexunary",
    "io",
    "monoid",
    "op",
    "ops",
    "plot",
    "random",
    "replace",
    "select",
    "semiring",
    "unary",
    "use",
    "vstack",
    "warm",
    "while_loop",
]

# Loaded when first named, for they are not needed to make a matrix: the module, or the name in it.
_LAZY = {
    "algorithms": (".algorithms", None),
    "csgraph": (".csgraph", None),
    "distributed": (".distributed", None),
    "io": (".io", None),
    "plot": (".plot", None),
    "compile": (".loops", "compile"),
    "Labels": (".labels", "Labels"),
    "Recorder": (".facade.recorder", "Recorder"),
    "random": (".io.generators", None),
    "warm": (".warming", "warm"),
    "while_loop": (".loops", "while_loop"),
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        module, member = _LAZY[name]
        found = import_module(module, __name__)
        if member is not None:
            found = getattr(found, member)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'semiring' has no attribute {name!r}{_hint(name)}")


def _hint(name: str) -> str:
    """Return where a name of a submodule is, or similar names."""
    if name.startswith("_"):
        return ""
    from difflib import get_close_matches
    from importlib import import_module

    for module in ("algorithms", "io", "random"):
        if name in dir(import_module(_LAZY[module][0], __name__)):
            return f"; it is semiring.{module}.{name}"
    names = {own.lower(): own for own in __all__}
    close = [names[own] for own in get_close_matches(name.lower(), names, n=3)]
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def __dir__() -> list[str]:
    return sorted(__all__)
