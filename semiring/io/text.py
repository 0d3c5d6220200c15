"""The text of a graph file: its lines, and the sizes in its header."""

from __future__ import annotations

import codecs
import os
from typing import Final

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat
from semiring.io.files import PathLike, Progress, read_bytes
from semiring.memory.allocation import require

__all__ = ["header_size", "read_text", "shortened", "universal_newlines", "wide_encoding"]

_SLICE_BYTES: Final = 1 << 20
_CARRIAGE_RETURN: Final = 13
_LINE_FEED: Final = 10


def read_text(path: PathLike, progress: Progress | None = None, *, quotes: bool = False) -> NDArray[np.uint8]:
    """Read a text file with `read_bytes`, as UTF-8 without a byte-order mark; lines that end in CR end in LF.

    UTF-16 and UTF-32 are recognized by their marks.  quotes: a CR in double quotes is kept.  InvalidFormat where the
    marked encoding cannot be decoded.
    """
    text = read_bytes(path, progress)
    mark = text[:4].tobytes()
    if mark.startswith(codecs.BOM_UTF8):
        text = text[len(codecs.BOM_UTF8) :]
    encoding = wide_encoding(mark)
    if encoding:
        require(f"reading {os.fspath(path)}", "cpu", 2 * text.nbytes)
        try:
            text = np.frombuffer(text.tobytes().decode(encoding).encode(), np.uint8)
        except UnicodeError as error:
            raise InvalidFormat(
                f"{os.fspath(path)}: expected {encoding}, as its first bytes mark it: {error}"
            ) from error
    return universal_newlines(text, quotes=quotes)


def wide_encoding(head: bytes) -> str:
    """Return the encoding of a text that begins with the byte-order mark of UTF-16 or UTF-32; empty for any other."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    return "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else ""


def universal_newlines(text: NDArray[np.uint8], *, quotes: bool = False) -> NDArray[np.uint8]:
    """Return the text with each CR that no LF follows replaced by LF; the text itself if there is none.

    Every byte keeps its offset, and CR LF is unchanged: the parsers treat its CR as white space.  quotes: a CR after an
    odd number of double quotes is kept.
    """
    found: list[NDArray[np.intp]] = []
    for begin in range(0, len(text), _SLICE_BYTES):
        returns = begin + np.flatnonzero(text[begin : begin + _SLICE_BYTES] == _CARRIAGE_RETURN)
        if returns.size:
            following = text[np.minimum(returns + 1, len(text) - 1)]  # the last byte is followed by itself: no "\n"
            found.append(returns[following != _LINE_FEED])
    if not any(alone.size for alone in found):
        return text
    alone = np.concatenate(found)
    if quotes:
        before = np.searchsorted(np.flatnonzero(text == ord('"')), alone)
        alone = alone[before % 2 == 0]
    text = text.copy()
    text[alone] = _LINE_FEED
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
