"""The same calls of `semiring.compat.graphblas` and of python-graphblas: numbers, accumulators, masks, NaN, files.

The engine is the specification, which compiles nothing: the rules are those of types, not of kernels.
"""

from __future__ import annotations

import importlib
import io
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
import semiring.compat.graphblas as ours

pytestmark = [pytest.mark.oracle, pytest.mark.one_process("python-graphblas has one process")]
pytest.importorskip("graphblas", reason="python-graphblas is not installed")

TYPES = ("BOOL", "INT8", "INT32", "INT64", "UINT8", "UINT64", "FP32")
NUMBERS: list[Any] = [4, -1, 300, 2**40, 2.5, True, np.int8(4), np.float32(2.5)]


@pytest.fixture(scope="module")
def theirs() -> Any:
    found = importlib.import_module("graphblas")
    found.init("suitesparse", blocking=True)
    return found


@pytest.fixture(autouse=True)
def specification() -> Iterator[None]:
    with sr.use("reference"):
        yield


def seen(x: Any) -> Any:
    """The type and entries of an object of either library."""
    x = x.new() if hasattr(x, "new") and not hasattr(type(x), "dup") else x
    if hasattr(x, "to_coo"):
        entries = zip(*(np.asarray(part).tolist() for part in x.to_coo()), strict=True)
        return str(x.dtype.name), x.shape, sorted(entries, key=lambda entry: entry[:-1])
    return (str(x.dtype.name), x.value) if hasattr(x, "is_empty") else x


def same(theirs: Any, call: Callable[[Any], Any], what: Any = "") -> None:
    assert seen(call(ours)) == seen(call(theirs)), what


def vector(gb: Any, dtype: str, values: Any = (1, 0, 1)) -> Any:
    return gb.Vector.from_coo(range(len(values)), values, dtype, size=len(values) + 1)


