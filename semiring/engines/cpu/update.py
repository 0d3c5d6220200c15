"""C<M> accum= T in the arrays of C: the entries that a list names, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import Bitmap, Count, Full, IndexList, VectorStore
from ..registry import implements
from ..spec_write import UpdateVector
from . import align, presence, types
from .compile import kernel
from .operands import Array, kernel_array, values_of
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
        words, values = align.Slots(indices, indices.size).operand(t)
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


def _words(u: VectorStore) -> Array:
    assert isinstance(u, Bitmap)
    return np.asarray(u.words)


@kernel
def _update(indices: Any, slots: bool, twords: Any, tvals: Any, accum: Any, words: Any, values: Any) -> int:
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
