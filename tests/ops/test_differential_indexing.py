"""Extract, scatter, transpose, build and import: the engine under test equals the specification."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring.dtypes import FP32, FP64, INT8, INT64
from semiring.engines.reference.dense import densify
from semiring.engines.requests.operands import Index
from semiring.engines.requests.operations import (
    BuildMatrix,
    BuildVector,
    ExtractMatrix,
    ExtractRow,
    ExtractVector,
    ImportCSR,
    IsSymmetric,
    ScatterMatrix,
    ScatterVector,
    Transpose,
)
from semiring.exceptions import DuplicateIndex, InvalidFormat
from semiring.formats import CSR
from semiring.operators import binary
from tests.compare import check, result_of
from tests.draw import contents, densities, indexes, matrices, matrix_of, seeds, sizes, some_sizes, vectors

dtypes = st.sampled_from((INT8, INT64, FP64))
dups = st.sampled_from((None, "plus", "min", "first", "second"))
layouts = st.sampled_from((np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint32)))


def typed(dup: str | None, dtype: np.dtype[Any]) -> Any:
    return None if dup is None else getattr(binary, dup)[dtype]


@given(data=st.data())
def test_extract_vector(engine: str, data: st.DataObject) -> None:
    size = data.draw(sizes, label="size")
    u = data.draw(vectors(size, data.draw(dtypes)), label="u")
    check(ExtractVector(u, data.draw(indexes(size), label="index")), engine)


@given(data=st.data())
def test_extract_matrix(engine: str, data: st.DataObject) -> None:
    nrows, ncols = data.draw(st.tuples(sizes, sizes), label="shape")
    a = data.draw(matrices(nrows, ncols, data.draw(dtypes)), label="A")
    rows, cols = data.draw(indexes(nrows), label="rows"), data.draw(indexes(ncols), label="cols")
    check(ExtractMatrix(a, rows, cols), engine)


@given(data=st.data())
def test_extract_row(engine: str, data: st.DataObject) -> None:
    nrows, ncols = data.draw(st.tuples(some_sizes, sizes), label="shape")
    a = data.draw(matrices(nrows, ncols, data.draw(dtypes)), label="A")
    check(ExtractRow(a, data.draw(st.integers(0, nrows - 1), label="row")), engine)


def commutes(dup: str | None) -> str | None:
    """Where an index repeats, only operators for which the order does not matter have one result."""
    return None if dup in ("first", "second") else dup


@given(data=st.data())
def test_scatter_vector(engine: str, data: st.DataObject) -> None:
    index: Index = data.draw(indexes(data.draw(sizes, label="size of the target")), label="index")
    dtype = data.draw(dtypes, label="dtype")
    u = data.draw(vectors(index.count, dtype), label="u")
    check(ScatterVector(u, index, typed(commutes(data.draw(dups)), dtype)), engine)


@given(data=st.data())
def test_scatter_matrix(engine: str, data: st.DataObject) -> None:
    nrows, ncols = data.draw(st.tuples(sizes, sizes), label="shape of the target")
    rows, cols = data.draw(indexes(nrows), label="rows"), data.draw(indexes(ncols), label="cols")
    dtype = data.draw(dtypes, label="dtype")
    a = data.draw(matrices(rows.count, cols.count, dtype), label="A")
    check(ScatterMatrix(a, rows, cols, typed(commutes(data.draw(dups)), dtype)), engine)


@given(data=st.data())
def test_transpose(engine: str, data: st.DataObject) -> None:
    nrows, ncols = data.draw(st.tuples(sizes, sizes), label="shape")
    check(Transpose(data.draw(matrices(nrows, ncols, data.draw(dtypes)), label="A")), engine)


@given(size=sizes, density=densities, seed=seeds, mend=st.booleans(), spoil=st.booleans())
def test_is_symmetric(engine: str, size: int, density: float, seed: int, mend: bool, spoil: bool) -> None:
    rng = np.random.default_rng(seed)
    present = rng.random((size, size)) < density
    if mend:
        present |= present.T
        off = np.argwhere(present & ~np.eye(size, dtype=bool))
        if spoil and len(off):
            present[tuple(off[int(rng.integers(len(off)))])] = False
    spec = IsSymmetric(matrix_of(present, INT8, True, rng).pattern)
    check(spec, engine)


def test_a_rectangle_is_not_symmetric(engine: str) -> None:
    pattern = matrix_of(np.zeros((2, 3), bool), INT8, True, np.random.default_rng(0)).pattern
    assert check(IsSymmetric(pattern), engine) is False


def values_of(rng: np.random.Generator, count: int, dtype: np.dtype[Any], iso: bool) -> dict[str, Any]:
    return (
        {"values": None, "iso": contents(rng, 1, dtype)[0]}
        if iso
        else {"values": contents(rng, count, dtype), "iso": None}
    )


def check_build(spec: BuildVector | BuildMatrix | ImportCSR, engine: str) -> None:
    """Both return the same, or both reject the same first repeat."""
    try:
        result_of(spec, "reference")
    except DuplicateIndex as expected:
        with pytest.raises(DuplicateIndex, match="dup_op") as caught:
            result_of(spec, engine)
        place = str(expected).split("entry ")[1].split(" is")[0].strip("()")
        assert place in str(caught.value)
    else:
        check(spec, engine)


@pytest.mark.costly
@given(size=some_sizes, count=st.integers(0, 80), seed=seeds, dup=dups, iso=st.booleans(), dtype=dtypes, layout=layouts)
def test_build_vector(
    engine: str, size: int, count: int, seed: int, dup: Any, iso: bool, dtype: Any, layout: Any
) -> None:
    rng = np.random.default_rng(seed)
    unique = dup is None and bool(rng.integers(2))
    indices = rng.permutation(size)[:count] if unique else rng.integers(0, size, count)
    given_values = values_of(rng, indices.size, dtype, iso)
    check_build(BuildVector(size, dtype, indices.astype(layout), **given_values, dup=typed(dup, dtype)), engine)


@pytest.mark.costly
@given(
    shape=st.tuples(some_sizes, some_sizes),
    count=st.integers(0, 120),
    seed=seeds,
    dup=dups,
    iso=st.booleans(),
    dtype=dtypes,
    layout=layouts,
)
def test_build_matrix(
    engine: str, shape: tuple[int, int], count: int, seed: int, dup: Any, iso: bool, dtype: Any, layout: Any
) -> None:
    rng = np.random.default_rng(seed)
    unique = dup is None and bool(rng.integers(2))
    slots = shape[0] * shape[1]
    at = rng.permutation(slots)[:count] if unique else rng.integers(0, slots, count)
    rows, cols = (at // shape[1]).astype(layout), (at % shape[1]).astype(layout)
    given_values = values_of(rng, at.size, dtype, iso)
    check_build(BuildMatrix(*shape, dtype, rows, cols, **given_values, dup=typed(dup, dtype)), engine)


def as_given(a: CSR, rng: np.random.Generator, layout: np.dtype[Any], repeats: bool) -> dict[str, Any]:
    """The arrays of a matrix as a user may have them: rows in any order, entries repeated, other index types."""
    counts = np.diff(a.indptr).astype(np.int64)
    if repeats:
        counts *= 2
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(layout)
    rows = [a.indices[a.indptr[i] : a.indptr[i + 1]] for i in range(a.nrows)]
    mixed = [rng.permutation(np.concatenate([row, row]) if repeats else row) for row in rows]
    indices = np.concatenate([*mixed, np.zeros(0, a.indices.dtype)]).astype(layout)
    return {"indptr": indptr, "indices": indices}


@pytest.mark.costly
@given(data=st.data())
def test_import_csr(engine: str, data: st.DataObject) -> None:
    nrows, ncols = data.draw(st.tuples(sizes, sizes), label="shape")
    dtype, dup = data.draw(dtypes, label="dtype"), data.draw(dups, label="dup")
    rng = np.random.default_rng(data.draw(seeds, label="seed"))
    a = data.draw(matrices(nrows, ncols, dtype), label="A")
    arrays = as_given(a, rng, data.draw(layouts, label="index type"), data.draw(st.booleans(), label="repeats"))
    given_values = values_of(rng, arrays["indices"].size, dtype, a.iso is not None)
    check_build(ImportCSR(nrows, ncols, dtype, **arrays, **given_values, dup=typed(dup, dtype)), engine)


GOOD = ImportCSR(
    3,
    4,
    FP32,
    np.array([0, 2, 2, 5]),
    np.array([1, 3, 0, 1, 2]),
    np.arange(5, dtype=np.float32),
    None,
    None,
)


@pytest.mark.parametrize(
    ("changes", "place", "numbers"),
    [
        ({"indptr": [0, 2, 5]}, "indptr", ["3", "4"]),
        ({"indptr": [1, 2, 2, 5]}, "indptr[0]", ["1", "0"]),
        ({"indptr": [0, 3, 2, 5]}, "indptr[2]", ["3"]),
        ({"indptr": [0, 2, -1, 5]}, "indptr[2]", ["-1"]),
        ({"indptr": [0, 2, 2, 4]}, "indptr[3]", ["4", "5"]),
        ({"indptr": [0, 2, 2, 6]}, "indptr[3]", ["6", "5"]),
        ({"indices": [1, 4, 0, 1, 2]}, "indices[1]", ["4", "3"]),
        ({"indices": [1, 3, 0, -7, 2]}, "indices[3]", ["-7"]),
        ({"indices": [1, 3, 0, 2**40, 2]}, "indices[3]", [str(2**40)]),
    ],
)
def test_malformed_rows_are_refused(engine: str, changes: dict[str, Any], place: str, numbers: list[str]) -> None:
    """The message names the array, the position, what was found and what was expected."""
    with pytest.raises(InvalidFormat) as caught:
        result_of(replace(GOOD, **{name: np.array(value) for name, value in changes.items()}), engine)
    for part in (place, *numbers):
        assert part in str(caught.value)


def test_the_first_repeat_is_named(engine: str) -> None:
    spec = replace(GOOD, indices=np.array([3, 3, 2, 1, 2]))
    with pytest.raises(DuplicateIndex, match=r"\(0, 3\).*dup_op="):
        result_of(spec, engine)


def test_repeats_are_combined(engine: str) -> None:
    spec = replace(GOOD, indices=np.array([3, 3, 2, 1, 2]), dup=binary.plus[FP32])
    values, present = densify(check(spec, engine))
    assert values[present].tolist() == [1.0, 3.0, 6.0]