@pytest.mark.parametrize("dtype", TYPES)
def test_a_python_number_has_a_type_of_its_own(theirs: Any, dtype: str) -> None:
    for k in NUMBERS:
        same(theirs, lambda gb: vector(gb, dtype) * k, k)  # noqa: B023
        same(theirs, lambda gb: gb.binary.times(k, vector(gb, dtype)), k)  # noqa: B023
        same(theirs, lambda gb: vector(gb, dtype).apply(gb.binary.plus, k), k)  # noqa: B023
        same(theirs, lambda gb: vector(gb, dtype) == k, k)  # noqa: B023
        same(
            theirs,
            lambda gb: vector(gb, dtype).ewise_union(vector(gb, dtype, (1, 1, 0, 1))[:4].new(), "plus", k, k),  # noqa: B023
            k,
        )
        same(theirs, lambda gb: gb.Scalar.from_value(1, dtype) * k, k)  # noqa: B023
    same(theirs, lambda gb: 7 // vector(gb, dtype, (1, 1)))
    same(theirs, lambda gb: vector(gb, "FP32", (0.1, 0.2)) > 0.1)
    same(theirs, lambda gb: gb.select.valuegt(vector(gb, "FP32", (0.1, 0.2)), 0.1))
    same(theirs, lambda gb: vector(gb, "INT32", (2**30,)) * 4)


@pytest.mark.parametrize("dtype", TYPES)
def test_an_accumulator_computes_in_the_type_of_the_target(theirs: Any, dtype: str) -> None:
    start = 1 if dtype[0] in "UB" else -7

    def call(gb: Any, write: Callable[[Any, Any], Any]) -> Any:
        v = vector(gb, dtype, (start, start))
        write(v, gb)
        return v

    for name in ("plus", "times", "max", "second", "first"):
        for k in (2.7, -2.7, 4, -1, 300, True, np.float64(2.7)):
            writes: list[Callable[[Any, Any], Any]] = [
                lambda v, gb: v(getattr(gb.binary, name)) << k,  # noqa: B023
                lambda v, gb: v[0](getattr(gb.binary, name)) << k,  # noqa: B023
                lambda v, gb: v(getattr(gb.binary, name))[1:] << k,  # noqa: B023
                lambda v, gb: v(v.V, getattr(gb.binary, name)) << k,  # noqa: B023
                lambda v, gb: v(getattr(gb.binary, name)) << vector(gb, "FP64", (k, k)),  # noqa: B023
            ]
            for write in writes:
                same(theirs, lambda gb: call(gb, write), (name, k))  # noqa: B023

            def element(gb: Any) -> Any:
                A = gb.Matrix.from_coo([0, 1], [0, 1], [1, 1], dtype)
                A(getattr(gb.binary, name))[0, 0] << k  # noqa: B023
                A(getattr(gb.binary, name))[1, :] << k  # noqa: B023
                return A

            def scalar(gb: Any) -> Any:
                s = gb.Scalar.from_value(1, dtype)
                s(getattr(gb.binary, name)) << k  # noqa: B023
                return s

            same(theirs, element, (name, k))
            same(theirs, scalar, (name, k))


def test_a_kept_mask_sees_later_writes(theirs: Any) -> None:
    def masked(gb: Any, of: Callable[[Any], Any], change: Callable[[Any], Any]) -> Any:
        v = gb.Vector.from_coo([0, 2], [1, 0], size=4)
        mask = of(v)
        change(v)
        return gb.Vector.from_scalar(1, v.size).dup(mask=mask)

    changes: list[Callable[[Any], Any]] = [
        lambda v: v.__setitem__(1, 5),
        lambda v: v.__delitem__(0),
        lambda v: v << v.apply("one"),
        lambda v: v.resize(3),
        lambda v: v.clear(),
    ]
    kinds = (lambda v: v.S, lambda v: v.V, lambda v: ~v.S, lambda v: ~v.V, lambda v: ~~v.S)
    for change in changes:
        for of in kinds:
            same(theirs, lambda gb: masked(gb, of, change))  # noqa: B023
    same(theirs, lambda gb: masked(gb, lambda v: v.S & v.V, changes[0]))

    def levels(gb: Any) -> Any:
        A = gb.Matrix.from_coo([0, 0, 1, 2, 3], [1, 2, 3, 3, 0], True, nrows=4, ncols=4)
        level, frontier, depth = gb.Vector(int, 4), gb.Vector.from_coo([0], True, size=4), 0
        todo = ~level.S
        while frontier.nvals and depth < 9:
            level(frontier.S) << depth
            frontier(todo, replace=True) << gb.semiring.lor_land(frontier @ A)
            depth += 1
        return level

    same(theirs, levels)


def test_masks_make_objects(theirs: Any) -> None:
    for dtype in (bool, int):
        for size, make in ((3, lambda gb, at, x: gb.Vector.from_coo(at, x, size=3)), (9, _matrix)):
            for first in range(4):
                for second in range(4):

                    def masks(gb: Any) -> list[Any]:
                        x, y = make(gb, [0, 2], [1, 0]), make(gb, [1, 2], [0, 7])  # noqa: B023
                        return [of for x in (x, y) for of in (x.S, x.V, ~x.S, ~x.V)]

                    def made(gb: Any, how: Callable[[Any, Any], Any]) -> Any:
                        found = masks(gb)
                        return how(found[first], found[4 + second])  # noqa: B023

                    joins: list[Callable[[Any, Any], Any]] = [
                        lambda a, b: a.new(dtype, mask=b),  # noqa: B023
                        lambda a, b: (a | b).new(dtype),  # noqa: B023
                        lambda a, b: (a & b).new(dtype, complement=True),  # noqa: B023
                    ]
                    for how in joins:
                        same(theirs, lambda gb: made(gb, how), size)  # noqa: B023
                same(theirs, lambda gb: masks(gb)[first].new(dtype, complement=True), size)  # noqa: B023
    same(theirs, lambda gb: gb.Vector.from_coo([1], 5, size=3).S.new(name="found").name)
    assert type((ours.Vector(int, 3).S | ours.Vector(int, 3).V).new()) is ours.Vector


def _matrix(gb: Any, at: list[int], values: list[int]) -> Any:
    return gb.Matrix.from_coo(at, at[::-1], values, nrows=3, ncols=3)


def test_operators_of_positions(theirs: Any) -> None:
    for k in (0, 1, -2):
        for shape in ((3, 3), (4, 2), (2, 5)):
            for name in ("diagindex", "rowindex", "colindex"):

                def call(gb: Any) -> Any:
                    A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 0], 5, nrows=shape[0], ncols=shape[1])  # noqa: B023
                    return getattr(gb.indexunary, name)(A, k)  # noqa: B023

                same(theirs, call, (name, shape, k))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "lt", "ge", "eq"])
def test_empty_scalars(theirs: Any, name: str) -> None:
    join = getattr(operator, name)
    for value in (5, 2.5, True):
        for call in (
            lambda gb: join(gb.Scalar("INT8"), value),  # noqa: B023
            lambda gb: join(value, gb.Scalar("INT8")),  # noqa: B023
            lambda gb: join(gb.Scalar("INT8"), gb.Scalar.from_value(value)),  # noqa: B023
            lambda gb: join(gb.Scalar.from_value(value), gb.Scalar("INT8")),  # noqa: B023
        ):
            same(theirs, call, value)


