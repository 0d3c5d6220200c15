"""Vectors as they are sent: their positions in the form of the fewest bytes, and the values of the entries alone.

    form      bytes of the positions of k entries of s                 decoded by
    full      0, if k = s
    bitmap    a bit a position: 4 ceil(s / 32)
    list      2 k, the low 16 bits; 4 ceil(s / 65,536) for the counts, if s > 65,536
    gaps      a byte an entry, and one for every 255 positions between   a prefix sum

A gap of g positions from the entry before is g // 255 bytes of 255, and the byte g % 255: at most k + s // 255 bytes.
At the densities at which this is the smallest form it takes fewer bytes than the LEB128 numbers of compressed matrices.

Values follow, one for each entry; none where all entries share one, which is sent beside them.  Vectors without entries
are not sent at all, but for bitmaps between GPUs that nobody has counted.  Everything is computed by the array module
of the parts.
"""

from __future__ import annotations

from typing import Any, Literal, cast

import numpy as np

from ..engines import recording
from ..formats import (
    Array,
    Bitmap,
    Count,
    Full,
    IndexList,
    VectorStore,
    array_module,
    device_of,
    index_dtype,
    word_count,
)
from ..formats.records import record
from ..formats.vectors import Uncounted, empty_vector
from ..ops.convert import convert, index_list
from .communicator import Communicator
from .serialization import by_fields

Form = Literal["full", "bitmap", "list", "gaps"]

_CHUNK = 1 << 16
_LONGEST = 255
# What gaps must save to be worth their work, up to 2.5 ns an entry more than a list on a core of a CPU
# (docs/distributed_internals.md): this share of the message, and so many bytes.
_SHARE = 0.25
_LEAST = 512


