"""Matrices with full rows: every operation agrees with the same matrix as uncompressed rows."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.exceptions import DomainMismatch, InvalidFormat, InvalidValue
from semiring.io.srb import Store, write_store
from semiring.memory.arrays import device_of, to_host

pytestmark = pytest.mark.one_process("formats, codecs and placements are of parts")

SHAPE = (5, 7)
RNG = np.random.default_rng(2)
VALUES = RNG.integers(-9, 9, SHAPE).astype(np.float64)
EMPTY_ROWS = [1, 4]


def full() -> Matrix:
    """A value at every position."""
    return Matrix.from_dense(VALUES)


def iso() -> Matrix:
    """One value at every position, stored once."""
    return Matrix.from_scalar(3.0, *SHAPE)


def some_rows() -> Matrix:
    """Rows 1 and 4 are empty, the others full."""
    rows, columns = np.nonzero(np.isin(np.arange(SHAPE[0]), EMPTY_ROWS, invert=True)[:, None] & np.ones(SHAPE, bool))
    return Matrix.from_coo(rows, columns, VALUES[rows, columns], shape=SHAPE).convert("full")


def sparse(shape: tuple[int, int] = SHAPE) -> Matrix:
    rows, columns = np.nonzero(RNG.random(shape) < 0.3)
    return Matrix.from_coo(rows, columns, np.arange(rows.size) - 4.0, shape=shape)


S = [[0, 1, 1, 3, 4], [0, 3, 6, 2, 2], [1.0, 2.0, -3.0, 4.0, 0.0]]


def fixed() -> Matrix:
    return Matrix.from_coo(*S, shape=SHAPE)


def written(c: Matrix, write: Callable[[Matrix], Any]) -> Matrix:
    write(c)
    return c


KINDS = {"full": full, "iso": iso, "some rows": some_rows}
# Of a matrix A: each is called with the full matrix, and with the same entries as uncompressed rows.
OPERATIONS: dict[str, Callable[[Matrix], Any]] = {
    "transpose": lambda a: a.T.new(),
    "apply": lambda a: a.apply("ainv").new(),
    "apply with positions": lambda a: a.apply("colindex").new(),
    "cast": lambda a: a.dup(np.int32),
    "select by position": lambda a: a.select("tril").new(),
    "select by value": lambda a: a.select("valuegt", 0.0).new(),
    "reduce rows": lambda a: a.reduce_rowwise("plus").new(),
    "reduce columns": lambda a: a.reduce_columnwise("max").new(),
    "reduce": lambda a: a.reduce_scalar("min").get(0),
    "row": lambda a: a[2].new(),
    "column": lambda a: a[:, 3].new(),
    "slices": lambda a: a[1:4, ::2].new(),
    "backwards": lambda a: a[::-1, 5:1:-2].new(),
    "positions": lambda a: a[[3, 1, 3], [0, 0, 5]].new(),
    "all columns": lambda a: a[[4, 2]].new(),
    "element": lambda a: (a.get(3, 4), a.get(1, 6, -1), (1, 1) in a),
    "mxv": lambda a: a.mxv(Vector.from_dense(np.arange(7.0))).new(),
    "vxm": lambda a: Vector.from_coo([1, 3], [2.0, 1.0], size=5).vxm(a, "min_plus").new(),
    "add dense": lambda a: a.ewise_add(full(), "minus").new(),
    "mult sparse": lambda a: a.ewise_mult(fixed(), "minus").new(),
    "sparse mult": lambda a: fixed().ewise_mult(a, "minus").new(),
    "add sparse": lambda a: a.ewise_add(fixed(), "minus").new(),
    "sparse add": lambda a: fixed().ewise_add(a, "minus").new(),
    "add, cast to booleans": lambda a: a.ewise_add(fixed(), "lt").new(),
    "add by position": lambda a: a.ewise_add(fixed(), "firstj").new(),
    "union sparse": lambda a: a.ewise_union(fixed(), "minus", 2.0, 5.0).new(),
    "sparse union": lambda a: fixed().ewise_union(a, "minus", 2.0, 5.0).new(),
    "masked write": lambda a: written(fixed(), lambda c: c(a.S, replace=True) << fixed()),
    "valued mask": lambda a: written(fixed(), lambda c: c(a.V, replace=True) << fixed()),
    "complemented mask": lambda a: written(fixed(), lambda c: c(~a.S) << fixed()),
    "written under a mask": lambda a: written(fixed(), lambda c: c(fixed().V) << a),
    "written outside a mask": lambda a: written(fixed(), lambda c: c(~fixed().S) << a),
    "accumulated": lambda a: written(fixed(), lambda c: c(accum="plus") << a),
    "assigned to": lambda a: written(a.dup(), lambda c: c.__setitem__((slice(1, 3), 2), 7.0)),
    "assigned": lambda a: written(Matrix(float, 9, 9), lambda c: c[2:7, 1:8] << a),
    "mask removes": lambda a: written(a.dup(), lambda c: c(fixed().S, replace=True) << c),
    "kronecker": lambda a: a.kronecker(fixed()).new(),
    "permute": lambda a: a.permute([4, 2, 0, 1, 3], [6, 5, 4, 3, 2, 1, 0]).new(),
    "resize": lambda a: written(a.dup(), lambda c: c.resize(6, 4)),
    "diagonal": lambda a: a.diag(1),
    "compress": lambda a: a.compress("packed").decompress(),
    "csr": lambda a: [to_host(part) for part in a.to_csr()],
    "coo": lambda a: [to_host(part) for part in a.to_coo()],
    "csc": lambda a: [to_host(part) for part in a.to_csc()],
    "dense": lambda a: to_host(a.to_dense(0)),
    "pickle": lambda a: pickle.loads(pickle.dumps(a)),
    "text": lambda a: str(a).split("\n")[1:],
    "symmetric": lambda a: a[:, :5].new().is_symmetric_structure,
}


def assert_alike(made: Any, expected: Any) -> None:
    if isinstance(expected, (Matrix, Vector)):
        assert made.isequal(expected, check_dtype=True)
    elif isinstance(expected, list) and expected and isinstance(expected[0], np.ndarray):
        for one, other in zip(made, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    else:
        np.testing.assert_array_equal(made, expected)


@pytest.mark.costly
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_agree_with_uncompressed_rows(name: str, kind: str) -> None:
    a = KINDS[kind]()
    assert a.format == "full"
    plain = a.decompress()
    assert plain.format == "csr"
    before = a.dup()
    assert_alike(OPERATIONS[name](a), OPERATIONS[name](plain))
    assert a.isequal(before)
    assert a.format == "full"


EXHAUSTIVE = pytest.mark.exhaustive


@pytest.mark.costly
@pytest.mark.parametrize(
    "semiring", ["plus_times", "any_firsti", *(pytest.param(s, marks=EXHAUSTIVE) for s in ("min_plus", "plus_pair"))]
)
@pytest.mark.parametrize("kind", KINDS)
def test_products_agree_with_uncompressed_rows(kind: str, semiring: str) -> None:
    a = KINDS[kind]()
    plain, square = a.decompress(), fixed()[:, :5].new()
    for one, other in [
        (square.mxm(a, semiring), square.mxm(plain, semiring)),
        (a.mxm(fixed().T, semiring), plain.mxm(fixed().T, semiring)),
        (a.T.mxm(a, semiring), plain.T.mxm(plain, semiring)),
        (a.mxm(a.T, semiring, mask=square.S), plain.mxm(plain.T, semiring, mask=square.S)),
        (a.mxm(full().T, semiring, mask=square.V), plain.mxm(full().decompress().T, semiring, mask=square.V)),
        (a.mxm(a.T, semiring, mask=~square.S), plain.mxm(plain.T, semiring, mask=~square.S)),
        (square.mxm(a, semiring, mask=fixed().S), square.mxm(plain, semiring, mask=fixed().S)),
        (square.compress("packed").mxm(a, semiring), square.mxm(plain, semiring)),
        (square.compress("packed").mxm(a, semiring, mask=fixed().S), square.mxm(plain, semiring, mask=fixed().S)),
    ]:
        assert one.new().isequal(other.new(), check_dtype=True)


def test_the_format_follows_the_operation() -> None:
    a, b = full(), some_rows()
    assert (a + a).new().format == a.apply("abs").new().format == a.T.new().format == "full"
    assert a.ewise_add(fixed()).new().format == "full"
    assert a.ewise_mult(fixed()).new().format == "csr"
    assert b.apply("abs").new().format == "full"
    assert b.T.new().format == "csr"
    assert b.nvals == 3 * SHAPE[1]
    assert Matrix.from_scalar(1, 10**4, 10**6).nbytes < 10**5
    with pytest.raises(InvalidValue, match="4 of 5 rows do not"):
        fixed().convert("full")
    with pytest.raises(InvalidValue, match="'csr', 'full', 'bitmap' or 'hypersparse'"):
        a.convert("dense")


def test_dense_arrays_are_shared(engine: str) -> None:
    xp: Any = np if engine != "cuda" else __import__("cupy")
    values = xp.asarray(VALUES)
    shared, copied = Matrix.from_dense(values, copy=False), Matrix.from_dense(values)
    assert xp.shares_memory(shared.store.values, values)
    assert not xp.shares_memory(copied.store.values, values)
    seen = xp.from_dlpack(shared)
    assert device_of(seen) == shared.device
    assert xp.shares_memory(seen, values)
    np.testing.assert_array_equal(to_host(seen), VALUES)
    by_column = Matrix.from_dense(xp.asfortranarray(values), copy=False)
    assert by_column.isequal(shared)
    assert Matrix.from_dense(shared).isequal(shared)
    taken = shared.to_dense()
    taken[:] = 0
    np.testing.assert_array_equal(to_host(values), VALUES)
    for refused in (fixed(), iso(), some_rows()):
        with pytest.raises(BufferError, match=r"to_dense\(fill_value"):
            refused.__dlpack__()
    with pytest.raises(InvalidValue, match="no array can be made of this Matrix"):
        Vector.from_dense(fixed())


class Tensor:
    """An array that only DLPack exports."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_arrays_of_every_layout() -> None:
    frozen = VALUES.copy()
    frozen.flags.writeable = False
    for copy in (True, False):
        for array in (frozen, np.asfortranarray(VALUES), VALUES[:, ::2], VALUES[::-1, ::-1], VALUES.astype(">f8")):
            made = Matrix.from_dense(array, copy=copy)
            assert made.format == "full"
            np.testing.assert_array_equal(to_host(made.to_dense()), array)
        for given in (VALUES, np.asfortranarray(VALUES)):
            np.testing.assert_array_equal(to_host(Matrix.from_dense(Tensor(given), copy=copy).to_dense()), VALUES)
    shared = Matrix.from_dense(Tensor(VALUES), copy=False, device="cpu")
    assert np.shares_memory(shared.store.values, VALUES)
    for dtype in ("bool", "int8", "uint64", "float32"):
        assert Matrix.from_dense(VALUES.astype(dtype)).dtype == dtype
    with pytest.raises(DomainMismatch, match="expected numbers, got float16"):
        Matrix.from_dense(VALUES.astype(np.float16))
    assert Matrix.from_dense(VALUES.astype(np.float16), dtype="float32").isclose(Matrix.from_dense(VALUES))


