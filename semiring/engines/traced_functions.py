"""Functions of numbers that programs compute."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .traced import comparison, computed, kind_of, present, select, truth

# Functions of numbers that programs compute; others need a value now.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    abs: abs,
    bool: truth,
    float: lambda x: computed("to_float", "float", x) if kind_of(x) != "float" else present(x),
    int: lambda x: x if kind_of(x) == "int" else computed("to_int", "int", x),
    min: lambda *xs: _least("lt", *xs),
    max: lambda *xs: _least("gt", *xs),
    math.sqrt: lambda x: computed("sqrt", "float", x),
    math.isnan: lambda x: computed("isnan", "bool", x),
    math.isfinite: lambda x: computed("isfinite", "bool", x),
    math.isinf: lambda x: computed("isinf", "bool", x),
}


def _least(op: str, *values: Any) -> Any:
    found = values[0]
    for value in values[1:]:
        found = select(comparison(op, value, found), value, found)
    return found