@pytest.mark.parametrize("x", [float("nan"), 1.0])
def test_nan_equals_nothing(theirs: Any, x: float) -> None:
    for make in (
        lambda gb: gb.Vector.from_coo([0], x),
        lambda gb: gb.Matrix.from_coo([0], [0], x),
        lambda gb: gb.Scalar.from_value(x),
    ):
        same(theirs, lambda gb: make(gb).isequal(make(gb)))  # noqa: B023
        same(theirs, lambda gb: make(gb).isclose(make(gb)))  # noqa: B023
    same(theirs, lambda gb: gb.Scalar.from_value(x) == x)


@pytest.mark.parametrize("value", [5, 12, None])
def test_a_scalar_is_selected_by_its_comparison(theirs: Any, value: int | None) -> None:
    def made(gb: Any) -> Any:
        return gb.Scalar(int) if value is None else gb.Scalar.from_value(value)

    same(theirs, lambda gb: gb.select.value(made(gb) < 10))
    same(theirs, lambda gb: gb.select.value(made(gb) >= 12.0))


def test_powers_are_exact_here(theirs: Any) -> None:
    """Listed on the page: there they are powers of floats."""
    for gb, expected in ((ours, [3**35, 3**41 - 2**64 * round(3**41 / 2**64)]), (theirs, [int(3.0**35), 2**63 - 1])):
        found = vector(gb, "INT64", (3, 3)) ** vector(gb, "INT64", (35, 41))
        assert [value for _, value in seen(found.new())[2]] == expected
    same(theirs, lambda gb: vector(gb, "INT8", (3, -2, 0)) ** 3)
    same(theirs, lambda gb: vector(gb, "INT8", (3, -2, 1)) ** -1)


SKEW = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n1 1 5\n2 1 7\n3 3 -1\n"


def test_a_skew_symmetric_file_with_a_diagonal(theirs: Any) -> None:
    same(theirs, lambda gb: gb.io.mmread(io.StringIO(SKEW)))
    with pytest.raises(sr.exceptions.InvalidFormat, match="diagonal"):
        sr.io.mmread(_written(SKEW))


def _written(text: str) -> Any:
    file = importlib.import_module("pathlib").Path("skew.mtx")
    file.write_text(text)
    return file


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_awkward_arrays(theirs: Any) -> None:
    pytest.importorskip("awkward")
    for values in ([1, 2, 3, -1], [1.5] * 4, [True, False, True, True]):
        for gb, other in ((ours, theirs), (theirs, ours)):
            A = gb.Matrix.from_coo([0, 0, 3, 5], [1, 4, 0, 2], values, nrows=7, ncols=6)
            for format in ("csr", "csc", "hypercsr", "hypercsc"):
                made = gb.io.to_awkward(A, format=format)
                assert seen(other.io.from_awkward(made)) == seen(A)

            v = gb.Vector.from_coo([1, 3, 4, 5], values, size=9)
            assert seen(other.io.from_awkward(gb.io.to_awkward(v))) == seen(v)
    for wrong in (lambda: ours.io.to_awkward(ours.Vector(int, 2), "csr"), lambda: ours.io.to_awkward(A, "dcsr")):
        with pytest.raises(ValueError, match="Invalid format"):
            wrong()


def test_arrays_of_pydata_sparse(theirs: Any) -> None:
    sparse = pytest.importorskip("sparse")
    for x in (sparse.COO([[0, 2]], [5, 0], shape=(4,)), sparse.COO([[0, 2], [1, 0]], [2.5, 6], shape=(3, 2))):
        for format in ("coo", "dok", "gcxs"):
            given = x.asformat(format)
            made = ours.io.from_pydata_sparse(given)
            assert seen(made) == seen(theirs.io.from_pydata_sparse(given))
            back = ours.io.to_pydata_sparse(made, format)
            assert (type(back), back.shape) == (type(given), given.shape)
            assert (back.todense() == given.todense()).all()
    with pytest.raises(TypeError):
        ours.io.from_pydata_sparse(np.eye(2))
    with pytest.raises(ValueError, match="format"):
        ours.io.to_pydata_sparse(made, "csr")
    with pytest.raises(ValueError, match="dimensions"):
        ours.io.from_pydata_sparse(sparse.COO([[0], [0], [0]], [1], shape=(1, 1, 1)))
