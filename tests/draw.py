"""Stores drawn at random: every type, every format, iso-valued or not, empty, odd-sized, sparse or full.

Hypothesis draws the shape of a store (its sizes, density, format and the seed of its contents); NumPy fills it from the
seed.  So a failing call shrinks quickly, and its description remains short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from semiring.dtypes import ALL, ORDERED
from semiring.engines.requests.operands import Index, Mask, Rows
from semiring.formats import (
    CSR,
    Bitmap,
    Count,
    Full,
    IndexList,
    Pattern,
    Store,
    VectorStore,
    index_dtype,
    word_count,
)

# 0 and 1, odd sizes, one more and one less than a word of presence bits and a warp.
SIZES = (0, 1, 2, 3, 5, 8, 13, 31, 32, 33, 40, 65)
VECTOR_FORMATS = ("index", "bitmap", "full")

sizes = st.sampled_from(SIZES)
some_sizes = st.sampled_from(SIZES[1:])
densities = st.sampled_from((0.0, 0.03, 0.2, 0.5, 0.9, 1.0))
seeds = st.integers(0, 2**20)
dtypes = st.sampled_from(ALL)
ordered = st.sampled_from(ORDERED)


def contents(rng: np.random.Generator, count: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Values that make mistakes visible: zeros, ones and small numbers, and the extremes of an integer type.

    Floats are small multiples of a quarter: sums and products of a few are exact in any order.
    """
    if dtype.kind == "b":
        return rng.random(count) < 0.6
    small = rng.integers(-4 if dtype.kind != "u" else 0, 6, count)
    if dtype.kind == "f":
        return (small * rng.choice([1.0, 0.25], count)).astype(dtype)
    if dtype.kind == "c":
        return ((small + 1j * rng.integers(-4, 6, count)) * rng.choice([1.0, 0.25], count)).astype(dtype)
    limits = np.iinfo(dtype)
    values = small.astype(dtype)
    extreme = rng.random(count) < 0.1
    values[extreme] = rng.choice(np.array([limits.min, limits.max], dtype), int(extreme.sum()))
    return values


def _values_or_iso(
    rng: np.random.Generator, slots: int, dtype: np.dtype[Any], iso: bool
) -> tuple[np.ndarray[Any, Any] | None, np.generic | None]:
    drawn = contents(rng, max(slots, 1), dtype)
    return (None, drawn[0]) if iso else (drawn[:slots], None)


def make_matrix(nrows: int, ncols: int, dtype: np.dtype[Any], density: float, iso: bool, seed: int) -> CSR:
    """A matrix; one row in ten is empty and one is full, whatever the density."""
    rng = np.random.default_rng(seed)
    present = rng.random((nrows, ncols)) < density
    if 0.0 < density < 1.0 and nrows > 2:
        present[rng.random(nrows) < 0.1] = False
        present[int(rng.integers(nrows))] = True
    return matrix_of(present, dtype, iso, rng)


def matrix_of(present: np.ndarray[Any, Any], dtype: np.dtype[Any], iso: bool, rng: np.random.Generator) -> CSR:
    """A matrix with entries where `present` is true."""
    nrows, ncols = present.shape
    columns = np.nonzero(present)[1]
    offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    pattern = Pattern(nrows, ncols, offsets.astype(index_dtype(columns.size)), columns.astype(index_dtype(ncols)))
    return CSR(pattern, dtype, *_values_or_iso(rng, columns.size, dtype, iso))


def make_vector(size: int, dtype: np.dtype[Any], format: str, density: float, iso: bool, seed: int) -> VectorStore:
    """A vector in the requested format; absent slots of a bitmap have arbitrary contents."""
    rng = np.random.default_rng(seed)
    if format == "full":
        return Full(size, dtype, *_values_or_iso(rng, size, dtype, iso))
    present = rng.random(size) < density
    if format == "index":
        indices = np.flatnonzero(present).astype(index_dtype(size))
        return IndexList(size, dtype, indices, *_values_or_iso(rng, indices.size, dtype, iso))
    return Bitmap(size, dtype, words_of(present), *_values_or_iso(rng, size, dtype, iso), Count(int(present.sum())))


