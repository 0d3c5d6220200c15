"""Products and reductions: the engine under test equals the specification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.engines import registry
from semiring.engines.reference.dense import densify
from semiring.engines.requests.operands import Mask
from semiring.engines.requests.operations import Inner, Mxm, Mxv, ReduceRows, ReduceScalar, scalar_value
from semiring.formats import CSR, IndexList, Pattern
from semiring.ops.inner import inner
from tests.compare import check, device_for, place, same_values
from tests.draw import both_ways, masks, matrices, sizes, stores, vectors
from tests.pool import MONOIDS, SEMIRINGS, Operator, Semiring

FEW = settings(max_examples=settings().max_examples // 2)


@st.composite
def some_mask(draw: Any, shape: tuple[int, ...]) -> Mask | None:
    return draw(st.none() | masks(shape))


@pytest.mark.costly
@pytest.mark.parametrize("pooled", SEMIRINGS)
@settings(max_examples=settings().max_examples * 2 // 3)
@given(data=st.data())
def test_mxv(engine: str, pooled: Semiring, data: st.DataObject) -> None:
    nout, ninner = data.draw(st.tuples(sizes, sizes), label="nout, ninner")
    flip = data.draw(st.booleans(), label="flip")
    of_matrix, of_vector = (pooled.right, pooled.left) if flip else (pooled.left, pooled.right)
    m = data.draw(matrices(nout, ninner, of_matrix), label="M")
    by_row, by_column = both_ways(m, data.draw(st.booleans(), label="transpose is ready"))
    check(
        Mxv(
            nout,
            ninner,
            by_row,
            by_column,
            data.draw(vectors(ninner, of_vector), label="u"),
            pooled.typed,
            flip,
            data.draw(some_mask((nout,)), label="mask"),
            data.draw(st.sampled_from(("auto", "push", "pull")), label="direction"),
        ),
        engine,
    )


@pytest.mark.costly
@pytest.mark.parametrize("pooled", SEMIRINGS)
@FEW
@given(data=st.data())
def test_mxm(engine: str, pooled: Semiring, data: st.DataObject) -> None:
    nrows, ninner, ncols = data.draw(st.tuples(sizes, sizes, sizes), label="shapes")
    a = data.draw(matrices(nrows, ninner, pooled.left), label="A")
    b = data.draw(matrices(ninner, ncols, pooled.right), label="B")
    mask = data.draw(some_mask((nrows, ncols)), label="mask")
    check(Mxm.of(a, b, pooled.typed, mask), engine)


@pytest.mark.costly
@pytest.mark.parametrize("pooled", MONOIDS)
@FEW
@given(data=st.data())
def test_reduce_rows(engine: str, pooled: Operator, data: st.DataObject) -> None:
    nrows, ncols = data.draw(st.tuples(sizes, sizes), label="shape")
    check(ReduceRows(data.draw(matrices(nrows, ncols, pooled.operand), label="A"), pooled.typed), engine)


@pytest.mark.costly
@pytest.mark.parametrize("pooled", MONOIDS)
@FEW
@given(data=st.data())
def test_reduce_scalar(engine: str, pooled: Operator, data: st.DataObject) -> None:
    shape = data.draw(st.tuples(sizes) | st.tuples(sizes, sizes), label="shape")
    check(ReduceScalar(data.draw(stores(shape, pooled.operand), label="a"), pooled.typed), engine)


@pytest.mark.costly
@pytest.mark.parametrize("pooled", SEMIRINGS)
@FEW
@given(data=st.data())
def test_inner(engine: str, pooled: Semiring, data: st.DataObject) -> None:
    shape = data.draw(st.tuples(sizes), label="size")
    u = data.draw(stores(shape, pooled.left), label="u")
    v = data.draw(stores(shape, pooled.right), label="v")
    device = device_for(engine)
    plan = inner(place(u, device), place(v, device), pooled.typed)
    got, expected = plan.value(), scalar_value(registry.run(Inner(u, v, pooled.typed), "reference"))
    assert plan.dtype == pooled.typed.z
    assert (got is None) == (expected is None)
    if expected is None:
        return
    assert np.asarray(got).dtype == plan.dtype
    if pooled.typed.add.is_any:
        values, present = densify(u)
        only = (IndexList(u.size, u.dtype, np.array([k], np.int32), values[[k]]) for k in np.flatnonzero(present))
        legal = [scalar_value(registry.run(Inner(one, v, pooled.typed), "reference")) for one in only]
        assert any(same_values(np.asarray(z), np.asarray(got)) for z in legal if z is not None)
    else:
        assert same_values(np.asarray(got), np.asarray(expected)), f"got {got!r}; expected {expected!r}"


@pytest.mark.parametrize("pooled", MONOIDS)
def test_rows_of_an_iso_valued_matrix(engine: str, pooled: Operator) -> None:
    # 0 to 9 entries a row: every path of doubling.
    indptr = np.cumsum(np.r_[0, np.arange(10)]).astype(np.int32)
    indices = np.concatenate([np.arange(k) for k in range(10)]).astype(np.int32)
    pattern = Pattern(10, 9, indptr, indices)
    for value in (0, 1, 2):
        check(ReduceRows(CSR(pattern, pooled.operand, None, pooled.operand.type(value)), pooled.typed), engine)
