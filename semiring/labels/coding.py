"""Values that are names, such as the kinds of roads: each the rank of its name, by which a Matrix stores it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InvalidType, InvalidValue
from .mapping import Labels
from .numbering import number_columns

# What combines codes to one of them; those of minimum and maximum are in the order of the names.
_CHOOSING = ("any", "first", "last", "max", "min")


def value_codes(
    where: str, name: str, values: Any, labels: bool | Labels, dup_op: Any, dtype: Any = None
) -> tuple[np.ndarray[Any, Any], Labels]:
    """Return the ranks of values among the names that occur, and these; or their ranks in a numbering.

    name: that of the values, for messages.  dup_op, dtype: what else was given, which must suit codes.
    """
    if not isinstance(labels, (bool, Labels)):
        raise InvalidType(f"{where}: value_labels= is True, False or semiring.Labels, got {type(labels).__name__}")
    if dtype is not None:
        raise InvalidValue(f"{where}: value_labels= numbers names, and has no dtype")
    if dup_op is not None and getattr(dup_op, "name", dup_op) not in _CHOOSING:
        raise InvalidValue(f"{where}: dup_op= of names is one of {', '.join(_CHOOSING)}, got {dup_op!r}")
    if isinstance(labels, Labels):
        return labels.rows(values).astype(np.int64), labels
    found, (codes,) = number_columns(where, {name: values})
    return codes.astype(np.int64), Labels.of_distinct(found)
