"""Bitmap matrices: every operation agrees with uncompressed rows, in every placement; the rule selects the format."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.config import config
from semiring.engines.rows.residency import entries_between, resident_rows
from semiring.exceptions import InvalidFormat, InvalidValue
from semiring.formats import BitmapPattern
from semiring.memory.arrays import to_host
from semiring.operators import indexunary
from tests import sampling
from tests.compare import check_invariants
from tests.formats import test_hypersparse
from tests.formats.test_full import assert_alike

pytestmark = pytest.mark.one_process("formats, codecs and placements are of parts")

EXHAUSTIVE = pytest.mark.exhaustive
OPERATIONS = test_hypersparse.OPERATIONS
DRAWN = sampling.draw("bitmap", OPERATIONS, 6)
PLACEMENTS = ("device", *(pytest.param(name, marks=EXHAUSTIVE) for name in ("pinned", "host")))


def drawn(seed: int, shape: tuple[int, int] = (9, 7), density: float = 0.5) -> np.ndarray[Any, Any]:
    """An array with zeros where the matrix has no entry."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < density, rng.choice([-4.0, -1.0, 1.0, 2.5, 6.0], shape), 0.0)


def matrix(seed: int, shape: tuple[int, int] = (9, 7), density: float = 0.5) -> Matrix:
    return Matrix.from_dense(drawn(seed, shape, density), missing_value=0).convert("bitmap")


def iso() -> Matrix:
    rows, columns = np.nonzero(drawn(2))
    return Matrix.from_coo(rows, columns, 3.0, shape=(9, 7)).convert("bitmap")


KINDS = {
    "values": lambda: matrix(1),
    "iso": iso,
    "empty": lambda: Matrix(float, 9, 7).convert("bitmap"),
    "whole": lambda: matrix(3, density=1.0),
}


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("kind", ["values", *(pytest.param(kind, marks=EXHAUSTIVE) for kind in list(KINDS)[1:])])
@pytest.mark.parametrize("name", [pytest.param(name, marks=sampling.marks(name, DRAWN)) for name in OPERATIONS])
def test_operations_agree_with_uncompressed_rows(name: str, kind: str, placement: str) -> None:
    plain = KINDS[kind]().convert("csr")
    a = KINDS[kind]().to(placement=placement)
    assert (a.format, a.placement) == ("bitmap", placement)
    made = OPERATIONS[name](a)
    assert_alike(made, OPERATIONS[name](plain))
    assert a.isequal(plain)
    assert (a.format, a.placement) == ("bitmap", placement)
    if isinstance(made, Matrix):
        check_invariants(made.store)


@pytest.mark.parametrize("kind", KINDS)
def test_the_format_is_kept_by_files_copies_and_the_operations_that_share_the_structure(
    kind: str, tmp_path: Path
) -> None:
    a = KINDS[kind]()
    expected = a.dup().convert("csr")
    assert a.apply("abs").new().format == a.dup(np.int8).format == a.T.new().format == "bitmap"
    restored = pickle.loads(pickle.dumps(a))
    sr.io.write_srb(tmp_path / "a.srb", a)
    sr.io.write_srb(tmp_path / "b.srb", a.dup())
    assert (tmp_path / "a.srb").read_bytes() == (tmp_path / "b.srb").read_bytes()
    for made in (restored, sr.io.open(tmp_path / "a.srb"), sr.io.read_srb(tmp_path / "a.srb")):
        assert made.format == "bitmap"
        assert made.isequal(expected, check_dtype=True)
        check_invariants(made.store)
    assert sr.io.open(tmp_path / "a.srb", compress="packed").isequal(expected)
    assert a.dup().convert("csr").format == "csr"


