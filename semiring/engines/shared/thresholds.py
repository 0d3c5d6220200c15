"""Tables of thresholds: one row for each number that an engine chooses by, with the source of the number."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Table", "Threshold"]


@dataclass(frozen=True)
class Threshold:
    """One number: its value, ``"measured"`` or ``"reasoned"``, and on or from what."""

    value: int
    basis: str
    source: str


class Table(dict[str, Threshold]):
    """The thresholds of an engine, by name."""

    def row(self, name: str, value: int, basis: str, source: str) -> int:
        """Add a threshold; return its value."""
        self[name] = Threshold(value, basis, source)
        return value
