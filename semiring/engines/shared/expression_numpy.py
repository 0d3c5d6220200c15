"""Expressions on NumPy arrays: the semantics of each function of the language, and evaluation of whole operators.

This is the reference definition for the compiled engines. It is not optimized for speed.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from semiring.dtypes import (
    BOOL,
    FC32,
    FP32,
    FP64,
    INT32,
    INT64,
    UINT64,
    DType,
    complex_type,
    is_record,
    lookup,
    real_type,
)
from semiring.operators import records
from semiring.operators.expression import Expression
from semiring.record_types import frozen, leaves, view

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["FUNCTIONS", "cast", "common", "evaluate", "evaluate_scalars", "evaluated_leaves", "scalar"]


Array: TypeAlias = np.ndarray[Any, Any]


def cast(values: ArrayLike, dtype: object) -> Array:
    """Convert `values` to `dtype` by the rule that all engines share.

    Integer to integer wraps. Float to integer truncates towards 0, saturates at the limits of the type, and maps
    NaN to 0. Anything to bool is ``!= 0``. Complex to real keeps the real part, converted by these rules. All other
    conversions are those of C. A number becomes a record with that number in every field.
    """
    array, target = np.asarray(values), lookup(dtype)
    if array.dtype == target:
        return array.copy()
    if is_record(target) or is_record(array.dtype):
        return evaluated_leaves(evaluate, Expression("x"), {"x": array}, target)
    if target.kind == "b":
        return np.asarray(array != 0)
    if array.dtype.kind == "c" and target.kind != "c":
        return cast(array.real, target)
    if array.dtype.kind == "f" and target.kind in "iu":
        low, high = np.iinfo(target).min, np.iinfo(target).max
        # 2.0 ** bits is exact where float(high) is not: values that reach it saturate, smaller values fit.
        above, below = array >= float(high + 1), array <= float(low)
        inside = np.where(above | below | np.isnan(array), 0, array)
        return np.where(above, target.type(high), np.where(below, target.type(low), inside.astype(target)))
    with np.errstate(over="ignore"):
        return array.astype(target)


def common(*dtypes: DType) -> DType:
    """Return the type in which C++ computes with these operands; integers have at least 32 bits.

    With a complex operand it is the complex type whose parts have the common type of all parts.
    """
    if any(dtype.kind == "c" for dtype in dtypes):
        return complex_type(common(*map(real_type, dtypes)))
    floats = [dtype for dtype in dtypes if dtype.kind == "f"]
    if floats:
        return FP64 if FP64 in floats else FP32
    wide = [INT32 if dtype.kind == "b" or dtype.itemsize < 4 else dtype for dtype in dtypes]
    return max(wide, key=lambda dtype: (dtype.itemsize, dtype.kind == "u"))


def _together(*arrays: Array) -> list[Array]:
    """Convert operands to their common arithmetic type."""
    dtype = common(*(array.dtype for array in arrays))
    return [array.astype(dtype) for array in arrays]


def _alike(*arrays: Array) -> list[Array]:
    """Convert arguments to one type: their own if they agree (except bool), so that its limits apply."""
    dtypes = {array.dtype for array in arrays}
    return list(arrays) if len(dtypes) == 1 and dtypes != {BOOL} else _together(*arrays)


def _floats(*arrays: Array) -> list[Array]:
    """Convert arguments of functions of math.h: to float32 if all are float32, else to float64; complex likewise."""
    dtype = FP32 if all(array.dtype in (FP32, FC32) for array in arrays) else FP64
    if any(array.dtype.kind == "c" for array in arrays):
        dtype = complex_type(dtype)
    return [array.astype(dtype) for array in arrays]


def _promoted(function: Callable[..., Any]) -> Callable[..., Array]:
    """Wrap a function so that its arguments are first converted to one type."""
    return lambda *arrays: np.asarray(function(*_alike(*arrays)))


def _arithmetic(function: Callable[..., Any]) -> Callable[..., Array]:
    """Wrap an operator of C++: integers have at least 32 bits."""
    return lambda *arrays: np.asarray(function(*_together(*arrays)))


def _floating(function: Callable[..., Any]) -> Callable[..., Array]:
    """Wrap a function of floats."""
    return lambda *arrays: np.asarray(function(*_floats(*arrays)))


def _logical(function: Callable[..., Any]) -> Callable[..., Array]:
    """Wrap a function of truth values."""
    return lambda *arrays: np.asarray(function(*(array != 0 for array in arrays)))


def _scalar(function: Callable[[float], float]) -> Callable[..., Array]:
    """Wrap a scalar function that NumPy lacks: evaluated element by element, in double."""
    whole = np.vectorize(function, otypes=[FP64])
    return _floating(lambda a: whole(a.astype(FP64)).astype(a.dtype))


def _gamma(x: float) -> float:
    if x == 0.0:
        return math.copysign(math.inf, x)
    try:
        return math.gamma(x)
    except ValueError:  # a negative integer, or minus infinity
        return math.nan
    except OverflowError:
        return math.inf


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # at its poles, and beyond the largest double
        return math.inf


def _min(a: Array, b: Array) -> Array:
    return np.asarray(np.fmin(a, b))


def _max(a: Array, b: Array) -> Array:
    return np.asarray(np.fmax(a, b))


def _ends(a: Array) -> Array:
    """Return the result of an integer division by 0: 0, or the limit of the type on that side."""
    info = np.iinfo(a.dtype)
    end = np.where(a > 0, a.dtype.type(info.max), a.dtype.type(info.min))
    return np.asarray(np.where(a == 0, a.dtype.type(0), end))


def _div(a: Array, b: Array, *, floor: bool = False) -> Array:
    if a.dtype.kind in "fc":
        return np.asarray(np.floor(a / b) if floor else a / b)
    divisor = np.where(b == 0, b.dtype.type(1), b)
    quotient = np.floor_divide(a, divisor)  # the smallest integer by -1 wraps to itself
    if not floor and a.dtype.kind == "i":
        quotient = quotient + ((quotient * divisor != a) & ((a < 0) != (divisor < 0)))
    return np.where(b == 0, _ends(a), quotient).astype(a.dtype)


def _mod(a: Array, b: Array) -> Array:
    return np.asarray(np.mod(a, b))


def _fmod(a: Array, b: Array) -> Array:
    return np.asarray(np.fmod(a, b))


def _remainder(a: Array, b: Array) -> Array:
    def one(x: float, y: float) -> float:
        if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0.0:
            return math.nan
        return math.remainder(x, y)

    made = np.vectorize(one, otypes=[FP64])(a, b)
    return np.asarray(made.astype(a.dtype))


def _pow(a: Array, b: Array) -> Array:
    if a.dtype.kind == "c":
        made = np.where(b == 0, 1, np.where(a != 0, np.power(a, b), np.where(b.real > 0, 0, complex("nan+nanj"))))
        return made.astype(a.dtype)
    if a.dtype.kind == "f":
        return np.asarray(np.power(a, b))
    with np.errstate(over="ignore"):
        exponent = b.astype(UINT64)
        power = np.ones(np.broadcast_shapes(a.shape, b.shape), dtype=a.dtype)
        square = np.broadcast_to(a, power.shape)
        for bit in range(64):
            power = np.where((exponent >> np.uint64(bit)) & np.uint64(1) != 0, power * square, power)
            square = square * square
    # The inverse of a power truncates to 0, unless the base is 1 or -1 (then it equals the power) or 0.
    unit = (a == 1) | ((a == -1) if a.dtype.kind == "i" else False)
    inverse = np.where(unit, power, np.where(a == 0, _ends(np.ones_like(a)), a.dtype.type(0)))
    return np.where(b < 0, inverse, power)


def _abs(a: Array) -> Array:
    return np.asarray(np.abs(a))


def _sign(a: Array) -> Array:
    if a.dtype.kind == "c":
        return np.where(a == 0, a.dtype.type(0), a / np.abs(a))
    return np.asarray(np.sign(a))


def _joined(real: Array, imag: Array) -> Array:
    """Return the complex array of these parts, whatever they hold: real + 1j * imag is NaN where imag is infinite."""
    made = np.empty(np.broadcast_shapes(real.shape, imag.shape), complex_type(real.dtype))
    made.real, made.imag = real, imag
    return made


def _rounded(function: Callable[[Array], Any]) -> Callable[..., Array]:
    def rounded(a: Array) -> Array:
        if a.dtype.kind == "c":
            return _joined(rounded(a.real), rounded(a.imag))
        return np.asarray(function(a)) if a.dtype.kind == "f" else a

    return rounded


def _half_away(a: Array) -> Array:
    """Round as C's round does.  The fractional part is exact, whereas a + 0.5 would itself be rounded."""
    whole = np.trunc(a)
    with np.errstate(invalid="ignore"):  # inf - inf
        up = np.abs(a - whole) >= 0.5
    return np.asarray(whole + np.copysign(up.astype(a.dtype), a))


