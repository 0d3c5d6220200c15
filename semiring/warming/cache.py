"""The folder of compiled kernels, `config.cache_dir`: describe its contents, and empty it.

``cpu/DIGEST/FILE/*.nbc``  machine code of numba, for one version of the CPU engine's sources, of numba and of NumPy.
The names of files contain the Python version, so that versions share the folder and never read each other's files.
``cuda/KEY.bin``  machine code of NVRTC.  The key is a digest of the kernel's text, the GPU architecture, the options
and the version of NVRTC: every Python version reads the same files.
``networkx/INSTALLATION/CALL.ran``  empty files: the kernels of a call of the NetworkX backend are among those above.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..config import config

__all__ = ["CacheFacts", "clear", "facts"]

# Only the files that the engines write: other programs may use the folder too.
_WRITTEN = {
    "cpu": re.compile(r"[0-9a-f]{16}/\w+/[^/]+\.nb[ci](?:\.tmp\.\w+)?"),
    "cuda": re.compile(r"[0-9a-f]{64}\.bin|\w+\.part"),
    "networkx": re.compile(r"[\w.+-]+/[\w.]+\.ran"),
}
_KERNELS = (".nbc", ".bin")


@dataclass(frozen=True)
class CacheFacts:
    """The compiled kernels on disk.

    folder: where they are.  files, bytes: of all versions of the engines together.  kernels: the number of files that
    contain the machine code of a kernel for one combination of types.
    """

    folder: Path
    files: int
    kernels: int
    bytes: int


def facts() -> CacheFacts:
    """Count the files of the cache; O(files)."""
    sizes = dict(_files())
    kernels = sum(path.suffix in _KERNELS for path in sizes)
    return CacheFacts(Path(config.cache_dir), len(sizes), kernels, sum(sizes.values()))


def clear() -> CacheFacts:
    """Remove every compiled kernel from the cache, and return what was removed.

    Other files in the folder are kept.  Running processes keep the kernels that they have loaded, and compile
    and store again any others that they need.

    Raises
    ------
    OSError
        If a file cannot be removed.
    """
    removed = facts()
    for path, _ in list(_files()):
        path.unlink(missing_ok=True)
    for engine in _WRITTEN:
        folder = removed.folder / engine
        for emptied in (*folder.glob("*/*/"), *folder.glob("*/"), folder):
            with contextlib.suppress(OSError):  # it contains other files, or a process has just written to it
                emptied.rmdir()
    return removed


def _files() -> Iterator[tuple[Path, int]]:
    """Yield each file that an engine wrote, with its size in bytes."""
    for engine, written in _WRITTEN.items():
        folder = Path(config.cache_dir) / engine
        for path in folder.rglob("*"):
            if written.fullmatch(path.relative_to(folder).as_posix()):
                with contextlib.suppress(FileNotFoundError):
                    yield path, os.stat(path).st_size
