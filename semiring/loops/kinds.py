"""What is assumed of a variable that a loop changes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..engines.programs import traced, tracing
from ..engines.programs.traced import Number, Typed
from ..formats import Bitmap, Full


class Kind(NamedTuple):
    """What is assumed of a carried variable.

    what: ``"number"`` (then `number` is its kind), ``"vector"``, or ``"object"`` where it has no single type.
    late: it has no value before the first iteration.  why: of an object, the types that it has.
    """

    what: str
    number: str = ""
    dtype: str = ""
    size: int = 0
    full: bool = False
    iso: bytes | None = None
    late: bool = False
    why: str = ""

    def described(self) -> str:
        """Return the kind in words."""
        if self.what == "vector":
            return f"a Vector of {np.dtype(self.dtype)} and size {self.size}"
        return f"a number ({self.number})" if self.what == "number" else "an object of another type"


def as_kind(value: Any) -> Kind:
    """Return the kind of a value of a variable; the store of a vector."""
    if isinstance(value, (Number, bool, int, float)) and not isinstance(value, np.generic):
        return Kind("number", traced.kind_of(value))
    if isinstance(value, (Bitmap, Full)):
        runtime = isinstance(value.iso, Typed)
        iso = None if value.iso is None or runtime else value.iso.tobytes()
        return Kind("vector", "", value.dtype.str, value.size, isinstance(value, Full), iso)
    return Kind("object")


def joined(a: Kind, b: Kind) -> Kind:
    """Return the most special kind that is as general as both."""
    late = a.late or b.late
    if "object" in (a.what, b.what):
        kind = a if a.what == "object" else b
        return kind._replace(late=late, why=kind.why or "an object that is neither a Vector nor a number")
    if a.what != b.what or a.number != b.number or (a.dtype, a.size) != (b.dtype, b.size):
        return Kind("object", late=late, why=f"{a.described()} or {b.described()}")
    return a._replace(full=a.full and b.full, iso=a.iso if a.iso == b.iso else None, late=late)


def placeholder(kind: Kind) -> Any:
    """Return a number or a store with placeholders of a kind."""
    if kind.what == "number":
        return Number(kind.number)
    dtype = np.dtype(kind.dtype)
    iso = None if kind.iso is None else np.frombuffer(kind.iso, dtype)[0]
    return tracing.vector(kind.size, dtype, full=kind.full, iso=iso)
