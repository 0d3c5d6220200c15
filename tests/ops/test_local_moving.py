"""Votes by random parts: the specification, its definition by single votes, and stable ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring import Matrix, Vector
from semiring.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64
from semiring.engines import registry
from semiring.engines.requests.graphs import LocalMoving, key_of_pass
from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from semiring.formats import CSR, Full, Pattern
from tests.compare import check, device_for, place
from tests.draw import matrices

sizes = st.sampled_from((0, 1, 2, 5, 9, 20))


def full(values: Any, dtype: Any) -> Full:
    made = np.asarray(values).astype(dtype)
    return Full(made.size, made.dtype, made)


@pytest.mark.costly
@pytest.mark.parametrize(("dtype", "label"), [(FP64, INT32), (INT8, INT64), (BOOL, INT32)], ids=str)
@given(data=st.data())
def test_labels_are_as_the_specification(dtype: Any, label: Any, engine: str, data: st.DataObject) -> None:
    n = data.draw(sizes)
    a = data.draw(matrices(n, n, dtype))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    labels = full(rng.integers(-1, max(n, 1) + 1, n), label)  # also labels that are no group
    mass = full(rng.integers(0, 9, n), FP64) if data.draw(st.booleans()) else None
    parts, passes = data.draw(st.sampled_from((1, 2, 5))), data.draw(st.sampled_from((0, 1, 3)))
    seed, few = data.draw(st.sampled_from((0, -3, 2**63 - 1))), data.draw(st.sampled_from((0, 0, 2)))
    check(LocalMoving(a, labels, mass, 0.125, parts, seed, passes, few, data.draw(st.booleans())), engine)


@pytest.mark.costly
def test_long_rows(engine: str) -> None:
    """Rows of every class of lengths on a GPU, against single votes."""
    if engine == "reference":
        pytest.skip("the specification is dense")
    rng = np.random.default_rng(7)
    lengths, n = [0, 1, 5, 9, 17, 33, 64, 257, 1025, 4097, 8193, 20000], 20_100
    columns = [np.sort(rng.permutation(n)[:length]) for length in lengths]
    rows = np.repeat(np.arange(len(lengths)), lengths)
    far = np.concatenate(columns)
    sparse = sp.coo_array((rng.integers(1, 9, far.size).astype(float), (rows, far)), shape=(n, n)).tocsr()
    sparse = sparse.maximum(sparse.T)
    store = CSR(Pattern(n, n, sparse.indptr.astype(np.int32), sparse.indices.astype(np.int32)), FP64, sparse.data)
    mass = sparse.sum(1)
    labels = rng.integers(0, 50, n)
    spec = LocalMoving(store, full(labels, INT32), full(mass, FP64), 1 / mass.sum(), 3, 5, 2, 0, True)
    got = registry.run(place(spec, device_for(engine)), engine).to("cpu").values
    assert (got == by_votes(sparse, labels, mass, 3, 5, 2)).all()


def by_votes(sparse: Any, labels: Any, mass: Any, parts: int, seed: int, passes: int) -> Any:
    """The definition, by calls of `vote` on the CPU."""
    n, current = labels.size, labels.astype(np.int32)
    total, active = mass.sum(), np.ones(labels.size, bool)
    with sr.use("cpu"):
        a = sr.io.from_scipy_sparse(sparse)
        for number in range(passes):
            drawn = Vector.full(True, n).apply("random", right=key_of_pass(seed, number)).to_numpy()
            part, voters = np.floor(parts * drawn), active.copy()
            for p in range(parts):
                rows = voters & (part == p)
                active &= ~rows
                found = sr.ops.vote(
                    a, Vector.from_dense(current), mass=Vector.from_dense(mass), rate=1 / total, ties="own",
                    totals=Vector.from_dense(np.bincount(current, mass, n)), rows=Vector.from_dense(rows),
                ).to_numpy()  # fmt: skip
                moved, current = np.flatnonzero(found != current), found
                for i in moved:
                    near = sparse.indices[sparse.indptr[i] : sparse.indptr[i + 1]]
                    active[near[current[near] != current[i]]] = True
    return current


@pytest.mark.costly
def test_many_rows_with_helpers(engine: str) -> None:
    """Enough rows for several threads: calls repeat exactly, and without masses no row moves at the end."""
    if engine == "reference":
        pytest.skip("the specification is dense")
    rng = np.random.default_rng(3)
    n = 20_000
    i, j = rng.integers(0, n, (2, 60_000))
    A = Matrix.from_coo(i, j, 1.0, shape=(n, n), dup_op="any").select("offdiag")
    A = A.ewise_add(A.T, "any")
    mass = Vector.full(0.0, n).ewise_add(A.reduce_rowwise("plus"), "plus")
    total = float(A.reduce_scalar("plus").value)
    label = Vector.from_dense(np.arange(n))
    moved = sr.ops.local_moving(A, label, mass=mass, rate=1 / total, seed=9)
    assert moved.isequal(sr.ops.local_moving(A, label, mass=mass, rate=1 / total, seed=9))
    assert sr.algorithms.modularity(A, moved) > 0.2
    for ties in ("own", "smallest"):
        label = sr.ops.local_moving(A, label, ties=ties)
        assert sr.ops.vote(A, label, ties=ties).isequal(label)


def test_small_matrices_and_bad_input() -> None:
    A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    A = A.ewise_add(A.T, "any")
    label = Vector.from_dense(np.arange(6))
    degree = A.dup("float64").reduce_rowwise("plus")
    found = sr.ops.local_moving(A, label, mass=degree, rate=1 / 14).to_numpy()
    assert len(set(found[:3])) == len(set(found[3:])) == 1
    assert sr.ops.local_moving(A, label, max_passes=0).isequal(label)
    assert sr.ops.local_moving(A, label, few=99, seed=2).isequal(sr.ops.local_moving(A, label, max_passes=1, seed=2))
    assert sr.ops.local_moving(Matrix(FP32, 0, 0), Vector(int, 0)).size == 0
    assert sr.ops.local_moving(Matrix(FP32, 3, 3), Vector.from_dense([2, 1, 1])).to_dict() == {0: 2, 1: 1, 2: 1}
    one_way = Matrix.from_coo([0], [1], [1.0], shape=(2, 2))
    assert sr.ops.local_moving(one_way.T, Vector.from_dense([0, 1])).to_dict() == {0: 0, 1: 0}
    for refused in (
        {"parts": 0},
        {"parts": 2.0},
        {"max_passes": -1},
        {"few": -1},
        {"seed": 2**63},
        {"ties": "largest"},
    ):
        with pytest.raises(InvalidValue, match=next(iter(refused))):
            sr.ops.local_moving(A, label, **refused)  # type: ignore[arg-type]
    with pytest.raises(DimensionMismatch, match="square"):
        sr.ops.local_moving(A[:3, :], label)
    with pytest.raises(DimensionMismatch, match="labels has size 2"):
        sr.ops.local_moving(A, Vector.from_dense([0, 1]))
    with pytest.raises(DomainMismatch, match="mass must be"):
        sr.ops.local_moving(A, label, mass=label)
    with pytest.raises(DomainMismatch, match="complex"):
        sr.ops.local_moving(A.dup("complex128"), label)
