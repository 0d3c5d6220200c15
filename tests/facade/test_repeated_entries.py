"""``dup_op="mean"``, ``"first"`` and ``"last"`` of every constructor and reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.exceptions import InvalidValue
from semiring.memory.arrays import to_host

ROWS, COLS, VALUES = [1, 0, 1, 1, 0], [0, 2, 0, 0, 1], [5, 6, 8, 6, 1]
EXPECTED = {"mean": 19 / 3, "first": 5, "last": 6, "plus": 19}
INDPTR, INDICES, SORTED = [0, 2, 5], [2, 1, 0, 0, 0], [6, 1, 5, 8, 6]


def _written(folder: Path, name: str, content: str, **options: Any) -> Callable[[str], Matrix]:
    (folder / name).write_text(content)
    return lambda dup: sr.io.read(folder / name, dup_op=dup, **options)


def constructors(folder: Path) -> dict[str, Callable[[str], Matrix]]:
    lines = [f"{i} {j} {x}\n" for i, j, x in zip(ROWS, COLS, VALUES, strict=True)]
    market = "%%MatrixMarket matrix coordinate integer general\n2 3 5\n"
    market += "".join(f"{i + 1} {j + 1} {x}\n" for i, j, x in zip(ROWS, COLS, VALUES, strict=True))
    arcs = "p sp 3 5\n" + "".join(f"a {i + 1} {j + 1} {x}\n" for i, j, x in zip(ROWS, COLS, VALUES, strict=True))
    table = {"s": ROWS, "t": COLS, "w": VALUES}
    return {
        "from_coo": lambda dup: Matrix.from_coo(ROWS, COLS, VALUES, dup_op=dup),
        "from_csr": lambda dup: Matrix.from_csr(INDPTR, INDICES, SORTED, dup_op=dup),
        "from_csc": lambda dup: Matrix.from_csc(INDPTR, INDICES, SORTED, dup_op=dup).T.new(),
        "from_dcsr": lambda dup: Matrix.from_dcsr([0, 1], INDPTR, INDICES, SORTED, dup_op=dup),
        "from_dcsc": lambda dup: Matrix.from_dcsc([0, 1], INDPTR, INDICES, SORTED, dup_op=dup).T.new(),
        "from_edgelist": lambda dup: Matrix.from_edgelist(table, dup_op=dup),
        "build": lambda dup: Matrix(float, 2, 3).build(ROWS, COLS, VALUES, dup_op=dup),
        "text": _written(folder, "a.txt", "".join(lines)),
        "csv": _written(folder, "a.csv", "s,t,w\n" + "".join(lines).replace(" ", ",")),
        "mtx": _written(folder, "a.mtx", market),
        "gr": _written(folder, "a.gr", arcs),
    }


@pytest.mark.parametrize("dup", EXPECTED)
def test_repeated_entries_of_matrices(tmp_path: Path, dup: str) -> None:
    for name, make in constructors(tmp_path).items():
        A = make(dup)
        assert A[1, 0].value == pytest.approx(EXPECTED[dup]), name
        assert A[0, 2].value == 6, name
        assert A.nvals == 3, name
        if name != "build":
            assert A.dtype == (np.float64 if dup == "mean" else np.int64), name


@pytest.mark.parametrize("dup", EXPECTED)
def test_repeated_entries_of_vectors(dup: str) -> None:
    for v in (
        Vector.from_coo([3, 0, 3, 3], [5, 1, 8, 6], dup_op=dup),
        Vector.from_pairs([(3, 5), (0, 1), (3, 8), (3, 6)], dup_op=dup),
        Vector(float, 4).build([3, 0, 3, 3], [5, 1, 8, 6], dup_op=dup),
    ):
        assert v.to_dict() == {0: 1, 3: pytest.approx(EXPECTED[dup])}


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([1, 2], None, np.float64(1.5)),
        ([1, 2], "int8", np.float64(1.5)),
        ([True, False], None, np.float64(0.5)),
        (7, None, np.float64(7)),
        (None, None, np.float64(1)),
        ([1.0, 2.0], "float32", np.float32(1.5)),
        ([1j, 2], None, np.complex128(1 + 0.5j)),
        ([np.nan, 2.0], None, np.float64(np.nan)),
        ([2**63, 2**63 + 2**40], "uint64", np.float64(2**63 + 2**39)),
    ],
)
def test_the_type_of_a_mean(values: Any, dtype: Any, expected: Any) -> None:
    for made in (
        Matrix.from_coo([0, 0], [0, 0], values, dtype, dup_op="mean"),
        Vector.from_coo([0, 0], values, dtype, dup_op="mean"),
    ):
        assert made.dtype == expected.dtype
        assert np.array_equal(to_host(made.to_coo()[-1]), [expected], equal_nan=True)


def test_integers_hold_no_mean() -> None:
    A, v = Matrix(int, 2, 2), Vector(int, 2)
    with pytest.raises(InvalidValue, match='floating-point type for dup_op="mean", got int64'):
        A.build([0, 0], [1, 1], [1, 2], dup_op="mean")
    with pytest.raises(InvalidValue, match='floating-point type for dup_op="mean", got int64'):
        v.build([0, 0], [1, 2], dup_op="mean")
    assert (A.nvals, v.nvals) == (0, 0)