def test_the_rule_selects_the_format_of_results(engine: str) -> None:
    a = matrix(5, (40, 40), 0.8)
    assert a.select("valuegt", 0.0).new().format == "bitmap"
    assert a.ewise_mult(matrix(6, (40, 40), 0.02), "plus").new().format == "csr"  # below config.bitmap_switch
    near = matrix(7, (40, 40), 0.18)  # between the switch and twice that
    # The specification lists the entries of a result that is not nearly full.
    assert near.select("valuene", 100.0).new().format == ("csr" if engine == "reference" else "bitmap")
    assert a.select("tril").new().format == "bitmap"
    assert near.select("tril").new().format == "csr"
    with config.set(bitmap_switch=0.0):
        assert a.select("valuegt", -9.0).new().format == "csr"
        assert (a + a).new().format == "bitmap"
    with config.set(bitmap_switch=1.0):
        assert a.select("valuegt", -9.0).new().format == "csr"


def test_arrays_with_holes() -> None:
    dense = drawn(8, (33, 31))
    a = Matrix.from_dense(dense, missing_value=0, format="bitmap")
    assert a.format == "bitmap"
    assert a.nvals == np.count_nonzero(dense)
    np.testing.assert_array_equal(to_host(a.to_dense(0)), dense)
    np.testing.assert_array_equal(to_host(a.to_dense(-1, np.int8)), np.where(dense == 0, -1, dense).astype(np.int8))
    assert a.isequal(Matrix.from_dense(dense, missing_value=0))
    shared = Matrix.from_dense(dense, missing_value=0, format="bitmap", copy=False)
    assert shared.device != "cpu" or np.shares_memory(shared.store.values, dense)
    every = Matrix.from_dense(dense, format="bitmap")
    assert every.nvals == dense.size
    assert every.convert("full").format == "full"
    with pytest.raises(InvalidValue, match="None or 'bitmap'"):
        Matrix.from_dense(dense, format="csr")
    with pytest.raises(InvalidValue, match="'csr', 'full', 'bitmap' or 'hypersparse'"):
        a.convert("dense")
    with pytest.raises(InvalidValue, match="hold all 31 columns or none"):
        a.convert("full")


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 33), (32, 1), (5, 13)])
def test_shapes(shape: tuple[int, int]) -> None:
    a = Matrix.from_dense(drawn(9, shape), missing_value=0)
    b = a.dup().convert("bitmap")
    check_invariants(b.store)
    np.testing.assert_array_equal(to_host(b.store.indptr), to_host(a.store.indptr))
    for made, expected in (
        (b.T.new(), a.T.new()),
        ((b + b).new(), (a + a).new()),
        (b[::-1, :].new(), a[::-1, :].new()),
    ):
        assert made.isequal(expected)
        check_invariants(made.store)


def test_ranges_of_rows_begin_and_end_within_words() -> None:
    dense = drawn(18, (60, 50))
    a = Matrix.from_dense(dense, missing_value=0, format="bitmap")
    plain = a.dup().convert("csr")
    for first, last in ((0, 5), (3, 4), (7, 60), (16, 32), (0, 60), (9, 9)):
        part = Matrix._new(resident_rows(a.store, first, last))
        assert part.isequal(Matrix._new(resident_rows(plain.store, first, last)))
    assert str(a).split("\n")[1:] == str(plain).split("\n")[1:]
    for one, other in zip(entries_between(a.store, 700, 733), entries_between(plain.store, 700, 733), strict=True):
        np.testing.assert_array_equal(one, other)


def test_elements() -> None:
    a = matrix(10, (40, 33))
    dense = drawn(10, (40, 33))
    rng = np.random.default_rng(11)
    for _ in range(50):
        i, j = int(rng.integers(40)), int(rng.integers(33))
        if rng.random() < 0.3:
            del a[i, j]
            dense[i, j] = 0
        else:
            a[i, j] = dense[i, j] = float(rng.integers(1, 9))
        assert a.get(i, j, 0.0) == dense[i, j]
    assert a.isequal(Matrix.from_dense(dense, missing_value=0))
    assert a.format == "bitmap"


