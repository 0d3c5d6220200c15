"""python-graphblas's interface on this library: ``import semiring.compat.graphblas as gb``.

Nearly all of it is :mod:`semiring` itself, and ``import semiring as gb`` is enough for most programs.  This package
adds what contradicts the names and rules of :mod:`semiring`: see decision 25 in ``docs/decisions``.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from semiring import Recorder, agg, binary, indexunary, monoid, replace, select, semiring, unary
from semiring.compat.graphblas import dtypes, exceptions, io, op
from semiring.compat.graphblas.objects import Matrix, Scalar, Vector
from semiring.compat.graphblas.settings import config

__all__ = [
    "MAX_SIZE",
    "Matrix",
    "Recorder",
    "Scalar",
    "Vector",
    "agg",
    "backend",
    "binary",
    "config",
    "dtypes",
    "exceptions",
    "indexunary",
    "init",
    "io",
    "monoid",
    "op",
    "replace",
    "select",
    "semiring",
    "unary",
]

# The most rows, columns or positions that an object may have.
MAX_SIZE: Final = 2**60
backend: Final = "semiring"

# ``from semiring.compat.graphblas.binary import plus`` and ``import semiring.compat.graphblas.unary.numpy``.
for _module in (agg, binary, indexunary, monoid, op, select, semiring, unary):
    _name = f"{__name__}.{_module.__name__.rpartition('.')[2]}"
    sys.modules[_name] = _module
    if (_ufuncs := getattr(_module, "numpy", None)) is not None:
        sys.modules[f"{_name}.numpy"] = _ufuncs


def init(backend: Any = None, blocking: bool = False) -> None:
    """Do nothing: this library needs no initialization.

    Parameters
    ----------
    backend, blocking : accepted for programs of python-graphblas, and not read

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.init("suitesparse", blocking=False)
    """
