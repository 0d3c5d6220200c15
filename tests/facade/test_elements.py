"""Writes to single elements: a sequence of them equals the same writes to regions, each at once, by `reference`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import semiring as sr
from semiring.config import config
from semiring.dtypes import BOOL, FP32, FP64, INT8, INT64, UINT16
from semiring.exceptions import IndexOutOfBound, InvalidType, InvalidValue, SemiringError
from semiring.memory.arrays import Transfers, local_device
from semiring.ops import elements
from tests import sampling
from tests.draw import VECTOR_FORMATS, make_matrix, make_vector
from tests.storage_kinds import KINDS, in_format, in_kind

# Another type is another kernel, which the CPU engine compiles in a second: a short run on it has two.
DTYPES = (INT64, FP64, BOOL, INT8, UINT16, FP32)
OPERATORS = ("plus", "minus", "times", "min", "max", "first", "second", "rminus", "lor", "truediv", "firsti", "secondj")
POSITIONAL = 2  # the last operators, which SuiteSparse refuses; for matrices alone
MATRICES = ("plain", "full", *(f"{codec or 'plain'} {placement}" for codec, placement in KINDS))
FORMS = [*(("vector", kind) for kind in VECTOR_FORMATS), *(("matrix", kind) for kind in MATRICES)]
# Sequences of each kind; and writes between two uses of the whole object, on average.
SEQUENCES, WRITES = 6, 6


def drawn(form: str, kind: str, rng: np.random.Generator, engine: str) -> tuple[Any, Any]:
    """Return one object of a kind twice: on the engine under test, and uncompressed on the host for `reference`."""
    if " " in engine:  # divided over a grid, in the storage kind
        own, twin = drawn(form, kind, rng, local_device(engine))
        return own.to(engine), twin
    dtype = DTYPES[int(rng.integers(2 if sampling.engine == "cpu" and not sampling.exhaustive else len(DTYPES)))]
    seed, iso, density = int(rng.integers(2**20)), bool(rng.integers(2)), float(rng.choice([0.0, 0.2, 0.6]))
    if form == "vector":
        twin: Any = sr.Vector._new(make_vector(int(rng.choice([1, 5, 33, 100])), dtype, kind, density, iso, seed))
        return twin.to("cuda") if engine == "cuda" else twin.dup(), twin
    store = make_matrix(*rng.choice([1, 5, 12], 2).tolist(), dtype, 1.0 if kind == "full" else density, iso, seed)
    twin = sr.Matrix._new(store)
    codec, _, placement = kind.partition(" ")
    own = twin.to("cuda").store if engine == "cuda" else store
    if placement:
        return sr.Matrix._new(in_kind(own, None if codec == "plain" else codec, placement, engine)), twin
    return sr.Matrix._new(in_format(own, "full", "device", engine) if kind == "full" else own), twin


def value_of(rng: np.random.Generator) -> Any:
    number: Any = rng.choice([0, 1, -1, 3, 100, 2.5, -0.0, 300])
    made = (number.item(), np.int8(2), np.float32(1.5), True, sr.Scalar.from_value(7), np.array(4))
    return made[int(rng.integers(len(made)))] if rng.random() < 0.6 else int(number)


def write(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Callable[[Any], None], Callable[[Any], None]]:
    """Return one write to an element, and the same write to a region of one position."""
    at = tuple(int(rng.integers(size)) for size in shape)
    key = at if len(at) == 2 else at[0]
    region = tuple([index] for index in at) if len(at) == 2 else [at[0]]
    operators = OPERATORS if len(at) == 2 else OPERATORS[:-POSITIONAL]
    action, value, name = rng.random(), value_of(rng), operators[int(rng.integers(len(operators)))]
    if action < 0.4:
        return lambda x: x.__setitem__(key, value), lambda x: x.__setitem__(region, value)
    if action < 0.6:
        return lambda x: x.__delitem__(key), lambda x: x.__delitem__(region)
    if action < 0.65:
        return lambda x: x[key] << sr.Scalar(), lambda x: x.__delitem__(region)
    if action < 0.8:
        return lambda x: x(name)[key] << value, lambda x: x(name)[region] << value
    return lambda x: x[key](name) << value, lambda x: x(name)[region] << value


def attempt(change: Callable[[Any], Any], x: Any) -> type | None:
    try:
        change(x)
    except SemiringError as error:
        return type(error)
    return None


def entries(x: Any) -> dict[Any, Any]:
    *at, values = (part.get() if hasattr(part, "get") else part for part in x.to_coo())
    assert values.dtype == x.dtype
    return dict(zip(zip(*(part.tolist() for part in at), strict=True), values.tolist(), strict=True))


def same(x: Any, twin: Any) -> None:
    ours, right = entries(x), entries(twin)
    assert ours.keys() == right.keys()
    for at, value in right.items():
        assert ours[at] == pytest.approx(value, rel=1e-6, nan_ok=True), at


def specified(change: Callable[[Any], Any], twin: Any) -> Any:
    """Run a change of the twin, or read it, on the engine `reference`."""
    with config.set(device="cpu", cpu_engine="reference"):
        result = change(twin)
        twin.wait()
        return result


def use_whole(rng: np.random.Generator, x: Any, twin: Any) -> None:
    """Compare both, and change both by an operation on the whole object."""
    action = int(rng.integers(6))
    if action == 0:
        assert x.nvals == twin.nvals
    elif action == 1:
        copy = x.dup()
        x[0 if x.ndim == 1 else (0, 0)] = 5
        same(copy, twin)
        specified(lambda y: y.__setitem__([0] if y.ndim == 1 else ([0], [0]), 5), twin)
    elif action == 2:
        name = "identity" if x.dtype == BOOL else "ainv"
        x << x.apply(name)
        specified(lambda y: y << y.apply(name), twin)
    elif action == 3:
        x.clear()
        twin.clear()
    else:
        same(x, twin)


def run_sequence(form: str, kind: str, number: int, engine: str) -> None:
    rng = np.random.default_rng([sampling.seed, number, FORMS.index((form, kind))])
    x, twin = drawn(form, kind, rng, engine)
    for _ in range(int(rng.integers(1, 60))):
        ours, theirs = write(rng, x.shape)
        expected = specified(lambda y: attempt(theirs, y), twin)  # noqa: B023
        assert attempt(ours, x) == expected
        at = tuple(int(rng.integers(size)) for size in x.shape)
        value = specified(lambda y: y.get(*at), twin)  # noqa: B023
        found = x.get(*at) if rng.random() < 0.5 else x[at if len(at) == 2 else at[0]].value
        assert (found is None) == (value is None)
        assert value is None or found == pytest.approx(value, rel=1e-6, nan_ok=True)
        assert found is None or type(found) is type(x.dtype.type(0).item())
        if rng.random() < 1 / WRITES:
            use_whole(rng, x, twin)
    same(x, twin)


@pytest.mark.parametrize(
    ("form", "kind"),
    [pytest.param(*row, marks=sampling.marks(row, sampling.draw("element writes", FORMS, 5))) for row in FORMS],
)
def test_sequences_of_writes(engine: str, form: str, kind: str) -> None:
    for number in range(100 if sampling.exhaustive else SEQUENCES):
        run_sequence(form, kind, number, engine)


def made(form: str) -> Any:
    if form == "vector":
        return sr.Vector.from_coo([1, 4, 7], [1.0, 2.0, 3.0], size=9)
    return sr.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=3, ncols=3)


def test_a_write_is_not_applied_until_the_whole_object_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[Any] = []
    real = elements._applied
    monkeypatch.setattr(elements, "_applied", lambda c, changes: applied.append(len(changes)) or real(c, changes))
    v, A = made("vector"), made("matrix")
    for x, at, other in ((v, 4, 7), (A, (1, 2), (0, 1))):
        for step in range(10):
            x[at] = step
            x[at]("plus") << 1
        assert x[at].value == 10.0
        assert (x.get(*other) if x.ndim == 2 else x.get(other)) is not None
        assert at in x
        assert x.dtype == FP64
        assert x.shape
        del x[at]
        assert at not in x
        assert x[at].value is None
        assert not applied
        assert x.nvals == 2
        assert applied == [1]
        x.wait()
        assert x.nvals == 2
        assert applied.pop() == 1
        assert not applied


def test_an_extracted_element_has_the_value_of_its_moment() -> None:
    v = made("vector")
    first, missing = v[4], v[5]
    v[4] = v[5] = 9
    second = v[4]
    v[4]("plus") << 1
    accumulated = v[1]
    v[1]("plus") << 5
    sixth = v[1]
    del v[1], v[4]
    assert (first.value, missing.value, second.value) == (2.0, None, 9.0)
    assert (accumulated.value, sixth.value, v[1].value) == (1.0, 6.0, None)


def test_copies_and_operations_hold_the_entries_of_their_moment() -> None:
    v = made("vector")
    v[0] = 5
    copy, twice = v.dup(), v + v
    v[0] = 6
    assert (copy[0].value, twice[0].value, v[0].value) == (5.0, 10.0, 6.0)
    mask, A = v.S, made("matrix")
    del v[0]
    assert sr.Vector.full(1, 9).dup(mask=mask).nvals == 4
    A[0, 0] = 4
    transposed = A.T
    del A[0, 0]
    assert transposed.nvals == 4
    assert A.T.nvals == 3


@pytest.mark.parametrize("form", ["vector", "matrix"])
def test_a_complex_number_written_to_a_real_type_is_its_real_part(form: str) -> None:
    x = made(form)
    at: Any = 4 if form == "vector" else (1, 2)
    x[at] = 2 + 1j
    assert (x.dtype, x[at].value) == (np.dtype(np.float64), 2.0)


@pytest.mark.parametrize("form", ["vector", "matrix"])
def test_errors_rise_at_once(form: str) -> None:
    x = made(form)
    at: Any = 4 if form == "vector" else (1, 2)
    outside: Any = 9 if form == "vector" else (1, 3)
    for change in (
        lambda: x.__setitem__(outside, 1),
        lambda: x.__delitem__(outside),
        lambda: x(accum="plus")[outside] << 1,
    ):
        with pytest.raises(IndexOutOfBound):
            change()
    for value in ("text", None):
        with pytest.raises(SemiringError):
            x[at] = value
    with pytest.raises(SemiringError):
        x[at]("band") << 1.0
    with pytest.raises(InvalidValue, match="part"):
        x[1:3][0 if form == "vector" else (0, 2)] = 1
    assert x.isequal(made(form))


def test_a_failed_application_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    v = made("vector")
    v[0], v[4] = 5, 6
    with monkeypatch.context() as broken:

        def fails(*_: Any) -> None:
            raise KeyboardInterrupt

        broken.setattr(elements, "_written", fails)
        with pytest.raises(KeyboardInterrupt):
            v.wait()
        v[2] = 7
    assert v.to_dict() == {0: 5.0, 1: 1.0, 2: 7.0, 4: 6.0, 7: 3.0}


def test_a_long_log_is_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    v = sr.Vector("int64", 1000)
    with patch.object(elements, "LIMIT", 100):
        for i in range(1000):
            v[i] = i
            assert len(v._elements._changes) < 100  # type: ignore[union-attr]
    assert v.to_dict() == {i: i for i in range(1000)}


@pytest.mark.one_process("formats, codecs and placements are of parts")
def test_structure_is_shared_where_all_written_positions_are_stored() -> None:
    A = made("matrix")
    pattern = A.store.pattern
    A[0, 1], A[2, 0] = 8, 9
    assert A.store.pattern is pattern
    A[0, 0] = 1
    assert A.store.pattern is not pattern


@pytest.mark.one_process("formats, codecs and placements are of parts")
def test_one_value_for_all_stays_one_value(engine: str) -> None:
    if engine == "reference":
        pytest.skip("the specification stores every value")
    for x, stored, other in (
        (sr.Vector.from_coo([1, 2], 3.0, float, size=100), 1, 50),
        (sr.Vector.from_coo([1, 2], 3.0, float, size=100).convert("bitmap"), 1, 50),
        (sr.Vector.full(3.0, 100), 1, 50),
        (sr.Matrix.from_coo([0, 1], [1, 1], 3.0, nrows=5, ncols=5), (0, 1), (3, 3)),
    ):
        x[stored] = x[other] = 3.0
        assert x.iso_value == 3.0
        x[other] = -3.0
        assert not x.is_iso
        assert x[other].value == -3.0


def test_an_element_read_copies_little(engine: str) -> None:
    if engine != "cuda":
        pytest.skip("counts copies from the GPU")
    v = sr.Vector.from_dense(np.arange(100_000.0)).convert("bitmap")
    v[5] = 1.0
    Transfers.reset()
    assert v[5].value == 1.0
    assert Transfers.copies == 0
    assert v[6].value == 6.0
    assert Transfers.bytes < 100


@pytest.mark.one_process("threads of one process make calls in any order")
def test_readers_lose_no_write() -> None:
    """One thread writes, others read the whole object meanwhile."""
    v, stop, failed = sr.Vector("int64", 2000), threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            found = v.to_dict()
            if any(found[i] != i for i in found):
                failed.append(found)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for i in range(2000):
        v[i] = i
    stop.set()
    for reader in readers:
        reader.join()
    assert not failed
    assert v.to_dict() == {i: i for i in range(2000)}


def test_membership() -> None:
    """``(i, j) in A`` and ``i in v``: whether an entry is stored, zeros included."""
    A = sr.Matrix.from_coo([0, 1], [2, 0], [0.0, 6.0], shape=(2, 3))
    v = sr.Vector.from_coo([0, 2], [0.0, 6.0], size=4)
    for B in (A, A.compress("packed"), A.dup().convert("bitmap"), A.dup().convert("hypersparse")):
        assert [(i, j) for i in range(2) for j in range(3) if (i, j) in B] == [(0, 2), (1, 0)]
        assert (-2, -1) in B
        assert np.array([1, 0]) in B
    assert [i for i in range(4) if i in v] == [0, 2]
    for place in (
        2,
        1.5,
        None,
        "ab",
        "a",
        (1,),
        (0, 1, 2),
        slice(None),
        (),
        {0, 1},
        np.eye(2),
        np.array(1),
        np.array([[0, 1]]),
    ):
        with pytest.raises(InvalidType, match=r"a position of a matrix is a pair, as in \(i, j\) in A; got"):
            assert place in A
    for place in ((0, 1.0), ("a", 0), (True, 0), ([0, 1], 0), (0, None)):
        with pytest.raises(InvalidType, match=r"an index of (rows|columns) must be an integer"):
            assert place in A
    for index in (1.0, "a", (0, 1), None, slice(None), True):
        with pytest.raises(InvalidType, match="an index of a vector must be an integer"):
            assert index in v
    for place in ((2, 0), (0, 3), (-3, 0)):
        with pytest.raises(IndexOutOfBound):
            assert place in A
    with pytest.raises(IndexOutOfBound):
        assert 4 in v
