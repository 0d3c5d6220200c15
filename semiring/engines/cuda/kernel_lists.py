"""Which kernels a call is going to need: lists recorded on a GPU for every function and the usual types.

The first kernel that is missing from the store names the call: of the function that is running, those whose lists
contain it.  What all of these need is compiled at the same time; a later kernel, which depends on the types, leaves
fewer of them.  So nothing is compiled that the call does not need, as far as it was recorded.

A kernel that was not recorded, of another type or operator, is compiled together with those that every recorded call
has beside this kernel of this file: others of the file behind the same prologue, and texts that are the same in all.

``kernel_lists.xz``, written by `warming.record`: texts, each a kernel file, a prologue and a kernel, and for each
function and type of values the lists of its calls, as numbers of texts.  A list that is out of date costs time, nothing
else.
"""

from __future__ import annotations

import functools
import itertools
import json
import lzma
import sys
from collections.abc import Collection
from importlib.resources import files
from types import FrameType
from typing import TypeAlias

__all__ = ["FILE", "Lists", "Text", "following", "numbers", "packed", "running_function", "text", "types"]

FILE = "kernel_lists.xz"

# A kernel file, a prologue, and the kernel.
Text: TypeAlias = tuple[str, str, str]
# For each function and type, the texts of each call.
Lists: TypeAlias = dict[str, dict[str, list[list[Text]]]]


def packed(lists: Lists) -> bytes:
    """Return the contents of the file for these lists."""
    places: dict[Text, int] = {}
    calls = {
        name: {
            dtype: [[places.setdefault(text, len(places)) for text in call] for call in of_type]
            for dtype, of_type in lists[name].items()
        }
        for name in sorted(lists)
    }
    return lzma.compress(json.dumps({"texts": list(places), "calls": calls}, separators=(",", ":")).encode())


@functools.cache
def _read() -> tuple[list[Text], dict[str, dict[str, list[list[int]]]]]:
    file = files(__package__) / FILE
    kept = json.loads(lzma.decompress(file.read_bytes())) if file.is_file() else {"texts": [], "calls": {}}
    return [tuple(text) for text in kept["texts"]], kept["calls"]


def types() -> list[str]:
    """Return the types of values that were recorded."""
    return list(dict.fromkeys(dtype for of_type in _read()[1].values() for dtype in of_type))


def numbers(function: str, chosen: Collection[str]) -> list[int]:
    """Return the numbers of the texts that recorded calls of a function need for the chosen types, each once."""
    of_type = _read()[1].get(function, {})
    return list(dict.fromkeys(number for dtype in chosen for call in of_type.get(dtype, ()) for number in call))


def text(number: int) -> Text:
    """Return a text by its number."""
    return _read()[0][number]


@functools.cache
def _lists(function: str) -> list[list[int]]:
    """Return the lists of a function, of all types."""
    return [call for calls in _read()[1].get(function, {}).values() for call in calls]


@functools.cache
def _numbers() -> dict[Text, int]:
    return {text: number for number, text in enumerate(_read()[0])}


def running_function() -> str | None:
    """Return the outermost function on the stack of the caller that has lists."""
    calls = _read()[1]
    found, frame = None, sys._getframe(1)
    at: FrameType | None = frame
    while at is not None:
        if at.f_code.co_name in calls and at.f_globals.get("__name__", "").startswith("semiring."):
            found = at.f_code.co_name
        at = at.f_back
    return found


def following(function: str | None, text: Text) -> list[Text]:
    """Return the other texts that every recorded call of the function needs which needs this one.

    function: None for one that is not recorded.  If the text was not recorded: those of calls that need the same kernel
    behind another prologue.
    """
    known, calls = _read()
    number, (file, prologue, entry) = _numbers().get(text), text
    lists = _lists(function) if function else []
    needing = [call for call in lists if number in call]
    if needing:
        common = set.intersection(*map(set, needing)) - {number}
        return [known[each] for each in needing[0] if each in common]
    like = {at for at, (other, _, kernel) in enumerate(known) if (other, kernel) == (file, entry)}
    needing = [call for call in lists or itertools.chain(*map(_lists, calls)) if like.intersection(call)]
    if not needing:
        return []
    replaced = {known[at][:2] for at in like}  # by the same kernels behind the prologue of the text
    common = set.intersection(*map(set, needing))
    beside = set.intersection(*(_beside(call, at) for call in needing for at in like.intersection(call)))
    same = (known[each] for each in needing[0] if each in common)
    return [
        *((file, prologue, other) for other in sorted(beside)),
        *(text for text in same if text[:2] not in replaced),
    ]


def _beside(call: list[int], number: int) -> set[str]:
    """Return the other kernels of a text's file that a call needs behind the same prologue."""
    known = _read()[0]
    file, prologue, entry = known[number]
    return {known[each][2] for each in call if known[each][:2] == (file, prologue)} - {entry}
