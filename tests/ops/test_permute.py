"""Permute: the engine under test equals the specification, on every storage kind of a matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring.dtypes import BOOL, FP64, INT8, INT64
from semiring.engines import registry
from semiring.engines.requests.storage import Permute
from semiring.exceptions import InvalidValue, OutOfMemory
from semiring.formats import CODECS, CSR, Pattern, index_dtype
from semiring.memory import allocation
from semiring.storage.coerce import permutation
from tests import storage_kinds
from tests.compare import assert_same, check, check_invariants, device_for, place
from tests.draw import make_matrix, matrices, seeds, sizes

dtypes = st.sampled_from((BOOL, INT8, INT64, FP64))


def drawn_order(data: st.DataObject, size: int, label: str) -> np.ndarray[Any, Any]:
    return np.random.default_rng(data.draw(seeds, label=label)).permutation(size).astype(index_dtype(size))


@given(data=st.data())
def test_as_the_specification(engine: str, data: st.DataObject) -> None:
    nrows, ncols = data.draw(st.tuples(sizes, sizes), label="shape")
    a = data.draw(matrices(nrows, ncols, data.draw(dtypes)), label="A")
    check(Permute(a, drawn_order(data, nrows, "rows"), drawn_order(data, ncols, "cols")), engine)


@pytest.mark.parametrize("iso", [False, True])
def test_long_rows_and_many_of_them(engine: str, iso: bool) -> None:
    """Rows of all lengths, enough entries for several threads; compared with NumPy's own sort."""
    if engine == "reference":
        pytest.skip("the specification is dense")
    rng = np.random.default_rng(7)
    n = 3000
    lengths = np.minimum((rng.pareto(0.7, n) * 4).astype(np.int64), n)
    lengths[5] = n
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([np.sort(rng.permutation(n)[:count]) for count in lengths])
    values = None if iso else rng.random(indices.size)
    pattern = Pattern(n, n, indptr.astype(np.int32), indices.astype(np.int32))
    a = CSR(pattern, FP64, values, FP64.type(2) if iso else None)
    rows, cols = (rng.permutation(n).astype(np.int32) for _ in range(2))
    made = registry.run(place(Permute(a, rows, cols), device_for(engine)), engine).to("cpu")
    check_invariants(made)
    new_row = np.empty(n, np.int64)
    new_row[rows] = np.arange(n)
    keys = new_row[np.repeat(np.arange(n), lengths)] * n + cols[indices]
    expected = np.argsort(keys)
    np.testing.assert_array_equal(made.indices, keys[expected] % n)
    np.testing.assert_array_equal(np.diff(made.indptr), lengths[rows])
    if values is not None:
        np.testing.assert_array_equal(made.values, values[expected])


@pytest.mark.parametrize("codec", [None, *CODECS])
@given(data=st.data())
def test_slice_by_slice(codec: str | None, engine: str, data: st.DataObject) -> None:
    """A matrix in host memory is permuted in slices, and the result is the same."""
    n = data.draw(sizes, label="n")
    a = data.draw(matrices(n, n, data.draw(dtypes)), label="A")
    plain = Permute(a, drawn_order(data, n, "rows"), drawn_order(data, n, "cols"))
    here = place(plain, device_for(engine))
    with storage_kinds.small_slices():
        found = registry.run(replace(here, a=storage_kinds.in_kind(here.a, codec, "host", engine)), engine)
    assert_same(found.to("cpu"), registry.run(plain, "reference"))


@pytest.mark.one_process("memory is of one process")
@pytest.mark.parametrize(("iso", "entry_bytes"), [(True, 4), (False, 4 + 8)])
def test_memory_of_the_result_in_slices(
    engine: str, monkeypatch: pytest.MonkeyPatch, iso: bool, entry_bytes: int
) -> None:
    """Columns, values unless there is one for all, and an offset and two numbers of 8 bytes a row."""
    a = place(make_matrix(60, 60, INT64, 0.2, iso, 7), device_for(engine))
    order = place(np.arange(60, dtype=np.int32), a.device)
    spec = Permute(storage_kinds.in_kind(a, "varint", "device", engine), order, order)
    monkeypatch.setattr(allocation, "_UNASKED", 0)
    monkeypatch.setattr(allocation, "free_memory", lambda device: 0)
    with pytest.raises(OutOfMemory, match=r"^permute: ") as caught:
        registry.run(spec, engine)
    assert caught.value.asked_bytes == a.nvals * entry_bytes + 61 * (4 + 16)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([0, 1], "3 numbers, got 2"),
        ([0, 1, 3], r"p\[2\] = 3"),
        ([0, -1, 2], r"p\[1\] = -1"),
        ([2, 0, 2], r"p\[0\] and p\[2\] are both 2, and 1 is missing"),
        ([0.0, 1.0, 2.0], "integers"),
        ([[0, 1, 2]], "one-dimensional"),
        ("abc", "p"),
    ],
)
def test_what_is_no_permutation(engine: str, given: Any, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        permutation("p", given, 3, device_for(engine))
