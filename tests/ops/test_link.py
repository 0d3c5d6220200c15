"""Union-find over parts of rows, and the sample that it begins with, on uncompressed and on compressed rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, ops
from semiring.formats import CODECS

N = 500


def graph() -> Matrix:
    """A directed graph of several components, with a row over several tiles and rows without entries."""
    draw = np.random.default_rng(5)
    rows = np.concatenate([np.zeros(300, np.int64), draw.integers(0, N, 400)])
    columns = np.concatenate([np.arange(300), draw.integers(0, N, 400)])
    kept = rows % 7 != 3
    return Matrix.from_coo(rows[kept], columns[kept], True, shape=(N, N), dup_op="any")


def plain(found: Vector) -> Any:
    return found.to("cpu").to_dense(-1)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(("first", "last", "skip"), [(0, 1, None), (1, 2, None), (3, 40, None), (2, None, 0)])
def test_links(codec: Any, first: int, last: int | None, skip: int | None) -> None:
    A = graph()
    forest = ops.link(ops.singletons(Vector(bool, N)), A, first=0, last=1)
    found, expected = (plain(ops.link(forest, a, first=first, last=last, skip=skip)) for a in (A.compress(codec), A))
    assert (found == expected).all()


@pytest.mark.parametrize("codec", [None, *CODECS])
@pytest.mark.parametrize("neighbors", [0, 1, 2, 3])
def test_a_sample_and_the_rest_are_everything(codec: Any, neighbors: int) -> None:
    A = graph()
    a = A if codec is None else A.compress(codec)
    forest, position = ops.link_sample(ops.singletons(Vector(bool, N)), a, neighbors=neighbors)
    assert 0 <= position <= neighbors
    found = ops.link(forest, a, first=position)
    assert (plain(found) == plain(ops.link(ops.singletons(Vector(bool, N)), A))).all()


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("codec", [None, *CODECS])
def test_all_entries_with_a_sample_first(codec: Any, symmetric: bool) -> None:
    A = graph()
    A = (A | A.T).new() if symmetric else A
    a = A if codec is None else A.compress(codec)
    expected = plain(ops.link(ops.singletons(Vector(bool, N)), A))
    for count in (1, 2, 3):
        assert (plain(ops.link(ops.singletons(Vector(bool, N)), a, sample=count)) == expected).all()


@pytest.mark.parametrize("given", [{"first": 1}, {"last": 2}, {"skip": 0}, {"sample": -1}])
def test_a_sample_replaces_the_other_choices(given: dict[str, int]) -> None:
    with pytest.raises(sr.exceptions.InvalidValue, match="sample"):
        ops.link(ops.singletons(Vector(bool, N)), graph(), **{"sample": 2} | given)


def test_link_sample_refuses_what_link_refuses() -> None:
    A = graph()
    with pytest.raises(sr.exceptions.InvalidValue, match="neighbors"):
        ops.link_sample(ops.singletons(Vector(bool, N)), A, neighbors=-1)
    with pytest.raises(sr.exceptions.DimensionMismatch, match="link_sample"):
        ops.link_sample(ops.singletons(Vector(bool, N - 1)), A)


def test_the_most_frequent_label() -> None:
    """Of a component of nine rows in ten; an empty forest has none."""
    labels = np.where(np.arange(N) % 10 == 0, np.arange(N), 1).astype(np.int32)
    assert ops.most_frequent(Vector.from_dense(labels)).value == 1
    assert ops.most_frequent(ops.singletons(Vector(bool, 0))).value is None
