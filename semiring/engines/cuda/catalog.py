"""The kernels that operations request, for representative types: all kernel text compiles without a GPU.

``samples()`` of a host of kernels calls the functions that plan its launches, and returns their kernels: handles with a
file and a prologue, which compile at their first launch.  So the catalog has the texts that operations compile.  The
arguments, mostly from `compile_samples`, reach every `if constexpr` branch at least once, with 32-bit and 64-bit
indices, small and large values.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import cuda
from ..registry import modules
from .kernel import Handles, Kernel

__all__ = ["entries", "kernels"]


def kernels() -> Iterator[Kernel]:
    """Yield the kernels of all samples."""
    for module in modules(cuda.__name__, cuda.__path__):
        yield from _flat(tuple(getattr(module, "samples", tuple)()))


def _flat(made: Handles) -> Iterator[Kernel]:
    if isinstance(made, Kernel):
        yield made
    elif isinstance(made, tuple):
        for part in made:
            yield from _flat(part)


def entries() -> list[tuple[str, str]]:
    """Return the distinct (kernel file, prologue) of all samples."""
    return list(dict.fromkeys((kernel.file, kernel.prologue) for kernel in kernels()))
