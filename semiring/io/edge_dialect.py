"""What the first lines of an edge list tell about the others: comments, the separator, names of columns."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidValue

__all__ = [
    "BOM",
    "HEAD_RECORDS",
    "Dialect",
    "Record",
    "checked_comment",
    "checked_separator",
    "dialect_of",
    "is_delimited",
    "names_columns",
]

#: The byte-order mark of UTF-8.
BOM: Final = codecs.BOM_UTF8
#: Records that are examined, and bytes.
HEAD_RECORDS: Final = 101
_HEAD_BYTES: Final = 1 << 16
# Lines from which on it is no accident that one column of names is integers.
_FEW: Final = 3
_COMMENTS: Final = "#%"
# In order of preference.
_SEPARATORS: Final = {".csv": ",;\t|", ".tsv": "\t,;|"}
_OTHERS: Final = "\t,;"

# A comment whose text follows without a blank.
_COMMENT_TEXT: Final = re.compile("^[#%][^ \t\r\n#%].*", re.MULTILINE)
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_NUMBER: Final = re.compile(
    r"[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE
)

# Names of columns, as lower-case letters and digits.  A pair of these is one for certain.
_SOURCES: Final = {"source", "src", "from", "fromnode", "fromnodeid", "head", "sender", "node1", "nodea", "id1"}
_SOURCES.update(("sourceid", "sourcenode", "srcid", "fromid"))
_TARGETS: Final = {"target", "dst", "dest", "destination", "to", "tonode", "tonodeid", "tail", "receiver"}
_TARGETS.update(("node2", "nodeb", "id2", "targetid", "targetnode", "dstid", "destid", "destinationid", "toid"))
# One or more of these words, and perhaps a number or a letter, are usual, and could be the name of a vertex.
_WORDS: Final = """
    account actor airport alter arrival artist author begin book buyer callee caller child citation cited citing
    city client coauthor code col column contact customer departure dest destination disease document drug dst edge
    ego employee end entity event film finish followed followee follower following follows friend from gene group
    head id ids idx index influencer item key label left link manager member merchant movie name names neighbor
    neighbour no node num number object of organisation organization origin page paper parent partner payee payer
    person place player post predecessor product protein query reader receiver recipient referee reference referrer
    repo repository right row seller sender source src start station stop student subject subreddit successor
    supplier tag tail target teacher team to topic track trustee truster url user vertex word
