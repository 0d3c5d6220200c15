"""The functions that operator expressions call, for numba, as `operators.vocabulary` defines them.

`INLINE` and the templates are text for a statement whose operands are names of one type; `FUNCTIONS` are
compiled functions.  Arguments have been cast to their common type.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes import DType
from .compile import device
from .random_numbers import random

# Arguments are booleans.
INLINE = {
    "land": "{0} & {1}",
    "lor": "{0} | {1}",
    "lxor": "{0} ^ {1}",
    "lxnor": "{0} == {1}",
    "lnot": "not {0}",
}

_ANY = {"min": "{0} if {0} < {1} else {1}", "max": "{0} if {0} > {1} else {1}"}
_FLOAT = {
    "min": "{0} if {0} < {1} or {1} != {1} else {1}",
    "max": "{0} if {0} > {1} or {1} != {1} else {1}",
    "div": "{0} / {1}",
    "minv": "1 / {0}",
    "truediv": "{0} / {1}",
    "abs": "abs({0})",
    "rint": "np.rint({0})",
    "copysign": "math.copysign({0}, {1})",
    "isnan": "{0} != {0}",
    "isinf": "np.isinf({0})",
    "isfinite": "np.isfinite({0})",
    "cmplx": "complex({0}, {1})",
    "conj": "{0}",
    "real": "{0}",
    "imag": "0",
    "arg": "math.atan2(0.0, {0})",
} | {name: f"np.{name}({{0}})" for name in ("floor", "ceil", "trunc")}
_COMPLEX = {
    "abs": "abs({0})",
    "conj": "complex({0}.real, -{0}.imag)",
    "real": "{0}.real",
    "imag": "{0}.imag",
    "arg": "math.atan2({0}.imag, {0}.real)",
    "isnan": "{0} != {0}",
    "isinf": "np.isinf({0})",
    "isfinite": "np.isfinite({0})",
} | {name: f"complex(np.{name}({{0}}.real), np.{name}({{0}}.imag))" for name in ("floor", "ceil", "rint", "trunc")}
_INTEGER = {
    "abs": "{0} if {0} >= 0 else np.int64(np.uint64(0) - np.uint64({0}))",  # the negative of the least number overflows
    "band": "{0} & {1}",
    "bor": "{0} | {1}",
    "bxor": "{0} ^ {1}",
    "bxnor": "~({0} ^ {1})",
    "bnot": "~{0}",
    "isnan": "False",
    "isinf": "False",
    "isfinite": "True",
    "imag": "0",
} | dict.fromkeys(("floor", "ceil", "round", "rint", "trunc", "conj", "real"), "{0}")
_UNSIGNED = {"abs": "{0}", "sign": "{0} > 0"}
_TABLES: dict[str, dict[str, str]] = {
    "f": _FLOAT,
    "i": _INTEGER,
    "u": _INTEGER | _UNSIGNED,
    "c": _COMPLEX,
}
_KINDS = {"f": "float", "c": "complex", "i": "signed", "u": "unsigned"}

# Functions with the limits of an integer type as two additional arguments.
LIMITED = frozenset({"binom", "div", "floordiv", "pow"})


def inline(name: str, dtype: DType) -> str | None:
    """Return the text of the helper on `dtype` as one expression, or None where it is a function."""
    return _TABLES[dtype.kind].get(name, _ANY.get(name))


def function(name: str, dtype: DType) -> Any:
    """Return the compiled helper on `dtype`."""
    if name in _BIT_NAMES:
        return _BITS[dtype.itemsize][name]
    return FUNCTIONS.get(f"{name}_{_KINDS[dtype.kind]}") or FUNCTIONS[name]


# Division needs the limits of its type as two additional arguments: see LIMITED.


@device
def _div_signed(a, b, low, high):
    if b == 0:
        return high if a > 0 else low if a < 0 else a
    if b == -1:
        return -a
    quotient = a // b
    if quotient < 0 and quotient * b != a:
        quotient += 1
    return quotient


@device
def _div_unsigned(a, b, low, high):
    if b == 0:
        return high if a > 0 else low
    return a // b


@device
def _floordiv_signed(a, b, low, high):
    if b == 0:
        return high if a > 0 else low if a < 0 else a
    return -a if b == -1 else a // b


@device
def _pow_signed(a, b, low, high):
    if b < 0:  # 1 divided by a power: nonzero only for 1 and -1; for 0 as in `div`
        if a == 0:
            return high
        if a == 1 or (a == -1 and b % 2 == 0):
            return high // high
        return a if a == -1 else a - a
    return _power(a, b, high // high)


@device
def _pow_unsigned(a, b, low, high):
    return _power(a, b, high // high)


@device
def _power(a, b, one):
    """a ** b by squaring; wraps."""
    base, made, exponent = a, one, np.uint64(b)
    while exponent > np.uint64(0):
        if exponent & np.uint64(1):
            made = made * base
        base = base * base
        exponent >>= np.uint64(1)
    return made


@device
def _mod_signed(a, b):
    return a - a if b == 0 or b == -1 else a % b


@device
def _mod_unsigned(a, b):
    return a - a if b == 0 else a % b


@device
def _fmod_signed(a, b):
    if b == 0 or b == -1:
        return a - a
    rest = a % b
    if rest != 0 and (rest < 0) != (a < 0):
        rest -= b
    return rest


@device
def _floordiv_float(a, b):
    return np.floor(a / b)


@device
def _mod_float(a, b):
    rest = np.fmod(a, b)
    if rest != 0 and (rest < 0) != (b < 0):
        rest += b
    return rest


@device
def _fmod_float(a, b):
    return np.fmod(a, b)


@device
def _remainder(a, b):
    if b != b or a != a or np.isinf(a) or b == 0:
        return a * b / (a * b) if b == 0 else a - a + b
    if np.isinf(b):
        return a
    size, step = abs(a), abs(b)
    if not np.isinf(step + step):
        size = np.fmod(size, step + step)
    if size - step > -size:  # 2 * size > step, where doubling might overflow
        size -= step
        if size >= -size + step and size > 0:
            size -= step
    return size if a >= 0 else -size


@device
def _pow_float(a, b):
    return a**b


@device
def _div_complex(a, b):
    """Divide by the larger part of b first, so that |b| ** 2 does not overflow; by 0 both parts are divided by 0."""
    if abs(b.real) >= abs(b.imag):
        if b.real == 0 and b.imag == 0:
            return complex(a.real / abs(b.real), a.imag / abs(b.real))
        ratio = b.imag / b.real
        scale = 1 / (b.real + b.imag * ratio)
        return complex((a.real + a.imag * ratio) * scale, (a.imag - a.real * ratio) * scale)
    ratio = b.real / b.imag
    scale = 1 / (b.imag + b.real * ratio)
    return complex((a.real * ratio + a.imag) * scale, (a.imag * ratio - a.real) * scale)


@device
def _pow_complex(a, b):
    if b == 0:
        return complex(1.0, 0.0)
    if a == 0:
        return complex(0.0, 0.0) if b.real > 0 else complex(np.nan, np.nan)
    if b.imag == 0 and abs(b.real) < 100 and b.real == math.floor(b.real):
        return _pow_whole(np.complex128(a), int(b.real))
    return complex(np.exp(np.complex128(b) * np.log(np.complex128(a))))


@device
def _pow_whole(a, n):
    """Multiply repeatedly, in the order of NumPy's `power`, so that powers of whole numbers are exact."""
    if n == 1:
        return a
    if n == 2:
        return a * a
    if n == 3:
        return a * (a * a)
    left = abs(n)
    made = complex(1.0, 0.0)
    while True:
        if left & 1:
            made = made * a
        left >>= 1
        if left == 0:
            break
        a = a * a
    return _div_complex(complex(1.0, 0.0), made) if n < 0 else made