def position_bytes(form: Form, size: int, count: int) -> int:
    """Return the bytes of the positions of `count` entries of `size`; of gaps at most."""
    if form == "bitmap":
        return 4 * word_count(size)
    if form == "list":
        return 2 * count + (4 * -(-size // _CHUNK) if size > _CHUNK else 0)
    return count + size // _LONGEST if form == "gaps" else 0


def chosen(size: int, count: int, itemsize: int, *, compress: bool) -> Form:
    """Return the form of the fewest bytes; gaps only where the message becomes shorter by a quarter and 512 bytes.

    itemsize: the bytes of a value that is sent; 0 where all entries share one.  compress: whether gaps are considered.
    """
    if count == size:
        return "full"
    forms: tuple[Form, Form] = ("bitmap", "list")
    best = min(forms, key=lambda form: position_bytes(form, size, count))
    if not compress:
        return best
    positions = position_bytes(best, size, count)
    saved = positions - position_bytes("gaps", size, count)
    return "gaps" if saved >= max(_LEAST, _SHARE * (positions + count * itemsize)) else best


@by_fields
@record
class Sent:
    """A vector as it is sent.

    count: of the entries; None of a bitmap whose bits nobody has counted.  counts: of the entries in each 65,536
    positions, for a list that needs them.
    """

    form: Form
    size: int
    count: int | None
    dtype: np.dtype[Any]
    positions: Array | None
    counts: Array | None
    values: Array | None
    iso: np.generic | None

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(int(array.nbytes) for array in (self.positions, self.counts, self.values) if array is not None)


def encoded(u: VectorStore, group: Communicator) -> Sent | None:
    """Return a vector as it is sent to processes of a group; None if it is known to have no entries.

    It is compressed between hosts alone: within one, a byte costs less than the work to save it.  Where arrays go from
    GPU to GPU a bitmap with one value stays a bitmap, however few its entries.
    """
    size = u.size
    if group.direct and isinstance(u, Bitmap) and u.iso is not None:
        # Its bits are at hand, and cost less than to count or to list them.
        note_form("bitmap")
        return Sent("bitmap", size, u.count.get() if u.count.known else None, u.dtype, u.words, None, None, u.iso)
    count = u.nvals
    if not count:
        return None
    form = chosen(size, count, 0 if u.iso is not None else u.dtype.itemsize, compress=group.between_hosts)
    note_form(form)
    if form == "full":
        return Sent(form, size, count, u.dtype, None, None, u.values, u.iso)
    if form == "bitmap" and u.iso is not None:
        return Sent(form, size, count, u.dtype, _bits(u), None, None, u.iso)
    entries = index_list(u)
    if form == "bitmap":
        positions, counts = _bits(u), None
    else:
        positions, counts = _low_bits(entries) if form == "list" else (_gaps(entries), None)
    values = None if u.iso is not None else entries.values
    return Sent(form, size, count, u.dtype, positions, counts, values, u.iso)


def decoded(sent: Sent | None, size: int, dtype: np.dtype[Any], device: str) -> VectorStore:
    """Return the vector that was sent: full, a bitmap where it was sent as one, else an index list."""
    if sent is None:
        return empty_vector(size, dtype, device)
    if sent.form == "full":
        return Full(size, sent.dtype, sent.values, sent.iso, device)
    if sent.form == "bitmap":
        return _of_bits(sent)
    indices = _of_low_bits(sent) if sent.form == "list" else _of_gaps(sent)
    return IndexList(size, sent.dtype, indices, sent.values, sent.iso)


def note_form(form: str) -> None:
    """Add a form to those of the current record."""
    call = recording.current()
    if call is not None:
        recording.note(forms=" ".join(sorted({form, *call.details.get("forms", "").split()})))


def _bits(u: VectorStore) -> Array:
    return cast(Bitmap, convert(u, "bitmap")).words


def _of_bits(sent: Sent) -> Bitmap:
    """Return the bitmap, with its values in their slots."""
    assert sent.positions is not None
    iso = np.bool_(True) if sent.iso is None else sent.iso
    count = Uncounted(sent.positions) if sent.count is None else Count(sent.count)
    bits = Bitmap(sent.size, iso.dtype, sent.positions, None, iso, count)
    if sent.values is None:
        return bits
    slots = array_module(bits.device).empty(sent.size, sent.dtype)
    slots[index_list(bits).indices] = sent.values
    return Bitmap(sent.size, sent.dtype, sent.positions, slots, None, bits.count)


def _low_bits(u: IndexList) -> tuple[Array, Array | None]:
    """Return the low 16 bits of the indices, and how many there are for each value of the rest."""
    low = u.indices.astype(np.uint16)
    if u.size <= _CHUNK:
        return low, None
    xp = array_module(u.device)
    bounds = xp.arange(0, u.size + _CHUNK, _CHUNK, dtype=np.int64)
    return low, xp.diff(xp.searchsorted(u.indices, bounds)).astype(np.uint32)


def _of_low_bits(sent: Sent) -> Array:
    assert sent.positions is not None
    dtype = index_dtype(sent.size)
    indices = sent.positions.astype(dtype)
    if sent.counts is None:
        return indices
    xp = array_module(device_of(indices))
    counts = sent.counts.astype(dtype)
    chunks = xp.flatnonzero(counts)
    first = xp.cumsum(counts)[chunks] - counts[chunks]
    steps = xp.zeros(sent.count, dtype)
    steps[first] = xp.diff(chunks, prepend=chunks.dtype.type(0)) * _CHUNK
    indices += xp.cumsum(steps, dtype=dtype)
    return indices


def _gaps(u: IndexList) -> Array:
    """Return the bytes of the gaps."""
    xp = array_module(u.device)
    gaps = xp.diff(u.indices, prepend=u.indices.dtype.type(0))
    if int(gaps.max()) < _LONGEST:  # synchronizes
        return gaps.astype(np.uint8)
    fillers = gaps // _LONGEST
    at = xp.cumsum(fillers + 1) - 1
    found = xp.full(int(at[-1]) + 1, _LONGEST, np.uint8)  # synchronizes
    found[at] = gaps - _LONGEST * fillers
    return found


def _of_gaps(sent: Sent) -> Array:
    assert sent.positions is not None
    xp = array_module(device_of(sent.positions))
    reached = xp.cumsum(sent.positions, dtype=index_dtype(sent.size))
    return reached[sent.positions != _LONGEST]
