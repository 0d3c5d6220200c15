"""A hint at the labels that resemble one that is missing."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ..exceptions import near_names

if TYPE_CHECKING:
    from .mapping import Labels

# How like a label text must be, and among how many labels it is searched for.
_SIMILAR = 0.7
_SEARCHED = 100_000


def similar(labels: Labels, label: Any) -> str:
    """Return a hint for an error about a label that there is not: similar text, or the same in another type."""
    if isinstance(label, str) and labels.to_numpy().dtype.kind == "O" and len(labels) <= _SEARCHED:
        close = near_names(label, [name for name in labels if isinstance(name, str)], 3, _SIMILAR)
        if close:
            return f"; did you mean {' or '.join(map(repr, close))}?"
    other: Any = str(label)
    if isinstance(label, str):
        with contextlib.suppress(ValueError):  # no integer, or more digits than Python converts
            other = int(label)
    return f"; there is {other!r}, of type {type(other).__name__}" if other in labels else ""
