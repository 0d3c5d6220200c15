"""How a count of rows and a count of edges share one 64-bit word: ``rows << shift | edges`` (``kernels/expand.cuh``).

One atomic on such a word reserves a row's place in a list and the number of its first edge together, which two atomics
could not: their orders would differ.  With ``shift = bit_length(entries)`` the edges, of which a list has at most
`entries`, never carry into the rows; and the word never wraps if  rows < 2**(64 - shift).

What bounds a list: a level-synchronous closure lists every row once in all, so at most n rows and nvals edges; a
label-correcting one lists a row once a step at most, and begins each step's word at 0 (the edges of all steps are
summed in a word of their own); a product lists the entries of its vector; union-find the rows longer than a threshold.
"""

from __future__ import annotations

from ...exceptions import NotSupported
from ..requests.graphs import Link
from . import tuning

__all__ = ["linked_rows", "packable", "packing"]

_BITS = 64


def packable(rows: int, entries: int) -> bool:
    """True if lists of up to `rows` rows, with up to `entries` edges in all, can be counted in one word."""
    return rows < 1 << max(0, _BITS - entries.bit_length())


def linked_rows(q: Link) -> int:
    """How many rows union-find may list: those with more than SHORT_ROW entries that take part."""
    if q.last is not None and q.last - q.first <= tuning.SHORT_ROW:
        return 0
    return min(q.pattern.nrows, q.pattern.nvals // (tuning.SHORT_ROW + 1))


def packing(operation: str, rows: int, entries: int, instead: str) -> int:
    """The number of bits below the rows.

    Raises
    ------
    NotSupported
        If the word could wrap: 2**28 rows with 2**36 entries, for one.  `instead` says what to do.
    """
    if not packable(rows, entries):
        raise NotSupported(
            f"{operation}: the GPU's work lists count rows and entries in one word of {_BITS} bits, which is too short "
            f"for {rows:,} rows with {entries:,} entries; {instead}"
        )
    return entries.bit_length()
