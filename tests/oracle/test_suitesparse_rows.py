"""Layouts, scaling, running totals and sorted rows beside SuiteSparse:GraphBLAS, through python-graphblas."""

from __future__ import annotations

from typing import Any

import pytest

import semiring as sr

pytest.importorskip("graphblas", reason="python-graphblas is not installed")

from .test_suitesparse import N, Side, both, gb

__all__ = ["gb"]
pytestmark = pytest.mark.oracle
TYPES = ("int64", "float64")


def method(x: Any, name: str, *given: Any, **named: Any) -> Any:
    """Call a method that python-graphblas has on the attribute `ss` of an object."""
    return getattr(x if isinstance(x, (sr.Matrix, sr.Vector)) else x.ss, name)(*given, **named)


def transposed(s: Side) -> Any:
    """The transpose of A as a Matrix of its own."""
    return s.A.T.new()


def concatenated(s: Side, tiles: Any) -> Any:
    return sr.concat(tiles) if s.library is sr else s.ss.concat(tiles)


@pytest.mark.parametrize("dtype", TYPES)
def test_layouts(gb: Any, dtype: str) -> None:
    both(gb, 1, dtype, lambda s: concatenated(s, [[s.A, s.B], [s.C, transposed(s)]]))
    both(gb, 2, dtype, lambda s: s.A.reposition(3, -4))
    both(gb, 3, dtype, lambda s: s.A.reposition(-2, 5, nrows=N + 4, ncols=9))
    both(gb, 4, dtype, lambda s: s.u.reposition(-3, size=N + 2))
    for order in ("rowwise", "columnwise"):
        both(gb, 5, dtype, lambda s: method(s.A, "reshape", 1, N * N, order=order))  # noqa: B023
        both(gb, 6, dtype, lambda s: method(s.A, "flatten", order=order))  # noqa: B023


@pytest.mark.parametrize("k", range(2))
@pytest.mark.parametrize("l", range(3))
def test_split(gb: Any, k: int, l: int) -> None:
    def tile(s: Side) -> Any:
        sizes = [10, 13], [4, 0, 19]
        return (s.A.split(*sizes) if s.library is sr else s.A.ss.split(sizes))[k][l]

    both(gb, 7, "int64", tile)


@pytest.mark.parametrize("name", ["plus", "min"])
def test_running_totals(gb: Any, name: str) -> None:
    both(gb, 8, "int64", lambda s: method(s.A, "scan", getattr(s.monoid, name)))
    both(gb, 9, "int64", lambda s: method(s.A, "scan", getattr(s.monoid, name), "columnwise"))
    both(gb, 10, "int64", lambda s: method(s.u, "scan", getattr(s.monoid, name)))


@pytest.mark.parametrize("dtype", TYPES)
def test_sorted_rows(gb: Any, dtype: str) -> None:
    for part in range(2):
        for name in ("lt", "gt"):
            for order in ("rowwise", "columnwise"):
                both(gb, 11, dtype, lambda s: method(s.A, "sort", getattr(s.binary, name), order)[part])  # noqa: B023
            both(gb, 12, dtype, lambda s: method(s.u, "sort", getattr(s.binary, name))[part])  # noqa: B023


@pytest.mark.parametrize("how", ["first", "last"])
def test_choices_of_k_entries(gb: Any, how: str) -> None:
    for order in ("rowwise", "columnwise"):
        both(gb, 13, "int64", lambda s: method(s.A, "selectk", how, 3, order))  # noqa: B023
    both(gb, 14, "int64", lambda s: method(s.u, "selectk", how, 3))


@pytest.mark.parametrize("name", ["minus", "second"])
def test_a_vector_beside_a_matrix(gb: Any, name: str) -> None:
    both(gb, 15, "float64", lambda s: s.A.ewise_mult(s.u, getattr(s.binary, name)))
    both(gb, 16, "float64", lambda s: s.u.ewise_mult(s.A, getattr(s.binary, name)))
    both(gb, 17, "float64", lambda s: s.A.ewise_add(s.u, getattr(s.binary, name)))
    both(gb, 18, "float64", lambda s: s.u.ewise_add(s.A, getattr(s.binary, name)))
    both(gb, 19, "float64", lambda s: s.A.ewise_union(s.u, getattr(s.binary, name), 2.0, 3.0))
