"""The text that ``help`` shows for an operator: what the operator computes, not what its class is."""

from __future__ import annotations

from typing import Any

__all__ = ["describe"]


class _Doc:
    """The ``__doc__`` of a class, and on its instances the text of `doc`."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __get__(self, instance: Any, owner: type[Any]) -> str | None:
        if instance is None:
            return self.text
        made: str = instance.doc
        return made


def describe(cls: type[Any]) -> None:
    """Make ``help`` show the `doc` of an instance of `cls`."""
    cls.__doc__ = _Doc(cls.__dict__.get("__doc__"))  # type: ignore[assignment]
