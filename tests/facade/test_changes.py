"""Batches of changes: random histories equal a dictionary of entries; snapshots, threads, errors, cost, labels."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import pytest

import semiring as sr
from semiring.devices import local_device
from semiring.dtypes import BOOL, FP64, INT64
from semiring.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    IndexOutOfBound,
    InvalidType,
    InvalidValue,
    OutOfMemory,
    SemiringError,
)
from semiring.memory.arrays import to_host
from semiring.storage import changes
from tests import sampling
from tests.compare import device_for
from tests.storage_kinds import KINDS, in_format, in_kind

Model = dict[tuple[int, int], Any]

OPERATORS: dict[str | None, Callable[[Any, Any], Any]] = {
    None: lambda _, new: new,
    "plus": operator.add,
    "max": max,
    "first": lambda old, _: old,
    "minus": operator.sub,  # is not associative: each batch is applied before the next
}
KIND_NAMES = ("plain", "hypersparse", "bitmap", *(f"{codec or 'plain'} {placement}" for codec, placement in KINDS))
SHAPES = ((12, 12), (1, 40), (9, 33))
BATCHES = 12


def drawn(kind: str, rng: np.random.Generator, engine: str) -> sr.Matrix:
    """Return a matrix of a storage kind."""
    if " " in engine:  # divided over a grid
        return drawn(kind, rng, local_device(engine)).to(engine)
    nrows, ncols = SHAPES[int(rng.integers(len(SHAPES)))]
    positions = np.flatnonzero(rng.random(nrows * ncols) < rng.choice([0.0, 0.2, 0.6]))
    values = rng.integers(-9, 10, positions.size).astype((INT64, FP64)[int(rng.integers(2))])
    A = sr.Matrix.from_coo(*np.divmod(positions, ncols), values, shape=(nrows, ncols), device=device_for(engine))
    own = A.store
    codec, _, placement = kind.partition(" ")
    if placement:
        return sr.Matrix._new(in_kind(own, None if codec == "plain" else codec, cast(Any, placement), engine))
    return sr.Matrix._new(own if kind == "plain" else in_format(own, kind, "device", engine))


def model_of(A: sr.Matrix) -> Model:
    return {(i, j): x for i, row in A.to_dicts().items() for j, x in row.items()}


def edges_of(rng: np.random.Generator, shape: tuple[int, int]) -> list[tuple[int, int, int]]:
    """Return up to eleven edges, of which some are repeated."""
    count = int(rng.integers(12))
    ends = [rng.integers(size, size=count).tolist() for size in shape]
    return list(zip(*ends, rng.integers(-4, 5, count).tolist(), strict=True))


def written(model: Model, edges: list[Any], op: Callable[[Any, Any], Any]) -> Model:
    """Return the model after a batch: its own edges are combined first."""
    new: Model = {}
    for i, j, x in edges:
        new[i, j] = op(new[i, j], x) if (i, j) in new else x
    return model | {at: op(model[at], x) if at in model else x for at, x in new.items()}


def change(A: sr.Matrix, model: Model, rng: np.random.Generator) -> Model:
    """Change the matrix by a batch, check the counts, and return the model after it."""
    edges = edges_of(rng, A.shape)
    ends = {(i, j) for i, j, _ in edges}
    if rng.random() < 0.4:
        counts = A.delete([edge[:2] for edge in edges])
        after = {at: x for at, x in model.items() if at not in ends}
    else:
        name = rng.choice(np.array(list(OPERATORS), object))
        columns = {"from": [e[0] for e in edges], "to": [e[1] for e in edges], "x": [e[2] for e in edges]}
        given: Any = edges if rng.random() < 0.5 else columns
        counts = A.insert(given if edges else {"a": [], "b": [], "x": []}, dup_op=name)
        after = written(model, edges, OPERATORS[name])
    if rng.random() < 0.5:
        found = len(ends & model.keys())
        assert (counts.positions, counts.found, counts.missing) == (len(ends), found, len(ends) - found)
    return after


def failing(A: sr.Matrix, first: Callable[[sr.Matrix], Any]) -> None:
    with A.batch() as b:
        first(b)
        raise ZeroDivisionError


@pytest.fixture(params=["kept", "applied"], autouse=True)
def _share(request: pytest.FixtureRequest) -> Any:
    """Batches of any size are kept until the matrix is read, or are applied when they come."""
    with patch.object(changes, "_LARGEST_SHARE", 1e9 if request.param == "kept" else 0.0):
        yield


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_histories(kind: str, engine: str) -> None:
    """Insertions, deletions, snapshots, compaction, other writes and batches that fail, in random order."""
    rng = np.random.default_rng(KIND_NAMES.index(kind))
    for _ in range(700 if sampling.exhaustive else 12):
        A = drawn(kind, rng, engine)
        model, snapshots = model_of(A), []
        held: tuple[str | None, str] | None = A.codec, A.placement
        for _ in range(BATCHES):
            action = rng.random()
            if action < 0.7:
                model = change(A, model, rng)
            elif action < 0.8:
                snapshots.append((A.snapshot(), model))
            elif action < 0.85:
                assert A.compact() is A
            elif action < 0.9:
                at = int(rng.integers(A.nrows)), int(rng.integers(A.ncols))
                A[at] = 7
                model, held = model | {at: 7}, None  # a write to an element may store plain rows
            elif action < 0.95:
                with A.batch() as b:
                    model = change(b, change(b, model, rng), rng)
            else:
                with pytest.raises(ZeroDivisionError):
                    failing(A, partial(change, model=model, rng=rng))
        assert model_of(A) == model
        for snapshot, then in snapshots:
            assert model_of(snapshot) == then
        assert held is None or " " in engine or (A.codec, A.placement) == held


def test_a_matrix_as_a_batch(engine: str) -> None:
    A = sr.Matrix.from_coo([0, 1], [1, 2], [2.0, 3.0], shape=(3, 3))
    B = sr.Matrix.from_coo([1, 2], [2, 0], [5, 7], shape=(3, 3))
    assert A.insert(B, dup_op="plus").found == 1
    assert A.to_dicts() == {0: {1: 2.0}, 1: {2: 8.0}, 2: {0: 7.0}}
    assert A.delete(B).found == 2
    assert A.to_dicts() == {0: {1: 2.0}}


@pytest.mark.one_process("reads the arrays of a store")
def test_a_symmetric_structure_remains_one(engine: str) -> None:
    """By what is known of batches, without a pass over the entries; an edge in one direction alone undoes it."""
    A = sr.Matrix.from_edgelist([(0, 1), (1, 2)], symmetric=True)
    assert A.is_symmetric_structure
    A.insert([(0, 2)], symmetric=True)
    A.delete([(1, 2)], symmetric=True)
    assert A.to_dicts() == {0: {1: True, 2: True}, 1: {0: True}, 2: {0: True}}
    assert A.store.pattern.facts["symmetric"] is True
    A.insert([(1, 2)])
    assert not A.is_symmetric_structure


def test_labels(engine: str) -> None:
    """An insertion has to have vertices that are there; an upsert adds those that are not, behind the others."""
    A = sr.Matrix.from_edgelist([("ann", "bob", 2)], relabel=True)
    A.labels = sr.Labels(["ann", "bob"], {"age": [40.5, 50.5], "town": ["x", "y"]})
    before = A.snapshot()
    with pytest.raises(InvalidValue, match="no vertex is labeled 'zoe'"):
        A.insert([("zoe", "ann", 3)])
    counts = A.upsert([("zoe", "ann", 3), ("ann", "bob", 4), ("bob", "al", 5)])
    assert (counts.found, counts.missing) == (1, 2)
    assert list(A.labels or ()) == ["ann", "bob", "al", "zoe"]
    assert A.to_edgelist()[0].tolist() == [[0, 1], [1, 2], [3, 0]]
    assert (A["zoe", "ann"].value, A["ann", "bob"].value) == (3, 4)
    assert np.isnan(A.labels.attributes["age"]).tolist() == [False, False, True, True]
    assert A.labels.attributes["town"].tolist() == ["x", "y", None, None]
    assert (before.shape, before.to_dicts(), list(before.labels or ())) == ((2, 2), {0: {1: 2}}, ["ann", "bob"])


def test_labels_of_two_sets(engine: str) -> None:
    A = sr.Matrix.from_edgelist([("ann", "tea", 2)], bipartite=True)
    A.upsert([("ann", "rice", 1), ("bob", "tea", 3)])
    assert (A.shape, list(A.row_labels or ()), list(A.column_labels or ())) == ((2, 2), ["ann", "bob"], ["tea", "rice"])
    assert A["bob", "tea"].value == 3


def test_an_upsert_without_labels_keeps_the_shape(engine: str) -> None:
    A = sr.Matrix.from_edgelist([(0, 1, 2)])
    assert A.upsert([(0, 1, 5), (1, 0, 6)]).found == 1
    assert A.to_dicts() == {0: {1: 5}, 1: {0: 6}}
    with pytest.raises(IndexOutOfBound):
        A.upsert([(0, 2, 5)])


_EDGES = [(0, 1, 2.0), (1, 2, 3.0)]
WRONG: list[tuple[type[SemiringError], Callable[[sr.Matrix], Any]]] = [
    (IndexOutOfBound, lambda A: A.insert([(0, 3, 1)])),
    (IndexOutOfBound, lambda A: A.delete([(3, 0)])),
    (InvalidValue, lambda A: A.insert([("a", "b", 1)])),
    (InvalidValue, lambda A: A.insert("edges")),
    (InvalidValue, lambda A: A.insert(_EDGES, dup_op="mean")),
    (InvalidType, lambda A: A.insert(_EDGES, values=3)),
    (InvalidType, lambda A: A.insert(A.T.dup(), symmetric=True)),
    (DimensionMismatch, lambda A: A.insert(sr.Matrix(float, 4, 4))),
    (DimensionMismatch, lambda A: A.delete(sr.Matrix(float, 3, 4))),
    (DomainMismatch, lambda A: A.insert(_EDGES, dup_op="lt")),
    (InvalidType, lambda A: A.T.insert(_EDGES)),
]


@pytest.mark.parametrize(("error", "wrong"), WRONG)
def test_errors_change_nothing(error: type[SemiringError], wrong: Any, engine: str) -> None:
    A = sr.Matrix.from_edgelist(_EDGES, nrows=3, ncols=3)
    A.insert([(2, 2, 9.0)])
    with pytest.raises(error):
        wrong(A)
    assert A.to_dicts() == {0: {1: 2.0}, 1: {2: 3.0}, 2: {2: 9.0}}


def test_symmetric_changes_need_a_square_matrix(engine: str) -> None:
    with pytest.raises(DimensionMismatch, match="insert: symmetric=True needs a square matrix, got 2 x 3"):
        sr.Matrix(int, 2, 3).insert([(0, 1, 2)], symmetric=True)


def test_an_application_that_fails_is_repeated(engine: str) -> None:
    with patch.object(changes, "_LARGEST_SHARE", 1e9):
        A = sr.Matrix.from_edgelist(_EDGES, nrows=3, ncols=3)
        A.insert([(2, 2, 9.0)])
        B = A.snapshot()
        with patch.object(changes, "_united", side_effect=OutOfMemory("no")), pytest.raises(OutOfMemory):
            _ = A.nvals
        assert A.nvals == B.nvals == 3


def test_a_matrix_that_is_changed_during_its_batch_keeps_that_change(engine: str) -> None:
    A = sr.Matrix.from_edgelist(_EDGES, nrows=3, ncols=3)

    def change_both() -> None:
        with A.batch() as b:
            b.insert([(2, 2, 9.0)])
            A[0, 0] = 5.0

    with pytest.raises(InvalidValue, match="changed in another way"):
        change_both()
    assert A.to_dicts() == {0: {0: 5.0, 1: 2.0}, 1: {2: 3.0}}


@pytest.mark.one_process("threads of one process make calls in any order")
def test_readers_in_other_threads_have_whole_batches(engine: str) -> None:
    """Each batch moves all entries to the next column: a reader that finds two columns has half a batch."""
    n, wrong = 30, []
    A = sr.Matrix.from_coo(range(n), [0] * n, 1.0, shape=(n, n))
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            rows, columns, _ = A.snapshot().to_coo()
            if rows.size != n or np.unique(to_host(columns)).size != 1:
                wrong.append(to_host(columns))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for step in range(1, n):
        with A.batch() as b:
            b.delete([(i, step - 1) for i in range(n)])
            b.insert([(i, step, 1.0) for i in range(n)])
    ended.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert A.to_coo()[1].tolist() == [n - 1] * n


@pytest.mark.one_process("memory is of one process")
def test_the_cost_and_the_memory_are_those_of_the_batch(engine: str) -> None:
    """No request of an insertion or a deletion reads the arrays of the matrix, or more than the batches before it."""
    if engine == "reference":
        pytest.skip("the reference engine stores each position")
    n, count = 1 << 21, 1000
    rng = np.random.default_rng(1)
    ends = rng.integers(n, size=(2, 300_000))
    A = sr.Matrix.from_coo(ends[0], ends[1], 1.0, shape=(n, n), dup_op="any")
    with patch.object(changes, "_LARGEST_SHARE", 1 / 8), sr.explain() as log:
        for k in range(8):
            given: Any = {"from": rng.integers(n, size=count), "to": rng.integers(n, size=count)}
            A.insert(given, rng.random(count))
            A.delete({"from": ends[0, k::300], "to": ends[1, k::300]})
    held = A._elements
    assert isinstance(held, changes.Changes)
    assert not log, "edges are kept as they come"
    assert held.nvals == 16 * count
    assert sum(part.nbytes for part in held.parts) <= 24 * held.nvals
    with sr.explain() as log:
        held.sorted()
    assert max(call.details["bytes"] for call in log) < 40 * 16 * count
    assert 15 * count < held.nvals <= 16 * count
    assert sum(part.nbytes for part in held.parts) <= 24 * held.nvals
    assert len(held.parts) <= 5
    with sr.explain() as log:
        _ = A.nvals
    assert log[-1].operation == "compact"


def test_batches_of_bools_and_single_values(engine: str) -> None:
    A = sr.Matrix(BOOL, 3, 3)
    A.insert([(0, 1), (1, 2)])
    A.insert([(0, 1)], False, dup_op="land")
    assert A.to_dicts() == {0: {1: False}, 1: {2: True}}


def test_zeros_of_both_signs(engine: str) -> None:
    """Of two calls with one value each, which compare as equal."""
    A = sr.Matrix(float, 2, 2)
    A.insert([(0, 0)], 0.0)
    A.insert([(0, 1)], -0.0)
    assert np.signbit(to_host(A.to_coo()[2])).tolist() == [False, True]
