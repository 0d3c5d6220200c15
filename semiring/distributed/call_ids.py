"""Which call a process is in: what it compares with the others in every collective, and what errors report.

A call is named by its function and by what all processes pass to it alike: shapes, types, operators and numbers of its
request, and few entries of a vector that all of them have as a whole.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import numpy as np

from ..engines.requests.draw import RandomEdges
from ..engines.requests.operands import Mask, Rows, Spec
from ..formats import CSR, Bitmap, Full, IndexList
from ..operators.types import TypedBinary, TypedIndexUnary, TypedMonoid, TypedSemiring, TypedUnary
from .part_stores import PartVector

_PACKAGE = "semiring."
_HERE = __package__ + "."
# They run programs, and call no collective for an operation.
_RUNNERS = frozenset({_HERE + "threads", _HERE + "process", _HERE + "agreement"})


class _Current(threading.local):
    """The call on a grid that a thread is in."""

    name: str | None = None


_current = _Current()


def enter(function: Callable[..., Any], arguments: Sequence[Any]) -> None:
    """Name the calls that follow by a function and its arguments, unless its name says nothing."""
    name = getattr(function, "__qualname__", "<")
    if "<" in name:
        _current.name = None
        return
    # Others may differ, such as the shares of a sum, and paths on several hosts.
    texts = [described(argument) for argument in arguments if name in _ALIKE or isinstance(argument, _REQUESTS)]
    texts = [text for text in texts if text]
    _current.name = f"{name} of {', '.join(texts)}" if texts else name


# Calls with an object that all processes have as a whole; and what all pass alike to any call.
_ALIKE = frozenset({"partition_store"})
_REQUESTS = Spec, RandomEdges
# More entries are not compared: to read them takes longer than the call.
_FEW = 16
_PLAIN = frozenset({int, bool, float, str})
_OPERATORS = TypedUnary, TypedBinary, TypedIndexUnary, TypedMonoid, TypedSemiring


def described(value: Any) -> str:
    """Return the text of what must be the same on all processes; empty for what need not.

    Of a request its stores, operators and numbers; of a store its shape and type, and entries that are few and on the
    host.  A few microseconds.
    """
    return _describer(type(value))(value)  # type: ignore[arg-type]


@functools.cache
def _describer(kind: Any) -> Callable[[Any], str]:
    """Return the function that describes values of a class."""
    if kind in _PLAIN or issubclass(kind, np.generic):
        return repr
    if issubclass(kind, (Spec, Mask, RandomEdges)):
        names = [field.name for field in dataclasses.fields(kind) if field.init]
        return lambda value: ", ".join(filter(None, [described(getattr(value, name)) for name in names]))
    if issubclass(kind, Rows):
        return lambda value: described(value.get()) if value.ready else ""
    if issubclass(kind, CSR):
        return lambda value: _shaped(value.nrows, value.ncols, value.dtype)
    if issubclass(kind, (Bitmap, Full, PartVector)):
        return lambda value: _sized(value.size, value.dtype)
    if issubclass(kind, IndexList):
        return lambda value: _sized(value.size, value.dtype) + _entries(value)
    if issubclass(kind, np.dtype):
        return str
    return (lambda value: str(value.name)) if issubclass(kind, _OPERATORS) else (lambda value: "")


@functools.lru_cache(maxsize=1024)
def _shaped(nrows: int, ncols: int, dtype: np.dtype[Any]) -> str:
    return f"{nrows} x {ncols} {dtype}"


@functools.lru_cache(maxsize=1024)
def _sized(size: int, dtype: np.dtype[Any]) -> str:
    return f"size {size} {dtype}"


def _entries(u: Any) -> str:
    if not isinstance(u.indices, np.ndarray) or u.indices.size > _FEW:
        return ""
    values = repr(u.iso) if u.values is None else u.values.tolist()
    return f" {u.indices.tolist()} {values}"


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
