"""The varint codec: LEB128 numbers, 7 bits a byte.

A byte holds 7 bits, least significant first; the top bit is set on all bytes but the last of a number.  The first entry
of each row is its column, every other entry its gap, ``column - column before``.  The bytes are exactly those of the
papers.  `at` is where the number of the tile's first entry begins.  (The decoder of a tile skips that number and uses
``base[t]``.)  Prefix sums restart at each row, so a decoder needs `indptr`.  Encoders write the shortest encoding; a
number has at most 9 bytes, as columns are below 2^63.  16 bytes of 0 follow the last part, so that whole words can be
loaded from the first byte of any number.

A well-formed tile (`formats.ccsr`): no number has more than 9 bytes, and the number of the first entry agrees with
``base[t]``.
"""

from __future__ import annotations

import numpy as np

from ..tiles import TILE, CodecDefinition, column_bits


def _bytes_of_number(number: int) -> int:
    return max(1, -(-number.bit_length() // 7))


DEFINITION = CodecDefinition(
    order=1,
    element=np.dtype(np.uint8),
    padding=16,
    least_elements=lambda nvals: nvals,  # a number has at least a byte
    most_elements=lambda ncols: TILE * -(-column_bits(ncols) // 7),
    has_widths=False,
    elements_of_number=_bytes_of_number,
)
