"""Flows from supplies to demands: conservation, a cut of the same value, and SciPy's value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

import semiring as sr
from semiring import Matrix, Vector
from semiring.dtypes import BOOL, FP64, INT8, INT64
from semiring.engines import registry
from semiring.engines.requests.graphs import MaximumFlow
from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidValue, NotSupported
from semiring.formats import CSR, Full, Pattern

Array = np.ndarray[Any, Any]


def dense(x: Any) -> Array:
    """A Vector or Matrix with zeros where it has no entry."""
    return np.asarray(x.dup(dtype=float).to_dense(fill_value=0.0))


def verify(
    limit: Array, supply: Array, demand: Array, flow: Array, sent: Array, received: Array, side: Array, tolerance: float
) -> float:
    """Check that a flow is one, and that a cut has its value; return the value."""
    limit = np.fmax(limit, 0.0)
    np.fill_diagonal(limit, 0.0)
    assert (flow >= 0).all()
    assert (flow <= limit + tolerance).all()
    assert not (np.minimum(flow, flow.T) > 0).any()
    for used, given_ in ((sent, supply), (received, demand)):
        assert (used >= 0).all()
        assert (used <= given_ + tolerance).all()
    np.testing.assert_allclose(sent + flow.sum(axis=0), received + flow.sum(axis=1), atol=tolerance)
    cut = limit[side][:, ~side].sum() + supply[~side].sum() + demand[side].sum()
    np.testing.assert_allclose(sent.sum(), cut, atol=tolerance)
    return float(sent.sum())


def expected(limit: Array, supply: Array, demand: Array) -> int:
    """SciPy's value of a flow from a vertex with the supplies to one with the demands."""
    n = len(limit)
    whole = np.zeros((n + 2, n + 2), np.int32)
    whole[:n, :n], whole[n, :n], whole[:n, n + 1] = limit, supply, demand
    return int(csgraph.maximum_flow(sp.csr_array(whole), n, n + 1).flow_value)


def store(values: Array, present: Array) -> CSR:
    """The entries of an array at these places."""
    indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int32)
    n = len(values)
    return CSR(Pattern(n, n, indptr, np.nonzero(present)[1].astype(np.int32)), values.dtype, values[present])


@pytest.mark.costly
@pytest.mark.parametrize(
    "dtype", [INT64, *(pytest.param(t, marks=pytest.mark.wide) for t in (BOOL, INT8, FP64))], ids=str
)
@given(data=st.data())
def test_every_engine_finds_a_flow_and_a_cut_of_its_value(dtype: Any, engine: str, data: st.DataObject) -> None:
    if not registry.implemented(MaximumFlow, engine):
        pytest.skip("this engine has no sequential search of paths")
    n, seed = data.draw(st.sampled_from((0, 1, 2, 7, 30))), data.draw(st.integers(0, 999))
    rng = np.random.default_rng(seed)
    present = rng.random((n, n)) < data.draw(st.sampled_from((0.05, 0.2, 0.6)))
    present |= present.T
    limit = rng.integers(-2, 9, (n, n)).astype(dtype)
    supply, demand = (np.where(rng.random(n) < 0.4, rng.integers(0, 12, n), 0).astype(FP64) for _ in range(2))
    spec = MaximumFlow(
        store(limit, present), store(limit.T, present), Full(n, FP64, supply), Full(n, FP64, demand), 0.0
    )
    found = registry.run(spec, engine)
    flow, limits = np.zeros((n, n)), np.where(present, limit, 0).astype(float)
    rows = np.repeat(np.arange(n), np.diff(found.flow.indptr))
    flow[rows, found.flow.indices] = found.flow.values
    sent, received, side = (dense(Vector(u.dtype, n, device="cpu").with_store(u)) for u in
                            (found.sent, found.received, found.side))  # fmt: skip
    value = verify(limits.copy(), supply, demand, flow, sent, received, side > 0, 0.0)
    np.fill_diagonal(limits, 0.0)
    assert value == expected(np.fmax(limits, 0), supply, demand)


def drawn(n: int, degree: int, seed: int, top: int = 20) -> Array:
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, n)) < degree / n, rng.integers(0, top, (n, n)), 0)


