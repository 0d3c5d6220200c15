"""The names of `semiring.compat.graphblas`: python-graphblas's interface on this library."""

from __future__ import annotations

from typing import Any, Final

from semiring import Recorder, agg, binary, indexunary, monoid, replace, select, semiring, unary
from semiring.bridges.graphblas import dtypes, exceptions, io, op
from semiring.bridges.graphblas.objects import Matrix, Scalar, Vector
from semiring.bridges.graphblas.settings import config

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
