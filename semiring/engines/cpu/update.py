"""C<M> accum= T in the arrays of C: the entries that a list names, one by one."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, Bitmap, BitmapPattern, Count, Full, IndexList, VectorStore, index_dtype
from ...formats.full import every_row_full
from ..registry import ROWS_OR_SLOTS, implements
from ..requests.operations import UpdateMatrix, UpdateVector
from . import presence, types, vector_slots
from .compile import kernel
from .operands import Array, kernel_array, rows_of, values_of
from .types import combine, converted, position, present, put, value_at


@implements(UpdateVector, engine="cpu")
def update_vector(q: UpdateVector) -> VectorStore:
    """Write the listed positions; without an accumulator delete those that T lacks."""
    c, t, listed = q.c, q.t, q.listed
    indices = listed.indices if isinstance(listed, IndexList) else presence.to_indices(_words(listed), listed.size)
    aligned = isinstance(t, IndexList) and t.indices is indices
    values = values_of(t)
    if q.mask is not None:
        admitted = presence.admits(q.mask, indices)
        indices = indices[admitted]
        if aligned and isinstance(values, np.ndarray):
            values = values[admitted]
    words = None
    if isinstance(t, IndexList) and not aligned:
        words, values = vector_slots.Slots(indices, indices.size).operand(t)
    elif not isinstance(t, IndexList):
        words = presence.presence(t)
    own = c.words if isinstance(c, Bitmap) else None
    accum = None if q.accum is None else types.binary(q.accum)
    added = _update(kernel_array(indices), isinstance(t, IndexList), words, values, accum, own, c.values)
    if own is None:
        return Full(c.size, c.dtype, c.values)
    assert isinstance(c, Bitmap)
    count = c.count.get() + added
    if count == c.size:
        return Full(c.size, c.dtype, c.values)
    return Bitmap(c.size, c.dtype, own, c.values, None, Count(count))


@implements(UpdateMatrix, engine="cpu", accepts=ROWS_OR_SLOTS)
def update_matrix(q: UpdateMatrix) -> CSR:
    """Write the entries of T."""
    c, t = q.c, q.t
    assert c.values is not None
    places = np.empty(t.nvals, index_dtype(c.nrows * c.ncols))
    _place(*rows_of(t), c.ncols, places)
    words = c.pattern.words if isinstance(c.pattern, BitmapPattern) else None
    accum = None if q.accum is None else types.binary(q.accum)
    added = _update(places, True, None, values_of(t), accum, words, c.values)
    if words is None:
        return CSR(c.pattern, c.dtype, c.values)
    count = c.nvals + added
    if count == c.pattern.slots:
        return CSR(every_row_full(c.nrows, c.ncols, "cpu"), c.dtype, c.values)
    return CSR(BitmapPattern(c.nrows, c.ncols, words, Count(count)), c.dtype, c.values)


@kernel
def _place(indptr, indices, ncols, places):
    """places[p] = i ncols + j of entry p."""
    for i in range(indptr.size - 1):
        for p in range(indptr[i], indptr[i + 1]):
            places[p] = i * ncols + np.int64(indices[p])


def _words(u: VectorStore) -> Array:
    assert isinstance(u, Bitmap)
    return np.asarray(u.words)


@kernel
def _update(indices, slots, twords, tvals, accum, words, values):
    """Update the positions; return the change of the number of entries.

    slots: T has a slot for each listed position, and else one for each position of the vector.
    """
    added = 0
    for p in range(indices.size):
        i = position(indices, p)
        s = p if slots else i
        held = present(words, i)
        if present(twords, s):
            value = value_at(tvals, s)
            if accum is not None and held:
                put(values, i, converted(values, combine(accum, value_at(values, i), value)))
            else:
                put(values, i, converted(values, value))
            if words is not None and not held:
                words[i >> 5] |= np.uint32(1) << np.uint32(i & 31)
                added += 1
        elif words is not None and accum is None and held:
            words[i >> 5] ^= np.uint32(1) << np.uint32(i & 31)
            added -= 1
    return added
