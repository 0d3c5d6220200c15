"""A single value that may be missing, and may still be pending."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from .. import dtypes, operators
from ..engines.numpy_helpers import evaluate
from ..exceptions import EmptyObject, InvalidMask, InvalidType, InvalidValue
from ..memory.allocation import methods_report_memory
from ..operators.families import IndexUnary, Select, Semiring
from ..operators.types import TypedIndexUnary, TypedSemiring, accept_numbers
from ..ops.apply import scalar_dtype
from ..ops.cast import cast_scalar
from ..ops.write import Write
from . import scalar_operations
from .chain import Chain, with_defaults
from .scalar_numbers import Numeric, unwrapped
from .writing import Target, checked_wait, parse_write


@methods_report_memory
class Scalar(Numeric):
    """A value of one type, or none.

    Parameters
    ----------
    dtype : type of the value
    name : shown by `repr`

    Notes
    -----
    Arithmetic and comparisons use its value (`EmptyObject` if there is none); ``==`` also compares empty ones,
    and an empty one counts as false.
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
        """
        if isinstance(value, Scalar):
            dtype, value = value.dtype if dtype is None else dtype, value._read()
        if dtype is None:
            dtype = float if value is None else np.asarray(value).dtype
        made = cls(dtype, name=name)
        made._value = None if value is None else cast_scalar(value, made._dtype)
        return made

    @classmethod
    def pending(cls, dtype: np.dtype[Any], compute: Callable[[], Any], origin: tuple[Any, Any] | None = None) -> Self:
        """Return a scalar whose value (None: there is none) is computed when it is first read.

        Parameters
        ----------
        dtype : type of the value
        compute : the function that computes it
        origin : the object and the position in it that ``<<`` writes to
        """
        made = cls(dtype)
        made._compute, made._origin = compute, origin
        return made

    # -- operations with other Scalars: functions of `scalar_operations` ----------------------------------

    ewise_add = scalar_operations.ewise_add
    ewise_mult = scalar_operations.ewise_mult
    ewise_union = scalar_operations.ewise_union
    select = scalar_operations.select

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
        """Return the value as a Python number, or `default` if there is none.  Synchronises if pending on the GPU."""
        value = self._read()
        return default if value is None else value.item()

    def _read(self) -> np.generic | None:
        """Return the value in its type, or None."""
        if self._compute is not None:
            value = self._compute()
            self._value = None if value is None else cast_scalar(value, self._dtype)
            self._compute, self._chain = None, None if self._chain is None else self._chain.spent()
        return self._value

    @property
    def value(self) -> Any:
        """The value as a Python number, or None if there is none.  Synchronises if it is pending on the GPU."""
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
        """True if there is no value."""
        return self._read() is None

    @property
    def nvals(self) -> int:
        """1 with a value, 0 without."""
        return 0 if self.is_empty else 1

    def update(self, value: Any) -> Self:
        """Set another value (None or an empty Scalar empties it); the type is unchanged.

        On an element, ``A[i, j] << value``, this changes A.

        Raises
        ------
        InvalidValue
            If this is an element of an object and its value was read before: the target would be ambiguous.
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

    def __call__(self, *parts: Any, mask: Any = None, accum: Any = None, replace: bool = False) -> Target:
        """Return the left side of ``<<``: ``s(accum="plus") << x``, or for one element ``A[i, j](accum="plus") << x``.

        Raises
        ------
        InvalidMask, InvalidType
            A Scalar that is not an element has neither a mask nor `replace`.
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
        """Compute the value if it is pending; returns this Scalar.  Synchronises.

        Parameters
        ----------
        how : ``"materialize"`` or ``"complete"``, which are the same here

        Raises
        ------
        InvalidValue
        """
        checked_wait(how)
        self._read()
        return self

    def clear(self) -> None:
        """Remove the value."""
        self.update(None)

    def dup(
        self, dtype: Any = None, *, clear: bool = False, is_cscalar: bool | None = None, name: str | None = None
    ) -> Scalar:
        """Return a copy.

        Parameters
        ----------
        dtype : type to cast the value to
        clear : leave the value out
        is_cscalar : accepted for programs of python-graphblas; changes nothing
        name : shown by `repr`

        Raises
        ------
        DomainMismatch
        """
        return self.from_value(None if clear else self._read(), self._dtype if dtype is None else dtype, name=name)

    def new(
        self,
        dtype: Any = None,
        *,
        mask: Any = None,
        input_mask: Any = None,
        is_cscalar: bool | None = None,
        name: str | None = None,
    ) -> Scalar:
        """Return a copy, by python-graphblas's name; the rest as `dup`.  InvalidType for a mask: a Scalar has none."""
        if mask is not None or input_mask is not None:
            raise InvalidType("new: a Scalar has no mask")
        return self.dup(dtype, name=name)

    @property
    def is_cscalar(self) -> bool:
        """False: the value may be pending."""
        return False

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> Scalar:
        """op(value), op(value, right) or op(left, value); empty stays empty.

        Parameters
        ----------
        op : unary operator, or binary operator with one side bound
        right, left : the bound side

        Raises
        ------
        DomainMismatch, UnknownOperator, InvalidValue, EmptyObject
        """
        x = self._read()
        variables: dict[str, Any] = {"x": x}
        if right is not None and left is not None:
            raise InvalidType("apply: bind left= or right=, not both")
        if right is not None:
            right = unwrapped(right)
            typed: Any = operators.lookup_binary(op).typed(self._dtype, scalar_dtype(right, self._dtype))
            variables["y"] = right
        elif left is not None:
            left = unwrapped(left)
            typed = operators.lookup_binary(op).typed(scalar_dtype(left, self._dtype), self._dtype)
            variables = {"x": left, "y": x}
        else:
            typed = operators.lookup_unary(op).typed(self._dtype)
        if x is None:
            return type(self)(typed.z)
        variables = {name: cast_scalar(value, getattr(typed, name)) for name, value in variables.items()}
        return self.from_value(evaluate(typed.expr, variables, typed.z)[()], typed.z)

    def _with_operator(self, operator: Any, *rest: Any, **options: Any) -> Any:
        chain = self._chain
        if isinstance(operator, (Semiring, TypedSemiring)):
            if chain is not None and chain.kind == "product" and not rest:
                return chain.rebound(operator)  # min_plus(u @ A @ v)
        elif chain is not None and chain.kind == "ewise" and not rest and "left" not in options:
            return chain.rebound(with_defaults(operator, options))  # plus(s | t)
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
        return value

    def isequal(self, other: Any, *, check_dtype: bool = False) -> bool:
        """Return True if both are empty, or both hold equal values (NaN equals NaN).

        Parameters
        ----------
        other : Scalar, number, or None for an empty one
        check_dtype : whether the types must agree too
        """
        a, b = self._read(), _comparable(other)
        if check_dtype and isinstance(other, Scalar) and self._dtype != other._dtype:
            return False
        if a is None or b is None:
            return a is None and b is None
        return bool(a == b or (a != a and b != b))

    def isclose(self, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False) -> bool:
        """Return True if both are empty, or both hold values with |a - b| <= abs_tol + rel_tol |b|.

        Parameters
        ----------
        other : Scalar, number, or None for an empty one
        rel_tol, abs_tol : the tolerances
        check_dtype : whether the types must agree too
        """
        a, b = self._read(), _comparable(other)
        if check_dtype and isinstance(other, Scalar) and self._dtype != other._dtype:
            return False
        if a is None or b is None:
            return a is None and b is None
        return bool(np.isclose(a, b, rtol=rel_tol, atol=abs_tol, equal_nan=True))

    def __eq__(self, other: object) -> Any:
        if getattr(other, "ndim", 0):
            return NotImplemented  # element by element, by the method of the other operand
        return self.isequal(other) if _is_comparable(other) else NotImplemented

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
        return _restore, (type(self), self._read(), self._dtype.str, self.name)

    def __repr__(self) -> str:
        value = self._read()
        label = f"{self.name!r}, " if self.name else ""
        return f"Scalar({label}{self._dtype}, {'empty' if value is None else value})"

    def _repr_html_(self) -> str:
        from .display import html_line

        return html_line(repr(self))


def _is_comparable(value: Any) -> bool:
    return value is None or isinstance(value, (Scalar, int, float, complex, np.generic, np.ndarray))


def _comparable(value: Any) -> Any:
    """Return the number that a Scalar is compared with, or None; InvalidType if it is neither."""
    if not _is_comparable(value):
        raise InvalidType(f"a Scalar is compared with a Scalar, a number or None, got {type(value).__name__}")
    return value._read() if isinstance(value, Scalar) else value


def _restore(cls: type[Scalar], value: Any, dtype: str, name: str | None) -> Scalar:
    return cls.from_value(value, np.dtype(dtype), name=name)


accept_numbers(Scalar.from_value)