def test_operators_of_positions() -> None:
    a = matrix(12)
    plain = a.dup().convert("csr")
    op = indexunary.register_anonymous(lambda x, i, j, k: x + 10 * i + j + k)
    made = a.apply(op, right=1.0).new()
    assert made.format == "bitmap"
    assert made.isequal(plain.apply(op, right=1.0).new())


def test_explain_shows_the_kernels_of_vectors() -> None:
    a = matrix(13)
    with sr.explain() as log:
        (a + a).new()
        a.mxm(a.T).new()
    text = str(log)
    assert "bits" in text
    assert "rows of bitmaps" in text


def test_damaged_files(tmp_path: Path) -> None:
    a = matrix(14)
    pattern = a.store.pattern
    assert isinstance(pattern, BitmapPattern)
    words = to_host(pattern.words)
    shape = (a.nrows, a.ncols)
    assert BitmapPattern.wrong_ends({"words": words}, a.nvals, None, shape) is None
    assert BitmapPattern.wrong_ends({"words": words}, a.nvals + 1, None, shape) is not None
    beyond = words.copy()
    beyond[-1] |= np.uint32(1 << 31)
    assert BitmapPattern.wrong_ends({"words": beyond}, a.nvals + 1, None, shape) is not None
    sr.io.write_srb(tmp_path / "a.srb", a)
    content = bytearray((tmp_path / "a.srb").read_bytes())
    content[content.index(b'"nvals": ') + 9] ^= 1
    (tmp_path / "b.srb").write_bytes(content)
    with pytest.raises(InvalidFormat):
        sr.io.open(tmp_path / "b.srb")


OTHERS = {
    "csr": lambda a: a.dup().convert("csr"),
    "ccsr": lambda a: a.compress("packed"),
    "hypersparse": lambda a: a.dup().convert("hypersparse"),
    "host": lambda a: a.dup().convert("csr").to(placement="host"),
    "bitmap in host memory": lambda a: a.to(placement="host"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_operands_of_other_formats(other: str) -> None:
    """Element-wise operations, masks and writes, beside NumPy."""
    x, y, m = drawn(15, (37, 35)), drawn(16, (37, 35), 0.3), drawn(17, (37, 35)) > 0
    a = Matrix.from_dense(x, missing_value=0, format="bitmap")
    b = OTHERS[other](Matrix.from_dense(y, missing_value=0))
    mask = OTHERS[other](Matrix.from_dense(m, missing_value=False))
    both = (x != 0) & (y != 0)

    def agrees(made: Matrix, expected: np.ndarray[Any, Any]) -> None:
        np.testing.assert_array_equal(to_host(made.to_dense(0)), expected)

    for left, right, sign in ((a, b, 1), (b, a, -1)):
        made = left.ewise_add(right, "minus").new()
        agrees(made, np.where(both, sign * (x - y), x + y))
        assert made.format == "bitmap"
        agrees(left.ewise_mult(right, "times").new(), x * y)
    agrees(a.dup(mask=mask.S), np.where(m, x, 0))
    c = a.dup()
    c(mask.V) << b
    agrees(c, np.where(m, y, x))
    c = b.dup()
    c(~mask.S, accum="plus") << a
    agrees(c, np.where(m, y, x + y))
    c = a.dup()
    c(mask.S, accum="times", replace=True) << b
    agrees(c, np.where(m, np.where(both, x * y, x + y), 0))
    agrees(a.mxm(b.T).new(), x @ y.T)
    agrees(b.mxm(a.T).new(), y @ x.T)
    u = Vector.from_dense(np.arange(35.0))
    np.testing.assert_array_equal(to_host(a.mxv(u).to_dense(0)), x @ np.arange(35.0))
    for made, expected in ((a.reduce_rowwise("plus"), x.sum(axis=1)), (a.reduce_columnwise("plus"), x.sum(axis=0))):
        np.testing.assert_array_equal(to_host(made.new().to_dense(0)), expected)
    assert a.reduce_scalar("plus").value == x.sum()
