"""The packed codec: gaps of one bit width in each tile, and exceptions; made for a warp.

All arithmetic is modulo 2^b, where b is the number of bits of ``ncols - 1`` (at least 1).  The gap of entry s of the
tile (s = 1 .. count - 1) is ``column[s] - column[s - 1]`` modulo 2^b, whether or not both are in one row: so a tile is
decoded without the row offsets; gap 0 is 0.  The low w bits of a gap are in slot s; a gap of more bits is an
*exception*.  The words (32 bits, little-endian) of a tile:

    word 0       w + 64 x + 16384 h: width w (6 bits), number of exceptions x (0 to 127, in 8 bits), width h of
                 their high parts (6 bits); the 12 bits above are 0
    then         the column of entry 64 (only if count > 64): one word, or two (low first) where b > 31
    then         for each of the ceil(count / 32) chunks of 32 slots: w words; slot i of the chunk in bits i w to
                 i w + w - 1, counted from the lowest bit of the first of them; slots past the count are 0
    then         the slots of the exceptions within the tile, ascending, one byte each, the first in the lowest byte,
                 padded to a word with 0
    then         their high parts, gap >> w, h bits each, contiguous from the lowest bit up, padded to a word with 0

h is the bit length of the largest high part (0 if x = 0), so w + h <= b.  w is the width that makes the tile
smallest, the least of several: so all engines write the same words.  4 words of 0 follow the last part, so that 8
bytes can be loaded from the first byte of any slot.

The columns of entries 0 and 64 are stored, and the gap of entry 64 yields the column of entry 63: so the chunks 0, 1
and 2 are decoded with one prefix sum of 32 gaps each, and chunk 3 with the sums of chunks 2 and 3.  (``base[t + 1]``
does not yield the column of entry 127: the gap between tiles is not stored.)  A thread that needs one entry adds at
most 63 gaps, and at most 32 outside chunk 3.

A well-formed tile (`formats.ccsr`): w + h <= b, the bits of slot 0 are 0, the slots of exceptions ascend from at least
1 and are below the count, and the column of entry 64 equals the sum of the gaps before it.
"""

from __future__ import annotations

import numpy as np

from ..tiles import TILE, CodecDefinition, column_bits, tile_count

DEFINITION = CodecDefinition(
    order=2,
    element=np.dtype(np.uint32),
    padding=4,
    least_elements=tile_count,  # a tile has at least a word
    most_elements=lambda ncols: 3 + TILE // 32 * column_bits(ncols),
    has_widths=True,
    elements_of_number=None,
)
