"""Count of the kernels that this process has compiled rather than loaded from disk."""

from __future__ import annotations

__all__ = ["count", "note"]

_names: list[str] = []


def note(name: str) -> None:
    """Record that a kernel is compiled.  Engines call it, on any thread."""
    _names.append(name)


def count() -> int:
    """Return the number of kernels compiled so far."""
    return len(_names)