@device
def _acosh_complex(a):
    """Kahan's formula: numba's has the wrong sign on the branch cut."""
    below = np.sqrt(np.complex128(complex(a.real - 1, a.imag)))
    above = np.sqrt(np.complex128(complex(a.real + 1, a.imag)))
    real = below.real * above.real + below.imag * above.imag
    return complex(np.arcsinh(real), 2 * math.atan2(below.imag, above.real))


@device
def _sign_complex(a):
    return a if a == 0 else a / abs(a)


@device
def _round_complex(a):
    return complex(_round_float(a.real), _round_float(a.imag))


@device
def _sign_signed(a):
    return (a > 0) - (a < 0)


@device
def _sign_float(a):
    return a if a != a else a - a if a == 0 else a / abs(a) if not np.isinf(a) else (1.0 if a > 0 else -1.0)


@device
def _round_float(a):
    # The fraction is exact; a + 0.5 would round: 0.49999999999999994, and odd numbers from 2 ** 52.
    whole = np.trunc(a)
    return whole + math.copysign(1.0 if abs(a - whole) >= 0.5 else 0.0, a)


def _bit_functions(bits: int) -> dict[str, Any]:
    """Return shifts and single-bit functions of integers of `bits` bits; positions are int64."""

    @device
    def left(a, b):
        return a << b if 0 <= b < bits else a - a

    @device
    def right(a, b):
        if 0 <= b < bits:
            return a >> b
        return a - a if a >= 0 else ~(a - a)

    @device
    def either(a, b):
        if b >= 0:
            return left(a, b)
        return right(a, min(-b, bits) if -b > 0 else bits)

    @device
    def get(a, b):
        return (np.int64(a) >> (b - 1)) & 1 if 1 <= b <= bits else np.int64(0)

    @device
    def put(a, b):
        return np.int64(a) | (np.int64(1) << (b - 1)) if 1 <= b <= bits else np.int64(a)

    @device
    def clear(a, b):
        return np.int64(a) & ~(np.int64(1) << (b - 1)) if 1 <= b <= bits else np.int64(a)

    return {"shl": left, "shr": right, "bshift": either, "bget": get, "bset": put, "bclr": clear}