def _shift(a: Array, b: Array, left: bool) -> Array:
    """Shift by any amount: NumPy defines shifts by more than the width; negative amounts count as such."""
    amount = np.where((b < 0) | (b >= 64), 64, b).astype(INT64)
    width = a.dtype.itemsize * 8
    within = np.minimum(amount, width - 1).astype(a.dtype)
    if left:
        return np.asarray(np.where(amount >= width, a.dtype.type(0), a << within))
    past = a >> a.dtype.type(width - 1) if a.dtype.kind == "i" else np.zeros_like(a)
    return np.asarray(np.where(amount >= width, past, a >> within))


def _bits(function: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    """Wrap a function of an integer and a bit position; it computes in the type of the integer."""
    return lambda a, b: np.asarray(function(_alike(a)[0], b))


def _one_bit(a: Array, b: Array) -> Array:
    """Return an integer in which only bit b (counted from 1) is set; 0 if there is no such bit."""
    return np.where(b >= 1, _shift(np.ones_like(a), b.astype(INT64) - 1, left=True), a.dtype.type(0))


def _bshift(a: Array, b: Array) -> Array:
    return np.where(b >= 0, _shift(a, b, left=True), _shift(a, -b.astype(INT64), left=False))


def _select(condition: Array, a: Array, b: Array) -> Array:
    if a.dtype == b.dtype == BOOL:
        return np.where(condition != 0, a, b)
    return np.where(condition != 0, *_together(a, b))


def _ldexp(a: Array, b: Array) -> Array:
    exponent = cast(b, INT32)
    return np.asarray(np.ldexp(_floats(a)[0], exponent))


def _binom(a: Array, b: Array) -> Array:
    most = int(np.iinfo(a.dtype).max)
    pairs = np.broadcast_arrays(a, b)
    made = [
        min(math.comb(n, k), most) if 0 <= k <= n and min(k, n - k) <= 64 else most if 0 <= k <= n else 0
        for n, k in zip(*(part.reshape(-1).tolist() for part in pairs), strict=True)
    ]
    return np.array(made, a.dtype).reshape(pairs[0].shape)


# Odd steps of a Weyl sequence for each integer, and the mixing of splitmix64 with the factors of Stafford's variant 13.
# Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
WEYL: Final = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7)
MIXERS: Final = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def _random(*keys: Array) -> Array:
    words = (cast(key, INT64).astype(np.uint64) * np.uint64(step) for key, step in zip(keys, WEYL, strict=True))
    z = np.asarray(functools.reduce(np.add, words))
    for shift, factor in zip((30, 27), MIXERS, strict=True):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    made: Array = ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
    return made


