"""New memory of the GPU filled with a byte: a kernel that reads what nobody has written then gives a wrong result.

Memory from CuPy's pool often holds an older array of the same kind, so such a read may be right by chance.
`pytest --engine=cuda --poison 0x7f` fills all memory; a test may fill that of one call.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def byte(text: str) -> int:
    """The byte of ``--poison 0x7f``."""
    try:
        number = int(text, 0)
    except ValueError:
        number = -1
    if not 0 <= number < 256:
        raise argparse.ArgumentTypeError(f"a byte is a number from 0 to 255, such as 0x7f; got {text!r}")
    return number


def allocator(value: int) -> Callable[[int], Any]:
    """An allocator of CuPy's default pool that fills what it hands out."""
    import cupy

    pool = cupy.get_default_memory_pool()

    def allocate(size: int) -> Any:
        memory = pool.malloc(size)
        memory.memset_async(value, size)
        return memory

    return allocate


def fill_all(value: int) -> None:
    """Fill all memory that is allocated from now on."""
    import cupy

    cupy.cuda.set_allocator(allocator(value))
