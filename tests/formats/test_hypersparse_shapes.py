"""Hypersparse matrices of very many rows and columns: cost and memory depend on the entries, whatever the shape."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, algorithms, ops
from semiring.config import config
from semiring.engines.shared.order import random_keys
from semiring.exceptions import DuplicateIndex, InvalidFormat, InvalidValue, OutOfMemory
from semiring.formats import hypersparse
from semiring.memory.arrays import to_host
from tests.facade.test_wide import entries, measured
from tests.formats.test_hypersparse import sampled, written

pytestmark = pytest.mark.one_process("formats, codecs and placements are of parts")

EXHAUSTIVE = pytest.mark.exhaustive


# Rows and columns beyond every array: 32-bit and 64-bit numbers.
SIZES = (10**9, pytest.param(1 << 60, marks=EXHAUSTIVE))
MOST_BYTES = 1 << 20


def huge(n: int, shift: int = 0) -> Matrix:
    rows, columns = [5, n - 1, 5, n // 2], [n - 1, 3, 0, n // 2]
    return Matrix.from_coo(rows, columns, [1.0 + shift, 2.0, 3.0, 4.0], nrows=n, ncols=n)


def spots(n: int, *places: int) -> Vector:
    return Vector.from_coo(list(places), [10.0] * len(places), size=n)


def elements(c: Matrix) -> None:
    """Write, accumulate and delete single elements, which are applied together."""
    n = c.nrows
    c[n - 2, 1] << 7.0
    c[n - 1, 3](accum="plus") << 7.0
    del c[5, 0]


def drawn(n: int, seed: int) -> dict[Any, float]:
    """The entry of the smallest key in each row of `huge`."""
    found = entries(huge(n))
    keys = {at: int(random_keys(seed, *(np.array([number]) for number in at))[0]) for at in found}
    return {at: x for at, x in found.items() if keys[at] == min(keys[other] for other in found if other[0] == at[0])}


HUGE: dict[str, tuple[Callable[[int], Any], Callable[[int], dict[Any, float]]]] = {
    "built": (huge, lambda n: {(5, n - 1): 1.0, (n - 1, 3): 2.0, (5, 0): 3.0, (n // 2, n // 2): 4.0}),
    "built with repeats": (
        lambda n: Matrix.from_coo([n - 1, 4, n - 1], [7, n - 1, 7], [1.0, 2.0, 4.0], shape=(n, n), dup_op="plus"),
        lambda n: {(n - 1, 7): 5.0, (4, n - 1): 2.0},
    ),
    "transpose": (
        lambda n: huge(n).T.new(),
        lambda n: {(n - 1, 5): 1.0, (3, n - 1): 2.0, (0, 5): 3.0, (n // 2, n // 2): 4.0},
    ),
    "running sums": (
        lambda n: huge(n).scan("plus"),
        lambda n: {(5, 0): 3.0, (5, n - 1): 4.0, (n - 1, 3): 2.0, (n // 2, n // 2): 4.0},
    ),
    "sorted rows": (
        lambda n: huge(n).sort()[0],
        lambda n: {(5, 0): 1.0, (5, 1): 3.0, (n - 1, 0): 2.0, (n // 2, 0): 4.0},
    ),
    "largest of each row": (
        lambda n: huge(n).selectk("largest", 1),
        lambda n: {(5, 0): 3.0, (n - 1, 3): 2.0, (n // 2, n // 2): 4.0},
    ),
    "random of each row": (lambda n: huge(n).selectk("random", 1, seed=3), lambda n: drawn(n, 3)),
    "side by side": (
        lambda n: sr.hstack([huge(n), huge(n, 6)]),
        lambda n: {
            **entries(huge(n)),
            **{(i, n + j): x for (i, j), x in entries(huge(n, 6)).items()},
        },
    ),
    "tiles": (
        lambda n: sr.concat([[None, huge(n)], [Matrix.from_coo([3], [1], [9.0], shape=(7, 4)), None]]),
        lambda n: {(n + 3, 1): 9.0, **{(i, j + 4): x for (i, j), x in entries(huge(n)).items()}},
    ),
    "moved": (
        lambda n: huge(n).reposition(-5, -3),
        lambda n: {(0, n - 4): 1.0, (n - 6, 0): 2.0, (n // 2 - 5, n // 2 - 3): 4.0},
    ),
    "reshaped": (
        lambda n: Matrix.from_coo([5, n // 2 - 1, 5], [3, 0, 2], [1.0, 2.0, 3.0], shape=(n // 2, 4)).reshape(n, 2),
        lambda n: {(11, 1): 1.0, (n - 2, 0): 2.0, (11, 0): 3.0},
    ),
    "a vector as a matrix": (
        lambda n: spots(n, 5, n - 1).reshape(n // 2, 2),
        lambda n: {(2, 1): 10.0, (n // 2 - 1, 1): 10.0},
    ),
    "product": (lambda n: huge(n) @ huge(n), lambda n: {(5, 3): 2.0, (n // 2, n // 2): 16.0}),
    "product with the transpose": (
        lambda n: huge(n).mxm(huge(n).T, "plus_firsti"),
        lambda n: {(5, 5): 10, (n - 1, n - 1): n - 1, (n // 2, n // 2): n // 2},
    ),
    "product under a mask": (
        lambda n: huge(n).mxm(huge(n), mask=~Matrix.from_coo([5], [3], True, shape=(n, n)).S),
        lambda n: {(n // 2, n // 2): 16.0},
    ),
    "sum": (
        lambda n: huge(n) + huge(n, 6),
        lambda n: {(5, n - 1): 8.0, (n - 1, 3): 4.0, (5, 0): 6.0, (n // 2, n // 2): 8.0},
    ),
    "select": (lambda n: huge(n).select("triu", 1), lambda n: {(5, n - 1): 1.0}),
    "rows": (
        lambda n: huge(n).apply("rowindex"),
        lambda n: {(5, n - 1): 5, (n - 1, 3): n - 1, (5, 0): 5, (n // 2, n // 2): n // 2},
    ),
    "matrix times vector": (lambda n: huge(n) @ spots(n, 3, 0, 9), lambda n: {5: 30.0, n - 1: 20.0}),
    "vector times matrix": (lambda n: spots(n, 5, 8) @ huge(n), lambda n: {0: 30.0, n - 1: 10.0}),
    "reduce rows": (lambda n: huge(n).reduce_rowwise(), lambda n: {5: 4.0, n // 2: 4.0, n - 1: 2.0}),
    "reduce columns": (lambda n: huge(n).reduce_columnwise(), lambda n: {0: 3.0, 3: 2.0, n // 2: 4.0, n - 1: 1.0}),
    "a row": (lambda n: huge(n)[5], lambda n: {0: 3.0, n - 1: 1.0}),
    "a column": (lambda n: huge(n)[:, 3], lambda n: {n - 1: 2.0}),
    "a range": (lambda n: huge(n)[n // 2 :, : n // 2 + 1], lambda n: {(0, n // 2): 4.0, (n - 1 - n // 2, 3): 2.0}),
    "backwards": (
        lambda n: huge(n)[::-1, ::-1],
        lambda n: {(n - 6, 0): 1.0, (0, n - 4): 2.0, (n - 6, n - 1): 3.0, (n - 1 - n // 2, n - 1 - n // 2): 4.0},
    ),
    "picked": (lambda n: huge(n)[[n - 1, 5], [0, 3]], lambda n: {(0, 1): 2.0, (1, 0): 3.0}),
    "assigned": (
        lambda n: written(
            huge(n), lambda c: c[[n - 1, 7], [3, n - 2]] << Matrix.from_coo([1], [1], [9.0], shape=(2, 2))
        ),
        lambda n: {(5, n - 1): 1.0, (5, 0): 3.0, (n // 2, n // 2): 4.0, (7, n - 2): 9.0},
    ),
    "element assigned": (
        lambda n: written(Matrix(float, n, n), lambda c: c.__setitem__((n - 2, 1), 7.0)),
        lambda n: {(n - 2, 1): 7.0},
    ),
    "elements written": (
        lambda n: written(huge(n), elements),
        lambda n: {(5, n - 1): 1.0, (n - 1, 3): 9.0, (n // 2, n // 2): 4.0, (n - 2, 1): 7.0},
    ),
    "row assigned": (
        lambda n: written(huge(n), lambda c: c[5, :] << spots(n, 1)),
        lambda n: {(5, 1): 10.0, (n - 1, 3): 2.0, (n // 2, n // 2): 4.0},
    ),
    "column assigned": (
        lambda n: written(huge(n), lambda c: c[:, 3] << spots(n, 1)),
        lambda n: {(1, 3): 10.0, (5, 0): 3.0, (5, n - 1): 1.0, (n // 2, n // 2): 4.0},
    ),
    "accumulated under a mask": (
        lambda n: written(huge(n), lambda c: c(huge(n).select("valuegt", 2.0).new().S, "plus") << huge(n)),
        lambda n: {(5, n - 1): 1.0, (n - 1, 3): 2.0, (5, 0): 6.0, (n // 2, n // 2): 8.0},
    ),
    "kronecker": (
        lambda n: huge(1 << 30).kronecker(Matrix.from_coo([1 << 29], [0], [2.0], shape=(1 << 30, 1 << 30))),
        lambda n: {(r * 2**30 + 2**29, c * 2**30): 2 * x for (r, c), x in entries(huge(1 << 30)).items()},
    ),
    "levels": (
        lambda n: ops.closure(Vector.from_coo([5], [0], size=n), huge(n), "min_plus", weight=1),
        lambda n: {5: 0, 0: 1, n - 1: 1, 3: 2},
    ),
    "levels from a row number": (
        lambda n: algorithms.bfs_levels(huge(n), 5),
        lambda n: {5: 0, 0: 1, n - 1: 1, 3: 2},
    ),
    "parents": (
        lambda n: ops.closure(Vector.from_coo([5], [5], size=n), huge(n), "any_secondi"),
        lambda n: {5: 5, 0: 5, n - 1: 5, 3: n - 1},
    ),
    "diagonal": (lambda n: huge(n).diag(), lambda n: {n // 2: 4.0}),
    "diagonal matrix": (lambda n: spots(n, 4, n - 1).diag(), lambda n: {(4, 4): 10.0, (n - 1, n - 1): 10.0}),
    "smaller": (lambda n: written(huge(n), lambda c: c.resize(6, 6)), lambda n: {(5, 0): 3.0}),
    "larger": (
        lambda n: written(Matrix.from_coo([2], [1], [3.0], shape=(3, 3)), lambda c: c.resize(n, n)),
        lambda n: {(2, 1): 3.0},
    ),
    "wide, transposed": (
        lambda n: Matrix.from_coo([2], [n - 1], [3.0], shape=(3, n)).T.new(),
        lambda n: {(n - 1, 2): 3.0},
    ),
    "lists": (
        lambda n: Matrix.from_dcsr(*huge(n).to_dcsr(), shape=(n, n)),
        lambda n: entries(huge(n)),
    ),
    "pickled": (lambda n: pickle.loads(pickle.dumps(huge(n))), lambda n: entries(huge(n))),
}


@pytest.mark.costly
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", sampled(HUGE, 20))
def test_cost_depends_on_the_entries(name: str, n: int, engine: str) -> None:
    if engine == "reference":
        pytest.skip("the specification is dense")
    operation, expected = HUGE[name]
    found = entries(operation(n))  # kernels are compiled, which allocates more
    _, most = measured(lambda: operation(n).nvals, engine)
    assert found == expected(n)
    assert most < MOST_BYTES


def test_scalars_and_comparison(engine: str, tmp_path: Path) -> None:
    if engine == "reference":
        pytest.skip("the specification is dense")
    n = 10**9
    a = huge(n)
    assert a.format == "hypersparse"
    assert a.nbytes < 200
    assert a.reduce_scalar().get() == 10.0
    assert a.get(n - 1, 3) == 2.0
    assert a.get(n - 1, 4) is None
    assert (n - 2, 3) not in a
    assert a.isequal(huge(n))
    assert not a.isequal(huge(n, 1))
    assert not a.is_symmetric_structure
    assert (a + a.T).new().is_symmetric_structure
    assert a.T.new().T.new().isequal(a)
    assert "hypersparse" in repr(a)
    a.clear()
    assert (a.nvals, a.format) == (0, "hypersparse")
    a = huge(n)
    sr.io.save_npz(tmp_path / "a.npz", a)
    assert sr.io.load_npz(tmp_path / "a.npz").isequal(a)
    sr.io.write_srb(tmp_path / "a.srb", a)
    assert sr.io.open(tmp_path / "a.srb").isequal(a)
    with sr.explain() as log:
        (a @ a).new()
    assert log[-1].details["kernel"] == "listed rows"
    assert log[-1].details["format"] == "hypersparse"
    for refused in (lambda: Matrix(float, 1 << 60, 1 << 60).convert("csr"), lambda: huge(1 << 60).to_csr()):
        with pytest.raises(OutOfMemory):
            refused()


@pytest.mark.parametrize("n", [10**9, 1 << 60])
def test_iteration_visits_the_listed_rows_alone(n: int) -> None:
    A = huge(n)
    assert list(A.items()) == [((5, 0), 3.0), ((5, n - 1), 1.0), ((n // 2, n // 2), 4.0), ((n - 1, 3), 2.0)]
    rows = {5: {0: 3.0, n - 1: 1.0}, n // 2: {n // 2: 4.0}, n - 1: {3: 2.0}}
    assert {i: w.to_dict() for i, w in A.iter_rows()} == rows
    columns = {0: {5: 3.0}, 3: {n - 1: 2.0}, n // 2: {n // 2: 4.0}, n - 1: {5: 1.0}}
    assert {j: w.to_dict() for j, w in A.iter_columns()} == columns


def test_the_rule() -> None:
    n = hypersparse.FEWEST_ROWS
    assert Matrix(float, n, 3).format == "hypersparse"
    assert Matrix(float, n - 1, 3).format == "csr"
    rows = np.arange(n // 32)
    many = Matrix.from_coo(rows, rows % 3, 1.0, shape=(n, 3))
    assert many.format == "csr"
    few = many.select("rowle", 5).new()
    assert few.format == "csr"  # a result of uncompressed rows
    assert few.convert("hypersparse").format == "hypersparse"
    assert (few + many).new().format == "csr"
    assert (few + few).new().format == "hypersparse"
    assert (
        few.ewise_add(Matrix.from_coo(rows, rows * 0, 1.0, shape=(n, 3)).convert("hypersparse")).new().format == "csr"
    )
    with config.set(hyper_switch=0.0):
        assert Matrix(float, n, 3).format == "csr"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([3, 2], [0, 1, 2], [0, 0]), InvalidFormat, r"rows\[0\] = 3 and rows\[1\] = 2"),
        (([3, 3], [0, 1, 2], [0, 0]), InvalidFormat, "without repeats"),
        (([3, 10**9], [0, 1, 2], [0, 0]), InvalidFormat, r"rows\[1\] = 1000000000"),
        (([-1, 5], [0, 1, 2], [0, 0]), InvalidFormat, r"rows\[0\] = -1"),
        (([3, 5], [0, 2], [0, 0]), InvalidFormat, "indptr must have 3 elements"),
        (([3, 5], [0, 2, 1], [0, 0]), InvalidFormat, r"indptr\[2\] is 1"),
        (([3, 5], [1, 2, 2], [0, 0]), InvalidFormat, r"indptr\[0\] is 1"),
        (([3, 5], [0, 1, 2], [0, 4]), InvalidFormat, r"indices\[1\] is 4"),
        (([3, 5], [0, 0, 2], [1, 1]), DuplicateIndex, "more than once"),
        (([3.5, 5], [0, 1, 2], [0, 0]), InvalidValue, "compressed_rows must hold integers"),
        (([3, 5], [0, 1, 2], [0, 0], [1.0]), InvalidValue, "values must hold 2"),
    ],
)
def test_wrong_lists_are_refused(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Matrix.from_dcsr(*arguments, shape=(10**9, 4))


def test_lists_of_rows_and_columns() -> None:
    a = Matrix.from_dcsr([2, 5, 10**8], [0, 2, 2, 3], [3, 1, 0], [1.0, 2.0, 3.0])
    assert a.shape == (10**8 + 1, 4)
    assert entries(a) == {(2, 3): 1.0, (2, 1): 2.0, (10**8, 0): 3.0}
    assert [to_host(part).tolist() for part in a.to_dcsr()] == [[2, 10**8], [0, 2, 3], [1, 3, 0], [2.0, 1.0, 3.0]]
    b = Matrix.from_dcsc([2, 10**8], [0, 1, 3], [4, 0, 9], 7, int, nrows=10)
    assert b.shape == (10, 10**8 + 1)
    assert entries(b) == {(4, 2): 7, (0, 10**8): 7, (9, 10**8): 7}
    assert b.to_dcsc(index_dtype=None, device="cpu")[0].tolist() == [2, 10**8]
    assert Matrix.from_dcsr([], [0], []).shape == (0, 0)
    assert entries(Matrix.from_dcsr([1], [0, 2], [0, 0], [1.0, 2.0], shape=(10**9, 1), dup_op="max")) == {(1, 0): 2.0}
    with pytest.raises(DuplicateIndex, match=r"\(999999999, 7\)"):
        Matrix.from_coo([10**9 - 1, 4, 10**9 - 1], [7, 5, 7], 1.0)
