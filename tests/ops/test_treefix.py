"""Sums along the paths of a forest: the specification and climbs in plain Python agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring import Vector
from semiring.dtypes import BOOL, FP64, INT8, INT32, INT64
from semiring.engines.requests.graphs import Treefix
from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from semiring.formats import Full
from semiring.operators import lookup_monoid
from tests.compare import check


def forest(n: int, seed: int, long: bool = False) -> np.ndarray[Any, Any]:
    """Parents of a forest with vertices in a random order; long: one path."""
    rng = np.random.default_rng(seed)
    above = np.maximum(np.arange(n) - 1, 0) if long else (rng.random(n) * np.arange(n)).astype(np.int64)
    if not long:
        above[rng.random(n) < 0.1] = -1
    names = rng.permutation(n)
    parent = np.empty(n, np.int64)
    parent[names] = np.where(above < 0, names, names[np.maximum(above, 0)])
    return parent


@pytest.mark.costly
@pytest.mark.parametrize(
    ("monoid", "dtype"), [("plus", INT64), ("min", INT32), ("max", INT8), ("lor", BOOL), ("plus", FP64)], ids=str
)
@given(data=st.data())
def test_sums_are_as_the_specification(monoid: str, dtype: Any, engine: str, data: st.DataObject) -> None:
    n = data.draw(st.sampled_from((0, 1, 2, 7, 40)))
    seed = data.draw(st.integers(0, 99))
    parent = forest(n, seed, data.draw(st.booleans())).astype(data.draw(st.sampled_from((INT32, INT64))))
    values = np.random.default_rng(seed).integers(0, 3, n).astype(dtype)
    typed = lookup_monoid(monoid).typed(dtype)
    check(Treefix(Full(n, parent.dtype, parent), Full(n, dtype, values), typed, data.draw(st.booleans())), engine)


@pytest.mark.costly
@pytest.mark.parametrize("long", [False, True])
def test_definition(long: bool) -> None:
    n = 3000 if long else 500
    parent, values = forest(n, 5, long), np.random.default_rng(1).integers(0, 9, n)
    over_paths, over_subtrees = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for v in range(n):
        w = v
        while True:
            over_paths[v] += values[w]
            over_subtrees[w] += values[v]
            if parent[w] == w:
                break
            w = parent[w]
    p, u = Vector.from_dense(parent), Vector.from_dense(values)
    assert (sr.ops.treefix(p, u).to_numpy() == over_subtrees).all()
    assert (sr.ops.treefix(p, u, towards="leaves").to_numpy() == over_paths).all()
    assert sr.ops.treefix(p, u, "min").dtype == "int64"


def test_refused_operands() -> None:
    p, u = Vector.from_dense([0, 0, 1]), Vector.full(1, 3)
    with pytest.raises(DimensionMismatch, match="parent has size 3, and values has size 4"):
        sr.ops.treefix(p, Vector.full(1, 4))
    with pytest.raises(InvalidValue, match="towards"):
        sr.ops.treefix(p, u, towards="up")
    with pytest.raises(DomainMismatch, match="any"):
        sr.ops.treefix(p, u, "any")
    with pytest.raises(DomainMismatch, match="parent must be int32 or int64"):
        sr.ops.treefix(u.dup(float), u)
    with pytest.raises(InvalidValue, match="values must have an entry"):
        sr.ops.treefix(p, Vector.from_coo([0], [1], size=3))
    for towards in ("roots", "leaves"):
        for wrong in ([0, 3, 1], [0, -1, 1], [5, 5, 5]):
            with pytest.raises(InvalidValue, match="no row number"):
                sr.ops.treefix(Vector.from_dense(wrong), u, towards=towards)
        for wrong in ([1, 0, 2], [0, 2, 1], [1, 2, 0]):
            with pytest.raises(InvalidValue, match="cycle"):
                sr.ops.treefix(Vector.from_dense(wrong), u, towards=towards)
