"""Which kernels a call is going to need: lists recorded on a GPU for every function and the usual types.

The first kernel that is missing from the store names the call: of the function that is running, those whose lists
contain it.  What all of these need is compiled at the same time; a later kernel, which depends on the types, leaves
fewer of them.  So nothing is compiled that the call does not need, as far as it was recorded.

``kernel_lists.xz``, written by `warming.record`: texts, each a kernel file and its prologue, and for each function
lists of their numbers.  A list that is out of date costs time, nothing else.
"""

from __future__ import annotations

import functools
import json
import lzma
import sys
from importlib.resources import files
from types import FrameType
from typing import TypeAlias

__all__ = ["FILE", "Text", "following", "packed", "running_function", "texts"]

FILE = "kernel_lists.xz"

# A kernel file and a prologue.
Text: TypeAlias = tuple[str, str]


def packed(lists: dict[str, list[list[Text]]]) -> bytes:
    """Return the contents of the file for the lists of each function."""
    numbers: dict[Text, int] = {}
    calls = {
        name: [[numbers.setdefault(text, len(numbers)) for text in call] for call in lists[name]]
        for name in sorted(lists)
    }
    return lzma.compress(json.dumps({"texts": list(numbers), "calls": calls}, separators=(",", ":")).encode())


@functools.cache
def _read() -> tuple[list[Text], dict[str, list[list[int]]]]:
    file = files(__package__) / FILE
    kept = json.loads(lzma.decompress(file.read_bytes())) if file.is_file() else {"texts": [], "calls": {}}
    return [(file, prologue) for file, prologue in kept["texts"]], kept["calls"]


def texts() -> dict[str, list[list[Text]]]:
    """Return the lists of each function."""
    known, calls = _read()
    return {name: [[known[number] for number in call] for call in each] for name, each in calls.items()}


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


def following(function: str, text: Text) -> list[Text]:
    """Return the other texts that every recorded call of the function needs which needs this one."""
    known, calls = _read()
    number = _numbers().get(text)
    needing = [call for call in calls[function] if number in call]
    if not needing:
        return []
    common = set.intersection(*map(set, needing)) - {number}
    return [known[each] for each in needing[0] if each in common]
