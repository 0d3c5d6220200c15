"""Votes of rows: the specification, NumPy and a definition in plain Python agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring import Matrix, Vector
from semiring.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64
from semiring.engines import registry
from semiring.engines.requests.graphs import Vote
from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from semiring.formats import CSR, Full, Pattern
from tests.compare import check, device_for, place
from tests.draw import matrices

sizes = st.sampled_from((0, 1, 2, 5, 9, 33))


def full(values: Any, dtype: Any) -> Full:
    made = np.asarray(values).astype(dtype)
    return Full(made.size, made.dtype, made)


@pytest.mark.costly
@pytest.mark.parametrize(("dtype", "label"), [(FP64, INT32), (INT8, INT64), (BOOL, INT32)], ids=str)
@given(data=st.data())
def test_votes_are_as_the_specification(dtype: Any, label: Any, engine: str, data: st.DataObject) -> None:
    n = data.draw(sizes)
    a = data.draw(matrices(n, n, dtype))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    labels = full(rng.integers(-1, max(n, 1) + 1, n), label)  # also labels that are no group
    mass = totals = rows = None
    if data.draw(st.booleans()):
        mass, totals = full(rng.integers(0, 9, n), FP64), full(rng.integers(0, 30, n), FP64)
    if data.draw(st.booleans()):
        rows = full(rng.integers(0, 2, n), BOOL)
    check(Vote(a, labels, mass, totals, 0.25, rows, data.draw(st.booleans())), engine)


# Rows of every method, also one entry shorter or longer than its longest: see the tuning table.
LENGTHS = (0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 256, 257, 1024, 1025, 4096, 4097, 8192, 8193, 20000, 3, 30000)


def skewed(dtype: Any) -> CSR:
    rng = np.random.default_rng(7)
    n = 40_000
    columns = np.concatenate([np.sort(rng.permutation(n)[:length]) for length in LENGTHS])
    indptr = np.concatenate([[0], np.cumsum(LENGTHS), np.full(n - len(LENGTHS), columns.size)])
    pattern = Pattern(n, n, indptr.astype(np.int32), columns.astype(np.int32))
    if dtype is None:
        return CSR(pattern, FP32, None, np.float32(2))
    return CSR(pattern, dtype, rng.integers(1, 9, columns.size).astype(dtype))


@pytest.mark.parametrize("groups", [40_000, 3])
@pytest.mark.parametrize("dtype", [None, FP64, INT32], ids=str)
def test_rows_of_all_lengths(dtype: Any, groups: int, engine: str) -> None:
    """All labels different, and few labels; compared with sums by NumPy."""
    if engine == "reference":
        pytest.skip("the specification is dense")
    a = skewed(dtype)
    n, rng = a.nrows, np.random.default_rng(1)
    labels = rng.permutation(n).astype(np.int32) % groups
    mass, totals = rng.integers(0, 9, n).astype(float), rng.integers(0, 99, n).astype(float)
    for keep in (False, True):
        for scored in (False, True):
            vectors = (full(mass, FP64), full(totals, FP64)) if scored else (None, None)
            spec = Vote(a, full(labels, INT32), *vectors, 0.5, None, keep)
            got = registry.run(place(spec, device_for(engine)), engine).to("cpu").values
            expected = labels.copy()
            for i in range(len(LENGTHS)):
                row = slice(a.indptr[i], a.indptr[i + 1])
                weights = np.full(LENGTHS[i], 2.0) if a.values is None else a.values[row].astype(float)
                sums = np.bincount(labels[a.indices[row]], weights, n).astype(float)
                present = np.bincount(labels[a.indices[row]], minlength=n) > 0
                if scored:
                    sums -= 0.5 * mass[i] * (totals - np.where(np.arange(n) == labels[i], mass[i], 0))
                own = sums[labels[i]]
                if keep:
                    present[labels[i]] = False
                sums[~present] = -np.inf
                best = int(sums.argmax())
                if present[best] and not (keep and own >= sums[best]):
                    expected[i] = best
            assert (got == expected).all()


def test_labels_whose_hashes_are_alike(engine: str) -> None:
    """The groups of a long row begin in a small part of its table."""
    if engine == "reference":
        pytest.skip("the specification is dense")
    n = 1 << 22
    x = np.arange(n, dtype=np.uint32)
    hashes = x.copy()
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashes = (hashes ^ (hashes >> np.uint32(shift))) * np.uint32(factor)
    hashes ^= hashes >> np.uint32(16)
    alike = np.flatnonzero(hashes >> np.uint32(24) == 7)  # 16,384 labels in one part of eight
    alike = alike[:16_000]
    indptr = np.full(n + 1, alike.size)
    indptr[0] = 0
    a = CSR(Pattern(n, n, indptr.astype(np.int32), alike.astype(np.int32)), FP32, np.ones(alike.size, np.float32))
    a.values[123] = 5
    spec = Vote(a, full(np.arange(n), INT32), None, None, 1.0, None, False)
    got = registry.run(place(spec, device_for(engine)), engine).to("cpu").values
    assert got[0] == alike[123]
    assert (got[1:] == np.arange(1, n)).all()


@pytest.fixture
def A() -> Matrix:
    return Matrix.from_coo([0, 0, 0, 1, 1, 2], [1, 2, 3, 0, 2, 2], [1.0, 2.0, 1.0, 1.0, 1.0, 1.0], shape=(4, 4))


def test_votes_of_a_small_matrix(A: Matrix) -> None:
    label = Vector.from_dense([0, 1, 2, 1])
    assert sr.ops.vote(A, label).to_dict() == {0: 1, 1: 0, 2: 2, 3: 1}
    assert sr.ops.vote(A, label, ties="own").to_dict() == {0: 1, 1: 0, 2: 2, 3: 1}
    only = Vector.from_dense([False, True, False, False])
    assert sr.ops.vote(A, label, rows=only).to_dict() == {0: 0, 1: 0, 2: 2, 3: 1}
    assert sr.ops.vote(A.T, label).to_dict() == {0: 1, 1: 0, 2: 0, 3: 0}
    ones, totals = Vector.full(1.0, 4), Vector.from_dense([1.0, 9.0, 1.0, 0.0])
    assert sr.ops.vote(A, label, mass=ones, totals=totals)[0].value == 2
    assert sr.ops.vote(A, label, mass=ones, totals=totals, rate=0.0)[0].value == 1
    assert sr.ops.vote(A, Vector.from_dense([-1, 7, 2, -1])).to_dict() == {0: 2, 1: 2, 2: 2, 3: -1}


def test_a_row_leaves_a_group_for_a_strictly_better_one(A: Matrix) -> None:
    B = Matrix.from_coo([0, 0], [1, 2], [1.0, 1.0], shape=(3, 3))
    for label, smallest, own in (([0, 1, 2], 1, 1), ([2, 1, 2], 1, 2), ([1, 2, 2], 2, 2)):
        v = Vector.from_dense(label)
        assert sr.ops.vote(B, v)[0].value == smallest
        assert sr.ops.vote(B, v, ties="own")[0].value == own
    negative = B.apply("ainv")
    assert sr.ops.vote(negative, Vector.from_dense([0, 1, 2]))[0].value == 1
    assert sr.ops.vote(negative, Vector.from_dense([0, 1, 2]), ties="own")[0].value == 0


def test_nan_never_wins() -> None:
    B = Matrix.from_coo([0, 0, 1], [1, 2, 2], [np.nan, 1.0, np.nan], shape=(3, 3))
    assert sr.ops.vote(B, Vector.from_dense([0, 1, 2])).to_dict() == {0: 2, 1: 1, 2: 2}


def test_refused_operands(A: Matrix) -> None:
    label = Vector.from_dense([0, 1, 2, 3])
    half = Vector.full(0.5, 4)
    with pytest.raises(DimensionMismatch, match="square"):
        sr.ops.vote(A[:3, :], label)
    with pytest.raises(DimensionMismatch, match="labels has size 3"):
        sr.ops.vote(A, Vector.from_dense([0, 1, 2]))
    with pytest.raises(DomainMismatch, match="labels must be int32 or int64"):
        sr.ops.vote(A, half)
    with pytest.raises(DomainMismatch, match="complex"):
        sr.ops.vote(A.dup("complex128"), label)
    with pytest.raises(InvalidValue, match="together"):
        sr.ops.vote(A, label, mass=half)
    with pytest.raises(InvalidValue, match="'smallest' or 'own'"):
        sr.ops.vote(A, label, ties="largest")
    with pytest.raises(InvalidValue, match="an entry for every row, and has 1 of 4"):
        sr.ops.vote(A, Vector.from_coo([0], [1], size=4))
    assert sr.ops.vote(A, label.convert("index")).isequal(sr.ops.vote(A, label))
