"""How far a long algorithm has come: the function that its parameter `progress` accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from semiring.exceptions import InvalidValue

# progress(done, total): steps that are done, and their number, None where it is not known.  Every call that returns has
# called it at least once: with 0 if there was nothing to do.
Progress: TypeAlias = Callable[[int, int | None], object]


def reporter(name: str, progress: Progress | None) -> Progress:
    """Return `progress`, or for None a function that does nothing; InvalidValue for what cannot be called."""
    if progress is None:
        return _ignore
    if not callable(progress):
        raise InvalidValue(f"{name}: progress must be a function of two arguments, got {progress!r}")
    return progress


def _ignore(done: int, total: int | None) -> None:
    pass


def is_silent(report: Progress) -> bool:
    """Return whether nobody receives the reports."""
    return report is _ignore
