"""Which CPU kernels each function needs for the usual types, as data: `warm` compiles them without running functions.

A kernel is a function of a module, or the text of a compiled loop, with the numba types of its arguments.

``cpu_lists.xz``, written by `record_cpu`: kernels, the largest machine code first, whose compilation takes longest, and
for each function and type of values their numbers.  What a list that is out of date lacks is compiled by first calls.
"""

from __future__ import annotations

import functools
import importlib
import json
import lzma
from collections.abc import Collection
from importlib.resources import files
from typing import Any, TypeAlias

__all__ = ["FILE", "Kernel", "Lists", "compiled", "encoded", "numbers", "packed", "types"]

FILE = "cpu_lists.xz"

# A module and a function, or "" and the text of a loop; the arguments' types, as `encoded` returns them.
Kernel: TypeAlias = tuple[str, str, str]
# For each function and type of values the kernels, each with the bytes of its machine code.
Lists: TypeAlias = dict[str, dict[str, dict[Kernel, int]]]


def packed(lists: Lists) -> bytes:
    """Return the contents of the file for these lists."""
    sizes = {
        kernel: size for of_type in lists.values() for kernels in of_type.values() for kernel, size in kernels.items()
    }
    number = {kernel: at for at, kernel in enumerate(sorted(sizes, key=lambda kernel: (-sizes[kernel], kernel)))}
    calls = {
        name: {dtype: sorted(number[kernel] for kernel in kernels) for dtype, kernels in lists[name].items()}
        for name in sorted(lists)
    }
    return lzma.compress(json.dumps({"kernels": list(number), "calls": calls}, separators=(",", ":")).encode())


@functools.cache
def _read() -> tuple[list[Kernel], dict[str, dict[str, list[int]]]]:
    file = files(__package__) / FILE
    kept = json.loads(lzma.decompress(file.read_bytes())) if file.is_file() else {"kernels": [], "calls": {}}
    return [tuple(kernel) for kernel in kept["kernels"]], kept["calls"]


def types(function: str) -> list[str]:
    """Return the types of values that were recorded for a function."""
    return list(_read()[1].get(function, ()))


def numbers(function: str, chosen: Collection[str]) -> list[int]:
    """Return the numbers of the kernels that recorded calls of a function need for the chosen types, each once."""
    of_type = _read()[1].get(function, {})
    return sorted({number for dtype in chosen for number in of_type.get(dtype, ())})


def compiled(number: int) -> None:
    """Compile and store a kernel, or load it from the store."""
    from ..engines.cpu import program

    module, function, signature = _read()[0][number]
    kernel: Any = getattr(importlib.import_module(module), function) if module else program._kernel(function)
    kernel.compile(tuple(map(_decoded, json.loads(signature))))


def encoded(numba_type: Any) -> Any:
    """Return the type of an argument as data for JSON."""
    from ..engines.cpu.types import OperatorType

    types: Any = importlib.import_module("numba.core.types")
    if isinstance(numba_type, OperatorType):
        return "operator", numba_type.expr.text, numba_type.arguments, numba_type.result, numba_type.terminal
    if isinstance(numba_type, types.Array):
        readonly = not numba_type.mutable
        return "array", str(numba_type.dtype), numba_type.ndim, numba_type.layout, readonly, numba_type.aligned
    if isinstance(numba_type, types.BaseTuple):
        return "tuple", *(encoded(item) for item in numba_type)
    if isinstance(numba_type, types.Literal):
        return "literal", numba_type.literal_value
    return str(numba_type)


def _decoded(data: Any) -> Any:
    """Return the type that `encoded` was given."""
    from ..engines.cpu.types import OperatorType
    from ..operators.expression import Expression

    types: Any = importlib.import_module("numba.core.types")
    match data:
        case ["operator", text, arguments, result, terminal]:
            return OperatorType(Expression(text), tuple(map(tuple, arguments)), result, terminal)
        case ["array", dtype, ndim, layout, readonly, aligned]:
            return types.Array(_decoded(dtype), ndim, layout, readonly, aligned=aligned)
        case ["tuple", *items]:
            return types.BaseTuple.from_types(tuple(map(_decoded, items)))
        case ["literal", value]:
            return types.literal(value)
    return getattr(types, data)