"""
_USUAL: Final = re.compile(f"({'|'.join(_WORDS.split())})+([0-9]+|[ab])?")
_LETTERS: Final = {("u", "v"), ("i", "j"), ("a", "b"), ("x", "y"), ("s", "t"), ("p", "q")}
# The names that R and igraph give to columns, and vertices that are named alike.
_NUMBERED: Final = {("v1", "v2"), ("x1", "x2")}
_NUMBERED_ID: Final = re.compile("[vx][0-9]+", re.IGNORECASE)


class Record(NamedTuple):
    """A line of a table: its fields, which are in quotes, the number of its line, byte and number of the next line."""

    fields: list[str]
    quoted: list[bool]
    line: int
    following: tuple[int, int]


class Dialect(NamedTuple):
    """Where the first record begins, the separator (empty: blanks), what begins a comment, and the first records.

    guess, guess_line: what could also be read otherwise, and where, for a warning.
    """

    start: int
    line: int
    separator: str
    comments: str
    records: list[Record]
    guess: str
    guess_line: int


def is_delimited(kind: str) -> bool:
    """Return whether files with this extension have quotes and no comments (RFC 4180)."""
    return kind in _SEPARATORS


def _is_number(field: str) -> bool:
    return _NUMBER.fullmatch(field) is not None


def dialect_of(
    text: NDArray[np.uint8],
    start: int,
    line: int,
    kind: str,
    sep: str | None,
    comment: str | None,
    *,
    relabel: bool = False,
) -> Dialect:
    """Return the dialect of the text from byte `start` on, which is in line number `line`.

    kind: the extension of the file.  sep, comment: as in `read_edgelist`; None: detect.  relabel: ids may be text.
    """
    size = _HEAD_BYTES
    while True:
        whole = start + size >= len(text)
        chunk = text[start : start + size].tobytes()
        head = (chunk if whole else chunk[: chunk.rfind(b"\n") + 1]).decode("latin-1")
        found = _dialect(head, start, line, kind, sep, comment, whole)
        if whole or len(found.records) > 1:
            if relabel and comment is None and not is_delimited(kind) and not found.guess:
                at = _comment_like_an_edge(head, found.separator, found.records)
                if at >= 0:
                    guess = "this line is a comment; comment='' reads it as an edge"
                    found = found._replace(guess=guess, guess_line=line + head.count("\n", 0, at))
            return found
        size *= 8


def _dialect(head: str, start: int, line: int, kind: str, sep: str | None, comment: str | None, whole: bool) -> Dialect:
    comments = ("" if is_delimited(kind) else _COMMENTS) if comment is None else comment
    top, guess, guess_line = (0, line), "", line
    if comment is None and is_delimited(kind):
        top, guess_line = _comments_at_the_top(head, line, kind, sep)
        if guess_line:
            guess = "this line is a comment; comment='' reads it as an edge"
    separator = sep
    if separator is None:
        separator, other = _separator(head, top, kind, comments)
        if other:
            guess = f"columns are separated by {separator!r}; sep={other!r} separates them otherwise"
            guess_line = top[1]
    records = list(_records(head, *top, separator, comments))
    records = [r._replace(following=(start + r.following[0], r.following[1])) for r in records]
    if not whole and records and records[-1].following[0] >= start + len(head):
        records.pop()  # it may go on
    return Dialect(start + top[0], top[1], separator, comments, records, guess, guess_line)


def _comments_at_the_top(head: str, line: int, kind: str, sep: str | None) -> tuple[tuple[int, int], int]:
    """Return byte and number of the line after the comments at the top of a file, and the number of a doubtful one.

    They are the lines of ``#`` or ``%`` and then a blank, or another of these, or with another number of columns than
    the first line that begins otherwise.
    """
    lines = list(_lines(head, 0, line))
    first = next((found for found in lines if found[0] and found[0][0] not in _COMMENTS), None)
    separator, width = sep, 0
    if first is not None:
        separator = _separator(head, first[1:3], kind, "")[0] if sep is None else sep
        width = len(next(_records(head, *first[1:3], separator, "")).fields)
    top, doubtful = (0, line), 0
    for content, at, number, after in lines:
        if content and content[0] not in _COMMENTS:
            break
        if not content:
            continue
        fields = next(_records(head, at, number, separator or "", "")).fields
        same = first is not None and len(fields) == width
        if content[1:2] not in ("", " ", "\t", *_COMMENTS) and (same or first is None):
            break
        if same and width > 1 and not all(_is_usual(_plain(field)) for field in fields[:2]):
            doubtful = number
        top = (after, number + 1)
    return top, doubtful


def _comment_like_an_edge(head: str, separator: str, records: list[Record]) -> int:
    """Return the byte of the first comment that has the columns of an edge between names, or -1.

    No blank follows its ``#`` or ``%``, and it holds neither names of columns nor an edge between integers.
    """
    for found in _COMMENT_TEXT.finditer(head):
        for mark in (separator,) if records else (*_OTHERS, ""):
            fields = next(_records(head[: found.end()], found.start(), 0, mark, "")).fields
            same = len(fields) == len(records[0].fields) if records else len(fields) in (2, 3)
            ends = [_plain(field) for field in fields[:2]]
            if same and len(ends) > 1 and not all(_is_usual(end) or _INTEGER.fullmatch(end) for end in ends):
                return found.start()
    return -1


def _lines(head: str, at: int, number: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield the content of each line, without blanks around it, its byte and number, and the byte after it."""
    while at < len(head):
        end = head.find("\n", at)
        end = len(head) if end < 0 else end
        yield head[at:end].strip(" \t\r"), at, number, end + 1
        at, number = end + 1, number + 1


def _separator(head: str, top: tuple[int, int], kind: str, comments: str) -> tuple[str, str]:
    """Return the separator that divides all lines into the same number of columns, the largest one.

    And another one that also does, or the empty text.
    """
    even: list[tuple[int, str]] = []
    present: list[str] = []
    quoted = False
    for separator in _SEPARATORS.get(kind, _OTHERS):
        records = list(_records(head, *top, separator, comments))
        if not records or len(records[0].fields) < 2:
            continue
        present.append(separator)
        empty = any(not all(r.fields[:2]) for r in records)
        if len({len(r.fields) for r in records}) == 1 and not (empty and not is_delimited(kind)):
            even.append((len(records[0].fields), separator))
        quoted = quoted or any(any(r.quoted) for r in records)
    if not is_delimited(kind) and not quoted:
        blanks = list(_records(head, *top, "", comments))
        width = len(blanks[0].fields) if blanks else 0
        same = width > 1 and len({len(r.fields) for r in blanks}) == 1
        plain = same and not any(mark in field for r in blanks for field in r.fields[:2] for mark in ",;")
        if plain and (not even or even[0][1] != "\t" or even[0][0] == width):
            return "", ""
    if not even:
        return (present[0] if present else ""), ""
    if even[0][1] == "\t":
        return "\t", even[1][1] if kind == ".csv" and len(even) > 1 else ""
    most = max(width for width, _ in even)
    chosen = next(separator for width, separator in even if width == most)
    return chosen, next((separator for _, separator in even if separator != chosen), "")


