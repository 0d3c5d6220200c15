"""The specification itself, on examples small enough to do by hand; and the comparison with it, on wrong results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from semiring.dtypes import BOOL, FP64, INT8, INT64, UINT8
from semiring.engines import registry
from semiring.engines.reference.dense import densify, sparsify
from semiring.engines.requests.graphs import Closure, Link
from semiring.engines.requests.operands import Mask, Rows
from semiring.engines.requests.operations import Ewise, Mxm, Mxv, ReduceRows, ReduceScalar, WriteVector
from semiring.formats import CSR, Bitmap, Count, Full, IndexList, Pattern
from semiring.operators import binary, monoid, semiring
from tests import compare

NOTHING = None


def reference(spec: Any) -> Any:
    return registry.run(spec, "reference")


def store(rows: list[Any], dtype: np.dtype[Any] = INT64) -> Any:
    """A store from nested lists, None where nothing is present."""
    table = np.array(rows, dtype=object)
    present = table != NOTHING
    return sparsify(np.where(present, table, 0).astype(dtype), present, dtype)


def listed(found: Any) -> Any:
    """A store as nested lists, None where nothing is present."""
    values, present = densify(found)
    return np.where(present, values.astype(object), None).tolist()


def product(m: CSR, u: Any, typed: Any, flip: bool = False) -> Any:
    rows = Rows(m)
    return reference(Mxv(m.nrows, m.ncols, rows, rows, u, typed, flip))


A = store([[1, None, 2], [None, None, None], [3, 4, None]])
U = store([10, None, 20])


def test_mxv() -> None:
    assert listed(product(A, U, semiring.plus_times[INT64])) == [50, None, 30]
    assert listed(product(A, U, semiring.min_plus[INT64])) == [11, None, 13]
    assert listed(product(A, U, semiring.plus_pair[INT64])) == [2, None, 1]


def test_operands_swap_under_flip() -> None:
    assert listed(product(A, U, semiring.plus_minus[INT64])) == [(1 - 10) + (2 - 20), None, 3 - 10]
    assert listed(product(A, U, semiring.plus_minus[INT64], flip=True)) == [(10 - 1) + (20 - 2), None, 10 - 3]


def test_positions_are_those_of_the_entries() -> None:
    assert listed(product(A, U, semiring.max_firsti[INT64])) == [0, None, 2]
    assert listed(product(A, U, semiring.max_firstj[INT64])) == [2, None, 0]
    assert listed(product(A, U, semiring.max_secondi[INT64])) == [2, None, 0]
    assert listed(product(A, U, semiring.max_secondi[INT64], flip=True)) == [2, None, 0]
    assert listed(product(A, U, semiring.max_secondj[INT64], flip=True)) == [0, None, 2]


def test_any_keeps_the_first() -> None:
    assert listed(product(A, U, semiring.any_second[INT64])) == [10, None, 10]


def test_mxm() -> None:
    assert listed(reference(Mxm.of(A, A, semiring.plus_times[INT64]))) == [[7, 8, 2], [None] * 3, [3, None, 6]]


def test_ewise() -> None:
    b = store([[None, 5, 7], [None, None, None], [1, None, None]])
    assert listed(reference(Ewise(A, b, binary.minus[INT64], "intersect"))) == [
        [None, None, -5],
        [None] * 3,
        [2, None, None],
    ]
    assert listed(reference(Ewise(A, b, binary.minus[INT64], "union"))) == [[1, 5, -5], [None] * 3, [2, 4, None]]
    filled = Ewise(A, b, binary.minus[INT64], "fill", np.int64(100), np.int64(10))
    assert listed(reference(filled)) == [[-9, 95, -5], [None] * 3, [2, -6, None]]


def test_types_wrap_and_saturate() -> None:
    big = store([120, None], INT8)
    assert listed(reference(Ewise(big, big, binary.plus[INT8], "intersect"))) == [-16, None]
    real = store([300.7, -5.0, np.nan], FP64)
    assert listed(reference(Ewise(real, real, binary.max[UINT8], "intersect"))) == [255, 0, 0]


@pytest.mark.parametrize(
    ("mask", "accum", "replace", "expected"),
    [
        (None, None, False, [None, 20, 30, None]),
        (None, "plus", False, [1, 22, 30, None]),
        ("S", None, False, [None, 20, None, None]),
        ("S", None, True, [None, 20, None, None]),
        ("V", None, False, [1, 20, None, None]),
        ("V", None, True, [None, 20, None, None]),
        ("~V", None, False, [None, 2, 30, None]),
        ("~V", "plus", True, [1, None, 30, None]),
        ("~S", "plus", False, [1, 2, 30, None]),
    ],
)
def test_write(mask: str | None, accum: str | None, replace: bool, expected: list[Any]) -> None:
    c, t = store([1, 2, None, None]), store([None, 20, 30, None])
    m = store([0, 5, None, None])
    chosen = None if mask is None else Mask(m, mask.endswith("S"), mask.startswith("~"))
    op = None if accum is None else getattr(binary, accum)[INT64]
    assert listed(reference(WriteVector(c, t, chosen, op, replace))) == expected


def test_reduce() -> None:
    assert listed(reference(ReduceRows(A, monoid.plus[INT64]))) == [3, None, 7]
    assert reference(ReduceScalar(A, monoid.times[INT64])) == 24
    assert reference(ReduceScalar(store([None, None]), monoid.plus[INT64])) is None


def test_closure_finds_shortest_paths() -> None:
    weights = store([[None, 5, 1], [None, None, None], [None, 2, None]])
    turned = store([[None, None, None], [5, None, 2], [1, None, None]])
    found = reference(
        Closure(
            store([0, None, None]),
            Rows(weights),
            Rows(turned),
            semiring.min_plus[INT64],
            False,
            10,
        )
    )
    assert listed(found.store) == [0, 3, 1]
    assert (found.converged, found.steps) == (True, 3)


def test_link_unites_by_the_smallest() -> None:
    pattern = store([[None, None, None, 1], [None] * 4, [None, 1, None, None], [None] * 4]).pattern
    forest = Full(4, INT64, np.arange(4))
    assert listed(reference(Link(forest, pattern, 0, None, None))) == [0, 1, 1, 0]
    assert listed(reference(Link(forest, pattern, 0, None, 2))) == [0, 1, 2, 0]
    assert listed(reference(Link(forest, pattern, 1, None, None))) == [0, 1, 2, 3]


GOOD = store([1, None, 3])


@pytest.mark.parametrize(
    "wrong",
    [
        store([1, 2, 3]),  # an entry too many
        store([1, None, None]),  # one too few
        store([1, None, 4]),  # another value
        store([1, None, 3], FP64),  # another type
        store([1, None, 3, None]),  # another size
    ],
)
def test_the_comparison_rejects_other_results(wrong: Any) -> None:
    compare.assert_same(GOOD, GOOD)
    with pytest.raises(AssertionError):
        compare.assert_same(wrong, GOOD)


def test_the_comparison_rejects_a_value_of_no_operand() -> None:
    rows = Rows(A)
    spec = Mxv(3, 3, rows, rows, U, semiring.any_second[INT64], False)
    compare.assert_legal(spec, store([20, None, 10]))
    with pytest.raises(AssertionError):
        compare.assert_legal(spec, store([11, None, 10]))


@pytest.mark.parametrize(
    "broken",
    [
        IndexList(4, INT64, np.array([2, 1], np.int32), np.array([1, 2])),
        IndexList(4, INT64, np.array([1, 4], np.int32), np.array([1, 2])),
        IndexList(4, INT64, np.array([1, 2], np.int64), np.array([1, 2])),
        IndexList(4, INT64, np.array([1, 2], np.int32), np.array([1.0, 2.0])),
        Bitmap(4, BOOL, np.array([0b10001], np.uint32), None, np.True_, Count(2)),
        Bitmap(4, BOOL, np.array([0b00101], np.uint32), None, np.True_, Count(3)),
        Full(4, INT64, np.arange(3)),
        CSR(Pattern(1, 3, np.array([0, 2], np.int32), np.array([2, 1], np.int32)), BOOL, None, np.True_),
        CSR(Pattern(1, 3, np.array([0, 1], np.int32), np.array([2, 1], np.int32)), BOOL, None, np.True_),
    ],
)
def test_broken_stores_are_refused(broken: Any) -> None:
    with pytest.raises(AssertionError):
        compare.check_invariants(broken)
