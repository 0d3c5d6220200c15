"""The extreme entry of each row or group with its position, and reductions of groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring import Matrix, Vector
from semiring.dtypes import BOOL, FP32, FP64, INT8, INT64
from semiring.engines import registry
from semiring.engines.requests.operations import LocateGroups, LocateRows
from semiring.exceptions import DimensionMismatch, DomainMismatch, IndexOutOfBound, InvalidValue
from semiring.formats import CSR, Pattern
from tests import storage_kinds
from tests.compare import assert_same, check_invariants, device_for, place
from tests.draw import contents, indexes, matrices, vectors

few = st.sampled_from((0, 1, 2, 5, 9, 33))
# Each type is another kernel.
some = st.sampled_from((BOOL, INT8, FP64))


def as_specified(spec: LocateRows | LocateGroups, engine: str) -> None:
    placed = place(spec, device_for(engine))
    requests = [placed]
    if isinstance(spec, LocateRows) and storage_kinds.is_chosen(spec, engine):
        requests.append(storage_kinds.in_other_kinds(placed, engine))
    expected = registry.run(spec, "reference")
    for request in requests:
        with storage_kinds.small_slices():
            found = registry.run(request, engine)
        for name in ("values", "positions"):
            made = getattr(found, name).to("cpu")
            check_invariants(made)
            assert_same(made, getattr(expected, name))


@pytest.mark.costly
@given(data=st.data())
def test_rows_are_as_the_specification(engine: str, data: st.DataObject) -> None:
    a = data.draw(matrices(data.draw(few), data.draw(few), data.draw(some)))
    as_specified(LocateRows(a, data.draw(st.booleans())), engine)


@pytest.mark.costly
@given(data=st.data())
def test_groups_are_as_the_specification(engine: str, data: st.DataObject) -> None:
    index = data.draw(indexes(data.draw(st.sampled_from((1, 2, 9, 33, 1000)))))
    u = data.draw(vectors(index.count, data.draw(some)))
    as_specified(LocateGroups(u, index, data.draw(st.booleans())), engine)


@pytest.mark.parametrize("dtype", [FP32, INT64], ids=str)
def test_rows_and_columns_of_all_lengths(dtype: Any, engine: str) -> None:
    """Compared with NumPy, by rows and by columns; most values occur several times."""
    if engine == "reference":
        pytest.skip("the specification is dense")
    rng = np.random.default_rng(7)
    lengths = (0, 1, 31, 32, 33, 127, 128, 129, 5000, 0, 0, 20000, 2)
    columns = np.concatenate([np.sort(rng.permutation(21000)[:length]) for length in lengths])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    pattern = Pattern(len(lengths), 21000, offsets.astype(np.int32), columns.astype(np.int32))
    A = Matrix._new(CSR(pattern, dtype, contents(rng, columns.size, dtype)).to(device_for(engine)))
    i, j, x = A.to_coo(device="cpu")
    for name, sign in (("minloc", 1), ("maxloc", -1)):
        for order, outer, inner in (("rowwise", i, j), ("columnwise", j, i)):
            ranked = np.lexsort((inner, x if sign == 1 else ~x if dtype.kind == "i" else -x, outer))
            first = ranked[np.unique(outer[ranked], return_index=True)[1]]
            w, p = getattr(A, name)(order)
            assert w.to_dict() == dict(zip(outer[first].tolist(), x[first].tolist(), strict=True))
            assert p.to_dict() == dict(zip(outer[first].tolist(), inner[first].tolist(), strict=True))


@pytest.fixture
def A() -> Matrix:
    return Matrix.from_coo([0, 0, 0, 2, 3, 3], [1, 3, 4, 0, 2, 4], [2, 3, 2, 5, 7, 7], shape=(4, 5))


def dicts(pair: tuple[Vector, Vector]) -> tuple[dict[int, Any], dict[int, Any]]:
    w, p = pair
    assert p.dtype == np.int64
    return w.to_dict(), p.to_dict()


def test_the_first_of_equal_values_wins(A: Matrix) -> None:
    assert dicts(A.minloc()) == ({0: 2, 2: 5, 3: 7}, {0: 1, 2: 0, 3: 2})
    assert dicts(A.maxloc()) == ({0: 3, 2: 5, 3: 7}, {0: 3, 2: 0, 3: 2})
    assert dicts(A.minloc("columnwise")) == ({0: 5, 1: 2, 2: 7, 3: 3, 4: 2}, {0: 2, 1: 0, 2: 3, 3: 0, 4: 0})
    A.T.dup()  # columns are then rows of the transpose
    assert dicts(A.maxloc("columnwise")) == dicts(A.T.maxloc()) == dicts(A.T.dup().maxloc())
    assert dicts(A.T.minloc("columnwise")) == dicts(A.minloc())
    with pytest.raises(InvalidValue, match="order"):
        A.minloc("C")


@pytest.mark.parametrize(
    "stored",
    [
        lambda A: A.compress(),
        lambda A: A.to(placement="host"),
        lambda A: A.convert("bitmap"),
        lambda A: A.convert("hypersparse"),
    ],
    ids=["compressed", "host", "bitmap", "hypersparse"],
)
def test_storage_kinds(A: Matrix, stored: Callable[[Matrix], Matrix]) -> None:
    B = stored(A.dup())
    assert dicts(B.maxloc()) == dicts(A.maxloc())
    assert dicts(B.minloc("columnwise")) == dicts(A.minloc("columnwise"))


def test_full_and_iso_matrices() -> None:
    values = np.arange(12.0).reshape(3, 4) % 5
    F = Matrix.from_dense(values)
    for order, axis in (("rowwise", 1), ("columnwise", 0)):
        assert list(F.maxloc(order)[1].to_dict().values()) == values.argmax(axis).tolist()
        assert list(F.minloc(order)[0].to_dict().values()) == values.min(axis).tolist()
    w, p = Matrix.from_coo([0, 0, 2], [3, 4, 1], 2.5, shape=(3, 5)).minloc()
    assert w.is_iso
    assert dicts((w, p)) == ({0: 2.5, 2: 2.5}, {0: 3, 2: 1})


def test_every_number_beats_nan() -> None:
    A = Matrix.from_coo([0, 0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 0, 1], [np.nan, np.inf, -0.0, np.nan, np.nan, 0.0, -0.0])
    for name, first in (("minloc", 2), ("maxloc", 1)):
        w, p = getattr(A, name)()
        assert p.to_dict() == {0: first, 1: 3, 2: 0}
        assert np.isnan(w.get(1))
    assert dicts(A.minloc("columnwise"))[1] == {0: 2, 1: 2, 2: 0, 3: 1, 4: 1}
    # The aggregators find the same entries.
    assert A.reduce_rowwise("argmin").to_dict() == {0: 2, 1: 3, 2: 0}
    nothing = Vector.from_coo([1, 3], [np.nan, np.nan], size=4)
    assert nothing.reduce("argmax").value == 1
    assert dicts(nothing.minloc_by([0, 2, 2, 2]))[1] == {2: 1}


@pytest.mark.parametrize("format", ["index", "bitmap"])
def test_the_entry_that_wins_in_each_group(format: str) -> None:
    u = Vector.from_coo([0, 1, 2, 4, 5], [4, 1, 2, 1, 9], size=6).convert(format)
    labels = [3, 3, 0, 0, 3, 9]
    assert dicts(u.minloc_by(labels, size=10)) == ({0: 2, 3: 1, 9: 9}, {0: 2, 3: 1, 9: 5})
    assert dicts(u.maxloc_by(np.array(labels), size=10)) == ({0: 2, 3: 4, 9: 9}, {0: 2, 3: 0, 9: 5})
    # Entries without a label are in no group; positions are those of the whole vector.
    some = Vector.from_coo([1, 2, 3, 5], [3, 0, 0, 0], size=6)
    assert dicts(u.maxloc_by(some)) == ({0: 9, 3: 1}, {0: 5, 3: 1})
    assert dicts(u.maxloc_by(some, size=10**6)) == ({0: 9, 3: 1}, {0: 5, 3: 1})


@given(data=st.data())
def test_groups_are_reduced_as_numpy_does(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    n, size = data.draw(st.sampled_from((1, 7, 40, 300))), data.draw(st.sampled_from((1, 3, 33)))
    values, labels = rng.integers(-9, 9, n), rng.integers(0, size, n)
    held = rng.random(n) < data.draw(st.sampled_from((0.3, 1.0)))
    labeled = rng.random(n) < data.draw(st.sampled_from((0.5, 1.0)))
    u = Vector.from_coo(np.flatnonzero(held), values[held], size=n)
    group = Vector.from_coo(np.flatnonzero(labeled), labels[labeled], size=n)
    both = held & labeled
    expected = {g: values[both & (labels == g)] for g in np.unique(labels[both]).tolist()}
    for op, function in (("plus", np.sum), ("max", np.max), ("mean", np.mean), ("count", np.size)):
        assert u.reduce_by(group, op, size=size).to_dict() == {g: function(part) for g, part in expected.items()}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint64", "complex128"])
def test_groups_of_very_different_sizes(dtype: str) -> None:
    """Most entries meet in one group; sums of small integers are exact."""
    rng = np.random.default_rng(3)
    n, size = 150_000, 500
    labels = np.where(rng.random(n) < 0.7, 17, rng.integers(0, size, n))
    values = rng.integers(0, 9, n).astype(dtype)
    u = Vector.from_dense(values)
    sums = np.zeros(size, dtype)
    np.add.at(sums, labels, values)
    assert (u.reduce_by(labels, size=size).to_numpy(0) == sums).all()
    if dtype != "complex128":
        largest = np.zeros(size, dtype)
        np.maximum.at(largest, labels, values)
        assert (u.reduce_by(labels, "max", size=size).to_numpy(0) == largest).all()


def test_reductions_of_groups() -> None:
    u, labels = Vector.from_dense([5, 1, 2, 2, 7]), Vector.from_dense([2, 0, 2, 2, 0])
    expected = {"first": {0: 1, 2: 5}, "last_index": {0: 4, 2: 3}, "argmax": {0: 4, 2: 0}}
    for op, result in expected.items():
        assert u.reduce_by(labels, op).to_dict() == result
    assert u.reduce_by(labels, "any").nvals == 2
    assert u.reduce_by(labels, sr.agg.sum["float64"]).isequal(Vector.from_coo([0, 2], [8.0, 9.0], size=5))
    w = Vector.from_dense([10, 20, 30])
    assert u.reduce_by(labels, out=w, accum="plus", size=3).to_dict() == {0: 18, 1: 20, 2: 39}
    ones = Vector.full(1, 5)
    assert ones.reduce_by(labels, mask=Vector.from_coo([2], True, size=5)).to_dict() == {2: 3}
    z = Vector.from_dense([1j, 2.0, 3.0, 4.0, 1.0])
    assert z.reduce_by(labels).to_dict() == {0: 3.0, 2: 7 + 1j}


def test_refusals() -> None:
    u = Vector.from_dense([1, 2, 3, 4])
    with pytest.raises(DimensionMismatch, match="one for each of the 4 positions"):
        u.reduce_by([0, 1])
    for labels in ([0, 1, -1, 2], [0, 4, 1, 1]):
        with pytest.raises(IndexOutOfBound, match=r"labels\[\d\] = -?\d is out of bounds for the groups"):
            u.minloc_by(labels)
    with pytest.raises(InvalidValue, match="integers"):
        u.maxloc_by([0.5, 1, 1, 1])
    with pytest.raises(DomainMismatch, match="no order"):
        Vector.from_dense([1j]).minloc_by([0])
    with pytest.raises(DomainMismatch, match="no order"):
        Matrix.from_dense([[1j]]).maxloc()


def test_the_lightest_edge_of_each_component() -> None:
    """One round of Boruvka: the winner of each row, then of each component, with the edge that it is."""
    W = Matrix.from_coo([0, 0, 1, 1, 2, 3], [1, 2, 0, 3, 0, 1], [4.0, 2.0, 4.0, 1.0, 2.0, 1.0])
    component = Vector.from_dense([0, 1, 0, 1])
    i, j, _ = W.to_coo(device="cpu")
    c = component.to_numpy()
    outgoing = W.dup(mask=Matrix.from_coo(i, j, c[i] != c[j], shape=W.shape).V)
    weight, neighbor = outgoing.minloc()
    w, vertex = weight.minloc_by(component)
    assert dicts((w, vertex)) == ({0: 4.0, 1: 4.0}, {0: 0, 1: 1})
    assert neighbor[vertex.to_coo(device="cpu")[1]].to_dict() == {0: 1, 1: 0}
