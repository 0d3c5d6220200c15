"""The compiled loops of :mod:`semiring.labels.distinct`; a separate module, so that numba is imported on first use.

Every part of a call has a hash table of its own, with open addressing, so that threads share nothing.  A slot is two
words on one cache line.  A part stops when its table is half full; the caller enlarges the tables and calls again.
Labels are inserted in batches: first the slots of a batch are prefetched, then they are read, so that loads overlap.

Texts are copied into an *arena* of 64-bit words: the length in bytes, then the bytes as big-endian words, the last one
padded with zeros.  A text is identified by the index of its first word.  Words compare as texts do, and a comparison
reads one or two cache lines.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.engines.cpu.atomics import eight_bytes, prefetch, stopped
from semiring.engines.cpu.compile import device, inlined, kernel

# Labels of a batch (measured on two cores: 8 take twice the time of 128).
_BATCH = 128
# What a part has done, as columns of its row of `state`: labels of the first and of the second column, distinct labels,
# and the end of its texts in the arena.
DONE_A, DONE_B, DISTINCT, END, STATE_SIZE = 0, 1, 2, 3, 8
# Odd numbers with random bits: the factors of a multiplicative hash.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(32)
_ONE, _TWO = np.uint64(1), np.uint64(2)
_TOP = np.uint64(1 << 63)


@inlined
def _mixed(word: Any) -> Any:
    """Return a hash of a word, whose low bits depend on all its bits."""
    h = word * _FACTOR
    h = (h ^ (h >> _HALF)) * _SECOND
    return h ^ (h >> _HALF)


@inlined
def _is_full(slots: Any, count: int) -> bool:
    """Return whether another batch could fill more than half of a table of `count` labels."""
    return 4 * (count + _BATCH) > slots.size  # type: ignore[no-any-return]


@kernel
def enlarge(t: int, parts: int, control: Any, before: Any, after: Any, hashed: bool) -> None:
    """Copy the table of part t to a larger one of zeros.  hashed: its slots begin with a hash, not with an integer."""
    slots, made = before[t], after[t]
    mask = np.uint64(made.size // 2 - 1)
    for s in range(0, slots.size, 2):
        if slots[s + 1] != 0:
            place = (slots[s] if hashed else _mixed(slots[s])) & mask
            while made[_TWO * place + _ONE] != 0:
                place = (place + _ONE) & mask
            made[_TWO * place] = slots[s]
            made[_TWO * place + _ONE] = slots[s + 1]


# -- integers ----------------------------------------------------------------------------------------------


@kernel
def number_integers(
    t: int, parts: int, control: Any, tables: Any, state: Any, a: Any, b: Any, codes_a: Any, codes_b: Any, distinct: Any
) -> None:
    """codes = the number of each integer (uint64) among the distinct ones of part t, in the order of occurrence.

    Those of part t are written to `distinct` from where its share of all labels begins.
    """
    slots, mine = tables[t], state[t]
    a_start, a_end = t * a.size // parts, (t + 1) * a.size // parts
    b_start, b_end = t * b.size // parts, (t + 1) * b.size // parts
    found = distinct[a_start + b_start :]
    mine[DONE_A] += _insert_integers(
        control, slots, mine, a[a_start + mine[DONE_A] : a_end], codes_a[a_start + mine[DONE_A] :], found
    )
    if mine[DONE_A] == a_end - a_start:
        mine[DONE_B] += _insert_integers(
            control, slots, mine, b[b_start + mine[DONE_B] : b_end], codes_b[b_start + mine[DONE_B] :], found
        )


@device
def _insert_integers(control: Any, slots: Any, state: Any, values: Any, codes: Any, distinct: Any) -> int:
    """Number integers until the table is full; return how many."""
    count, done = state[DISTINCT], 0
    mask = np.uint64(slots.size // 2 - 1)
    places = np.empty(_BATCH, np.uint64)
    while done < values.size and not _is_full(slots, count) and not stopped(control):
        end = min(done + _BATCH, values.size)
        for p in range(done, end):
            place = _mixed(values[np.uintp(p)]) & mask
            places[np.uintp(p - done)] = place
            prefetch(slots, _TWO * place)
        for p in range(done, end):
            value, place = values[np.uintp(p)], places[np.uintp(p - done)]
            while slots[_TWO * place + _ONE] != 0 and slots[_TWO * place] != value:
                place = (place + _ONE) & mask
            if slots[_TWO * place + _ONE] == 0:
                slots[_TWO * place] = value
                slots[_TWO * place + _ONE] = count + 1
                distinct[count] = value
                count += 1
            codes[np.uintp(p)] = np.int64(slots[_TWO * place + _ONE]) - 1
        done = end
    state[DISTINCT] = count
    return done


@kernel
def mark(t: int, parts: int, control: Any, values: Any, least: Any, present: Any) -> None:
    """present[values[p] - least] = True; threads that write one element write one value."""
    for p in range(t * values.size // parts, (t + 1) * values.size // parts):
        present[np.uintp(values[np.uintp(p)] - least)] = True


@kernel
def look_up(t: int, parts: int, control: Any, values: Any, least: Any, table: Any, found: Any) -> None:
    """found[p] = table[values[p] - least]"""
    for p in range(t * values.size // parts, (t + 1) * values.size // parts):
        found[np.uintp(p)] = table[np.uintp(values[np.uintp(p)] - least)]


# -- texts -------------------------------------------------------------------------------------------------


@inlined
def text_words(length: Any) -> int:
    """Return the number of words of a text in an arena, that of its length included."""
    return 1 + ((np.int64(length) + 7) >> 3)  # type: ignore[return-value]


@kernel
def number_texts(
    t: int,
    parts: int,
    control: Any,
    tables: Any,
    state: Any,
    bytes_a: Any,
    starts_a: Any,
    stops_a: Any,
    bytes_b: Any,
    starts_b: Any,
    stops_b: Any,
    codes_a: Any,
    codes_b: Any,
    arena: Any,
) -> None:
    """codes = the index of each text in the arena; each part stores its distinct texts once, from state[t, END] on.

    A column is its bytes, and where in them each text starts and stops.
    """
    slots, mine = tables[t], state[t]
    m, n = starts_a.size, starts_b.size
    start, end = t * m // parts + mine[DONE_A], (t + 1) * m // parts
    mine[DONE_A] += _insert_texts(
        control, slots, mine, bytes_a, starts_a[start:end], stops_a[start:end], codes_a[start:], arena
    )
    if start + mine[DONE_A] >= end:
        start, end = t * n // parts + mine[DONE_B], (t + 1) * n // parts
        mine[DONE_B] += _insert_texts(
            control, slots, mine, bytes_b, starts_b[start:end], stops_b[start:end], codes_b[start:], arena
        )


@inlined
def _hashed(arena: Any, at: int) -> Any:
    """Return the hash of a text, which is not 0."""
    h = _mixed(arena[np.uintp(at)] + _ONE)
    for k in range(1, text_words(arena[np.uintp(at)])):
        h = _mixed(h ^ arena[np.uintp(at + k)])
    return h | _TOP


@inlined
def _copy(data: Any, start: int, stop: int, arena: Any, at: int) -> int:
    """Write a text to the arena; return its words."""
    arena[np.uintp(at)] = np.uint64(stop - start)
    words = text_words(stop - start)
    q = start
    for k in range(1, words):
        if q + 8 <= data.size:
            word = eight_bytes(data, q)
        else:
            word = np.uint64(0)
            for r in range(q, data.size):
                word |= np.uint64(data[r]) << np.uint64(56 - 8 * (r - q))
        q += 8
        if q > stop:  # without what follows the text
            word &= ~np.uint64(0) << np.uint64(8 * (q - stop))
        arena[np.uintp(at + k)] = word
    return words  # type: ignore[no-any-return]


@inlined
def _same_text(arena: Any, a: int, b: int) -> bool:
    for k in range(text_words(arena[np.uintp(a)])):  # noqa: SIM110  (numba compiles no generator expression)
        if arena[np.uintp(a + k)] != arena[np.uintp(b + k)]:
            return False
    return True


@inlined
def _slot_of(slots: Any, tag: Any, arena: Any, at: int) -> Any:
    """Return the slot of a text, or the empty one where it belongs."""
    mask = np.uint64(slots.size // 2 - 1)
    place = tag & mask
    while slots[_TWO * place] != 0:
        if slots[_TWO * place] == tag and _same_text(arena, at, np.int64(slots[_TWO * place + _ONE]) - 1):
            break
        place = (place + _ONE) & mask
    return _TWO * place


@device
def _insert_texts(
    control: Any, slots: Any, state: Any, data: Any, starts: Any, stops: Any, codes: Any, arena: Any
) -> int:
    """Number texts until the table is full; return how many."""
    count, end, done, size = state[DISTINCT], state[END], 0, starts.size
    mask = np.uint64(slots.size // 2 - 1)
    tags, places = np.empty(_BATCH, np.uint64), np.empty(_BATCH, np.int64)
    while done < size and not _is_full(slots, count) and not stopped(control):
        last = min(done + _BATCH, size)
        # The batch is written after the texts so far; those that are new are then moved to the end of these.
        at = end
        for p in range(done, last):
            words = _copy(data, np.int64(starts[np.uintp(p)]), np.int64(stops[np.uintp(p)]), arena, at)
            tag = _hashed(arena, at)
            places[np.uintp(p - done)], tags[np.uintp(p - done)] = at, tag
            prefetch(slots, _TWO * (tag & mask))
            at += words
        for p in range(done, last):
            slot = _TWO * (tags[np.uintp(p - done)] & mask)
            if slots[slot] == tags[np.uintp(p - done)]:
                prefetch(arena, slots[slot + _ONE])
        for p in range(done, last):
            at = places[np.uintp(p - done)]
            slot = _slot_of(slots, tags[np.uintp(p - done)], arena, at)
            if slots[slot] == 0:
                slots[slot], slots[slot + _ONE] = tags[np.uintp(p - done)], end + 1
                count += 1
                words = text_words(arena[np.uintp(at)])
                for k in range(words):
                    arena[np.uintp(end + k)] = arena[np.uintp(at + k)]
                end += words
            codes[np.uintp(p)] = np.int64(slots[slot + _ONE]) - 1
        done = last
    state[DISTINCT], state[END] = count, end
    return done


@kernel
def merge_texts(
    t: int, parts: int, control: Any, slots: Any, arena: Any, starts: Any, ends: Any, first: Any, texts: Any
) -> None:
    """texts = the index of each text of several ranges of an arena; first[k] = the first of them that equals text k.

    slots: a table of zeros, of four words a text at least.  Computed by one part.
    """
    mask = np.uint64(slots.size // 2 - 1)
    tags = np.empty(_BATCH, np.uint64)
    found, begin = 0, 0
    for r in range(starts.size):
        at = starts[r]
        while at < ends[r]:
            if stopped(control):
                return
            while at < ends[r] and found < begin + _BATCH:
                texts[found] = at
                tag = _hashed(arena, at)
                tags[np.uintp(found - begin)] = tag
                prefetch(slots, _TWO * (tag & mask))
                at += text_words(arena[np.uintp(at)])
                found += 1
            for k in range(begin, found):
                slot = _slot_of(slots, tags[np.uintp(k - begin)], arena, np.int64(texts[k]))
                if slots[slot] == 0:
                    slots[slot], slots[slot + _ONE] = tags[np.uintp(k - begin)], texts[k] + 1
                first[k] = np.int64(slots[slot + _ONE]) - 1
            begin = found


@kernel
def copy_texts(t: int, parts: int, control: Any, arena: Any, texts: Any, data: Any, ends: Any) -> None:
    """data = the bytes of some texts one after the other; ends[k] = the characters (of UTF-8) to the end of text k.

    Computed by one part.
    """
    q, characters = 0, 0
    for k in range(texts.size):
        if k & 1023 == 0 and stopped(control):
            return
        at = texts[k]
        for byte in range(np.int64(arena[np.uintp(at)])):
            value = np.uint8(arena[at + 1 + (byte >> 3)] >> np.uint64(56 - 8 * (byte & 7)))
            data[q] = value
            q += 1
            characters += (value & 0xC0) != 0x80
        ends[k] = characters
