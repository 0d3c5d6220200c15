"""The kernels that operations request, for representative types, so that all kernel text compiles without a GPU.

Every host of kernels has a function ``samples()`` that calls the functions which plan its launches, and yields the
kernels that they return.  These are handles: they have a file and a prologue, and compile at their first launch.  So
the texts of the catalog are those that operations compile.  The arguments of the samples, mostly from
`compile_samples`, reach every `if constexpr` branch at least once, with 32-bit and 64-bit indices, small and large
values.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import cuda
from ..discovery import modules
from .kernel import Handles, Kernel

__all__ = ["entries", "kernels"]


def kernels() -> Iterator[Kernel]:
    """Yield the kernels of all samples."""
    for module in modules(cuda.__name__, cuda.__path__):
        for made in getattr(module, "samples", tuple)():
            yield from _flat(made)


def _flat(made: Handles) -> Iterator[Kernel]:
    if isinstance(made, Kernel):
        yield made
    elif isinstance(made, tuple):
        for part in made:
            yield from _flat(part)


def entries() -> list[tuple[str, str]]:
    """Return the distinct (kernel file, prologue) of all samples."""
    found = {(kernel.file, kernel.prologue): None for kernel in kernels()}
    for module in modules(cuda.__name__, cuda.__path__):
        found |= dict.fromkeys(getattr(module, "catalog", tuple)())
    return list(found)