def words_of(present: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Presence bits in words."""
    bits = np.zeros(32 * word_count(present.size), np.uint8)
    bits[: present.size] = present
    return np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)


def store_of(values: np.ndarray[Any, Any], present: np.ndarray[Any, Any], format: str, iso: bool) -> Store:
    """The store of a dense pair that is not empty; `iso`: all values are the first, which is stored once."""
    dtype, size = values.dtype, values.size
    one = values.flat[0] if iso else None
    if values.ndim == 2:
        bare = matrix_of(present, dtype, True, np.random.default_rng(0))
        return CSR(bare.pattern, dtype, None if iso else values[present], one)
    if format == "full":
        return Full(size, dtype, None if iso else values, one)
    if format == "index":
        indices = np.flatnonzero(present).astype(index_dtype(size))
        return IndexList(size, dtype, indices, None if iso else values[present], one)
    return Bitmap(size, dtype, words_of(present), None if iso else values, one, Count(int(present.sum())))


@st.composite
def matrices(draw: Any, nrows: int, ncols: int, dtype: np.dtype[Any]) -> CSR:
    return make_matrix(nrows, ncols, dtype, draw(densities), draw(st.booleans()), draw(seeds))


@st.composite
def vectors(draw: Any, size: int, dtype: np.dtype[Any]) -> VectorStore:
    format = draw(st.sampled_from(VECTOR_FORMATS))
    return make_vector(size, dtype, format, draw(densities), draw(st.booleans()), draw(seeds))


@st.composite
def stores(draw: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Store:
    """A vector or a matrix, by the number of axes."""
    store: Store = draw(matrices(*shape, dtype) if len(shape) == 2 else vectors(shape[0], dtype))
    return store


@st.composite
def masks(draw: Any, shape: tuple[int, ...]) -> Mask:
    dtype = draw(st.sampled_from((np.dtype(np.bool_), np.dtype(np.int32), np.dtype(np.float64))))
    return Mask(draw(stores(shape, dtype)), draw(st.booleans()), draw(st.booleans()))


@st.composite
def indexes(draw: Any, size: int, *, repeats: bool = True) -> Index:
    """Positions below `size`: all, a range (of any step), or an array in any order."""
    form = draw(st.sampled_from(("all", "range", "array")))
    rng = np.random.default_rng(draw(seeds))
    if form == "all" or size == 0:
        return Index(size, size)
    if form == "range":
        start, step = int(rng.integers(size)), int(rng.choice([-3, -1, 1, 2, 5]))
        room = 1 + ((size - 1 - start) // step if step > 0 else start // -step)
        return Index(size, int(rng.integers(0, room + 1)), start, step)
    count = int(rng.integers(0, size + 1))
    array = rng.integers(0, size, count) if repeats else rng.permutation(size)[:count]
    return Index(size, count, array=array.astype(index_dtype(size)))


def both_ways(a: CSR, ready: bool) -> tuple[Rows, Rows]:
    """(by row, by column) of a matrix; the second is ready, or has to be derived."""
    rng = np.random.default_rng(0)
    present = np.zeros(a.shape, np.bool_)
    values = np.zeros(a.shape, a.dtype)
    rows = np.repeat(np.arange(a.nrows), np.diff(a.indptr))
    present[rows, a.indices] = True
    values[rows, a.indices] = a.iso if a.values is None else a.values
    bare = matrix_of(present.T, a.dtype, a.iso is not None, rng)
    kept = None if a.iso is not None else values.T[present.T]
    transposed = CSR(bare.pattern, a.dtype, kept, a.iso)
    return Rows(a), Rows(transposed if ready else None, lambda: transposed)
