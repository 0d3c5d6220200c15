"""Parts of an object under a mask of that object: ``A[I, J].new(input_mask=M.S)``, ``C(input_mask=M.S) << A[I, J]``."""

from __future__ import annotations

from typing import Any

from ..exceptions import InvalidMask, InvalidType
from ..formats import CSR
from .operand import is_scalar
from .writing import MaskView, as_mask


def extracted_under(part: Any, input_mask: Any) -> Any:
    """Return a part of another object, taken from the entries of that object that the mask admits.

    The mask of one row or column, ``A[i, J]``, may be a Vector.

    Raises
    ------
    InvalidType
        If `part` is not a part of another object, or was used before.
    InvalidMask, DimensionMismatch
    """
    origin = getattr(part, "_origin", None)
    if origin is None or part.ndim == 0 or part._store is not None:
        raise InvalidType(
            "input_mask= is for a part of another object, in one expression: C(input_mask=M.S) << A[I, J]"
        )
    parent, key = origin
    mask = as_mask(input_mask)
    if parent.ndim == 1 or isinstance(mask.store, CSR):
        return parent.dup(mask=MaskView(mask))[key]
    rows, cols = key if isinstance(key, tuple) else (key, slice(None))
    if is_scalar(rows) == is_scalar(cols):
        raise InvalidMask("input_mask: a Vector is the mask of one row or column, A[i, J] or A[I, j]")
    whole = slice(None)
    line, rest = (parent[rows, whole], cols) if is_scalar(rows) else (parent[whole, cols], rows)
    return line.dup(mask=MaskView(mask))[rest]
