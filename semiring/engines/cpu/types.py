"""The numba types of operators and stores.

Every operator is a separate numba *type*, made of its expression and its dtypes: numba specializes a kernel for its
operators, and another process finds the compiled kernel on disk (a type is pickled by its fields).  An operator
has no runtime value.

Optional and constant operands are distinguished by type as well: a value array, one scalar for all (iso), or None
where values are not read; presence words, or None where all entries are present.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numba.core import types
from numba.extending import NativeValue, models, overload, register_model, unbox
from numba.np import numpy_support

from ...dtypes import INT64, is_record
from ...dtypes import name as name_of
from ...operators.expression import Expression
from ...record_types import leaves, parsed, spelled, view
from .compile import inlined
from .scalar import cast_text, scalar_function

if TYPE_CHECKING:
    from ...operators.types import TypedBinary, TypedIndexUnary, TypedMonoid

_labels: dict[str, str] = {}


class OperatorType(types.Type):
    """The numba type of one operator: its expression, the types of its variables and of its result.

    terminal: for a monoid, the text of its terminal value, or ``"any"``; else "".
    """

    def __init__(
        self, expr: Expression, arguments: tuple[tuple[str, str], ...], result: str, terminal: str = ""
    ) -> None:
        self.expr = expr
        self.arguments = arguments
        self.result = result
        self.terminal = terminal
        super().__init__(name=f"Operator({expr}; {arguments}; {result}; {terminal})")

    @property
    def label(self) -> str:
        """The operator's name and type, for messages."""
        return f"{_labels.get(self.name, self.expr.text)} {name_of(parsed(self.result))}"

    def variables(self, actual: dict[str, tuple[str, Any]]) -> dict[str, tuple[str, Any, Any]]:
        """Return for each variable of the expression: argument name, actual type, type of the operator."""
        formal = dict(self.arguments)
        found = {}
        for name, (arg, numba_type) in actual.items():
            if not is_none(numba_type):
                target = parsed(formal.get(name, "int64"))
                # A record is a tuple of its leaves, and is never cast.
                found[name] = arg, target if _is_record(numba_type) else _dtype(numba_type), target
        return found


register_model(OperatorType)(models.OpaqueModel)


@unbox(OperatorType)
def _unbox_operator(typ: Any, obj: Any, c: Any) -> NativeValue:
    return NativeValue(c.context.get_dummy_value())


class Operator:
    """The Python object that is passed to a kernel for an operator."""

    __slots__ = ("_numba_type_",)

    def __init__(self, numba_type: OperatorType) -> None:
        self._numba_type_ = numba_type


# The monoid `any` without values, for every product whose value is constant.
STRUCTURE = Operator(OperatorType(Expression("x"), (), "bool", "any"))
_labels[STRUCTURE._numba_type_.name] = "any"

_operators: dict[Any, Operator] = {}


def binary(op: TypedBinary) -> Operator:
    """Return the operator as a kernel argument."""
    return _operators.get(op) or _operator(op, op, "xy")


def indexunary(op: TypedIndexUnary) -> Operator:
    """Return the operator as a kernel argument."""
    return _operators.get(op) or _operator(op, op, "xk")


def monoid(add: TypedMonoid) -> Operator:
    """Return the monoid as a kernel argument."""
    return _operators.get(add) or _operator(add, add.op, "xy")


def _operator(key: Any, op: TypedBinary | TypedIndexUnary, operands: str) -> Operator:
    terminal = ""
    if key is not op:
        terminal = "any" if key.is_any else "" if key.terminal is None else _constant(key.terminal)
    # The types of unread operands are omitted, so that fewer kernels are compiled.
    read = tuple((name, spelled(getattr(op, name))) for name in operands if name in op.uses)
    made = OperatorType(op.expr, read, spelled(op.z), terminal)
    _labels[made.name] = op.name
    return _operators.setdefault(key, Operator(made))


def _constant(value: np.generic) -> str:
    real = value.item()
    if isinstance(value, np.void):
        return "(" + "".join(f"{_constant(view(np.asarray(value), leaf)[()])}, " for leaf in leaves(value.dtype)) + ")"
    if isinstance(real, complex):
        return f"complex({_constant(np.float64(real.real))}, {_constant(np.float64(real.imag))})"
    if isinstance(real, float) and not math.isfinite(real):
        return f"np.{value.dtype.name}({'np.nan' if real != real else 'np.inf' if real > 0 else '-np.inf'})"
    return f"np.{value.dtype.name}({real!r})" if value.dtype.kind != "b" else repr(real)


def is_none(numba_type: Any) -> bool:
    """Return whether an argument of this type is None."""
    return isinstance(numba_type, types.NoneType)


