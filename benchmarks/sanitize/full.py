"""The steps of `benchmarks.sanitize` for products with full rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

from semiring import Matrix, Vector

from .inputs import N, Small

__all__ = ["STEPS"]


def _full(nrows: int, ncols: int, start: int = 0) -> Matrix:
    """Integers from -8 to 8, in every position."""
    return Matrix.from_dense((np.arange(start, start + nrows * ncols) * 7 % 17 - 8).reshape(nrows, ncols))


def _some_rows(ncols: int) -> Matrix:
    """Every third row is full, the others are empty."""
    rows, columns = (part.ravel() for part in np.meshgrid(np.arange(0, N, 3), np.arange(ncols), indexing="ij"))
    return Matrix.from_coo(rows, columns, rows - columns, shape=(N, ncols)).convert("full")


def _few(s: Small, ncols: int) -> Matrix:
    """A mask with few entries in most rows, and some rows with an entry in every second column."""
    part: Matrix = s.A[:, :ncols].new()
    rows, columns = (axis.ravel() for axis in np.meshgrid(np.arange(0, N, 40), np.arange(0, ncols, 2), indexing="ij"))
    more = Matrix.from_coo(rows, columns, rows % 3, shape=(N, ncols))
    return part.ewise_add(more, "first").new()


def _bits(nrows: int, ncols: int) -> Matrix:
    """A bitmap matrix in which two of three positions have an entry; the last word has bits past the end."""
    values = np.arange(nrows * ncols).reshape(nrows, ncols) * 7 % 9 // 3
    return Matrix.from_dense(values.astype(np.float32), missing_value=0, format="bitmap")


def _segmented(s: Small, product: Callable[[Matrix], Any]) -> Any:
    """The row of the hub is divided into segments."""
    if s.A.device == "cpu":
        return product(s.A)
    from semiring.engines.cuda import mxm_full_sddmm, mxm_full_spmm, tuning

    def forget() -> None:
        mxm_full_spmm._plan.cache_clear()
        mxm_full_sddmm._plan.cache_clear()
        s.A.store.pattern.facts.pop("cuda.product_rows", None)

    forget()
    with mock.patch.object(tuning, "FULL_SEGMENT", 64):
        try:
            return product(s.A).wait()
        finally:
            forget()


# The steps, by name.  Each returns a Matrix.
STEPS: dict[str, Callable[[Small], Any]] = {
    "bitmap, by row": lambda s: _bits(67, 2099).mxv(Vector.full(2.0, 2099), "min_plus"),
    "bitmap, by column": lambda s: Vector.from_coo([3, 90], [1.5, 2.0], size=N).vxm(_bits(N, 77), "plus_times"),
    "bitmap, rows reduced": lambda s: _bits(N, 41).reduce_rowwise("max"),
    "bitmap, transpose": lambda s: _bits(N, 41).T.new(),
    "bitmap, rows": lambda s: _bits(N, 41).mxm(_bits(41, N)),
    "spmm": lambda s: s.A.mxm(_full(N, 20)),
    "spmm of one column": lambda s: s.E.mxm(_full(N, 1), "max_first"),
    "spmm of odd columns": lambda s: s.A.mxm(_full(N, 33), "min_plus"),
    "spmm, any": lambda s: s.A.mxm(_full(N, 20), "any_firsti"),
    "spmm, rows of X empty": lambda s: s.A.mxm(_some_rows(20), "plus_second"),
    "spmm, long rows": lambda s: _segmented(s, lambda A: A.mxm(_full(N, 20))),
    "spmm, long rows, rows of X empty": lambda s: _segmented(s, lambda A: A.mxm(_some_rows(40), "max_plus")),
    "spmm under a mask": lambda s: s.A.mxm(_full(N, 70), mask=_few(s, 70).S),
    "spmm under a value mask, rows of X empty": lambda s: s.E.mxm(_some_rows(40), "min_plus", mask=_few(s, 40).V),
    "spmm under a mask, long rows": lambda s: _segmented(s, lambda A: A.mxm(_full(N, 40), mask=_few(s, 40).S)),
    "sddmm": lambda s: _full(N, 20).mxm(_full(N, 20, 5).T, mask=s.A.S),
    "sddmm of long rows": lambda s: _segmented(s, lambda A: _full(N, 33).mxm(_full(N, 33).T, "min_plus", mask=A.S)),
    "sddmm, value mask, rows of X empty": lambda s: _some_rows(64).mxm(_some_rows(64).T, "max_second", mask=s.B.V),
    "sddmm of many features": lambda s: _full(N, 600).mxm(_full(N, 600, 3).T, "plus_times", mask=s.E.S),
    "full times sparse": lambda s: _full(20, N).mxm(s.E, "min_first"),
    "full times sparse, columns empty": lambda s: _some_rows(N).mxm(s.E.select("tril"), "plus_times"),
    "gemm": lambda s: _full(70, 65).mxm(_full(65, 66), "min_plus"),
    "gemm of few tiles": lambda s: _full(20, 700).mxm(_full(700, 30), "max_times"),
    "transpose of a dense matrix": lambda s: _full(N, 70).T.new(),
}
