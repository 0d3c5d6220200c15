"""Import in chunks, on any device: where chunks end, what is copied, and positions in the whole arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring.dtypes import INT64
from semiring.engines import recording
from semiring.exceptions import DuplicateIndex, InvalidFormat, OutOfMemory
from semiring.formats import CSR
from semiring.memory import allocation
from semiring.memory.arrays import to_host
from semiring.ops.build import duplicate_operator
from semiring.storage import chunked_import
from tests.compare import device_for

NCOLS = 9
# Rows of 2, 0, 3, 2 and 1 entries; the third row is not sorted.
INDPTR, INDICES = [0, 2, 2, 5, 7, 8], [3, 8, 7, 0, 4, 1, 6, 2]
ORDERED = [3, 8, 0, 4, 7, 1, 6, 2]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked_import, "_CHUNK", 3)


def imported(engine: str, indptr: list[int], indices: Any, values: Any = 7, dup_op: str | None = None) -> CSR:
    """The matrix for entries in host memory; `values`: a list, or one value for all."""
    shared = np.ndim(values) == 0
    return chunked_import.import_chunks(
        np.array(indptr),
        indices if isinstance(indices, np.ndarray) else np.array(indices, np.int32),
        None if shared else np.asarray(values, INT64),
        INT64.type(values) if shared else None,
        NCOLS,
        INT64,
        duplicate_operator(dup_op, INT64),
        device_for(engine),
        "host",
    )


def parts(made: CSR) -> list[Any]:
    """Offsets, columns, and the value of each entry."""
    values = np.full(made.nvals, made.iso) if made.values is None else to_host(made.values)
    return [part.tolist() for part in (to_host(made.indptr), to_host(made.indices), values)]


@given(lengths=st.lists(st.integers(0, 9), max_size=40), most=st.integers(1, 12))
def test_a_chunk_holds_as_many_rows_as_the_limit_admits(lengths: list[int], most: int) -> None:
    indptr = np.cumsum([0, *lengths])
    chunks = chunked_import._bounds(indptr, most)
    assert [row for first, last in chunks for row in range(first, last)] == list(range(len(lengths)))
    for first, last in chunks:
        assert sum(lengths[first:last]) <= most or last == first + 1
    for (first, end), _ in pairwise(chunks):
        assert sum(lengths[first : end + 1]) > most, "a chunk has room for the row after it"


@pytest.mark.parametrize(("free", "chunks"), [(None, 2), (1 << 30, 2), (2 * (48 + 2 * 8) * 3, 3), (1, 4), (0, 4)])
def test_a_chunk_fits_in_half_of_the_free_memory(
    engine: str, monkeypatch: pytest.MonkeyPatch, free: int | None, chunks: int
) -> None:
    """An entry needs 48 bytes and twice its value; a chunk has at least one row."""
    monkeypatch.setattr(chunked_import, "_CHUNK", 5)
    monkeypatch.setattr(chunked_import, "free_memory", lambda device: free)
    with recording.listen() as log:
        made = imported(engine, INDPTR, ORDERED, range(8))
    assert parts(made) == [INDPTR, ORDERED, list(range(8))]
    assert [call.operation for call in log].count("import_csr") == chunks


@pytest.mark.parametrize("values", [7, range(10, 18)], ids=["one value", "values"])
def test_rows_are_sorted_from_the_first_chunk_that_needs_it(engine: str, values: Any) -> None:
    """The entries before that chunk are copied, and one value for all remains one value."""
    made = imported(engine, INDPTR, INDICES, values)
    expected = [7] * 8 if values == 7 else [10, 11, 13, 14, 12, 15, 16, 17]
    assert parts(made) == [INDPTR, ORDERED, expected]
    if engine != "reference":  # the specification stores every value
        assert (made.iso is not None) == (values == 7)


def test_sorted_entries_remain_in_the_given_arrays(engine: str) -> None:
    indices, values = np.array(ORDERED, np.int32), np.arange(8)
    made = imported(engine, INDPTR, indices, values)
    assert parts(made) == [INDPTR, ORDERED, values.tolist()]
    if engine != "reference":  # the specification copies
        assert np.shares_memory(to_host(made.indices), indices)
        assert np.shares_memory(to_host(made.values), values)


@pytest.mark.parametrize(
    ("values", "expected"), [(7, [7, 7, 14, 7, 7]), ([1, 2, 3, 4, 5, 6], [1, 2, 7, 5, 6])], ids=["one value", "values"]
)
def test_repeated_entries_combine_in_their_chunk(engine: str, values: Any, expected: list[int]) -> None:
    """The offsets of all rows that follow, one without entries among them, move."""
    made = imported(engine, [0, 2, 4, 4, 6], [0, 1, 5, 5, 2, 3], values, "plus")
    assert parts(made) == [[0, 2, 3, 3, 5], [0, 1, 5, 2, 3], expected]


def test_errors_report_positions_in_the_whole_arrays(engine: str) -> None:
    with pytest.raises(InvalidFormat, match=r"indices\[6\] is 9"):
        imported(engine, INDPTR, [3, 8, 0, 4, 7, 1, 9, 2])
    # Two repeated entries in the third chunk: the first of them is reported.
    with pytest.raises(DuplicateIndex, match=r"\(3, 1\)"):
        imported(engine, [0, 2, 2, 5, 7, 7, 9], [3, 8, 0, 4, 7, 1, 1, 2, 2])
    with pytest.raises(DuplicateIndex, match=r"\(3, 4\)"):
        imported(engine, [0, 2, 2, 3, 7], [3, 8, 0, 6, 4, 4, 6])


@pytest.mark.parametrize(("values", "entry_bytes"), [(7, 4), (range(8), 4 + 8)], ids=["one value", "values"])
def test_a_copy_that_does_not_fit_is_refused(
    engine: str, monkeypatch: pytest.MonkeyPatch, values: Any, entry_bytes: int
) -> None:
    """Columns of 64 bits become 32 bits wide in new arrays."""
    monkeypatch.setattr(allocation, "_UNASKED", 0)
    monkeypatch.setattr(allocation, "free_memory", lambda device: 0)
    with pytest.raises(OutOfMemory, match=r"^from_csr: out of memory on cpu") as caught:
        imported(engine, INDPTR, np.array(ORDERED, np.int64), values)
    assert caught.value.asked_bytes == 8 * entry_bytes
