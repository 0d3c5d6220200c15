"""Kernel arguments by name: the struct that a kernel file declares is their only definition.

A kernel with many arguments accepts them as one struct by value.  The kernel's text declares the struct, field by field
with its type; this module parses the declaration, and a call packs its arguments by the names of the fields.  A missing
or unknown argument therefore raises, and arguments cannot be interchanged.  A struct may derive from another one: its
fields follow those of the base.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ...formats import IndexList
from ...formats.vectors import SingleEntry
from .compile import module_text
from .kernel import code_of
from .launch import values_of

__all__ = ["arguments", "layout", "pack_source", "packer", "source_argument"]

_FIELD = re.compile(r"(?:const )?([\w:]+)(\*?) (\w+);")
# Native codes of Python's module `struct`: sizes and alignment are those of the host's C++, equal to the device's.
_POINTER = "P"
_CODES = {
    "ColumnsArgument": _POINTER,
    "T_CODEC::Argument": _POINTER,
    "i64": "q",
    "u64": "Q",
    "int": "i",
    "bool": "?",
    "f64": "d",
}


def layout(name: str, body: str, types: dict[str, str]) -> dict[str, str]:
    """Return the fields of a struct in order, with their codes; `types`: codes of the types that the prologue names."""
    known = {**_CODES, **types}
    codes: dict[str, str] = {}
    for line in re.sub(r"//.*", "", body).splitlines():
        if not line.strip():
            continue
        field = _FIELD.fullmatch(line.strip())
        if field is None:
            raise ValueError(f"struct {name}: a line of a struct of arguments is 'type name;', got {line.strip()!r}")
        kind, star, field_name = field.groups()
        if field_name in codes or not (star or kind in known):
            raise ValueError(f"struct {name}: {field_name} is declared twice, or its type {kind} is not known")
        codes[field_name] = _POINTER if star else known[kind]
    return codes


def packer(name: str, codes: dict[str, str]) -> Callable[..., Any]:
    """Return the function `name`, which accepts every field by name and returns the struct as bytes.

    Pointers are CuPy arrays, other objects with ``x.data.ptr``, addresses as integers (parts of `scratch`), or None;
    other fields are Python or NumPy numbers.  The function is generated as source text, as in `namedtuple`: Python
    itself then matches names and raises TypeError, at the lowest cost.
    """
    form = struct.Struct("@" + "".join(codes.values()) + "0P")  # ends at a multiple of a pointer's size
    values = [
        _address(field) if code == _POINTER else f"bytes({field})" if code[0] == "0" else field
        for field, code in codes.items()
    ]
    text = f"def {name}(*, {', '.join(codes)}):\n    return pack({', '.join(values)})\n"
    made: dict[str, Any] = {"pack": form.pack}
    exec(text, made)
    function: Callable[..., Any] = made[name]
    return function


def _address(field: str) -> str:
    return f"0 if {field} is None else {field} if {field}.__class__ is int else {field}.data.ptr"


@functools.lru_cache(maxsize=1024)
def arguments(file: str, name: str, **types: np.dtype[Any]) -> Callable[..., Any]:
    """Return the `packer` of the struct `name` in the text of a kernel file, with its includes.

    types: the types of by-value fields that the prologue names, as in ``typedefs``.
    """
    body = fields_text(module_text(file), name)
    return packer(name, layout(name, body, {letter: code_of(dtype) for letter, dtype in types.items()}))


def fields_text(text: str, name: str) -> str:
    """Return the lines that declare the fields of a struct in the text of a kernel, those of its base first."""
    found = re.search(rf"^struct {name}(?: : (\w+))? {{.*\n((?:.*\n)*?)}};", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"no struct {name} is declared")
    return (fields_text(text, found[1]) if found[1] else "") + found[2]


def source_argument(file: str, f: IndexList) -> bytes:
    """Pack the struct ``SourceArguments`` of a kernel file (sources.cuh): the first entries of a closure."""
    return pack_source(arguments(file, "SourceArguments", U=f.dtype), f)


def pack_source(pack: Callable[..., bytes], f: IndexList) -> bytes:
    """Pack ``SourceArguments`` with their `packer`."""
    if isinstance(f, SingleEntry):
        return pack(sources=None, single=f.index, u_values=None, u_iso=f.iso, source_count=1)
    values, iso = values_of(f)
    return pack(sources=f.indices, single=0, u_values=values, u_iso=iso, source_count=f.nvals)