def is_array(numba_type: Any) -> bool:
    """Return whether an argument of this type is an array, of values."""
    return isinstance(numba_type, types.Array)


def _is_record(numba_type: Any) -> bool:
    return isinstance(numba_type, (types.Record, types.BaseTuple))


def _dtype(numba_type: Any) -> np.dtype[Any]:
    if isinstance(numba_type, types.Literal):
        numba_type = numba_type.literal_type
    return INT64 if numba_type == types.intp else numpy_support.as_dtype(numba_type)


def overload_for(function: Any, **options: Any) -> Any:
    """Apply numba's `overload`: the decorated function returns what is compiled for `function`, by argument types."""
    settings: Any = {"error_model": "numpy", "nogil": True} | options
    return overload(function, jit_options=settings)


def by_types(choose: Any) -> Any:
    """Decorate a function of kernels that returns, for the types of its arguments, the function to compile instead.

    Unlike what is compiled for `compile.device`, that is compiled for each caller with the caller's `fastmath`.
    """

    @functools.wraps(choose)
    def chosen(*args: Any) -> Any:
        raise NotImplementedError

    overload_for(chosen)(choose)
    return chosen


# The functions below are for kernels; Python never calls them, and numba replaces them.  Subscripts are unsigned:
# numba then omits the test for negative ones, which slows inner loops.


@by_types
def call(op, x, y, xi, xj, yi, yj):
    """op(x, y) with the positions of both, of the operator's result type; None without an operator."""
    if is_none(op):
        return lambda op, x, y, xi, xj, yi, yj: None
    given = {"x": ("x", x), "y": ("y", y), "xi": ("xi", xi), "xj": ("xj", xj), "yi": ("yi", yi), "yj": ("yj", yj)}
    return _generated(op, "op, x, y, xi, xj, yi, yj", given)


@by_types
def call_at(op, x, i, j, k):
    """op(x) at row i and column j with thunk k, of the operator's result type."""
    return _generated(op, "op, x, i, j, k", {"x": ("x", x), "i": ("i", i), "j": ("j", j), "k": ("k", k)})


@by_types
def combine(add, a, b):
    """Return a (+) b of a monoid or of an operator that reads values only; without an operator, b."""
    if is_none(add):
        return lambda add, a, b: b
    if add.terminal == "any":
        return (lambda add, a, b: value_at(a, 0)) if isinstance(a, types.Record) else lambda add, a, b: a
    given = dict.fromkeys(("xi", "xj", "yi", "yj"), ("np.int64(0)", types.int64))
    return _generated(add, "add, a, b", {"x": ("a", a), "y": ("b", b)} | given)


# Reassociation changes the order of the operations of different calls, so it is limited to operators that are one
# operation: in a longer expression it might change the result of a single call, too.
def _is_single_operation(add: Any) -> bool:
    return isinstance(add, OperatorType) and (add.expr.is_addition or add.expr.is_multiplication)


@by_types
def accumulate(add, a, b):
    """Return a (+) b as `combine`, in a loop whose steps may be reordered: its floating sums are vectorized."""
    return None if _is_single_operation(add) else lambda add, a, b: combine(add, a, b)


@overload_for(accumulate, fastmath={"reassoc"})
def _accumulate_single(add, a, b):
    return combine.__wrapped__(add, a, b) if _is_single_operation(add) else None


@inlined
def repeated(add, value, count):
    """Return the sum of `count` operands of this value, by doubling; the value where there is none."""
    power = value
    while count > 0 and count & 1 == 0:
        power = combine(add, power, power)
        count >>= 1
    total = power
    count >>= 1
    while count > 0:
        power = combine(add, power, power)
        if count & 1:
            total = combine(add, total, power)
        count >>= 1
    return total


def _generated(op: OperatorType, signature: str, given: dict[str, tuple[str, Any]]) -> Any:
    variables = op.variables(given)
    read = {name: variables[name] for name in op.expr.variables}
    records = [
        arg for name, (arg, numba_type) in given.items() if name in read and isinstance(numba_type, types.Record)
    ]
    scope = {f"read_{arg}": value_at for arg in records}
    for name, (arg, source, target) in list(read.items()):
        if arg in records:  # an element of an array, which is a reference: its leaves are read first
            read[name] = f"read_{arg}({arg}, 0)", source, target
    return scalar_function(signature, op.expr, read, parsed(op.result), scope)


@by_types
def stops(add, a):
    """Return whether no further operand of the monoid changes `a`."""
    if add.terminal == "any":
        return lambda add, a: True
    if not add.terminal:
        return lambda add, a: False
    value = "value_at(a, 0)" if isinstance(a, types.Record) else "a"
    return _function("add, a", f"return {value} == {add.terminal}")


