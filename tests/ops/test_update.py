"""Writes that change few entries of a vector in place: the same entries as a copy, and no other holder sees them."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines.requests.operations import SHORT
from semiring.exceptions import DimensionMismatch, OutOfMemory
from semiring.memory.arrays import to_host

SIZE = 200
UPDATED = "update_vector"


@pytest.fixture(autouse=True)
def _in_place(engine: str) -> None:
    if engine == "reference":
        pytest.skip("the reference engine never updates in place")


def entries(rng: np.random.Generator, count: int) -> dict[int, int]:
    return {int(i): int(rng.integers(1, 100)) for i in rng.choice(SIZE, count, replace=False)}


def made(contents: dict[int, Any], dtype: Any = np.int64, form: str = "index", size: int = SIZE) -> Vector:
    """A vector whose arrays nobody else holds."""
    v = Vector.from_coo(list(contents), list(contents.values()), dtype, size=size)
    v = v.apply("plus", right=v.dtype.type(0)).dup()
    return v.convert(form)


def kernels(log: Any) -> list[str]:
    return [call.operation for call in log]


def written(
    c: dict[int, int], t: dict[int, int], mask: set[int] | None, accum: Any, *, outside: bool = False
) -> dict[int, int]:
    """C<M> accum= T by its definition."""
    result = {}
    for i in range(SIZE):
        if mask is not None and (i in mask) == outside:
            if i in c:
                result[i] = c[i]
        elif accum is not None and i in c:
            result[i] = accum(c[i], t[i]) if i in t else c[i]
        elif i in t:
            result[i] = t[i]
    return result


CASES = list(
    itertools.product(("bitmap", "full"), ("index", "bitmap", "full"), ("S", "V", "~S", None), (None, "minus"))
)


@pytest.mark.parametrize(("form", "source", "kind", "accum"), CASES)
def test_every_write_is_its_definition(form: str, source: str, kind: str | None, accum: str | None) -> None:
    rng = np.random.default_rng(CASES.index((form, source, kind, accum)))
    for dtype in (np.int64, np.float32):
        c = entries(rng, SIZE if form == "full" else 90)
        t = entries(rng, SIZE if source == "full" else 15)
        mask_entries = entries(rng, 17)
        zeros = set(list(mask_entries)[::3])
        mask = Vector.from_coo(list(mask_entries), [i not in zeros for i in mask_entries], bool, size=SIZE)
        target, operand = made(c, dtype, form), made(t, np.int64, source)
        admitted = set(mask_entries) - (zeros if kind == "V" else set())
        expected = written(
            c,
            t,
            None if kind is None else admitted,
            None if accum is None else lambda x, y: x - y,
            outside=kind == "~S",
        )
        parts = [] if kind is None else [{"S": mask.S, "V": mask.V, "~S": ~mask.S}[kind]]
        target(*parts, accum=accum) << operand
        assert target.to_dict() == expected
        assert target.dtype == dtype
        assert target.nvals == len(expected)
        assert (target.format == "full") <= (len(expected) == SIZE)


@pytest.mark.one_process("kernels and plans are of parts")
@pytest.mark.parametrize("form", ["bitmap", "full"])
def test_few_entries_are_written_in_place(form: str) -> None:
    rng = np.random.default_rng(1)
    c, t = entries(rng, SIZE if form == "full" else 90), entries(rng, 9)
    v, u = made(c, form=form), made(t)
    address = address_of(v)
    with sr.explain() as log:
        v(accum="plus") << u
        v(u.S) << u
        v(u.S) << 7
        v(u.S, accum="times") << 2
        v[positions_of(u)] = positions_of(u)
    assert kernels(log).count(UPDATED) == 5
    assert "write_vector" not in kernels(log)
    assert address_of(v) == address
    assert v.to_dict() == c | {i: i for i in t}


def positions_of(u: Vector) -> Vector:
    return Vector.from_dense(to_host(u.to_coo()[0]), device=u.device)


def address_of(v: Vector) -> int:
    store: Any = v.store
    values = store.values
    return int(values.data.ptr if v.device == "cuda" else values.__array_interface__["data"][0])


@pytest.mark.one_process("kernels and plans are of parts")
def test_entries_that_the_source_lacks_are_deleted() -> None:
    v, mask = made(dict.fromkeys(range(0, SIZE, 2), 1), form="bitmap"), made({4: 1, 5: 1, 6: 1})
    with sr.explain() as log:
        v(mask.S) << made({5: 9, 7: 9})
    assert kernels(log)[-1] == UPDATED
    assert v.nvals == SIZE // 2 - 1
    assert [v.get(i) for i in range(3, 9)] == [None, None, 9, None, None, 1]


def test_an_operator_that_becomes_full_and_is_written_again() -> None:
    v = made({i: 1 for i in range(SIZE) if i != 50}, form="bitmap")
    v(accum="plus") << made({50: 3, 51: 4})
    v(accum="plus") << made({50: 3, 51: 4})
    assert v.nvals == SIZE
    assert (v[50].value, v[51].value, v[52].value) == (6, 9, 1)


@pytest.mark.parametrize("form", ["bitmap", "full"])
@pytest.mark.parametrize("held", ["copy", "mask", "pending", "store", "scalar", "part", "structure", "array"])
def test_no_other_holder_sees_an_update(form: str, held: str) -> None:
    c = {i: i for i in range(SIZE if form == "full" else SIZE - 9)}
    v = made(c, form=form)
    other: Any = {
        "copy": lambda: v.dup(),
        "mask": lambda: v.V,
        "pending": lambda: v.apply("identity"),
        "store": lambda: v.store,
        "scalar": lambda: v.reduce("plus"),
        "part": lambda: v[:],
        "structure": lambda: v.apply("one").dup(),
        "array": lambda: v.to_dense(0),
    }[held]()
    v(accum="plus") << made({3: 1000})
    v(made({4: 1}).S) << made({4: 2000})
    assert (v[3].value, v[4].value) == (1003, 2000)
    total = sum(c.values())
    if held == "mask":
        assert Vector(bool, SIZE).ewise_add(made(c, form=form), "any").dup(mask=other).nvals == len(c) - 1
    elif held == "store":
        assert int(to_host(other.values)[3]) == 3
    elif held == "array":
        assert int(to_host(other)[3]) == 3
    elif held == "scalar":
        assert other.value == total
    else:
        assert other.nvals == len(c)
        assert other[3].value == (1 if held == "structure" else 3)


@pytest.mark.one_process("kernels and plans are of parts")
def test_a_view_of_the_values_is_a_holder(engine: str) -> None:
    v = made({i: i for i in range(SIZE)}, form="full")
    store: Any = v.store
    view = store.values[2:5]
    del store
    v(accum="plus") << made({3: 1000})
    assert to_host(view).tolist() == [2, 3, 4]
    assert v[3].value == 1003


def test_an_array_of_the_user_is_not_changed() -> None:
    mine = np.arange(SIZE)
    v = Vector.from_dense(mine)
    v(accum="plus") << made({3: 1000})
    assert mine[3] == 3
    del mine
    v(accum="plus") << made({3: 1000})
    assert v[3].value == 2003


def test_operands_of_the_write_are_holders() -> None:
    v = made({i: i for i in range(SIZE)}, form="full")
    v(accum="plus") << v.select("<", 5)
    assert [v[i].value for i in range(7)] == [0, 2, 4, 6, 8, 5, 6]
    v(v.select("<", 5).S) << v[list(range(SIZE - 1, -1, -1))]
    assert [v[i].value for i in range(4)] == [SIZE - 1, SIZE - 2, SIZE - 3, 6]


def test_a_failed_write_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    v = made({i: i for i in range(SIZE)}, form="full")
    before = v.to_dict()
    with pytest.raises(DimensionMismatch):
        v(accum="plus") << Vector.from_coo([3], [1], size=SIZE + 1)

    def fails(*_: Any) -> Any:
        raise MemoryError

    few = made({1: 1})
    with monkeypatch.context() as patch:
        patch.setattr("semiring.ops.update.registry.call", fails)
        with pytest.raises(OutOfMemory):
            v(accum="plus") << few
    assert v.to_dict() == before
    v[3] = 8
    v(accum="plus") << made({3: 1})
    assert v[3].value == 9


@pytest.mark.one_process("kernels and plans are of parts")
def test_products_are_added_in_place() -> None:
    n = 2 * SHORT  # shorter products are written by the request that computes them
    A = Matrix.from_coo(range(n - 1), range(1, n), np.arange(1, n), shape=(n, n))
    v, x = made({i: i for i in range(n)}, form="full", size=n), made({5: 1, 90: 1}, size=n)
    expected = v.to_dict()
    expected[6] += 6
    expected[91] += 91
    with sr.explain() as log:
        v(accum="plus") << x.vxm(A)
    assert v.to_dict() == expected
    assert v.device == "cuda" or UPDATED in kernels(log)


@pytest.mark.one_process("threads of one process make calls in any order")
def test_readers_see_the_vector_before_or_after_a_write() -> None:
    v = made(dict.fromkeys(range(SIZE), 0), np.int64, "full")
    u = made(dict.fromkeys(range(20), 1))
    stop, wrong = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            values = set(to_host(v.dup().to_dense())[:20].tolist())
            if len(values) > 1:
                wrong.append(values)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    for _ in range(200):
        v(accum="plus") << u
    stop.set()
    for thread in readers:
        thread.join()
    assert not wrong
    assert v[3].value == 200
