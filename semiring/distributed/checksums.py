"""The checksum of bytes of which each process has read its share.

    crc(x y) = crc(x) 2^(8 |y|) + crc(y)

as polynomials over GF(2) modulo that of the CRC-32.  Source: Adler, zlib, `crc32_combine`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..exceptions import InvalidFormat
from ..io.label_sets import check_labels
from ..io.srb import Store, checksum
from .grid import Grid

__all__ = ["check_in_shares", "combined"]

# The polynomial of the CRC-32, and 1, with the coefficient of x^0 in the highest bit.
_POLYNOMIAL = 0xEDB88320
_ONE = 1 << 31


def combined(first: int, second: int, second_bytes: int) -> int:
    """Return the CRC-32 of two byte strings one after the other, from their own ones."""
    return _product(_shift(second_bytes), first) ^ second


def check_in_shares(grid: Grid, name: str, store: Store) -> None:
    """Compare the checksums of the sections of a file, and check its labels; each process reads its share.  Collective.

    Raises InvalidFormat on all processes.
    """
    shares = {}
    for section, array in {**store.arrays, **store.label_arrays}.items():
        content = array.reshape(-1).view(np.uint8)
        begin, end = (content.size * k // grid.size for k in (grid.rank, grid.rank + 1))
        shares[section] = checksum(content[begin:end]), end - begin
    found: list[dict[str, tuple[int, int]]] = grid.comm.allgather(shares)
    for section, expected in store.checksums.items():
        whole = 0
        for share in found:
            whole = combined(whole, *share[section])
        if whole != expected:
            raise InvalidFormat(
                f"{name}: byte {store.offsets[section]}: expected section {section!r} to have the checksum "
                f"{expected}, found another: the file is damaged"
            )
    grid.run_then_barrier(lambda: check_labels(store.labels, name))


def _product(a: int, b: int) -> int:
    """Return a b modulo the polynomial."""
    made, bit = 0, _ONE
    while bit:
        if a & bit:
            made ^= b
        b = (b >> 1) ^ (_POLYNOMIAL if b & 1 else 0)
        bit >>= 1
    return made


@cache
def _power(k: int) -> int:
    """Return x^(2^k) modulo the polynomial."""
    if k == 0:
        return _ONE >> 1
    half = _power(k - 1)
    return _product(half, half)


def _shift(nbytes: int) -> int:
    """Return x^(8 nbytes) modulo the polynomial."""
    made, k = _ONE, 3
    while nbytes:
        if nbytes & 1:
            made = _product(_power(k), made)
        nbytes >>= 1
        k += 1
    return made
