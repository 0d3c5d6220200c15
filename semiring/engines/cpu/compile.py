"""Compiling kernels with numba: one decorator, one cache on disk, one line on standard error the first time.

The cache folder carries a digest of every source of this engine: numba watches only the file that a kernel
stands in, and would not notice a change in a function that the kernel calls.  A user's own NUMBA_CACHE_DIR
is respected; numba's global setting is left as it was for the user's own functions.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event

from ...config import config

_settings: Any = numba.config


def _sources_digest() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> str | None:
    """The folder of compiled kernels, or None where it cannot be written (kernels then live in memory alone)."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return str(_settings.CACHE_DIR)
    folder = config.cache_dir / "cpu" / _sources_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder) if os.access(folder, os.W_OK) else None


_folder = _cache_folder()
_kernels: set[Any] = set()


def kernel(function: Callable[..., Any]) -> Any:
    """A function that Python calls: compiled for each combination of argument types, cached, run without the GIL."""
    before = _settings.CACHE_DIR
    try:
        if _folder is not None:
            _settings.CACHE_DIR = _folder
        made = numba.njit(nogil=True, error_model="numpy", cache=_folder is not None)(function)
    finally:
        _settings.CACHE_DIR = before
    _kernels.add(made)
    return made


def device(function: Callable[..., Any]) -> Any:
    """A function that kernels call: compiled into them."""
    return numba.njit(nogil=True, error_model="numpy")(function)


class _Announcer(event.Listener):
    """Says which kernel is being compiled; numba sends the event only where nothing was found on disk."""

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        if dispatcher not in _kernels or config.quiet:
            return
        names = [arg.label for arg in event.data["args"] if hasattr(arg, "label")]
        operators = f" for {' '.join(names)}" if names else ""
        what = f"{dispatcher.__module__.rpartition('.')[2]}.{dispatcher.__name__}"
        print(f"semiring: compiling CPU kernel {what}{operators} (first time only)", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Nothing is said at the end."""


event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]