@by_types
def value_at(values, p):
    """Return the value at p: of an array, the iso value, or None where values are not read."""
    if is_none(values):
        return lambda values, p: None
    if isinstance(values, types.Array):
        if isinstance(values.dtype, types.Record):
            return _function("values, p", "r = values[np.uintp(p)]", f"return {_leaf_tuple('r', _dtype(values.dtype))}")
        return lambda values, p: values[np.uintp(p)]
    if isinstance(values, types.Record):
        return _function("values, p", f"return {_leaf_tuple('values', _dtype(values))}")
    return lambda values, p: values


@by_types
def put(values, p, value):
    """values[p] = value, where there are values."""
    if is_none(values):
        return lambda values, p, value: None
    if isinstance(values.dtype, types.Record):
        stored = leaves(_dtype(values.dtype))
        lines = [f"r{_steps(leaf.path)} = value[{number}]" for number, leaf in enumerate(stored)]
        return _function("values, p, value", "r = values[np.uintp(p)]", *lines)

    def impl(values, p, value):
        values[np.uintp(p)] = value

    return impl


def _leaf_tuple(record: str, dtype: np.dtype[Any]) -> str:
    """Return the text of the tuple of a record's leaves, which kernels use: numba's records are references."""
    return "(" + "".join(f"{record}{_steps(leaf.path)}, " for leaf in leaves(dtype)) + ")"


def _steps(path: tuple[str | int, ...]) -> str:
    """Return the text of the subscripts that lead to a leaf; the positions in an array are one subscript."""
    made, position = "", []
    for step in path:
        if isinstance(step, int):
            position.append(str(step))
            continue
        made += f"[{', '.join(position)}]" if position else ""
        position = []
        made += f"[{step!r}]"
    return made + (f"[{', '.join(position)}]" if position else "")


def _function(signature: str, *lines: str) -> Any:
    """Return a function for numba with these statements."""
    scope: dict[str, Any] = {"np": np, "value_at": value_at}
    exec(f"def made({signature}):\n" + "".join(f"    {line}\n" for line in lines), scope)
    return scope["made"]


@overload_for(operator.setitem)
def _set_record(values, p, value):
    """values[p] = value for an array of records and the leaves of one."""
    if not isinstance(values, types.Array) or not isinstance(values.dtype, types.Record):
        return None
    if not isinstance(p, types.Integer) or not isinstance(value, types.BaseTuple):
        return None
    return lambda values, p, value: put(values, p, value)


@inlined
def present(words, p):
    """Return whether bit p is set; True with None for words."""
    return True if words is None else (words[np.uintp(p) >> np.uintp(5)] >> np.uint32(p & 31)) & np.uint32(1) != 0


@inlined
def position(indices, p):
    """Return the index of the p-th entry: indices[p], or p where there are no indices."""
    return np.int64(p) if indices is None else np.int64(indices[np.uintp(p)])


@by_types
def row_at(array, t):
    """Return array[t], or None where there is no array."""
    return (lambda array, t: None) if is_none(array) else lambda array, t: array[t]


@by_types
def product(mult, flip, x, y, i, k, j):
    """Return the product of x at (i, k) and y at (k, j); with `flip` that of y at (j, k) and x at (k, i).

    None without an operator.  flip: None for no.
    """
    if is_none(flip):
        return lambda mult, flip, x, y, i, k, j: call(mult, x, y, i, k, k, j)
    return lambda mult, flip, x, y, i, k, j: call(mult, y, x, j, k, k, i)


@by_types
def converted(like, value):
    """Return `value` cast to the type of `like`: of an array's elements, a scalar, or an operator's result."""
    if is_none(value) or is_none(like):
        return lambda like, value: None
    if isinstance(like, OperatorType):
        target = parsed(like.result)
    elif isinstance(like, types.BaseTuple):
        return lambda like, value: value
    else:
        target = _dtype(like.dtype if isinstance(like, types.Array) else like)
    if _is_record(value):
        if not is_record(target):  # compiled for a mode that operators on records do not have
            return _function("like, value", f"return np.{target.name}(0)")
        return (
            (lambda like, value: value_at(value, 0)) if isinstance(value, types.Record) else lambda like, value: value
        )
    if is_record(target):
        return _function("like, value", f"return ({''.join(f'np.{leaf.dtype.name}(0), ' for leaf in leaves(target))})")
    scope = {"np": np}
    exec(f"def cast(like, value):\n    return {cast_text('value', _dtype(value), target)}\n", scope)
    return scope["cast"]
