"""Which call a process is in: what it compares with the others in every collective, and what errors report."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_PACKAGE = "semiring."
_HERE = __package__ + "."
# They run programs, and call no collective for an operation.
_RUNNERS = frozenset({_HERE + "threads", _HERE + "process", _HERE + "agreement"})


class _Current(threading.local):
    """The call on a grid that a thread is in."""

    name: str | None = None


_current = _Current()


def enter(function: Callable[..., Any]) -> None:
    """Name the calls that follow by a function, unless its name says nothing."""
    name = getattr(function, "__qualname__", "<")
    _current.name = None if "<" in name else name


def leave() -> None:
    """End what `enter` began."""
    _current.name = None


def operation() -> str:
    """Return the outermost function of `semiring.distributed` that is running: ``mxv`` or ``Grid.all_reduce_sum``.

    It is the same on every process whose program makes the same calls.  Some microseconds.
    """
    if _current.name is not None:
        return _current.name
    found, frame = "a collective", _caller()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(_HERE):
            if module not in _RUNNERS and not frame.f_code.co_name.startswith("<"):
                found = frame.f_code.co_qualname
        elif not module.startswith(_PACKAGE):
            break
        frame = frame.f_back
    return found.removesuffix(".__init__")


def program_line() -> str:
    """Return the innermost line outside the library, such as ``program.py:12``; empty if there is none."""
    frame = _caller()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not module.startswith(_PACKAGE) and module != "semiring":
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _caller() -> FrameType | None:
    """Return the innermost frame outside the communicators."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "") in _COMMUNICATORS:
        frame = frame.f_back
    return frame


_COMMUNICATORS = frozenset(_HERE + name for name in ("communicator", "mpi", "nccl", "peer", "threads", "calls"))