FUNCTIONS: Final[dict[str, Callable[..., Array]]] = {
    "min": _promoted(_min),
    "max": _promoted(_max),
    "select": _select,
    "land": _logical(np.logical_and),
    "lor": _logical(np.logical_or),
    "lxor": _logical(np.logical_xor),
    "lxnor": _logical(np.equal),
    "lnot": _logical(np.logical_not),
    "div": _promoted(_div),
    "minv": _promoted(lambda a: _div(np.ones_like(a), a)),
    "truediv": _floating(np.true_divide),
    "floordiv": _promoted(functools.partial(_div, floor=True)),
    "mod": _promoted(_mod),
    "fmod": _promoted(_fmod),
    "remainder": _floating(_remainder),
    "pow": _promoted(_pow),
    "gcd": _promoted(np.gcd),
    "binom": _promoted(_binom),
    "band": _promoted(np.bitwise_and),
    "bor": _promoted(np.bitwise_or),
    "bxor": _promoted(np.bitwise_xor),
    "bxnor": _promoted(lambda a, b: ~(a ^ b)),
    "bnot": _promoted(np.invert),
    "shl": _bits(functools.partial(_shift, left=True)),
    "shr": _bits(functools.partial(_shift, left=False)),
    "bget": _bits(lambda a, b: ((a & _one_bit(a, b)) != 0).astype(a.dtype)),
    "bset": _bits(lambda a, b: a | _one_bit(a, b)),
    "bclr": _bits(lambda a, b: a & ~_one_bit(a, b)),
    "bshift": _bits(_bshift),
    "abs": _promoted(_abs),
    "sign": _promoted(_sign),
    "floor": _rounded(np.floor),
    "ceil": _rounded(np.ceil),
    "round": _rounded(_half_away),
    "rint": _rounded(np.rint),
    "trunc": _rounded(np.trunc),
    "cmplx": lambda a, b: _joined(*_floats(a, b)),
    "conj": _promoted(np.conj),
    "real": _promoted(np.real),
    "imag": _promoted(lambda a: a.imag if a.dtype.kind == "c" else np.zeros_like(a)),
    "arg": _floating(lambda a: np.arctan2(a.imag if a.dtype.kind == "c" else a.dtype.type(0), a.real)),
    "copysign": _floating(np.copysign),
    "ldexp": _ldexp,
    "nextafter": _floating(np.nextafter),
    "frexpx": _floating(lambda a: np.frexp(a)[0]),
    "frexpe": _floating(lambda a: np.frexp(a)[1].astype(a.dtype)),
    "isnan": _floating(np.isnan),
    "isinf": _floating(np.isinf),
    "isfinite": _floating(np.isfinite),
    "toint": lambda a: cast(a, INT64),
    "tofloat": lambda a: cast(a, FP64),
    "random": _random,
    "sqrt": _floating(np.sqrt),
    "cbrt": _floating(np.cbrt),
    "exp": _floating(np.exp),
    "exp2": _floating(np.exp2),
    "expm1": _floating(np.expm1),
    "log": _floating(np.log),
    "log2": _floating(np.log2),
    "log10": _floating(np.log10),
    "log1p": _floating(np.log1p),
    "sin": _floating(np.sin),
    "cos": _floating(np.cos),
    "tan": _floating(np.tan),
    "asin": _floating(np.arcsin),
    "acos": _floating(np.arccos),
    "atan": _floating(np.arctan),
    "sinh": _floating(np.sinh),
    "cosh": _floating(np.cosh),
    "tanh": _floating(np.tanh),
    "asinh": _floating(np.arcsinh),
    "acosh": _floating(np.arccosh),
    "atanh": _floating(np.arctanh),
    "atan2": _floating(np.arctan2),
    "hypot": _floating(np.hypot),
    "erf": _scalar(math.erf),
    "erfc": _scalar(math.erfc),
    "lgamma": _scalar(_lgamma),
    "tgamma": _scalar(_gamma),
}

