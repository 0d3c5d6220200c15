"""A single value that may be missing, and may still be pending."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from .. import dtypes
from ..engines.programs import traced
from ..exceptions import EmptyObject, InvalidMask, InvalidType, InvalidValue
from ..memory.allocation import methods_report_memory
from ..operators.families import IndexUnary, Select, Semiring
from ..operators.types import TypedIndexUnary, TypedSemiring, accept_numbers
from ..ops.cast import cast_scalar
from ..ops.write import Write
from ..record_types import plain_or
from ..symbolic import Symbolic
from . import scalar_operations
from .chain import Chain, with_defaults
from .scalar_operations import Numeric
from .writing import Target, checked_wait, parse_write


@methods_report_memory
class Scalar(Numeric):
    """A value of one type, or none.

    Parameters
    ----------
    dtype : type of the value
    name : shown by `repr`

    Raises
    ------
    DomainMismatch
        If `dtype` is not a type.

    Notes
    -----
    Arithmetic and comparisons use its value (`EmptyObject` if there is none); ``==`` also compares empty ones,
    and an empty one counts as false.

    Examples
    --------
    >>> s = Scalar(int)
    >>> s.is_empty, (s << 5).value, float(s) / 2, s == 5
    (True, 5, 2.5, True)
    """

    __slots__ = ("__weakref__", "_chain", "_compute", "_dtype", "_origin", "_value", "name")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, dtype: Any = float, *, name: str | None = None) -> None:
        self._dtype: np.dtype[Any] = dtypes.lookup(dtype)
        self._value: np.generic | None = None
        self._compute: Callable[[], Any] | None = None
        # The object and position that this was extracted from, `A[i, j]`: the target of `<<`.
        self._origin: tuple[Any, Any] | None = None
        # The chain of unnamed operators of which this is the result, `u @ A @ v`; calling an operator rebinds it.
        self._chain: Chain | None = None
        self.name = name

    @classmethod
    def from_value(cls, value: Any, dtype: Any = None, *, name: str | None = None) -> Self:
        """Return a scalar that holds `value`.

        Parameters
        ----------
        value : number, Scalar, or None for an empty one
        dtype : type of the value; by default its own (float64 for None)
        name : shown by `repr`

        Raises
        ------
        DomainMismatch, InvalidValue

        Examples
        --------
        >>> s = Scalar.from_value(2.5)
        >>> s.value, s.dtype, Scalar.from_value(s, int).value, Scalar.from_value(None).is_empty
        (2.5, dtype('float64'), 2, True)
        """
        if isinstance(value, Scalar):
            dtype, value = value.dtype if dtype is None else dtype, value._read()
        if dtype is None:
            dtype = float if value is None else np.asarray(value).dtype
        made = cls(dtype, name=name)
        made._value = None if value is None else cast_scalar(value, made._dtype)
        return made

    @classmethod
    def _pending(cls, dtype: np.dtype[Any], compute: Callable[[], Any], origin: tuple[Any, Any] | None = None) -> Self:
        """Return a scalar whose value (None: there is none) is computed when it is first read.

        Parameters
        ----------
        dtype : type of the value
        compute : the function that computes it
        origin : the object and the position in it that ``<<`` writes to
        """
        made = cls(dtype)
        made._compute, made._origin = compute, origin
        if traced.users:
            traced.made(made)
        return made

    # -- operations with other Scalars: functions of `scalar_operations` ----------------------------------

    ewise_add = scalar_operations.ewise_add
    ewise_mult = scalar_operations.ewise_mult
    ewise_union = scalar_operations.ewise_union
    select = scalar_operations.select
    apply = scalar_operations.apply
    dup = scalar_operations.dup
    new = scalar_operations.new
    isequal = scalar_operations.isequal
    isclose = scalar_operations.isclose

    def __or__(self, other: Any) -> Any:
        return scalar_operations.linked(self, other, union=True)

    def __ror__(self, other: Any) -> Any:
        return scalar_operations.linked(self, other, union=True, reflected=True)

    def __and__(self, other: Any) -> Any:
        return scalar_operations.linked(self, other, union=False)

    def __rand__(self, other: Any) -> Any:
        return scalar_operations.linked(self, other, union=False, reflected=True)

    def __invert__(self) -> Scalar:
        if self._dtype != dtypes.BOOL:
            raise InvalidType(f"~ negates booleans; this Scalar is of {self._dtype}: unary.lnot(s) takes its truth")
        return self.apply("lnot")

    # -- the value ---------------------------------------------------------------------------------------

    def get(self, default: Any = None) -> Any:
        """Return the value as a Python number, or `default` if there is none.

        Parameters
        ----------
        default : returned if there is no value

        Notes
        -----
        Synchronizes if the value is pending on the GPU.

        Examples
        --------
        >>> v = Vector.from_coo([0], [5], size=3)
        >>> v[0].get(), v[1].get(), v[1].get(default=0)
        (5, None, 0)
        """
        return plain_or(self._read(), default)

    def _read(self) -> np.generic | None:
        """Return the value in its type, or None."""
        if self._compute is not None:
            value = self._compute()
            self._value = None if value is None else cast_scalar(value, self._dtype)
            self._compute, self._chain = None, None if self._chain is None else self._chain.spent()
        return self._value

    def _settle_traced(self) -> None:
        """Record a pending value in the program of a loop."""
        self._read()

    def __dir__(self) -> list[str]:
        """Return the names of the public interface, which completion offers."""
        return sorted(name for name in super().__dir__() if name[0] != "_" or name[1] == "_")

    @property
    def value(self) -> Any:
        """The value as a Python number, or None if there is none.  Synchronizes if it is pending on the GPU.

        Examples
        --------
        >>> Vector.from_dense([5, 6]).reduce().value
        11
        """
        return self.get()

    @value.setter
    def value(self, value: Any) -> None:
        self.update(value)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the value."""
        return self._dtype

    @property
    def ndim(self) -> int:
        """0."""
        return 0

    @property
    def shape(self) -> tuple[()]:
        """()."""
        return ()

    @property
    def is_empty(self) -> bool:
        """True if there is no value.  Synchronizes if the value is pending on the GPU.

        Examples
        --------
        >>> v = Vector.from_coo([0], [5], size=3)
        >>> v[0].is_empty, v[1].is_empty
        (False, True)
        """
        value: Any = self._read()
        return value.traced_missing() if isinstance(value, Symbolic) else value is None

    @property
    def nvals(self) -> int:
        """1 with a value, 0 without."""
        return 0 if self.is_empty else 1

    def update(self, value: Any) -> Self:
        """Set another value; the type is unchanged.  On an element, ``A[i, j] << x``, this changes A.

        Parameters
        ----------
        value : number or Scalar; None or an empty Scalar removes the value

        Returns
        -------
        This Scalar.

        Raises
        ------
        InvalidValue
            If this is an element of an object and its value was read before: the target would be ambiguous.
        DomainMismatch

        Examples
        --------
        >>> Scalar(int).update(2.5).value
        2
        >>> v = Vector.from_coo([0], [5], size=3)
        >>> _ = v[1].update(6)
        >>> v.to_dict()
        {0: 5, 1: 6}
        """
        value = value._read() if isinstance(value, Scalar) else value
        if self._origin is not None:
            parent, place = self._place()
            if value is None:
                del parent[place]
            else:
                parent[place] = value
        self._value = None if value is None else cast_scalar(value, self._dtype)
        self._compute = self._chain = None
        return self

    def _place(self) -> tuple[Any, Any]:
        if self._origin is None or self._compute is None:
            what = "is not an element of another object" if self._origin is None else "was looked at already"
            raise InvalidValue(
                f"this Scalar {what}: write A[i, j] << x in one expression to change A, or take .dup() to change a copy"
            )
        return self._origin

    def __lshift__(self, value: Any) -> Self:
        return self.update(value)

    def __call__(self, *parts: Any, mask: Any = None, accum: Any = None, replace: bool = False) -> Target[Any]:
        """Return the left side of ``<<``: ``s(accum="plus") << x``, or for one element ``A[i, j](accum="plus") << x``.

        Parameters
        ----------
        *parts : mask, accumulator and ``semiring.replace``, in any order
        mask : of an element: a mask over the object that it is of
        accum : binary operator that combines the stored value with the new one
        replace : of an element: delete what the mask does not admit

        Raises
        ------
        InvalidMask, InvalidType
            A Scalar that is not an element has neither a mask nor `replace`.
        UnknownOperator

        Examples
        --------
        >>> s = Scalar.from_value(5)
        >>> (s(accum="plus") << 3).value
        8
        """
        write = parse_write(parts, mask, accum, replace)
        if self._origin is None:
            if write.mask is not None:
                raise InvalidMask("a Scalar has no mask")
            if write.replace:
                raise InvalidType("a Scalar has no mask, so there is nothing to replace")
            return Target(self, write)
        return Target(self._place()[0], write, self._place()[1], sub=True)

    def _assign(self, value: Any, write: Write) -> None:
        """S accum= value."""
        if write.accum is not None:
            value = scalar_operations.accumulated(self, value, write.accum)
        self.update(value)

    def wait(self, how: str = "materialize") -> Self:
        """Compute the value if it is pending; returns this Scalar.  Synchronizes.

        Parameters
        ----------
        how : ``"materialize"`` or ``"complete"``, which are the same here

        Raises
        ------
        InvalidValue

        Examples
        --------
        >>> Vector.from_dense([5, 6]).reduce().wait().value
        11
        """
        checked_wait(how)
        self._read()
        return self

    def clear(self) -> None:
        """Remove the value.

        Examples
        --------
        >>> s = Scalar.from_value(5)
        >>> s.clear()
        >>> s.is_empty
        True
        """
        self.update(None)

    @property
    def is_cscalar(self) -> bool:
        """False: the value may be pending."""
        return False

    def _becomes_condition(self, plan: Callable[[Any], Any]) -> None:
        """Let ``select.value(self)`` and its like be ``plan(select.value)``, until this comparison is read."""
        self._chain = Chain("compare", plan)

    def _with_operator(self, operator: Any, *rest: Any, **options: Any) -> Any:
        chain = self._chain
        if isinstance(operator, (Semiring, TypedSemiring)):
            if chain is not None and chain.kind == "product" and not rest:
                return chain.rebound(operator)  # min_plus(u @ A @ v)
        elif chain is not None and chain.kind == "ewise" and not rest and "left" not in options:
            return chain.rebound(with_defaults(operator, options))  # plus(s | t)
        if len(rest) == 1 and hasattr(type(rest[0]), "store"):
            return rest[0]._with_operator(operator, left=self, **options)  # first(s, A)
        if isinstance(operator, Select):
            return self.select(operator, *rest, **options)
        if isinstance(operator, (IndexUnary, TypedIndexUnary)) and "thunk" in options:
            rest, options = (options.pop("thunk"),), options
        return self.apply(operator, *rest, **options)

    def _unwrapped(self) -> Any:
        """Return the value for use as an argument; EmptyObject if there is none."""
        value = self._read()
        if value is None:
            raise EmptyObject("the Scalar is empty where a value is needed; test .is_empty, or use .get(default)")
        return value.traced_present() if isinstance(value, Symbolic) else value

    def __eq__(self, other: object) -> Any:
        if dtypes.is_record(self._dtype) and isinstance(other, (tuple, list, dict, np.ndarray)):
            return self.isequal(other)
        if getattr(other, "ndim", 0):
            return NotImplemented  # element by element, by the method of the other operand
        return self.isequal(other) if scalar_operations.is_comparable(other) else NotImplemented

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self._unwrapped())

    def __complex__(self) -> complex:
        return complex(self._unwrapped())

    def __float__(self) -> float:
        return float(self._unwrapped())

    def __index__(self) -> int:
        return self._unwrapped().__index__()  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.asarray(self._unwrapped(), dtype=dtype)

    def __format__(self, spec: str) -> str:
        """Return the value by a format such as ``.3f`` (EmptyObject if there is none); without one, as `str`."""
        return format(self._unwrapped(), spec) if spec else str(self)

    def __reduce__(self) -> Any:
        dtype = self._dtype if dtypes.is_record(self._dtype) else self._dtype.str
        return _restore, (type(self), self._read(), dtype, self.name)

    def __repr__(self) -> str:
        value = self._read()
        label = f"{self.name!r}, " if self.name else ""
        return f"Scalar({label}{self._dtype}, {'empty' if value is None else value})"

    def _repr_html_(self) -> str:
        from .display import html_line

        return html_line(repr(self))


def _restore(cls: type[Scalar], value: Any, dtype: Any, name: str | None) -> Scalar:
    return cls.from_value(value, np.dtype(dtype), name=name)


accept_numbers(Scalar.from_value)
