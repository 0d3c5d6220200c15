"""Every kernel file with representative prologues, so that all kernel text can be compiled without a GPU.

Each host of kernels declares its rows in a function ``catalog()``, which yields (kernel file, prologue).  A prologue
there consists of the same parts as those that operations generate.  The parameters, mostly from `samples`, are chosen
to compile every `if constexpr` branch at least once, with 32-bit and 64-bit indices, small and large values.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import cuda
from ..discovery import modules
from .compile_samples import Entry

__all__ = ["entries"]


def entries() -> Iterator[Entry]:
    """Yield (kernel file, prologue) for every file that contains kernels."""
    for module in modules(cuda.__name__, cuda.__path__):
        rows = getattr(module, "catalog", None)
        if rows is not None:
            yield from rows()