_ARITHMETIC: Final[dict[type[ast.operator], Callable[..., Array]]] = {
    ast.Add: _arithmetic(np.add),
    ast.Sub: _arithmetic(np.subtract),
    ast.Mult: _arithmetic(np.multiply),
}
_COMPARISONS: Final[dict[type[ast.cmpop], Callable[..., Array]]] = {
    ast.Eq: _arithmetic(np.equal),
    ast.NotEq: _arithmetic(np.not_equal),
    ast.Lt: _arithmetic(np.less),
    ast.LtE: _arithmetic(np.less_equal),
    ast.Gt: _arithmetic(np.greater),
    ast.GtE: _arithmetic(np.greater_equal),
}


def evaluate(expr: Expression, variables: Mapping[str, ArrayLike], z: object) -> Array:
    """Return the value of a normalized expression.

    Parameters
    ----------
    expr : semiring.operators.expression.Expression
    variables : mapping of str to array or scalar
        Values that already have the operator's types; they broadcast against each other.
    z : dtype
        The type to which the result is cast.

    Returns
    -------
    numpy.ndarray
        Its type is `z`; its shape is the broadcast shape of the variables that the expression reads.

    Notes
    -----
    Floating-point exceptions (division by zero, overflow, invalid) are not reported; the result holds their values.
    """
    values = {name: np.asarray(value) for name, value in variables.items()}
    target = lookup(z)
    if records.concerns(expr, target, *(value.dtype for value in values.values())):
        return evaluated_leaves(evaluate, expr, values, target)
    with np.errstate(all="ignore"):
        return cast(_value(expr.tree, values), target)


