"""`Matrix`, `Vector` and `Scalar` as python-graphblas makes them.

These classes only make objects: what they return are objects of :mod:`semiring`, of which ``isinstance`` holds too.
They differ from the constructors of :mod:`semiring` in two rules of python-graphblas: entries without values are 1.0,
and one value for all entries makes repeated positions one entry.
"""

from __future__ import annotations

from typing import Any

import semiring
from semiring.exceptions import InvalidValue

__all__ = ["Matrix", "Scalar", "Vector"]


class _Makes(type):
    """The type of a class whose calls and whose ``isinstance`` are those of `made`."""

    made: type[Any]

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        keywords.pop("is_cscalar", None)
        return cls.made(*arguments, **keywords)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.made)


def _shared(value: Any, dup_op: Any) -> Any:
    """Return the operator that makes entries of one position and one value one entry."""
    if not isinstance(value, (int, float, semiring.Scalar)):
        return dup_op
    if dup_op is not None:
        raise InvalidValue("dup_op must be None where all entries have one value: repeated positions are one entry")
    return "any"


class Vector(semiring.Vector, metaclass=_Makes):
    """`semiring.Vector`, with python-graphblas's constructors."""

    __slots__ = ()
    made = semiring.Vector

    @classmethod
    def from_coo(cls, indices: Any, values: Any = 1.0, dtype: Any = None, **options: Any) -> Any:
        """As `semiring.Vector.from_coo`, by the rules of this module."""
        options["dup_op"] = _shared(values, options.get("dup_op"))
        if isinstance(indices, list) and any(isinstance(index, float) for index in indices):
            indices = [int(index) for index in indices]
        return semiring.Vector.from_coo(indices, values, dtype, **options)


class Matrix(semiring.Matrix, metaclass=_Makes):
    """`semiring.Matrix`, with python-graphblas's constructors."""

    __slots__ = ()
    made = semiring.Matrix

    @classmethod
    def from_coo(cls, rows: Any, columns: Any, values: Any = 1.0, dtype: Any = None, **options: Any) -> Any:
        """As `semiring.Matrix.from_coo`, by the rules of this module."""
        options["dup_op"] = _shared(values, options.get("dup_op"))
        return semiring.Matrix.from_coo(rows, columns, values, dtype, **options)

    @classmethod
    def from_edgelist(cls, edges: Any, values: Any = None, dtype: Any = None, **options: Any) -> Any:
        """As `semiring.Matrix.from_edgelist`; edges without values are 1.0, and the shape need not be square."""
        made = semiring.Matrix.from_edgelist(edges, values, dtype, **options)
        if dtype is None and values is None and made.is_iso and made.dtype == bool:
            made = made.dup(float)
        if options.keys().isdisjoint({"nrows", "ncols", "shape"}) and made.nvals:
            made.resize(*(int(indices.max()) + 1 for indices in made.to_coo(values=False)[:2]))
        return made


class Scalar(semiring.Scalar, metaclass=_Makes):
    """`semiring.Scalar`; `is_cscalar`, whether C holds the value, is accepted and changes nothing."""

    __slots__ = ()
    made = semiring.Scalar

    @classmethod
    def from_value(
        cls, value: Any, dtype: Any = None, *, is_cscalar: bool | None = None, name: str | None = None
    ) -> Any:
        """As `semiring.Scalar.from_value`."""
        return semiring.Scalar.from_value(value, dtype, name=name)
