"""The text of a graph file: its lines, and the sizes in its header."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat
from semiring.io.files import PathLike, Progress, read_bytes

__all__ = ["header_size", "read_text", "shortened", "universal_newlines"]

_SLICE_BYTES: Final = 1 << 20
_CARRIAGE_RETURN: Final = 13
_LINE_FEED: Final = 10


def read_text(path: PathLike, progress: Progress | None = None) -> NDArray[np.uint8]:
    """Read a text file with `read_bytes`; lines that end in CR end in LF, as `universal_newlines` returns them."""
    return universal_newlines(read_bytes(path, progress))


def universal_newlines(text: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the text with each CR that no LF follows replaced by LF; the text itself if there is none.

    Every byte keeps its offset, and CR LF is unchanged: the parsers treat its CR as white space.
    """
    found: list[NDArray[np.intp]] = []
    for begin in range(0, len(text), _SLICE_BYTES):
        returns = begin + np.flatnonzero(text[begin : begin + _SLICE_BYTES] == _CARRIAGE_RETURN)
        if returns.size:
            following = text[np.minimum(returns + 1, len(text) - 1)]  # the last byte is followed by itself: no "\n"
            found.append(returns[following != _LINE_FEED])
    if not any(alone.size for alone in found):
        return text
    text = text.copy()
    text[np.concatenate(found)] = _LINE_FEED
    text.flags.writeable = False
    return text


def header_size(word: str, what: str, place: str, *, bits: int = 60) -> int:
    """Return the number of decimal digits in a header, at most ``2**bits``.

    The length is checked before the conversion: Python raises ValueError for more than 4,300 digits, and compiled code
    accepts at most 64 bits.

    Parameters
    ----------
    word : decimal digits
    what : what is counted, in the plural
    place : file and line, for the message

    Raises
    ------
    InvalidFormat
    """
    digits = word.lstrip("0") or "0"
    if len(digits) > 20 or int(digits) > 2**bits:
        raise InvalidFormat(f"{place}: expected at most 2**{bits} {what}, found {shortened(word)}")
    return int(digits)


def shortened(word: str) -> str:
    """Return a word for a message: at most its first 40 characters."""
    return word if len(word) <= 40 else f"{word[:40]}..."
