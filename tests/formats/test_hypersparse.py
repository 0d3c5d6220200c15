"""Hypersparse matrices: every operation agrees with uncompressed rows; cost and memory depend on the entries."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, ops
from semiring.config import config
from semiring.exceptions import InvalidValue, NotSupported
from semiring.formats import CSR, HyperPattern, hypersparse, index_dtype
from semiring.memory.arrays import to_host
from semiring.operators import binary, indexunary, select
from tests import sampling
from tests.compare import check_invariants
from tests.formats.test_full import assert_alike

pytestmark = pytest.mark.one_process("formats, codecs and placements are of parts")

SHAPE = (9, 7)
EXHAUSTIVE = pytest.mark.exhaustive


@pytest.fixture
def listed_always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The rule selects the format for results of every shape."""
    monkeypatch.setattr(hypersparse, "FEWEST_ROWS", 0)
    with config.set(hyper_switch=1.0):
        yield


def drawn(seed: int, shape: tuple[int, int] = SHAPE, density: float = 0.2) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    rows, columns = np.nonzero((rng.random(shape) < density) & (rng.random(shape[0]) < 0.6)[:, None])
    return rows, columns, rng.integers(-4, 6, rows.size).astype(np.float64)


def matrix(seed: int, shape: tuple[int, int] = SHAPE, density: float = 0.4) -> Matrix:
    return Matrix.from_coo(*drawn(seed, shape, density), shape=shape).convert("hypersparse")


def one() -> Matrix:
    return matrix(1)


def iso() -> Matrix:
    rows, columns, _ = drawn(2, density=0.4)
    return Matrix.from_coo(rows, columns, 3.0, shape=SHAPE).convert("hypersparse")


def empty() -> Matrix:
    return Matrix(float, *SHAPE).convert("hypersparse")


def other(a: Matrix, seed: int = 3, shape: tuple[int, int] = SHAPE) -> Matrix:
    """Another matrix in the format of a."""
    return matrix(seed, shape).convert(a.format)


def written(c: Matrix, write: Callable[[Matrix], Any]) -> Matrix:
    write(c)
    return c


def vector(size: int, seed: int = 4) -> Vector:
    rng = np.random.default_rng(seed)
    indices = np.flatnonzero(rng.random(size) < 0.5)
    return Vector.from_coo(indices, rng.integers(-3, 5, indices.size).astype(np.float64), size=size)


def elements(c: Matrix) -> None:
    """Write, accumulate and delete single elements, which are applied together."""
    for k in range(7):
        c[k, k] << k
        c[8 - k, k](accum="plus") << 2.0
    del c[0, 1]
    del c[8, 6]


def square(a: Matrix) -> Matrix:
    return a[:7, :].new()


