"""Operators and stores as numba sees them.

Every operator is a numba *type* of its own, made of its expression and its dtypes: a kernel that takes
operators is specialised by numba itself, and its compiled form is found again on disk by another process
(a type is pickled by its fields).  An operator has no runtime value.

What may be missing or constant is told by type as well: a value array, one scalar for all (iso), or None
where nobody reads values; presence words, or None where everything is present.
"""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numba.core import types
from numba.extending import NativeValue, models, overload, register_model, unbox
from numba.np import numpy_support

from ...dtypes import INT64
from ...operators.expression import used_variables
from .scalar import cast_text, scalar_function

if TYPE_CHECKING:
    from ...operators.types import TypedBinary, TypedIndexUnary, TypedMonoid

_labels: dict[str, str] = {}


class OperatorType(types.Type):
    """The numba type of one operator: its expression, the types of its variables and of its result.

    terminal: for a monoid, the text of its terminal value, or ``"any"``; else "".
    """

    def __init__(self, expr: str, arguments: tuple[tuple[str, str], ...], result: str, terminal: str = "") -> None:
        self.expr = expr
        self.arguments = arguments
        self.result = result
        self.terminal = terminal
        super().__init__(name=f"Operator({expr}; {arguments}; {result}; {terminal})")

    @property
    def label(self) -> str:
        """The operator's name and type, for messages."""
        return f"{_labels.get(self.name, self.expr)} {self.result}"

    def variables(self, given: dict[str, tuple[str, Any]]) -> dict[str, tuple[str, Any, Any]]:
        """For each variable of the expression: argument name, type given, type wanted."""
        wanted = dict(self.arguments)
        return {
            name: (arg, _dtype(numba_type), np.dtype(wanted.get(name, "int64")))
            for name, (arg, numba_type) in given.items()
            if not isinstance(numba_type, types.NoneType)
        }


register_model(OperatorType)(models.OpaqueModel)


@unbox(OperatorType)  # type: ignore[no-untyped-call]
def _unbox_operator(typ: Any, obj: Any, c: Any) -> NativeValue:
    return NativeValue(c.context.get_dummy_value())  # type: ignore[no-untyped-call]


class Operator:
    """What Python hands to a kernel for an operator."""

    __slots__ = ("_numba_type_",)

    def __init__(self, numba_type: OperatorType) -> None:
        self._numba_type_ = numba_type


# The monoid `any` without values: it serves every product whose value is known before any entry is visited.
STRUCTURE = Operator(OperatorType("x", (), "bool", "any"))
_labels[STRUCTURE._numba_type_.name] = "any"

_operators: dict[Any, Operator] = {}


def binary(op: TypedBinary) -> Operator:
    """The operator as a kernel argument."""
    made = _operators.get(op)
    if made is None:
        made = _operators[op] = _operator(op.name, op.expr, (("x", op.x.name), ("y", op.y.name)), op.z.name, op.uses)
    return made


def indexunary(op: TypedIndexUnary) -> Operator:
    """The operator as a kernel argument."""
    made = _operators.get(op)
    if made is None:
        made = _operators[op] = _operator(op.name, op.expr, (("x", op.x.name), ("k", op.k.name)), op.z.name, op.uses)
    return made


def monoid(add: TypedMonoid) -> Operator:
    """The monoid as a kernel argument."""
    made = _operators.get(add)
    if made is None:
        terminal = "any" if add.is_any else "" if add.terminal is None else _constant(add.terminal)
        op = add.op
        arguments = (("x", op.x.name), ("y", op.y.name))
        made = _operators[add] = _operator(op.name, op.expr, arguments, op.z.name, op.uses, terminal)
    return made


def _operator(
    name: str,
    expr: str,
    arguments: tuple[tuple[str, str], ...],
    result: str,
    uses: frozenset[str],
    terminal: str = "",
) -> Operator:
    # Types of operands that the expression does not read would only multiply the kernels.
    read = tuple(argument for argument in arguments if argument[0] in uses)
    made = OperatorType(expr, read, result, terminal)
    _labels[made.name] = name
    return Operator(made)


def _constant(value: np.generic) -> str:
    real = value.item()
    if isinstance(real, float) and not math.isfinite(real):
        return f"np.{value.dtype.name}({'np.nan' if real != real else 'np.inf' if real > 0 else '-np.inf'})"
    return f"np.{value.dtype.name}({real!r})" if value.dtype.kind != "b" else repr(real)


def _dtype(numba_type: Any) -> np.dtype[Any]:
    if isinstance(numba_type, types.Literal):
        numba_type = numba_type.literal_type
    return INT64 if numba_type == types.intp else numpy_support.as_dtype(numba_type)


def meaning(function: Any) -> Any:
    """Numba's `overload`: the decorated function chooses code for `function` by the types of its arguments."""

    def register(choose: Any) -> Any:
        def unannotated(*args: Any) -> Any:
            made = choose(*args)
            if made is not None:
                made.__annotations__ = {}
            return made

        # numba compares the signatures of chooser and chosen, annotations included.
        unannotated.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [p.replace(annotation=inspect.Parameter.empty) for p in inspect.signature(choose).parameters.values()]
        )
        overload(function, jit_options={"error_model": "numpy", "nogil": True})(unannotated)
        return choose

    return register


