"""Expressions on NumPy arrays of records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from semiring.dtypes import DType, is_record
from semiring.operators import records
from semiring.operators.expression import Expression
from semiring.record_types import leaves, view

__all__ = ["evaluated_leaves"]

Array: TypeAlias = np.ndarray[Any, Any]


def evaluated_leaves(
    evaluate: Callable[[Expression, Mapping[str, Array], DType], Array],
    expr: Expression,
    values: Mapping[str, Array],
    z: DType,
) -> Array:
    """Return the value of an expression on records: `evaluate` computes it leaf by leaf, as expressions on numbers."""
    lowered = records.by_leaf(expr, {name: value.dtype for name, value in values.items()}, z)
    numbers = {name: value for name, value in values.items() if not is_record(value.dtype)}
    for used in {name for each in lowered for name in each.uses} - values.keys():
        origin, number = records.leaf_of(used)
        numbers[used] = view(values[origin], leaves(values[origin].dtype)[number])
    made = [evaluate(each, numbers, leaf.dtype) for each, leaf in zip(lowered, leaves(z), strict=True)]
    if not is_record(z):
        return made[0]
    result = np.zeros(np.broadcast_shapes(*(leaf.shape for leaf in made)), z)
    slots = np.atleast_1d(result)  # a number within an array without axes would be a copy
    for leaf, content in zip(leaves(z), made, strict=True):
        view(slots, leaf)[...] = content
    return result
