"""Nearly empty matrices of very many columns: cost and memory depend on the entries."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semiring import Matrix, Vector
from semiring.config import config

# As wide as columns of 32 bits allow: for wider ones every kernel would be compiled again.
N = (1 << 31) - 1
ROWS, COLUMNS, VALUES = [0, 1, 2, 2], [5, N - 1, 1, N - 2], [1.0, 2.0, 3.0, 4.0]
# Below one bit a column (256 MB), and above the allocation of a kernel's first call.
MOST_BYTES = 128 << 20

Entries = dict[Any, float]


def wide() -> Matrix:
    return Matrix.from_coo(ROWS, COLUMNS, VALUES, nrows=3, ncols=N)


def listed(*places: int) -> Vector:
    return Vector.from_coo(list(places), [10.0] * len(places), size=N)


def assigned(key: Any, value: Any) -> Matrix:
    A = wide()
    A[key] = value
    return A


def masked() -> Matrix:
    A = wide()
    A(A.S) << A.apply("ainv")
    return A


def masked_vector(mask: Any) -> Vector:
    v = listed(3, N - 1)
    v(mask, replace=True) << listed(3, 4)
    return v


LEFT = [[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
# Each operation, and the entries of its result.
OPERATIONS: dict[str, tuple[Callable[[], Any], Entries]] = {
    "columns in any order": (lambda: wide()[:, [N - 2, 1, N - 2]], {(2, 0): 4.0, (2, 1): 3.0, (2, 2): 4.0}),
    "columns ascending": (lambda: wide()[:, [1, N - 1]], {(1, 1): 2.0, (2, 0): 3.0}),
    "a range of columns": (lambda: wide()[:, 2:], {(0, 3): 1.0, (1, N - 3): 2.0, (2, N - 4): 4.0}),
    "columns backwards": (lambda: wide()[2:, ::-1], {(0, 1): 4.0, (0, N - 2): 3.0}),
    "every third column": (lambda: wide()[:, 2::3], {(0, 1): 1.0, (2, (N - 4) // 3): 4.0}),
    "one column": (lambda: wide()[:, N - 1], {1: 2.0}),
    "product": (
        lambda: Matrix.from_dense(LEFT, missing_value=0) @ wide(),
        {(0, N - 1): 2.0, (1, 1): 6.0, (1, N - 2): 8.0},
    ),
    "product under a mask": (
        lambda: Matrix.from_dense(LEFT, missing_value=0).mxm(
            wide(), mask=~Matrix.from_coo([1, 1], [1, 7], True, nrows=2, ncols=N).S
        ),
        {(0, N - 1): 2.0, (1, N - 2): 8.0},
    ),
    "assign to columns": (
        lambda: assigned((slice(None), [N - 2, 1]), Matrix.from_coo([0], [1], [9.0], nrows=3, ncols=2)),
        {(0, 1): 9.0, (0, 5): 1.0, (1, N - 1): 2.0},
    ),
    "assign to a range": (
        lambda: assigned((slice(None), slice(6, None)), Matrix.from_coo([0], [N - 7], [9.0], nrows=3, ncols=N - 6)),
        {(0, 5): 1.0, (0, N - 1): 9.0, (2, 1): 3.0},
    ),
    "assign a scalar": (
        lambda: assigned(([1], [N - 1, 1]), 7.0),
        {(0, 5): 1.0, (1, 1): 7.0, (1, N - 1): 7.0, (2, 1): 3.0, (2, N - 2): 4.0},
    ),
    "element-wise": (lambda: wide() + wide(), {(0, 5): 2.0, (1, N - 1): 4.0, (2, 1): 6.0, (2, N - 2): 8.0}),
    "select": (lambda: wide().select(">", 2.5), {(2, 1): 3.0, (2, N - 2): 4.0}),
    "write under a mask": (masked, {(0, 5): -1.0, (1, N - 1): -2.0, (2, 1): -3.0, (2, N - 2): -4.0}),
    "matrix times vector": (lambda: wide() @ listed(1, N - 1), {1: 20.0, 2: 30.0}),
    "vector times matrix": (
        lambda: Vector.from_dense([1.0, 2.0, 3.0]) @ wide(),
        {1: 9.0, 5: 1.0, N - 2: 12.0, N - 1: 4.0},
    ),
    "reduce columns": (lambda: wide().reduce_columnwise("max"), {1: 3.0, 5: 1.0, N - 2: 4.0, N - 1: 2.0}),
    "vector: extract": (lambda: listed(3, N - 1)[1:], {2: 10.0, N - 2: 10.0}),
    "vector: extract backwards": (lambda: listed(3, N - 1)[::-1], {0: 10.0, N - 4: 10.0}),
    "vector: element-wise": (lambda: listed(3, 5) + listed(5, N - 1), {3: 10.0, 5: 20.0, N - 1: 10.0}),
    "vector: mask": (lambda: masked_vector(listed(4, 5).S), {4: 10.0}),
    "vector: complemented mask": (lambda: masked_vector(~listed(4, 5).S), {3: 10.0}),
    "vector: masked in place": (lambda: listed(3, 4).dup(mask=listed(4, 5).S), {4: 10.0}),
}


def entries(x: Any) -> Entries:
    parts = x.to_coo()
    *places, values = (np.asarray(getattr(part, "get", lambda part=part: part)()).tolist() for part in parts)
    keys = zip(*places, strict=True) if len(places) == 2 else places[0]
    return dict(zip(keys, values, strict=True))


@pytest.mark.parametrize("name", OPERATIONS)
def test_cost_depends_on_the_entries(engine: str, name: str) -> None:
    product = "vector" in name and not name.startswith("vector:")
    if engine == "reference" or (engine == "cuda" and (product or name == "reduce columns")):
        pytest.skip("the specification is dense; products on the GPU have a slot for each index of the vector")
    operation, expected = OPERATIONS[name]
    found, most = measured(lambda: entries(operation()), engine)
    assert found == expected
    assert most < MOST_BYTES


def measured(operation: Callable[[], Any], engine: str) -> tuple[Any, int]:
    """The result, and the most bytes that were in use during the operation beyond those before it."""
    if engine == "cuda":
        import cupy

        from semiring.memory.budget import peak_device_memory

        before = cupy.get_default_memory_pool().used_bytes()
        with peak_device_memory() as peak:
            return operation(), peak.used - before
    tracemalloc.start()
    try:
        return operation(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_many_rows_cost_their_offsets_alone(engine: str) -> None:
    """The format costs 4 bytes a row, in one pass; the work is on rows that have entries."""
    if engine != "cpu":
        pytest.skip("the specification is dense; a GPU has no tracemalloc")
    n = 1 << 22
    with config.set(hyper_switch=0.0):
        Matrix.from_coo([1], [1], [1.0], nrows=n, ncols=4)
        A, most = measured(
            lambda: Matrix.from_coo([n - 1, 5, n - 1], [1, 0, 3], [1.0, 2.0, 3.0], nrows=n, ncols=4), engine
        )
    assert most < 1.5 * A.nbytes
    assert entries(A) == {(5, 0): 2.0, (n - 1, 1): 1.0, (n - 1, 3): 3.0}