KINDS = {"values": one, "iso": iso, "empty": empty}
# Of a matrix A, which is hypersparse, or has the same entries as uncompressed rows.
OPERATIONS: dict[str, Callable[[Matrix], Any]] = {
    "transpose": lambda a: a.T.new(),
    "apply": lambda a: a.apply("ainv").new(),
    "apply rows": lambda a: a.apply("rowindex", right=3).new(),
    "apply columns": lambda a: a.apply("colindex").new(),
    "apply both": lambda a: a.apply("diagindex", right=1).new(),
    "cast": lambda a: a.dup(np.int32),
    "select tril": lambda a: a.select("tril", -1).new(),
    "select rows": lambda a: a.select("rowgt", 3).new(),
    "select columns": lambda a: a.select("colle", 3).new(),
    "select values": lambda a: a.select("valuegt", 0.0).new(),
    "reduce rows": lambda a: a.reduce_rowwise("plus").new(),
    "reduce columns": lambda a: a.reduce_columnwise("max").new(),
    "reduce": lambda a: a.reduce_scalar("min").get(0),
    "row": lambda a: a[2].new(),
    "rows one by one": lambda a: [a[i].new().nvals for i in range(SHAPE[0])],
    "column": lambda a: a[:, 3].new(),
    "slices": lambda a: a[1:6, ::2].new(),
    "backwards": lambda a: a[::-2, 5:1:-2].new(),
    "positions": lambda a: a[[3, 1, 3, 8], [0, 0, 5]].new(),
    "all columns": lambda a: a[[4, 2, 0]].new(),
    "elements": lambda a: [a.get(i, j, -100) for i in range(SHAPE[0]) for j in range(SHAPE[1])],
    "mxv": lambda a: a.mxv(vector(7)).new(),
    "mxv of all": lambda a: a.mxv(Vector.full(2.0, 7)).new(),
    "mxv by position": lambda a: a.mxv(vector(7), "min_firsti").new(),
    "mxv by inner position": lambda a: a.mxv(vector(7), "plus_secondi").new(),
    "mxv masked": lambda a: a.mxv(vector(7), mask=~vector(9, 6).S).new(),
    "mxv of the transpose": lambda a: a.T.mxv(vector(9), "min_plus").new(),
    "vxm": lambda a: vector(9).vxm(a, "min_plus").new(),
    "vxm by position": lambda a: vector(9).vxm(a, "max_secondj").new(),
    "vxm by inner position": lambda a: vector(9).vxm(a, "max_firstj").new(),
    "mxm": lambda a: a.mxm(other(a, 5, (7, 9))).new(),
    "mxm of the transpose": lambda a: a.mxm(other(a).T, "plus_pair").new(),
    "transpose mxm": lambda a: a.T.mxm(other(a), "min_plus").new(),
    "mxm masked": lambda a: a.mxm(a.T, mask=other(a, 6, (9, 9)).S).new(),
    "mxm under a complement": lambda a: a.mxm(a.T, mask=~other(a, 6, (9, 9)).V).new(),
    "mxm by row": lambda a: a.mxm(a.T, "plus_firsti").new(),
    "mxm by inner": lambda a: a.mxm(a.T, "plus_firstj").new(),
    "mxm by column": lambda a: a.mxm(a.T, "plus_secondj").new(),
    "mxm, counted": lambda a: a.mxm(a.T, "plus_pair").reduce_scalar().get(0),
    "mxm of uncompressed rows": lambda a: matrix(5, (4, 9)).convert("csr").mxm(a).new(),
    "mxm with uncompressed rows": lambda a: a.mxm(matrix(5, (7, 4)).convert("csr")).new(),
    "mxm with full rows": lambda a: a.mxm(Matrix.from_dense(np.arange(14.0).reshape(7, 2))).new(),
    "add": lambda a: a.ewise_add(other(a), "minus").new(),
    "mult": lambda a: a.ewise_mult(other(a), "minus").new(),
    "union": lambda a: a.ewise_union(other(a), "minus", 2.0, 5.0).new(),
    "mult by row": lambda a: a.ewise_mult(other(a), "firsti").new(),
    "add by row": lambda a: a.ewise_add(other(a), "secondi").new(),
    "union by row": lambda a: a.ewise_union(other(a), "firsti", 2.0, 5.0).new(),
    "add by column": lambda a: a.ewise_add(other(a), "firstj").new(),
    "add uncompressed rows": lambda a: a.ewise_add(other(a).convert("csr"), "minus").new(),
    "masked": lambda a: written(other(a), lambda c: c(a.S, replace=True) << c),
    "valued mask": lambda a: written(other(a), lambda c: c(a.V) << other(a, 8)),
    "complemented mask": lambda a: written(other(a), lambda c: c(~a.S) << other(a, 8)),
    "written under a mask": lambda a: written(other(a), lambda c: c(other(a, 8).V) << a),
    "accumulated": lambda a: written(other(a), lambda c: c(accum="plus") << a),
    "accumulated under a mask": lambda a: written(other(a), lambda c: c(~other(a, 8).S, "min") << a),
    "accumulated, replaced": lambda a: written(other(a), lambda c: c(other(a, 8).S, "times", replace=True) << a),
    "scalar assigned": lambda a: written(a.dup(), lambda c: c.__setitem__((slice(1, 3), 2), 7.0)),
    "element assigned": lambda a: written(a.dup(), lambda c: c.__setitem__((8, 6), 7.0)),
    "elements written": lambda a: written(a.dup(), elements),
    "element deleted": lambda a: written(a.dup(), lambda c: c.__delitem__((slice(0, 9, 2), [1, 2]))),
    "row assigned": lambda a: written(a.dup(), lambda c: c[4, :] << vector(7)),
    "column assigned": lambda a: written(a.dup(), lambda c: c[::-1, 4](accum="plus") << vector(9)),
    "assigned to": lambda a: written(a.dup(), lambda c: c[[7, 1, 4], ::-1] << other(a, 8, (3, 7))),
    "assigned": lambda a: written(other(a, 7, (12, 12)), lambda c: c[1:10, 2:9] << a),
    "assigned under a mask": lambda a: written(
        other(a, 7, (12, 12)), lambda c: c[1:10, 2:9](other(a, 8).S, replace=True) << a
    ),
    "scalar under its own mask": lambda a: written(a.dup(), lambda c: c(a.S) << 4.0),
    "kronecker": lambda a: a.kronecker(other(a, 6, (3, 2)), "plus").new(),
    "kronecker by position": lambda a: a.kronecker(other(a, 6, (3, 2)), "secondi").new(),
    "permute": lambda a: a.permute([4, 2, 0, 1, 3, 8, 6, 7, 5], [6, 5, 4, 3, 2, 1, 0]).new(),
    "resize": lambda a: written(a.dup(), lambda c: c.resize(6, 4)),
    "larger": lambda a: written(a.dup(), lambda c: c.resize(20, 30)),
    "diagonal": lambda a: a.diag(1),
    "diagonal set": lambda a: written(a.dup(), lambda c: c.setdiag(vector(7), 0)),
    "clear": lambda a: written(a.dup(), lambda c: c.clear()),
    "power": lambda a: square(a).power(3).new(),
    "closure": lambda a: ops.closure(Vector.from_coo([0], [0.0], size=7), square(a).apply("abs").new(), "min_plus"),
    "parents": lambda a: ops.closure(vector(7).apply("abs").new(), square(a), "min_secondi"),
    "parents against the edges": lambda a: ops.closure(vector(7).apply("abs").new(), square(a).T, "max_firstj"),
    "levels from many": lambda a: ops.closure_many([0, 3], square(a)).levels,
    "components": lambda a: ops.link(ops.singletons(vector(7)), square(a)),
    "compress": lambda a: a.compress("packed").decompress(),
    "csr": lambda a: [to_host(part) for part in a.to_csr()],
    "coo": lambda a: [to_host(part) for part in a.to_coo()],
    "csc": lambda a: [to_host(part) for part in a.to_csc()],
    "dcsr": lambda a: [to_host(part) for part in a.to_dcsr()],
    "dcsc": lambda a: [to_host(part) for part in a.to_dcsc()],
    "dense": lambda a: to_host(a.to_dense(0)),
    "dictionaries": lambda a: str(a.to_dicts()),
    "pickle": lambda a: pickle.loads(pickle.dumps(a)),
    "text": lambda a: str(a).split("\n")[1:],
    "symmetric": lambda a: (square(a).is_symmetric_structure, (square(a) + square(a).T).new().is_symmetric_structure),
    "in host memory": lambda a: a.to(placement="host").ewise_add(other(a), "plus").new(),
}