@pytest.mark.costly
@pytest.mark.parametrize(("n", "degree"), [(60, 3), (60, 20), (400, 4)])
@pytest.mark.parametrize("floats", [False, pytest.param(True, marks=pytest.mark.wide)])
def test_many_supplies_and_demands(n: int, degree: int, floats: bool) -> None:
    """Structures that are not symmetric, and transposed operands."""
    limit, rng = drawn(n, degree, degree), np.random.default_rng(n)
    supply, demand = (np.where(rng.random(n) < 0.2, rng.integers(0, 60, n), 0) for _ in range(2))
    scale = 1 / 3 if floats else 1
    with sr.use("cpu"):
        given_ = [Vector.from_dense(u * scale, missing_value=0) for u in (supply, demand)]
        for turned in (False, True):
            A = Matrix.from_dense((limit.T if turned else limit) * scale, missing_value=0)
            found = sr.ops.flow(given_[0], A.T if turned else A, given_[1])
            assert found.flow.dtype == found.sent.dtype == ("float64" if floats else "int64")
            parts = [dense(x) for x in (found.flow, found.sent, found.received, found.side)]
            tolerance = 1e-9 if floats else 0.0
            value = verify(limit * scale, supply * scale, demand * scale, *parts[:3], parts[3] > 0, tolerance)
            np.testing.assert_allclose(value, expected(limit, supply, demand) * scale, rtol=1e-12)


def test_a_grid_from_side_to_side() -> None:
    """Paths of 60 entries and more, in levels from both sides; the cut is the narrowest column."""
    height, width = 12, 60
    places = np.arange(height * width).reshape(height, width)
    rng = np.random.default_rng(8)
    edges = np.concatenate([np.stack([places[:, :-1].ravel(), places[:, 1:].ravel()], 1),
                            np.stack([places[:-1].ravel(), places[1:].ravel()], 1)])  # fmt: skip
    limits = rng.integers(1, 6, len(edges))
    n = places.size
    half = sp.coo_array((limits, edges.T), shape=(n, n))
    both = sp.csr_array(half + half.T)
    supply, demand = np.zeros(n, np.int64), np.zeros(n, np.int64)
    supply[places[:, 0]], demand[places[:, -1]] = 100, 100
    with sr.use("cpu"):
        A = Matrix.from_csr(both.indptr, both.indices, both.data, ncols=n)
        found = sr.ops.flow(Vector.from_dense(supply), A, Vector.from_dense(demand))
        parts = [dense(x) for x in (found.flow, found.sent, found.received, found.side)]
        value = verify(both.toarray().astype(float), supply, demand, *parts[:3], parts[3] > 0, 0.0)
        assert value == expected(both.toarray(), supply, demand)
        again = sr.ops.flow(Vector.from_dense(supply), A, Vector.from_dense(demand))
        assert again.flow.isequal(found.flow)
        assert again.side.isequal(found.side)


@pytest.mark.costly
def test_values_that_admit_nothing_and_those_without_end() -> None:
    with sr.use("cpu"):
        A = Matrix.from_coo([0, 0, 0, 1, 2, 3], [1, 2, 3, 4, 4, 4], [np.inf, -5.0, np.nan, 2.5, 9.0, 9.0], shape=(5, 5))
        supply, demand = Vector.from_coo([0, 4], [7.0, 1.0], size=5), Vector.from_coo([4, 0], [50.0, 0.0], size=5)
        found = sr.ops.flow(supply, A, demand)
        assert found.flow.to_dicts() == {0: {1: 2.5}, 1: {4: 2.5}}
        assert (found.sent.to_dict(), found.received.to_dict()) == ({0: 2.5, 4: 1.0}, {4: 3.5})
        assert found.side.to_dict() == {0: True, 1: True}
        assert sr.ops.flow(Vector(float, 5), A, demand).flow.nvals == 0


def test_refused_operands() -> None:
    one, A = Vector.from_coo([0], [1], size=3), Matrix.identity(3)
    with pytest.raises(DimensionMismatch, match="square"):
        sr.ops.flow(one, Matrix(int, 2, 3), one)
    with pytest.raises(DimensionMismatch, match="size 3, got 4"):
        sr.ops.flow(one, A, Vector(int, 4))
    with pytest.raises(DomainMismatch, match="real numbers"):
        sr.ops.flow(one, A.dup(dtype=complex), one)
    for wrong in (-1.0, np.inf, np.nan):
        with pytest.raises(InvalidValue, match="demands must be finite"):
            sr.ops.flow(one, A, Vector.from_coo([1, 2], [2.0, wrong], size=3))
    much = Vector.from_coo([0, 1], [2**53, 1], size=3)
    with pytest.raises(InvalidValue, match=r"2\*\*53"):
        sr.ops.flow(much, A, much.apply("plus", right=1))


def test_a_gpu_refuses() -> None:
    if not sr.cuda_available():
        pytest.skip("no GPU")
    v = Vector(int, 3, device="cuda")
    with pytest.raises(NotSupported, match="flow"):
        sr.ops.flow(v, Matrix.identity(3, device="cuda"), v)
