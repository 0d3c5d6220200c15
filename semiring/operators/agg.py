"""Aggregators: reductions that one monoid alone does not express, as data.

An aggregator reduces several *parts*, each an expression of the entry under a monoid, and then combines the
results in *steps*. Results are numbered: part 0, part 1, ..., then the steps in order; the last one is the result.
The mean is two parts, ``plus`` of x and ``plus`` of 1, and one step, ``truediv`` of result 0 by result 1.

Aggregators that search for an entry (`argmin`, `first`) name instead that entry, and whether its position or its
value is the result.  A user-defined aggregator combines the results of others by a function on objects, with the
parameters of python-graphblas.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from semiring.dtypes import INT64, DType, lookup, widest
from semiring.exceptions import DomainMismatch, InvalidOperator, UnknownOperator
from semiring.operators import monoid, table
from semiring.operators.describe import describe
from semiring.operators.expression import Expression
from semiring.operators.families import Binary, IndexUnary, Monoid, Unary
from semiring.operators.lookup import lookup_monoid
from semiring.operators.types import TypedBinary, TypedIndexUnary, TypedMonoid, TypedUnary, dispatch

__all__ = ["Aggregator", "Part", "Plan", "Step", "TypedAggregator", "from_string", "lookup_agg"]


class Part(NamedTuple):
    """A reduction by `monoid` of `init`, an index-unary operator of the entry (its value ``x`` in most)."""

    monoid: Monoid
    init: IndexUnary


class Step(NamedTuple):
    """A binary operator of results `left` and `right`, or a unary one of result `left`."""

    operator: Binary | Unary
    left: int
    right: int | None = None


class Plan(NamedTuple):
    """An aggregator on one type: typed parts, typed steps with the numbers of the results that they read."""

    parts: tuple[tuple[TypedIndexUnary, TypedMonoid], ...]
    steps: tuple[tuple[TypedBinary | TypedUnary, int, int | None], ...]
    dtype: DType


@dataclass(frozen=True, eq=False, repr=False)
class Aggregator:
    """A reduction made of parts and steps, or the search for an entry.

    Attributes
    ----------
    parts : tuple of Part
    steps : tuple of Step
    at : str
        The entry to find: ``"min"`` or ``"max"`` (the first such), ``"first"``, ``"last"``, ``"mode"`` (one of the most
        frequent value, of several such values the smallest); else empty.
    gives : str
        ``"position"`` or ``"value"`` of that entry.
    wide : bool
        Whether the entries are cast to int64, uint64, float64 or complex128 (booleans to int64), so that sums, squares
        and differences of a small type do not wrap; else they keep their type.
    composite : sequence of Aggregator
        The aggregators whose results `finalize` combines, in place of parts and steps.
    finalize : callable
        A function of these results, which are Vectors, and of an empty dictionary; it returns a Vector:
        ``lambda mean, count, options: mean * count``.
    monoid : Monoid
        In place of `composite`: the reduction by this monoid.
    types : sequence
        Accepted for programs of python-graphblas, and not read.

    Raises
    ------
    InvalidOperator
        For a `composite` without `finalize`, or one that contains something else than aggregators.

    Examples
    --------
    >>> v = Vector.from_dense([3, 1, 2])
    >>> sr.agg.mean(v).value, v.reduce(sr.agg.argmax).value
    (2.0, 0)
    """

    kind: ClassVar[str] = "agg"
    name: str
    parts: tuple[Part, ...] = ()
    steps: tuple[Step, ...] = ()
    at: str = ""
    gives: str = ""
    wide: bool = False
    composite: tuple[Aggregator, ...] = field(default=(), kw_only=True)
    finalize: Callable[..., Any] | None = field(default=None, kw_only=True)
    monoid: InitVar[Any] = field(default=None, kw_only=True)
    types: InitVar[Any] = field(default=None, kw_only=True)

    def __post_init__(self, monoid: Any, types: Any) -> None:
        object.__setattr__(self, "composite", tuple(self.composite))
        if monoid is not None:
            collect = lookup_monoid(monoid)
            if not isinstance(collect, Monoid):
                raise InvalidOperator(f"{self!r}: expected monoid= of all types, got {monoid!r}")
            reduction = (Part(collect, _SAME),)
            if self.finalize is None:
                object.__setattr__(self, "parts", reduction)
            else:
                object.__setattr__(self, "composite", (Aggregator(self.name, reduction),))
        made_of = {isinstance(one, Aggregator) for one in self.composite}
        if False in made_of or bool(made_of) != callable(self.finalize):
            raise InvalidOperator(f"{self!r}: expected composite= of aggregators and finalize=, a function, together")

    @property
    def builtin(self) -> bool:
        """Whether it is one of this module."""
        known: object = table.find("agg", self.name)
        return known is self

    def typed(self, x: object) -> Plan:
        """Return the plan for operands of type `x`.

        Parameters
        ----------
        x : a type, as `semiring.dtypes.lookup` accepts it

        Raises
        ------
        DomainMismatch
            Where an operator of a part has no such type.

        Examples
        --------
        >>> sr.agg.mean.typed("int8").dtype
        dtype('float64')
        """
        made = []
        operand = widest(x) if self.wide else lookup(x)
        for part in self.parts:
            init = part.init.typed(operand)
            collect = part.monoid.typed(init.z)
            if collect.dtype != init.z:  # cast the entries directly to the monoid's type
                init = TypedIndexUnary(init.name, init.x, init.k, collect.dtype, init.expr)
            made.append((init, collect))
        dtypes = [collect.dtype for _, collect in made]
        steps: list[tuple[TypedBinary | TypedUnary, int, int | None]] = []
        for step in self.steps:
            if isinstance(step.operator, Binary):
                assert step.right is not None
                typed: TypedBinary | TypedUnary = step.operator.typed(dtypes[step.left], dtypes[step.right])
            else:
                typed = step.operator.typed(dtypes[step.left])
            dtypes.append(typed.z)
            steps.append((typed, step.left, step.right))
        return Plan(tuple(made), tuple(steps), dtypes[-1] if dtypes else lookup(x))

    @property
    def doc(self) -> str:
        """One line for ``help``: what is reduced, by which monoids, and the steps on the results."""
        if self.at:
            return f"{self!r}: the {self.gives} of the {self.at} entry."
        if self.composite:
            return f"{self!r}: a function of {', '.join(map(repr, self.composite))}."
        parts = [f"{part.monoid.name} of {part.init.expr}" for part in self.parts]
        steps = [step.operator.expr.text for step in self.steps]
        return f"{self!r}: {', '.join(parts)}" + (f"; then {', '.join(steps)}." if steps else ".")

    def __getitem__(self, dtype: object) -> TypedAggregator:
        """Return the aggregator on entries of one type: ``agg.sum["float64"]``.

        Parameters
        ----------
        dtype : a type, as `semiring.dtypes.lookup` accepts it

        Examples
        --------
        >>> sr.agg.sum["float64"](Vector.from_dense([1, 2])).value
        3.0
        """
        return _typed(self, lookup(dtype))

    def __contains__(self, dtype: object) -> bool:
        if self.composite:
            return builtins.all(dtype in one for one in self.composite)
        try:
            return self[dtype].return_type is not None
        except DomainMismatch:
            if not isinstance(dtype, np.dtype):
                lookup(dtype)  # an unknown name is an error
            return False

    def __call__(self, operand: Any, *, rowwise: bool = False, columnwise: bool = False) -> Any:
        """Reduce the operand by this aggregator: all entries, or each row or column of a Matrix.

        Parameters
        ----------
        operand : a Matrix, a Vector, or a pending result
        rowwise, columnwise : one result for each row, or each column, of a Matrix

        Returns
        -------
        Scalar; or Vector of the rows or columns that have entries.

        Raises
        ------
        InvalidValue
            For both, and for a Vector with one of them.
        DomainMismatch, InvalidType

        Examples
        --------
        >>> A = Matrix.from_coo([0, 0, 1], [0, 1, 1], [1, 2, 6])
        >>> sr.agg.mean(A).value, sr.agg.mean(A, rowwise=True).to_dict()
        (3.0, {0: 1.5, 1: 6.0})
        """
        return dispatch(self, operand, rowwise=rowwise, columnwise=columnwise)

    def __repr__(self) -> str:
        return f"agg.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.builtin:
            return lookup_agg, (self.name,)
        given = (self.name, self.parts, self.steps, self.at, self.gives, self.wide)
        return partial(Aggregator, composite=self.composite, finalize=self.finalize), given


describe(Aggregator)


@dataclass(frozen=True)
class TypedAggregator:
    """An aggregator on entries that are cast to one type first.

    The result is cast to that type too if both are integers, floats or complex, and for a count; ``agg.mean["int64"]``
    is a float, and a position is int64.

    Examples
    --------
    >>> sr.agg.sum["float64"](Vector.from_dense([1, 2])).value
    3.0
    """

    parent: Aggregator
    type: DType

    @property
    def name(self) -> str:
        """The name of the aggregator."""
        return self.parent.name

    @property
    def return_type(self) -> DType:
        """The type of the result; InvalidOperator for a composite aggregator, where it is that of the function."""
        if self.parent.composite:
            raise InvalidOperator(f"{self!r}: the type of the result is that of what finalize= returns")
        if self.parent.at:
            return INT64 if self.parent.gives == "position" else self.type
        found = self.parent.typed(self.type).dtype
        return self.type if _is_cast(found, self.type) else found

    def __call__(self, operand: Any, *, rowwise: bool = False, columnwise: bool = False) -> Any:
        """Reduce the operand by this aggregator: all entries, or each row or column of a Matrix.

        Parameters
        ----------
        operand, rowwise, columnwise : as `Aggregator.__call__`

        Raises
        ------
        InvalidValue, DomainMismatch, InvalidType

        Examples
        --------
        >>> A = Matrix.from_coo([0, 0, 1], [0, 1, 1], [1, 2, 6])
        >>> sr.agg.sum["float64"](A, columnwise=True).to_dict()
        {0: 1.0, 1: 8.0}
        """
        return dispatch(self, operand, rowwise=rowwise, columnwise=columnwise)

    def __repr__(self) -> str:
        return f"{self.parent!r}[{self.type.name}]"


@functools.cache
def _typed(aggregator: Aggregator, dtype: DType) -> TypedAggregator:
    return TypedAggregator(aggregator, dtype)


def _is_cast(found: DType, wanted: DType) -> bool:
    """Whether a result is cast to the type that was asked for: without a change of kind, or from a count to a float."""
    kinds = {"i": "iuf", "u": "iuf", "f": "f", "c": "c"}
    return wanted.kind in kinds.get(found.kind, "")


# Symbols of aggregators.
_SYMBOLS: Final = {"+": "sum", "*": "prod", "&": "all", "|": "any"}


def from_string(text: str) -> Aggregator | TypedAggregator:
    """Return the aggregator of this name or symbol, with an optional type in brackets: ``"sum[float64]"``.

    Parameters
    ----------
    text : str

    Raises
    ------
    UnknownOperator, DomainMismatch

    Examples
    --------
    >>> from_string("+"), from_string("sum[float64]")
    (agg.sum, agg.sum[float64])
    """
    name, bracket, dtype = text.strip().partition("[")
    found = lookup_agg(_SYMBOLS.get(name, name))
    if not bracket:
        return found
    if not dtype.endswith("]"):
        raise UnknownOperator(f"no aggregator is called {text!r}; a type is written 'sum[int32]'")
    return found[dtype[:-1]]


def lookup_agg(obj: object) -> Aggregator:
    """Return the aggregator for `obj`: a name or an aggregator.

    Parameters
    ----------
    obj : a name or an aggregator

    Raises
    ------
    UnknownOperator
        If there is none; the message gives close names.

    Examples
    --------
    >>> lookup_agg("mean")
    agg.mean
    """
    if isinstance(obj, Aggregator):
        return obj
    found = table.find("agg", obj) if isinstance(obj, str) else None
    if found is None:
        raise table.unknown("agg", str(obj))
    made: Aggregator = found
    return made


def _part(collect: Monoid, expr: str) -> Part:
    return Part(collect, IndexUnary("entry", Expression(expr), z="infer", builtin=False))


def _of(expr: str, left: int, right: int | None = None) -> Step:
    operator = Unary if right is None else Binary
    return Step(operator("finish", Expression(expr), z="infer", builtin=False), left, right)


def _row(name: str, *rows: Part | Step, at: str = "", gives: str = "") -> Aggregator:
    parts = tuple(row for row in rows if isinstance(row, Part))
    made = Aggregator(name, parts, tuple(row for row in rows if isinstance(row, Step)), at, gives)
    table.add(made)
    return made


def _wide(name: str, *rows: Part | Step) -> Aggregator:
    made = replace(_row(name, *rows), wide=True)
    table.add(made)
    return made


_SAME: Final = IndexUnary("entry", Expression("x"), z="infer", builtin=False)

# A sum that a later step divides is computed in floating point.
_SUM: Final = _part(monoid.plus, "x * 1.0")
_SQUARES: Final = _part(monoid.plus, "real(x * 1.0 * conj(x))")  # of absolute values
_COUNT: Final = _part(monoid.plus, "1")
_MEAN: Final = (_SQUARES, _SUM, _COUNT, _of("truediv(x, y)", 0, 2), _of("truediv(x, y)", 1, 2))
# Rounding may make the difference negative; NaN, of an infinite sum of squares too, stays NaN.
_VARIANCE: Final = (
    *_MEAN,
    _of("real(x - y * conj(y))", 3, 4),
    _of("select(x < 0, 0.0, x)", 5),
)
_SAMPLE: Final = (*_VARIANCE, _of("truediv(x * y, y - 1)", 6, 2))

sum = _wide("sum", _part(monoid.plus, "x"))
prod = _wide("prod", _part(monoid.times, "x"))
min = _row("min", _part(monoid.min, "x"))
max = _row("max", _part(monoid.max, "x"))
any = _row("any", _part(monoid.lor, "x"))
all = _row("all", _part(monoid.land, "x"))
any_value = _row("any_value", _part(monoid.any, "x"))
exists = _row("exists", _part(monoid.any, "1"))
bitwise_all = _row("bitwise_all", _part(monoid.band, "x"))
bitwise_any = _row("bitwise_any", _part(monoid.bor, "x"))
count = _row("count", _COUNT)
count_nonzero = _row("count_nonzero", _part(monoid.plus, "x != 0"))
count_zero = _row("count_zero", _part(monoid.plus, "x == 0"))
mean = _wide("mean", _SUM, _COUNT, _of("truediv(x, y)", 0, 1))
geometric_mean = _wide("geometric_mean", _part(monoid.plus, "log(x)"), _COUNT, _of("exp(truediv(x, y))", 0, 1))
harmonic_mean = _wide("harmonic_mean", _part(monoid.plus, "truediv(1, x)"), _COUNT, _of("truediv(y, x)", 0, 1))
sum_of_squares = _wide("sum_of_squares", _part(monoid.plus, "x * x"))
sum_of_inverses = _wide("sum_of_inverses", _part(monoid.plus, "truediv(1, x)"))
logaddexp = _row("logaddexp", Part(monoid.logaddexp, _SAME))
logaddexp2 = _row("logaddexp2", Part(monoid.logaddexp2, _SAME))
root_mean_square = _wide("root_mean_square", _SQUARES, _COUNT, _of("sqrt(truediv(x, y))", 0, 1))
peak_to_peak = _wide("peak_to_peak", _part(monoid.max, "x"), _part(monoid.min, "x"), _of("x - y", 0, 1))
varp = _wide("varp", *_VARIANCE)
vars = _wide("vars", *_SAMPLE)
stdp = _wide("stdp", *_VARIANCE, _of("sqrt(x)", 6))
stds = _wide("stds", *_SAMPLE, _of("sqrt(x)", 7))
L0norm = _row("L0norm", _part(monoid.plus, "x != 0"))
L1norm = _wide("L1norm", _part(monoid.plus, "abs(x)"))
L2norm = _wide("L2norm", _SQUARES, _of("sqrt(x)", 0))
Linfnorm = _wide("Linfnorm", _part(monoid.max, "abs(x)"))
hypot = _wide("hypot", _SQUARES, _of("sqrt(x)", 0))
argmin = _row("argmin", at="min", gives="position")
argmax = _row("argmax", at="max", gives="position")
first = _row("first", at="first", gives="value")
last = _row("last", at="last", gives="value")
first_index = _row("first_index", at="first", gives="position")
last_index = _row("last_index", at="last", gives="position")
mode = _row("mode", at="mode", gives="value")


def __getattr__(name: str) -> Aggregator:
    made: Aggregator = table.attribute("agg", name)
    return made


def __dir__() -> list[str]:
    return sorted([*table.names("agg"), "Aggregator", "TypedAggregator", "from_string"])