def sampled(operations: Any, count: int) -> list[Any]:
    """The names of operations, of which so many are in the short tier."""
    drawn = sampling.draw(f"hypersparse {len(operations)}", operations, count)
    return [pytest.param(name, marks=sampling.marks(name, drawn)) for name in operations]


SAMPLE = sampled(OPERATIONS, 40)


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["values", *(pytest.param(kind, marks=EXHAUSTIVE) for kind in ("iso", "empty"))])
@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.usefixtures("listed_always")
def test_operations_agree_with_uncompressed_rows(name: str, kind: str) -> None:
    a = KINDS[kind]()
    assert a.format == "hypersparse"
    plain = a.dup().convert("csr")
    before = a.dup()
    with config.set(hyper_switch=0.0):
        expected = OPERATIONS[name](plain)
    made = OPERATIONS[name](a)
    assert_alike(made, expected)
    assert a.isequal(before)
    assert a.format == "hypersparse"
    if isinstance(made, Matrix) and made.format == "hypersparse":
        check_listed(made)


def check_listed(a: Matrix) -> None:
    """The invariants of the format: every listed row has entries, in ascending columns."""
    pattern = a.store.pattern
    assert isinstance(pattern, HyperPattern)
    rows, offsets = to_host(pattern.rows), to_host(pattern.offsets)
    assert rows.dtype == index_dtype(a.nrows)
    assert hypersparse.wrong_list(rows, a.nrows) is None
    assert (np.diff(offsets) > 0).all()
    check_invariants(CSR(pattern.inner, a.dtype, a.store.values, a.store.iso))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("listed_always")
