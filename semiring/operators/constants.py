"""Identities and terminal values: one rule for all types, and its value on each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from semiring.dtypes import DType, is_record, limits, lookup
from semiring.exceptions import DomainMismatch
from semiring.record_types import of_value

__all__ = ["Value", "constant", "constant_text"]

Value = int | float | complex | str | tuple[Any, ...] | np.void | Mapping[Any, Any] | None


def constant(rule: Value, dtype: DType) -> np.generic | None:
    """Return a constant of `dtype`: a number, ``"lowest"``, ``"highest"``, ``"ones"`` (all bits), or one per type.

    Of a record type it is a record, a tuple of its fields, or one number in all of them.

    Raises
    ------
    OverflowError
        Where the type cannot hold the number; no complex number is the lowest or the highest.
    """
    if rule is None:
        return None
    if isinstance(rule, Mapping):
        return constant({lookup(key): value for key, value in rule.items()}.get(dtype), dtype)
    if is_record(dtype):
        try:
            return of_value(rule, dtype)
        except DomainMismatch as error:
            raise OverflowError(str(error)) from None
    if isinstance(rule, (tuple, np.void)):
        raise OverflowError(f"{dtype.name} cannot hold the record {rule!r}")
    if isinstance(rule, str):
        if dtype.kind == "c":
            raise OverflowError(f"{dtype.name} has no {rule} number")
        low, high = limits(dtype)
        if rule == "ones" and dtype.kind == "i":
            low = high = dtype.type(-1)
        return low if rule == "lowest" else high
    number = rule.item() if isinstance(rule, np.generic) else rule
    if isinstance(number, complex):
        if dtype.kind != "c" and number.imag != 0:
            raise OverflowError(f"{dtype.name} cannot hold {number!r}")
        return constant(number.real, dtype) if number.imag == 0 else dtype.type(number)
    if dtype.kind not in "fc":
        low, high = limits(dtype)
        if not (low.item() <= number <= high.item() and number == int(number)):
            raise OverflowError(f"{dtype.name} cannot hold {number!r}")
    made: np.generic = dtype.type(number)
    return made


def constant_text(rule: Value) -> str:
    """Return the text of a constant for `doc`."""
    if isinstance(rule, Mapping):
        return "by type"
    return f"{rule} of the type" if isinstance(rule, str) else str(rule)
