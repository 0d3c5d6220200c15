"""Further steps of `benchmarks.sanitize`: complex values, of 8 bytes and of 16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring import Matrix, Vector
from semiring.config import config

from .inputs import N, Small

__all__ = ["STEPS"]


def _complex(x: Any, dtype: str) -> Any:
    """The same entries with the parts x and 1 - x."""
    return x.dup("float64").apply("cmplx(x, 1.0 - x)").dup(dtype)


def _product(s: Small, dtype: str, direction: str) -> Vector:
    with config.set(direction=direction):
        made: Vector = _complex(s.A, dtype).mxv(_complex(s.p, dtype)).wait()
        return made


def _built(dtype: str) -> Matrix:
    places = np.arange(4000) * 7919 % 900
    values = (places - 1j).astype(dtype)
    return Matrix.from_coo(places // 30, places % 30, values, shape=(30, 30), dup_op="plus")


_OPERATIONS: dict[str, Callable[[Small, str], Any]] = {
    "mxm": lambda s, dtype: _complex(s.E, dtype).mxm(_complex(s.E, dtype)),
    "mxm, in order": lambda s, dtype: _complex(s.E.apply("mod", right=3), dtype).mxm(s.E, "times_first"),
    "mxm, full": lambda s, dtype: _complex(s.E, dtype).mxm(Matrix.from_dense(np.full((N, 3), 1j, dtype))),
    "mxv, push": lambda s, dtype: _product(s, dtype, "push"),
    "mxv, pull": lambda s, dtype: _product(s, dtype, "pull"),
    "union": lambda s, dtype: _complex(s.A, dtype) + _complex(s.S.dup("int32"), dtype),
    "sums": lambda s, dtype: _complex(s.A, dtype).reduce_rowwise("plus"),
    "sum": lambda s, dtype: Vector.from_dense([_complex(s.A, dtype).reduce_scalar("plus").value]),
    "scan": lambda s, dtype: _complex(s.E, dtype).scan("plus"),
    "transpose": lambda s, dtype: _complex(s.A, dtype).T.dup(),
    "select": lambda s, dtype: _complex(s.A, dtype).select("!=", 50 - 49j),
    "extract": lambda s, dtype: _complex(s.A, dtype)[[5, 7, 5, 290], :],
    "inner": lambda s, dtype: Vector.from_dense([_complex(s.p, dtype).inner(s.u, "plus_times").value]),
    "build": lambda s, dtype: _built(dtype),
}


def _of_type(operation: Callable[[Small, str], Any], dtype: str) -> Callable[[Small], Any]:
    return lambda s: operation(s, dtype)


STEPS: dict[str, Callable[[Small], Any]] = {
    f"{name}, {dtype}": _of_type(step, dtype)
    for dtype in ("complex64", "complex128")
    for name, step in _OPERATIONS.items()
}
