"""Compilation of several kernels at the same time: NVRTC compiles on as many threads as there are processors."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ...config import config
from ...exceptions import SemiringError
from ...worker_thread import apart_once, processors

__all__ = ["compile_together"]

# A kernel file, a prologue, an architecture, and the kernel.
_Target: TypeAlias = tuple[str, str, str, str]
_Compile: TypeAlias = Callable[[str, str, str, str], bytes]

# What is compiled before it is needed, until it is loaded.
_ready: dict[_Target, bytes] = {}
_pending: deque[tuple[_Target, _Compile]] = deque()
_MOST_THREADS = 16
# Seconds of a compilation without a message.
_PATIENCE = 0.5


def compile_together(target: _Target, others: Sequence[_Target], compiled: _Compile, name: str) -> bytes:
    """Return ``compiled(*target)``, and begin to compile the others; name: of the call that needs them."""
    waiting = {each for each, _ in _pending}
    others = [each for each in others if each not in _ready and each not in waiting]
    with _progress(name, 1 + len(others)):
        _pending.extend((each, compiled) for each in others)
        for _ in range(min(len(others), len(processors()) - 1, _MOST_THREADS)):
            threading.Thread(target=_compile_pending, name="semiring: compile", daemon=True).start()
        try:
            return apart_once(target, functools.partial(_taken, target, compiled))
        except BaseException:
            _pending.clear()  # an error or an interrupt ends the call that needs them
            raise


def _taken(target: _Target, compiled: _Compile) -> bytes:
    return _ready.pop(target, None) or compiled(*target)


def _compile_pending() -> None:
    """Compile what is pending, until the main thread ends."""

    def keep(target: _Target, compiled: _Compile) -> bytes:
        _ready[target] = found = _taken(target, compiled)
        return found

    while threading.main_thread().is_alive():
        try:
            target, compiled = _pending.popleft()
        except IndexError:
            return
        with contextlib.suppress(SemiringError):  # the call that needs the kernel reports it
            apart_once(target, functools.partial(keep, target, compiled))


@contextlib.contextmanager
def _progress(name: str, count: int) -> Iterator[None]:
    """Print a line if the compilation takes longer than `_PATIENCE`."""

    def show() -> None:
        kernels = "a CUDA kernel" if count == 1 else f"{count} CUDA kernels"
        print(f"semiring: compiling {kernels} for {name} (first time only)", file=sys.stderr, flush=True)

    timer = threading.Timer(_PATIENCE, show)
    timer.daemon = True
    if not config.quiet:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
