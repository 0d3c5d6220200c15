"""What ``help`` shows of an operator: not what its class is, but what the operator does."""

from __future__ import annotations

from typing import Any

__all__ = ["describe"]


class _Doc:
    """The ``__doc__`` of a class, and on its instances what each says of itself."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __get__(self, instance: Any, owner: type[Any]) -> str | None:
        if instance is None:
            return self.text
        made: str = instance.doc
        return made


def describe(cls: type[Any]) -> None:
    """Let ``help`` of an instance of `cls` show its `doc`."""
    cls.__doc__ = _Doc(cls.__dict__.get("__doc__"))  # type: ignore[assignment]
