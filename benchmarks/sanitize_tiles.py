"""Further steps of `benchmarks.sanitize`: small operands take the paths of large ones over tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

from semiring import Matrix

from .sanitize_inputs import Small

__all__ = ["STEPS"]


def _tuned(A: Matrix, call: Callable[[], Any], **rows: Any) -> Any:
    """The result of the call with other rows of the tuning table."""
    if A.device == "cpu":
        return call()
    from semiring.engines.cuda import tuning

    with mock.patch.multiple(tuning, **rows):
        return call().wait()


def _assigned(C: Matrix, A: Matrix, rows: Any, cols: Any = slice(None)) -> Matrix:
    """A copy of C with entries of A in a region; of rows that repeat the last one is kept."""
    made = C.dup()
    made[rows, cols] << A[: len(range(C.nrows)[rows]) if isinstance(rows, slice) else len(rows), cols]
    return made


STEPS: dict[str, Callable[[Small], Any]] = {
    "ewise mult, sampled": lambda s: _tuned(s.A, lambda: s.A.ewise_mult(s.E, "first"), SAMPLED_BYTES=0),
    "ewise union, positions": lambda s: s.A.ewise_union(s.E, "secondi", 1, 2),
    "select, sampled": lambda s: _tuned(s.A, lambda: s.A.select("tril", 0), SAMPLED_BYTES=0),
    "transpose by radix sort": lambda s: _tuned(s.A, lambda: s.A.apply("plus", right=1).T.dup(), RADIX_ENTRIES=1),
    "assign to ranges": lambda s: _assigned(s.A, s.A, slice(1, None, 2), slice(1, None)),
    "assign to rows that repeat": lambda s: _assigned(s.A, s.A, [3, 1, 3]),
}