def _records(head: str, at: int, number: int, separator: str, comments: str) -> Iterator[Record]:
    """Yield the first records of a text, from a byte and line on."""
    count = 0
    field = _field_pattern(separator) if separator else None
    while at < len(head) and count < HEAD_RECORDS:
        end = head.find("\n", at)
        end = len(head) if end < 0 else end
        content = head[at:end].strip(" \t\r" if separator != "\t" else " \r")
        if not content or content[0] in comments:
            at, number = end + 1, number + 1
            continue
        count += 1
        if field is None:
            words = [_decoded(word) for word in content.split()]
            yield Record(words, [False] * len(words), number, (end + 1, number + 1))
            at, number = end + 1, number + 1
            continue
        fields: list[str] = []
        quoted: list[bool] = []
        first, more = at, True
        while more:
            found = field.match(head, at)
            assert found is not None
            inside, bare, after = found.groups()
            quoted.append(inside is not None)
            fields.append(_decoded(bare.strip(" \t\r") if inside is None else inside.replace('""', '"')))
            more = after == separator
            at = found.end() if more or after else len(head) + 1
        following = number + head.count("\n", first, at)
        yield Record(fields, quoted, number, (at, following + (at > len(head))))
        number = following


def _field_pattern(separator: str) -> re.Pattern[str]:
    blanks = "".join(blank for blank in " \t\r" if blank != separator)
    mark = re.escape(separator)
    return re.compile(rf'[{blanks}]*(?:"((?:[^"]|"")*)"[{blanks}]*|([^{mark}\n]*))({mark}|\n|\Z)')


def _decoded(field: str) -> str:
    return field.encode("latin-1").decode("utf-8", "backslashreplace")


def names_columns(records: list[Record], chosen: tuple[int, int, int]) -> tuple[bool, bool]:
    """Return whether the first record holds the names of columns, and whether that is certain.

    chosen: the columns of source, target and weight (-1: none).
    """
    source, target, weight = chosen
    if not records or len(records[0].fields) <= max(source, target):
        return False, True
    first, others = records[0].fields, [r.fields for r in records[1:] if len(r.fields) > max(chosen)]
    ends = first[source], first[target]
    if any(_INTEGER.fullmatch(end) for end in ends) or not all(ends):
        return False, True
    names = [_plain(end) for end in ends]
    if names[0] in _SOURCES and names[1] in _TARGETS:
        return True, True
    if 0 <= weight < len(first) and _is_number(first[weight]):
        return False, True
    for k in set(range(len(first))) - {source, target}:
        values = [fields[k] for fields in others if k < len(fields) and fields[k]]
        if first[k] and not _is_number(first[k]) and values and all(map(_is_number, values)):
            return True, True
    found = {fields[k] for fields in others for k in (source, target)}
    integer = [bool(others) and all(_INTEGER.fullmatch(fields[k]) for fields in others) for k in (source, target)]
    if any(integer) and not found & set(ends) and ends[0] != ends[1]:
        return True, all(integer) or len(others) >= _FEW
    if not found or found & set(ends) or names[0] == names[1]:
        return False, False
    if tuple(names) in _LETTERS:
        return not any(len(field) == 1 for field in found), False
    if tuple(names) in _NUMBERED:
        return not any(map(_NUMBERED_ID.fullmatch, found)), False
    usual = all(map(_is_usual, names)) and not any(_is_usual(_plain(field)) for field in found)
    return usual, False


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _is_usual(name: str) -> bool:
    """Return whether a name is a usual one of a column, such as ``userid`` or ``node1``."""
    return _USUAL.fullmatch(name) is not None


def checked_separator(sep: Any) -> str | None:
    """Return sep=, a blank as the empty text; InvalidValue for anything but one character that can separate columns."""
    if sep is None:
        return None
    if not isinstance(sep, str) or len(sep) != 1 or not sep.isascii() or sep.isalnum() or sep in '"\r\n.+-':
        raise InvalidValue(f"sep=: expected one character such as ',' or ';', or ' ' for white space; got {sep!r}")
    return "" if sep == " " else sep


def checked_comment(comment: Any) -> str | None:
    """Return comment=; InvalidValue for anything but None and ASCII characters."""
    if comment is not None and not (
        isinstance(comment, str) and comment.isascii() and not set(comment) & set(' \t\r\n"')
    ):
        raise InvalidValue(f"comment=: expected the characters that begin a comment, such as '#%'; got {comment!r}")
    return comment