def test_arrays_are_assigned_and_are_operands() -> None:
    a, c = full(), Matrix(float, *SHAPE)
    for array in (VALUES.T, Tensor(VALUES.T)):
        assert (a @ array).isequal(a @ Matrix.from_dense(VALUES.T))
    assert (a @ VALUES[0]).isequal(a @ Vector.from_dense(VALUES[0]))
    assert (VALUES.T @ a).isequal(Matrix.from_dense(VALUES.T) @ a)
    c << VALUES
    assert c.isequal(a)
    c[1:3, :2] = VALUES[1:3, :2] + 1
    assert c.get(2, 1) == VALUES[2, 1] + 1


def test_reductions_and_comparison_read_values_only(engine: str) -> None:
    if engine == "reference":
        pytest.skip("the specification reads dense arrays")
    a = full()
    with sr.explain() as log:
        assert a.isequal(full())
        assert not a.isequal(a.apply("ainv"))
        if engine == "cpu":
            a.reduce_rowwise("plus").wait()
    assert not [call for call in log if call.operation == "slices" or "slices" in call.details]


def test_torch_tensors_are_shared() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.arange(12.0).reshape(3, 4)
    a = Matrix.from_dense(tensor, copy=False, device="cpu")
    tensor[1, 2] = 50.0
    assert a.get(1, 2) == 50.0
    assert torch.equal(torch.from_dlpack(a), tensor)


