"""Tiles of compressed rows (`formats.ccsr`), and what defines a codec, which fills them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .records import record

TILE = 128


def tile_count(nvals: int) -> int:
    """Return the number of tiles of `nvals` entries."""
    return -(-nvals // TILE)


def column_bits(ncols: int) -> int:
    """Return b, the number of bits of a column, at least 1."""
    return max(1, (ncols - 1).bit_length())


@record
class CodecDefinition:
    """The properties of a codec that shared code depends on; its name is that of its module, also in files.

    order: the position in `CODECS`: lists and messages name the codecs by ascending order.
    element: the type of an element of the stream.
    padding: the number of elements of 0 that follow the last tile.
    least_elements: the least number of elements, without padding, of a stream of so many entries.
    most_elements: the largest number of elements of a tile of a matrix with so many columns.
    has_widths: True if encoders measure a bit width for each tile and keep it until they write the tile.
    elements_of_number: the elements that a number takes, if the first number of each row is a column and every other
        number a gap; None if no tile depends on the row offsets.
    """

    order: int
    element: np.dtype[Any]
    padding: int
    least_elements: Callable[[int], int]
    most_elements: Callable[[int], int]
    has_widths: bool
    elements_of_number: Callable[[int], int] | None

    @property
    def restarts_at_rows(self) -> bool:
        """True if sums of numbers restart at every row: decoders then need the row offsets."""
        return self.elements_of_number is not None