def test_the_format_is_kept_by_the_rule_and_by_request(kind: str, tmp_path: Path) -> None:
    a = KINDS[kind]()
    for made in (a.T.new(), a.apply("abs").new(), a.mxm(a.T).new(), (a + a).new(), a[1:5].new(), a.dup(np.int8)):
        assert made.format == "hypersparse"
        check_listed(made)
    assert "hypersparse on" in repr(a)
    with config.set(hyper_switch=0.0):
        assert (a + a).new().format == "csr"
        assert a.apply("abs").new().format == a.dup().format == "hypersparse"
        assert pickle.loads(pickle.dumps(a)).format == "hypersparse"
        sr.io.write_srb(tmp_path / "a.srb", a)
        for read in (sr.io.open(tmp_path / "a.srb"), sr.io.read_srb(tmp_path / "a.srb")):
            assert read.format == "hypersparse"
            assert read.isequal(a, check_dtype=True)
        assert sr.io.open(tmp_path / "a.srb", compress="varint").format == "ccsr"
        assert a.convert("csr").format == "csr"
        assert a.convert("hypersparse").format == "hypersparse"
    with pytest.raises(InvalidValue, match="'csr', 'full', 'bitmap' or 'hypersparse'"):
        a.convert("dense")
    with pytest.raises(InvalidValue, match="from 0 to 1"):
        config.set(hyper_switch=2)


@pytest.mark.costly
@pytest.mark.usefixtures("listed_always")
def test_operators_of_values_and_positions() -> None:
    a, plain = one(), one().convert("csr")
    with_thunk = indexunary.register_anonymous(lambda x, i, k: x * 2 + i + k)
    everything = indexunary.register_anonymous(lambda x, i, j, k: x + i + j + k)
    without_thunk = indexunary.register_anonymous(lambda x, i, j: x * i - j)
    for op, right in ((with_thunk, 4.0), (without_thunk, 0.0)):
        assert a.apply(op, right=right).new().isequal(plain.apply(op, right=right).new())
    for text in ("x <= i * k", "x > i - j", "x * k > 3", "i + k > 4"):
        for thunk in (-1, 1, 2):
            condition = select.register_anonymous(text)
            expected = plain.select(condition, thunk).new()
            assert a.select(condition, thunk).new().isequal(expected)
            assert a.T.new().select(condition, thunk).new().isequal(plain.T.new().select(condition, thunk).new())
    with pytest.raises(NotSupported, match="convert"):
        a.apply(everything, right=1.0).new()
    both = binary.register_anonymous(lambda x, y, xi: x * y + xi)
    with pytest.raises(NotSupported, match="convert"):
        a.ewise_mult(a, both).new()