# The functions below are for kernels; Python never calls them, and numba replaces them.  Subscripts are unsigned:
# numba then leaves out the test for negative ones, which an inner loop feels.


def call(op: Any, x: Any, y: Any, xi: Any, xj: Any, yi: Any, yj: Any) -> Any:
    """op(x, y) with the positions of both, of the operator's result type."""
    raise NotImplementedError


def call_at(op: Any, x: Any, i: Any, j: Any, k: Any) -> Any:
    """op(x) at row i and column j with thunk k, of the operator's result type."""
    raise NotImplementedError


def combine(add: Any, a: Any, b: Any) -> Any:
    """a (+) b of a monoid or of an operator that looks at values alone; without an operator, b."""
    raise NotImplementedError


def stops(add: Any, a: Any) -> bool:
    """True if no further operand of the monoid changes `a`."""
    raise NotImplementedError


def value_at(values: Any, p: Any) -> Any:
    """The value at p: of an array, of an iso value, or nothing where values are not read."""
    raise NotImplementedError


def put(values: Any, p: Any, value: Any) -> None:
    """values[p] = value, where there are values."""
    raise NotImplementedError


def present(words: Any, p: Any) -> bool:
    """True if bit p is set; with None for words everything is present."""
    raise NotImplementedError


def position(indices: Any, p: Any) -> Any:
    """The index of the p-th entry: indices[p], or p itself where there are no indices."""
    raise NotImplementedError


def converted(like: Any, value: Any) -> Any:
    """`value` cast to the type of the elements of `like`, an array, a scalar, or to the result type of an operator."""
    raise NotImplementedError


@meaning(call)
def _call(op: Any, x: Any, y: Any, xi: Any, xj: Any, yi: Any, yj: Any) -> Any:
    given = {"x": ("x", x), "y": ("y", y), "xi": ("xi", xi), "xj": ("xj", xj), "yi": ("yi", yi), "yj": ("yj", yj)}
    return _generated(op, "op, x, y, xi, xj, yi, yj", given)


@meaning(call_at)
def _call_at(op: Any, x: Any, i: Any, j: Any, k: Any) -> Any:
    return _generated(op, "op, x, i, j, k", {"x": ("x", x), "i": ("i", i), "j": ("j", j), "k": ("k", k)})


@meaning(combine)
def _combine(add: Any, a: Any, b: Any) -> Any:
    if isinstance(add, types.NoneType):
        return lambda add, a, b: b
    if add.terminal == "any":
        return lambda add, a, b: a
    given = dict.fromkeys(("xi", "xj", "yi", "yj"), ("np.int64(0)", types.int64))
    return _generated(add, "add, a, b", {"x": ("a", a), "y": ("b", b)} | given)


def _generated(op: OperatorType, signature: str, given: dict[str, tuple[str, Any]]) -> Any:
    variables = op.variables(given)
    read = {name: variables[name] for name in used_variables(op.expr)}
    return scalar_function(signature, op.expr, read, np.dtype(op.result))


@meaning(stops)
def _stops(add: Any, a: Any) -> Any:
    if add.terminal == "any":
        return lambda add, a: True
    if not add.terminal:
        return lambda add, a: False
    scope: dict[str, Any] = {"np": np}
    exec(f"def reached(add, a):\n    return a == {add.terminal}\n", scope)
    return scope["reached"]


@meaning(value_at)
def _value_at(values: Any, p: Any) -> Any:
    if isinstance(values, types.NoneType):
        return lambda values, p: None
    if isinstance(values, types.Array):
        return lambda values, p: values[np.uintp(p)]
    return lambda values, p: values


@meaning(put)
def _put(values: Any, p: Any, value: Any) -> Any:
    if isinstance(values, types.NoneType):
        return lambda values, p, value: None

    def impl(values: Any, p: Any, value: Any) -> None:
        values[np.uintp(p)] = value

    return impl


@meaning(present)
def _present(words: Any, p: Any) -> Any:
    if isinstance(words, types.NoneType):
        return lambda words, p: True
    return lambda words, p: (words[np.uintp(p) >> np.uintp(5)] >> np.uint32(p & 31)) & np.uint32(1) != 0


@meaning(position)
def _position(indices: Any, p: Any) -> Any:
    if isinstance(indices, types.NoneType):
        return lambda indices, p: np.int64(p)
    return lambda indices, p: np.int64(indices[np.uintp(p)])


@meaning(converted)
def _converted(like: Any, value: Any) -> Any:
    if isinstance(value, types.NoneType) or isinstance(like, types.NoneType):
        return lambda like, value: None
    if isinstance(like, OperatorType):
        target = np.dtype(like.result)
    else:
        target = numpy_support.as_dtype(like.dtype if isinstance(like, types.Array) else like)
    scope: dict[str, Any] = {"np": np}
    exec(f"def cast(like, value):\n    return {cast_text('value', _dtype(value), target)}\n", scope)
    return scope["cast"]