def _value(node: ast.expr, variables: Mapping[str, Array]) -> Array:
    match node:
        case ast.Constant(value=int() as number):
            return np.asarray(number, dtype=INT32 if number < 2**31 else INT64)
        case ast.Constant(value=float() as number):
            return np.asarray(number, dtype=FP64)
        case ast.Name(id=name):
            return variables[name]
        case ast.UnaryOp(operand=operand):
            return _arithmetic(np.negative)(_value(operand, variables))
        case ast.BinOp(left=left, op=operation, right=right):
            return _ARITHMETIC[type(operation)](_value(left, variables), _value(right, variables))
        case ast.Compare(left=left, ops=[operation], comparators=[right]):
            return _COMPARISONS[type(operation)](_value(left, variables), _value(right, variables))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return FUNCTIONS[name](*(_value(argument, variables) for argument in arguments))
    raise AssertionError(f"not a normalized expression: {ast.dump(node)}")


def evaluated_leaves(
    evaluate: Callable[[Expression, Mapping[str, Array], DType], Array],
    expr: Expression,
    values: Mapping[str, Array],
    z: DType,
) -> Array:
    """Return the value of an expression on records: `evaluate` computes it leaf by leaf, as expressions on numbers."""
    lowered = records.by_leaf(expr, {name: value.dtype for name, value in values.items()}, z)
    numbers = {name: value for name, value in values.items() if not is_record(value.dtype)}
    for used in {name for each in lowered for name in each.uses} - values.keys():
        origin, number = records.leaf_of(used)
        numbers[used] = view(values[origin], leaves(values[origin].dtype)[number])
    made = [evaluate(each, numbers, leaf.dtype) for each, leaf in zip(lowered, leaves(z), strict=True)]
    if not is_record(z):
        return made[0]
    result = np.zeros(np.broadcast_shapes(*(leaf.shape for leaf in made)), z)
    slots = np.atleast_1d(result)  # a number within an array without axes would be a copy
    for leaf, content in zip(leaves(z), made, strict=True):
        view(slots, leaf)[...] = content
    return result


def scalar(value: Array, dtype: DType) -> np.generic:
    """Return an array of one, or one without axes, as a scalar of `dtype`; a record is read-only, and so hashable."""
    if is_record(dtype):
        return frozen(np.array(value, dtype).reshape(1))
    made: np.generic = dtype.type(value.reshape(-1)[0])
    return made


def evaluate_scalars(expr: Expression, z: DType, operands: Iterable[tuple[str, np.generic]]) -> np.generic:
    """Evaluate for scalars that already have the operator's types; results are cached."""
    # The cache key is the bytes: -0.0 equals 0.0, and NaN does not equal itself.
    return _evaluated(expr, z, tuple([(name, value.dtype, value.tobytes()) for name, value in operands]))


@functools.lru_cache(maxsize=1024)
def _evaluated(expr: Expression, z: DType, operands: tuple[tuple[str, DType, bytes], ...]) -> np.generic:
    variables = {name: np.frombuffer(raw, dtype)[0] for name, dtype, raw in operands}
    return scalar(evaluate(expr, variables, z), z)
