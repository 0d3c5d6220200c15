"""The vocabulary of the expression language: the functions that every engine defines, and the variables."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["ALIASES", "HELPERS", "ON_COMPLEX", "SYMBOLS", "VARIABLES", "Helper"]


class Helper(NamedTuple):
    """A function that expressions may call and that every engine defines.

    `result` is the rule for the result type, given the argument types: ``same`` (promotion of all),
    ``bool``, ``float`` (promotion, then a float that holds it), ``double`` (the same, integers always to
    float64), ``integer`` (promotion, integers only), ``first`` (first argument, integers only), ``branch``
    (promotion of all but the first), ``real`` (promotion, of complex numbers the type of their parts), ``angle``
    (``float``, of complex numbers the type of their parts), ``complex`` (two floats become one complex number),
    ``int64`` or ``float64``.
    """

    arity: int
    result: str
    meaning: str


HELPERS: Final[dict[str, Helper]] = {
    # choice and logic
    "min": Helper(2, "same", "the smaller; a number where the other is NaN (fmin)"),
    "max": Helper(2, "same", "the larger; a number where the other is NaN (fmax)"),
    "select": Helper(3, "branch", "select(c, a, b): a where c is not 0, else b; both are evaluated"),
    "land": Helper(2, "bool", "a != 0 and b != 0; both are evaluated"),
    "lor": Helper(2, "bool", "a != 0 or b != 0; both are evaluated"),
    "lxor": Helper(2, "bool", "exactly one is not 0"),
    "lxnor": Helper(2, "bool", "both are 0, or neither is"),
    "lnot": Helper(1, "bool", "a == 0"),
    # division and powers
    "div": Helper(2, "same", "a / b, integers truncated; 0/0 = 0, a/0 = max (min if a < 0), min/-1 = min"),
    "minv": Helper(1, "same", "1 / a by the rule of div, in the type of a"),
    "truediv": Helper(2, "double", "a / b as floats"),
    "floordiv": Helper(2, "same", "a / b rounded down; integers by 0 as in div"),
    "mod": Helper(2, "same", "a - b * floor(a / b): the sign of b, as Python; integers by 0: 0"),
    "fmod": Helper(2, "same", "a - b * trunc(a / b): the sign of a, as C; integers by 0: 0"),
    "remainder": Helper(2, "float", "IEEE remainder: a - b * (a / b to the nearest even integer)"),
    "pow": Helper(
        2,
        "same",
        "a ** b; integers wrap; a ** -n is 0 for integers, but max where a = 0, and exact where |a| = 1; "
        "complex numbers: 1 where b = 0, else where a = 0: 0 if real(b) > 0, else NaN",
    ),
    "gcd": Helper(2, "integer", "the greatest common divisor of |a| and |b|"),
    "binom": Helper(
        2, "integer", "in how many ways to choose b of a; 0 unless 0 <= b <= a, at most the largest integer"
    ),
    # bits
    "band": Helper(2, "integer", "a & b"),
    "bor": Helper(2, "integer", "a | b"),
    "bxor": Helper(2, "integer", "a ^ b"),
    "bxnor": Helper(2, "integer", "~(a ^ b)"),
    "bnot": Helper(1, "integer", "~a"),
    "shl": Helper(2, "first", "a << b; 0 where b is negative or past the width"),
    "shr": Helper(2, "first", "a >> b; 0 or -1, by the sign of a, where b is negative or past the width"),
    "bget": Helper(2, "first", "bit b of a, counted from 1; 0 outside the type"),
    "bset": Helper(2, "first", "a with bit b set, counted from 1; a outside the type"),
    "bclr": Helper(2, "first", "a with bit b cleared, counted from 1; a outside the type"),
    "bshift": Helper(2, "first", "shl(a, b) where b >= 0, else shr(a, -b)"),
    # rounding and sign
    "abs": Helper(1, "real", "|a|; the smallest integer is unchanged"),
    "sign": Helper(1, "same", "-1, 0 or 1; NaN for NaN; a / |a| of complex numbers, 0 for 0"),
    "floor": Helper(1, "same", "rounded down"),
    "ceil": Helper(1, "same", "rounded up"),
    "round": Helper(1, "same", "to the nearest integer, ties away from 0, as C's round"),
    "rint": Helper(1, "same", "to the nearest integer, ties to even, as Python's round and NumPy's rint"),
    "trunc": Helper(1, "same", "towards 0"),
    "copysign": Helper(2, "float", "|a| with the sign of b"),
    "ldexp": Helper(2, "float", "a * 2 ** b, b taken as an integer"),
    "nextafter": Helper(2, "float", "the next number after a towards b"),
    "frexpx": Helper(1, "float", "the mantissa of a in [0.5, 1)"),
    "frexpe": Helper(1, "float", "the exponent that belongs to frexpx(a)"),
    "isnan": Helper(1, "bool", "a is NaN"),
    "isinf": Helper(1, "bool", "a is plus or minus infinity"),
    "isfinite": Helper(1, "bool", "a is neither"),
    # complex numbers
    "cmplx": Helper(2, "complex", "the complex number with real part a and imaginary part b"),
    "conj": Helper(1, "same", "the complex conjugate"),
    "real": Helper(1, "real", "the real part"),
    "imag": Helper(1, "real", "the imaginary part; 0 of real numbers"),
    "arg": Helper(1, "angle", "the angle in radians, from -pi to pi"),
    # casts
    "toint": Helper(1, "int64", "cast to int64: truncated, saturated, NaN to 0"),
    "tofloat": Helper(1, "float64", "cast to float64"),
    # random numbers
    "random": Helper(3, "float64", "a number in [0, 1) that depends on three integers alone, as if drawn uniformly"),
} | {
    # the functions of C's math.h, in double for integer arguments
    name: Helper(arity, "float", f"{name} of C's math.h")
    for arity, names in {
        1: "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh "
        "asinh acosh atanh erf erfc lgamma tgamma",
        2: "atan2 hypot",
    }.items()
    for name in names.split()
}

# The functions that need an order, integers, real parts or a formula of real analysis.
_ON_REALS: Final = {
    *("min", "max", "floordiv", "mod", "fmod", "remainder", "copysign", "ldexp", "nextafter", "frexpx", "frexpe"),
    *("cmplx", "toint", "tofloat", "random", "cbrt", "erf", "erfc", "lgamma", "tgamma", "atan2", "hypot"),
    *(name for name, helper in HELPERS.items() if helper.result in ("integer", "first")),
}
# The functions that accept complex numbers; rounding is by component.
ON_COMPLEX: Final = frozenset(HELPERS.keys() - _ON_REALS)

# The variables of each kind of operator. Positions are those of the entry whose value is x or y.
VARIABLES: Final[dict[str, tuple[str, ...]]] = {
    "unary": ("x",),
    "binary": ("x", "y", "xi", "xj", "yi", "yj"),
    "indexunary": ("x", "i", "j", "k"),
}

# NumPy's names of operators: the symbol, and how tightly it binds (1 comparison, 2 sum, 3 product).
SYMBOLS: Final[dict[str, tuple[str, int]]] = {
    "add": ("+", 2),
    "subtract": ("-", 2),
    "multiply": ("*", 3),
    "equal": ("==", 1),
    "not_equal": ("!=", 1),
    "less": ("<", 1),
    "less_equal": ("<=", 1),
    "greater": (">", 1),
    "greater_equal": (">=", 1),
}

# Python's, math's and NumPy's names of functions that have another name here.
ALIASES: Final[dict[str, str]] = {
    "absolute": "abs",
    "angle": "arg",
    "complex": "cmplx",
    "conjugate": "conj",
    "fabs": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "bitwise_and": "band",
    "bitwise_not": "bnot",
    "bitwise_or": "bor",
    "bitwise_xor": "bxor",
    "divide": "truediv",
    "true_divide": "truediv",
    "float": "tofloat",
    "float_power": "pow",
    "floor_divide": "floordiv",
    "fmax": "max",
    "fmin": "min",
    "gamma": "tgamma",
    "int": "toint",
    "invert": "bnot",
    "left_shift": "shl",
    "logical_and": "land",
    "logical_not": "lnot",
    "logical_or": "lor",
    "logical_xor": "lxor",
    "maximum": "max",
    "minimum": "min",
    "power": "pow",
    "right_shift": "shr",
    "signum": "sign",
    "where": "select",
}
