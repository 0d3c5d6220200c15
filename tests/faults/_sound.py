"""Whether a Matrix or Vector satisfies every invariant of its store (`semiring.formats`), checked in full."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring import Matrix, Vector
from semiring.dtypes import lookup
from semiring.engines.reference.codecs import decode
from semiring.formats import CSR, CompressedPattern, HyperPattern, Pattern
from semiring.formats.ccsr import check_arrays
from semiring.formats.vectors import Bitmap, Full, IndexList, word_count
from semiring.memory.arrays import index_dtype


def check_sound(found: Any) -> None:
    """AssertionError unless all invariants of the store hold."""
    assert isinstance(found, (Matrix, Vector)), f"read a {type(found).__name__}"
    store = found.to("cpu").store
    assert store.dtype == lookup(store.dtype.name), f"the type {store.dtype}"
    if store.iso is not None:
        assert store.iso.dtype == store.dtype, "an iso value of another type"
        _check_values(np.asarray(store.iso).reshape(1), store.dtype)
    if isinstance(store, CSR):
        _check_matrix(store)
    else:
        _check_vector(store)


def same(a: Any, b: Any) -> bool:
    """True if two objects are of one kind, shape and type and have the same entries; NaN equals NaN."""
    if type(a) is not type(b) or a.shape != b.shape or a.dtype != b.dtype or a.nvals != b.nvals:
        return False
    return all(np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in zip(a.to_coo(), b.to_coo(), strict=True))


def _check_matrix(store: CSR) -> None:
    pattern = store.pattern
    numbers: Any = range(pattern.nrows)
    if isinstance(pattern, HyperPattern):
        numbers, plain = pattern.rows, pattern.inner
        _check_rows(pattern)
    elif isinstance(pattern, CompressedPattern):
        check_arrays(pattern)
        _check_offsets(pattern.indptr, pattern.nrows, pattern.nvals)
        columns = decode(pattern).astype(index_dtype(pattern.ncols))
        plain = Pattern(pattern.nrows, pattern.ncols, pattern.indptr, columns)
    else:
        plain = Pattern(pattern.nrows, pattern.ncols, pattern.indptr, pattern.indices)
    _check_pattern(plain)
    if store.values is not None:
        assert len(store.values) == store.nvals, "as many values as entries"
        _check_values(store.values, store.dtype)
    stated = pattern.facts.get("symmetric")
    if stated is not None and pattern.nrows == pattern.ncols:
        rows = np.repeat(np.asarray(numbers), np.diff(plain.indptr))
        entries = set(zip(rows.tolist(), plain.indices.tolist(), strict=True))
        assert stated == all((j, i) in entries for i, j in entries), "the stated symmetry"


def _check_rows(pattern: HyperPattern) -> None:
    """Listed rows within their range that ascend strictly, each with entries."""
    rows = pattern.rows
    assert rows.dtype == index_dtype(pattern.nrows), f"rows of type {rows.dtype}"
    _check_ascending(rows, pattern.nrows, np.array([0, len(rows)]))
    assert pattern.offsets.shape == (len(rows) + 1,), "an offset a listed row, and one more"
    assert (np.diff(pattern.offsets) > 0).all(), "listed rows that have entries"


def _check_pattern(pattern: Pattern) -> None:
    _check_offsets(pattern.indptr, pattern.nrows, pattern.nvals)
    assert pattern.indices.dtype == index_dtype(pattern.ncols), f"columns of type {pattern.indices.dtype}"
    _check_ascending(pattern.indices, pattern.ncols, pattern.indptr)


def _check_offsets(indptr: Any, nrows: int, nvals: int) -> None:
    assert indptr.dtype == index_dtype(nvals), f"offsets of type {indptr.dtype}"
    assert indptr.shape == (nrows + 1,), "an offset a row, and one more"
    assert indptr[0] == 0, "offsets from 0"
    assert indptr[-1] == nvals, "offsets up to the entries"
    assert (indptr[1:] >= indptr[:-1]).all(), "offsets that do not fall"


def _check_ascending(indices: Any, size: int, indptr: Any) -> None:
    """Indices within their range that ascend strictly within each row."""
    if not len(indices):
        return
    assert indices.min() >= 0, "no index below 0"
    assert indices.max() < size, "no index past the last"
    begins = np.zeros(len(indices) + 1, dtype=bool)
    begins[indptr] = True
    assert ((indices[1:] > indices[:-1]) | begins[1:-1]).all(), "indices that ascend within a row"


def _check_vector(store: Any) -> None:
    slots = store.size
    if isinstance(store, IndexList):
        assert store.indices.dtype == index_dtype(store.size), f"indices of type {store.indices.dtype}"
        _check_ascending(store.indices, store.size, np.array([0, len(store.indices)]))
        slots = len(store.indices)
    elif isinstance(store, Bitmap):
        assert store.words.dtype == np.uint32, "words of 32 bits"
        assert store.words.shape == (word_count(store.size),), "words for all bits"
        bits = np.unpackbits(np.ascontiguousarray(store.words).view(np.uint8), bitorder="little")
        assert not bits[store.size :].any(), "no bit past the size"
        assert int(bits.sum()) == store.nvals, "as many bits as entries"
    else:
        assert isinstance(store, Full), f"a store of type {type(store).__name__}"
    if store.values is not None:
        assert store.values.shape == (slots,), "a value for each slot"
        _check_values(store.values, store.dtype)


def _check_values(values: Any, dtype: np.dtype[Any]) -> None:
    assert values.dtype == dtype, f"values of type {values.dtype}, not {dtype}"
    if dtype == np.bool_:
        assert int(np.ascontiguousarray(values).view(np.uint8).max(initial=0)) <= 1, "bools of 0 and 1"
