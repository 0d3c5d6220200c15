"""Optional packages: each comes with an extra of this distribution, and the error for a missing one names the extra."""

from __future__ import annotations

import importlib
from typing import Any, Final

from semiring.exceptions import NotSupported

#: Package -> its name in messages, and the extra in pyproject.toml that installs it.
EXTRAS: Final[dict[str, tuple[str, str]]] = {
    "awkward": ("Awkward Array", "awkward"),
    "cupy": ("CuPy", "cuda13"),
    "igraph": ("igraph", "igraph"),
    "matplotlib": ("matplotlib", "plot"),
    "mpi4py": ("mpi4py", "mpi"),
    "networkx": ("networkx", "networkx"),
    "pandas": ("pandas", "pandas"),
    "polars": ("polars", "polars"),
    "pyarrow": ("pyarrow", "arrow"),
    "sparse": ("PyData Sparse", "sparse"),
    "shtab": ("shtab", "completion"),
    "torch_geometric": ("PyTorch Geometric", "torch-geometric"),
    "zstandard": ("zstandard", "zstd"),
}


def installed(package: str) -> bool:
    """Return whether a package can be imported, without importing it."""
    import importlib.util

    try:
        return importlib.util.find_spec(package) is not None
    except ValueError:  # a module without a spec, and None, which blocks its import
        return False


def missing(what: str, package: str) -> NotSupported:
    """Return the error of `what`, which needs a package that is not installed."""
    name, extra = EXTRAS[package]
    other = " (or cuda12, depending on the driver)" if extra == "cuda13" else ""
    return NotSupported(f"{what} needs {name}: pip install 'semiring[{extra}]'{other}")


def needed(what: str, module: str) -> Any:
    """Import and return a module for `what`; NotSupported with the extra of its package if that cannot be imported."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise missing(what, module.partition(".")[0]) from error