@device
def _ldexp(a, b):
    return math.ldexp(a, b)


@device
def _frexpx(a):
    return a if a != a or np.isinf(a) else math.frexp(a)[0]


@device
def _frexpe(a):
    return 0 if a != a or np.isinf(a) else math.frexp(a)[1]


@device
def _magnitude(a):
    """|a| as an unsigned number, also of the least one."""
    return np.uint64(a) if a >= 0 else np.uint64(0) - np.uint64(np.int64(a))


@device
def _common_divisor(a, b):
    """The greatest common divisor of two unsigned numbers."""
    while b != np.uint64(0):
        a, b = b, a % b
    return a


@device
def _gcd(a, b):
    return _common_divisor(_magnitude(a), _magnitude(b))


@device
def _binom(a, b, low, high):
    """The product of (a - m + i) / i, for m = min(b, a - b) and i = 1 ... m, which are integers at every i."""
    if b < 0 or b > a:
        return np.uint64(0)
    count = min(np.uint64(b), np.uint64(a) - np.uint64(b))
    made, most, i = np.uint64(1), np.uint64(high), np.uint64(0)
    while i < count:
        i += np.uint64(1)
        common = _common_divisor(made, i)
        made //= common
        factor = (np.uint64(a) - count + i) // (i // common)
        if made > most // factor:
            return most
        made *= factor
    return made


@device
def _nextafter(a, b):
    return np.nextafter(a, b)


def _numpy(name: str) -> Any:
    ufunc = getattr(np, name)
    return device(lambda a: ufunc(a))


def _math(name: str) -> Any:
    called = getattr(math, name)
    return device(lambda a: called(a))


@device
def _atan2(a, b):
    return math.atan2(a, b)


@device
def _hypot(a, b):
    return math.hypot(a, b)


_SAME_NAME = ("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p")
_TRIGONOMETRY = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
_NUMPY = {name: name for name in _SAME_NAME + _TRIGONOMETRY} | {f"a{name}": f"arc{name}" for name in _TRIGONOMETRY}
_MATH = {"erf": "erf", "erfc": "erfc", "lgamma": "lgamma", "tgamma": "gamma"}
FUNCTIONS: dict[str, Any] = (
    {
        "div_signed": _div_signed,
        "div_unsigned": _div_unsigned,
        "floordiv_signed": _floordiv_signed,
        "floordiv_unsigned": _div_unsigned,
        "floordiv_float": _floordiv_float,
        "mod_signed": _mod_signed,
        "mod_unsigned": _mod_unsigned,
        "mod_float": _mod_float,
        "fmod_signed": _fmod_signed,
        "fmod_unsigned": _mod_unsigned,
        "fmod_float": _fmod_float,
        "remainder": _remainder,
        "pow_signed": _pow_signed,
        "pow_unsigned": _pow_unsigned,
        "pow_float": _pow_float,
        "div_complex": _div_complex,
        "truediv_complex": _div_complex,
        "pow_complex": _pow_complex,
        "sign_complex": _sign_complex,
        "acosh_complex": _acosh_complex,
        "round_complex": _round_complex,
        "sign_signed": _sign_signed,
        "sign_float": _sign_float,
        "round_float": _round_float,
        "ldexp": _ldexp,
        "frexpx": _frexpx,
        "frexpe": _frexpe,
        "atan2": _atan2,
        "hypot": _hypot,
        "gcd": _gcd,
        "binom": _binom,
        "nextafter": _nextafter,
        "random": random,
    }
    | {name: _numpy(ufunc) for name, ufunc in _NUMPY.items()}
    | {name: _math(called) for name, called in _MATH.items()}
)
_BIT_NAMES = frozenset({"shl", "shr", "bshift", "bget", "bset", "bclr"})
_BITS = {width: _bit_functions(8 * width) for width in (1, 2, 4, 8)}
