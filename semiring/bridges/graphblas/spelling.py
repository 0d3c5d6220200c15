"""What the classes of this package share: types, numbers, masks, accumulators and NaN by python-graphblas's rules."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

import semiring
from semiring.bridges.graphblas.dtypes import DataType, lookup_dtype
from semiring.bridges.graphblas.masks import LiveMask
from semiring.exceptions import InvalidType

__all__ = ["Either", "Sparse", "Spelling", "typed_number"]


class Either(type(semiring.Matrix)):  # type: ignore[misc]
    """The type of a class that derives from one of `semiring`, of whose objects ``isinstance`` holds too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__bases__[-1])


def typed_number(value: Any) -> Any:
    """Return a Python number as a NumPy scalar of its own type; an integer beyond INT64, and all else, unchanged."""
    made = _NUMPY.get(type(value))
    with suppress(OverflowError):
        return value if made is None else made(value)
    return value


_NUMPY = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}


class Spelling:
    """What the three classes share."""

    __slots__ = ()

    def apply(self, op: Any, right: Any = None, *, left: Any = None, **writing: Any) -> Any:
        """As in :mod:`semiring`, by the rules of this module; the thunk of ``diagindex`` is subtracted.

        Parameters
        ----------
        op, right, left, **writing : as `semiring.Matrix.apply`

        Raises
        ------
        DomainMismatch, UnknownOperator, InvalidValue, EmptyObject

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> gb.Vector.from_coo([0], [2**30], "INT32").apply("times", 4).to_dict()
        {0: 4294967296}
        """
        if right is not None and (op if isinstance(op, str) else getattr(op, "name", "")) == "diagindex":
            right = -right
        return super().apply(op, typed_number(right), left=typed_number(left), **writing)  # type: ignore[misc]

    def select(self, op: Any, thunk: Any = None, **writing: Any) -> Any:
        """As in :mod:`semiring`, by the rules of this module.

        Parameters
        ----------
        op, thunk, **writing : as `semiring.Matrix.select`

        Raises
        ------
        DomainMismatch, UnknownOperator, EmptyObject, InvalidMask, DimensionMismatch

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> gb.Vector.from_coo([0, 1], [2, 3]).select(">", 2).to_dict()
        {1: 3}
        """
        thunk = () if thunk is None else (typed_number(thunk),)
        return super().select(op, *thunk, **writing)  # type: ignore[misc]

    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any, **writing: Any) -> Any:
        """As in :mod:`semiring`, by the rules of this module.

        Parameters
        ----------
        other, op, left_default, right_default, **writing : as `semiring.Matrix.ewise_union`

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> v = gb.Vector.from_coo([0], [2], "INT8", size=2)
        >>> v.ewise_union(gb.Vector("INT8", 2), "plus", 0, 0).dtype
        INT64
        """
        defaults = typed_number(left_default), typed_number(right_default)
        return super().ewise_union(other, op, *defaults, **writing)  # type: ignore[misc]

    def _with_operator(self, operator: Any, *rest: Any, **options: Any) -> Any:
        defaults = ("left_default", "right_default")
        options |= {name: typed_number(options[name]) for name in defaults if name in options}
        return super()._with_operator(operator, *rest, **options)  # type: ignore[misc]

    def __call__(self, *parts: Any, **options: Any) -> Any:
        """Return the left side of ``<<``, as in :mod:`semiring`; an accumulator computes in the type of this object.

        Parameters
        ----------
        *parts, **options : as `semiring.Matrix.__call__`

        Raises
        ------
        InvalidMask, InvalidType, UnknownOperator

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> v = gb.Vector.from_coo([0], [-7])
        >>> (v(gb.binary.plus) << 2.7).to_dict()
        {0: -5}
        """
        target = super().__call__(*parts, **options)  # type: ignore[misc]
        accum, dtype = target._write.accum, np.dtype(self.dtype.np_type)
        if accum is not None:
            target._write = target._write._replace(accum=accum.typed(dtype, dtype))
        return target

    def _assign(self, value: Any, write: Any) -> None:
        super()._assign(value if write.accum is None else typed_number(value), write)  # type: ignore[misc]

    def isequal(self, other: Any, *, check_dtype: bool = False) -> bool:
        """As in :mod:`semiring`, but NaN equals nothing.

        Parameters
        ----------
        other, check_dtype : as `semiring.Matrix.isequal`

        Raises
        ------
        InvalidValue, DeviceMismatch

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> v = gb.Vector.from_coo([0], float("nan"))
        >>> v.isequal(v)
        False
        """
        return super().isequal(other, check_dtype=check_dtype) and not self._has_nan()  # type: ignore[misc]

    def isclose(self, other: Any, **options: Any) -> bool:
        """As in :mod:`semiring`, but NaN is close to nothing.

        Parameters
        ----------
        other, **options : as `semiring.Matrix.isclose`

        Raises
        ------
        InvalidValue, DeviceMismatch

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> gb.Vector.from_coo([0], float("nan")).isclose(gb.Vector.from_coo([0], float("nan")))
        False
        """
        return super().isclose(other, **options) and not self._has_nan()  # type: ignore[misc]

    def _has_nan(self) -> bool:
        if self.dtype.np_type.kind not in "fc":
            return False
        found = self.apply("isnan")
        return bool(
            found if found.ndim == 0 else found.reduce("lor") if found.ndim == 1 else found.reduce_scalar("lor")
        )

    @property
    def dtype(self) -> DataType:
        """The type of the values."""
        return lookup_dtype(super().dtype)  # type: ignore[misc]

    def __invert__(self) -> Any:
        """The negation of booleans; InvalidType for other types."""
        if self.dtype != "BOOL":
            raise InvalidType(f"~ negates booleans, and these values are of {self.dtype}")
        return semiring.unary.lnot(self)


class Sparse(Spelling):
    """What Matrix and Vector share besides."""

    __slots__ = ()

    @property
    def S(self) -> LiveMask:
        """The structural mask, of the entries that are stored when it is used."""
        return LiveMask(self, structure=True)

    @property
    def V(self) -> LiveMask:
        """The value mask, of the entries that are stored and nonzero when it is used."""
        assert super().V is not None  # type: ignore[misc]  # raises for records
        return LiveMask(self, structure=False)

    def _assign_region(self, key: Any, value: Any, write: Any, *, sub: bool) -> None:
        value = value if write.accum is None else typed_number(value)
        super()._assign_region(key, value, write, sub=sub)  # type: ignore[misc]

    def _compare(self, other: Any, op: str) -> Any:
        return super()._compare(typed_number(other), op)  # type: ignore[misc]