@pytest.mark.parametrize("kind", KINDS)
def test_files_keep_full_rows(kind: str, tmp_path: Path) -> None:
    a = KINDS[kind]()
    sr.io.write(tmp_path / "a.srb", a)
    for placement in ("device", "host"):
        b = sr.io.read(tmp_path / "a.srb", placement=placement)
        assert (b.format, b.placement) == ("full", placement)
        assert b.isequal(a)
        assert b.mxv(Vector.from_dense(np.ones(7))).isequal(a.mxv(Vector.from_dense(np.ones(7))))
    assert sr.io.open(tmp_path / "a.srb").isequal(a)


def test_files_with_partial_rows_are_rejected(tmp_path: Path) -> None:
    arrays = {"indptr": np.array([0, 2, 3], np.int32), "values": np.ones(3)}
    write_store(tmp_path / "a.srb", Store("matrix", "full", (2, 2), 3, np.dtype(np.float64), None, arrays))
    with pytest.raises(InvalidFormat, match="expected 0 or 2 entries in row 1, found 1"):
        sr.io.read(tmp_path / "a.srb")


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (1, 1)])
def test_empty_shapes(shape: tuple[int, int]) -> None:
    a = Matrix.from_dense(np.ones(shape))
    assert a.nvals == shape[0] * shape[1]
    assert a.T.new().shape == shape[::-1]
    assert a.mxm(a.T).new().shape == (shape[0], shape[0])
    assert a.decompress().isequal(a)
