"""Operators that read rows and columns: their numbers become values, because renumbering changes positions."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from ...exceptions import NotSupported
from ...formats import CSR, Array
from ...operators.types import TypedBinary
from .lists import INT64, Listed, row_numbers


class Carried(NamedTuple):
    """An operator without positions, and the numbers that replace the values of its operands (None: their own)."""

    op: TypedBinary
    x: str | None
    y: str | None


def carried(op: TypedBinary, meaning: dict[str, str], x: str, y: str) -> Carried:
    """Return the operator with positions read from values.

    meaning: the coordinate that each position is, ``"0"`` for one that is always 0; positions that are absent here are
        kept.
    x, y: the coordinates that the values of each operand can be.  NotSupported where the operator reads these values
        too.
    """
    read = sorted(op.uses & meaning.keys())
    if not read:
        return Carried(op, None, None)
    needed = sorted({meaning[name] for name in read} - {"0"})
    slots = [name for name in ("x", "y") if name not in op.uses]
    able = {"x": x, "y": y}
    for chosen in itertools.permutations(slots, len(needed)):
        if all(number in able[slot] for slot, number in zip(chosen, needed, strict=True)):
            return _renamed(op, meaning, dict(zip(needed, chosen, strict=True)))
    raise NotSupported(
        f"{op.name} reads positions and the values that would hold them, for hypersparse matrices; "
        f"convert('csr') gives rows that it accepts"
    )


def _renamed(op: TypedBinary, meaning: dict[str, str], slot: dict[str, str]) -> Carried:
    names = {name: slot.get(number, number) for name, number in meaning.items()}
    holds = {letter: number for number, letter in slot.items()}
    x, y = (INT64 if letter in holds else dtype for letter, dtype in (("x", op.x), ("y", op.y)))
    made = TypedBinary(f"{op.name}_listed", x, y, op.z, op.expr.renamed(names))
    return Carried(made, holds.get("x"), holds.get("y"))


def numbered(a: Listed, axis: str | None) -> CSR:
    """Return the matrix whose values are the ``"rows"`` or ``"columns"`` of its entries; its own for None."""
    matrix = a.matrix
    if axis is None:
        return matrix
    if axis == "rows":
        return with_numbers(matrix, row_numbers(a.rows, matrix.indptr, matrix.nvals))
    return with_numbers(matrix, matrix.indices if a.columns is None else a.columns[matrix.indices])


def with_numbers(matrix: CSR, numbers: Array) -> CSR:
    """Return the structure of a matrix with int64 values."""
    return CSR(matrix.pattern, INT64, numbers.astype(INT64, copy=False))


def scalar_values(matrix: CSR, value: Any) -> CSR:
    """Return the structure of a matrix whose entries all have one value."""
    assert isinstance(value, np.generic)
    return CSR(matrix.pattern, value.dtype, None, value)
