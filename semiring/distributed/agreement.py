"""Errors that all processes raise: what fails on one of them ends the call on all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..exceptions import SemiringError
from .communicator import Communicator

__all__ = ["together"]

T = TypeVar("T")

# What a call can raise because of its arguments, a file or the memory of one process.
_KINDS = (SemiringError, OSError, MemoryError, ValueError, TypeError)


def together(everyone: Communicator, function: Callable[[], T]) -> T:
    """Return ``function()``; if it raises on a process, raise on all of them.  Collective.

    The error is that of the lowest rank that has one, of the same class.  Its message ends with the rank, unless all
    processes raise the same.
    """
    made: Any = None
    error: BaseException | None = None
    try:
        made = function()
    except _KINDS as raised:
        error = raised
    found = everyone.gather_all(None if error is None else _described(error))
    failed = [rank for rank, message in enumerate(found) if message is not None]
    if failed:
        first = found[failed[0]]
        if error is not None and all(message == first for message in found):
            raise error
        raise _again(first, f"rank {failed[0]} of {everyone.size}") from error
    return made  # type: ignore[no-any-return]


def _described(error: BaseException) -> tuple[type[BaseException], str, int | None, Any]:
    """Return what is sent of an error: its class, message, and of an OSError number and file."""
    if isinstance(error, OSError) and error.errno is not None:
        return type(error), error.strerror or str(error), error.errno, error.filename
    return type(error), str(error), None, None


def _again(described: tuple[type[BaseException], str, int | None, Any], where: str) -> BaseException:
    kind, message, number, file = described
    text = f"{message} ({where})"
    if number is not None:
        return OSError(number, text, file)  # the class follows from the number
    if issubclass(kind, SemiringError):
        return kind(text)
    return next(base for base in _KINDS if issubclass(kind, base))(text)
