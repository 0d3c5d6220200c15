"""Binary operators, one row each: name, expression, types, result type, laws.

The letters of `laws`: c(ommutative), a(ssociative), i(dempotent), s(elective: the result is one of the operands);
they hold where operands and result have one type, and for floats up to rounding.
"""

from __future__ import annotations

import math

from semiring.dtypes import ALL, BOOL, FLOATS, INTEGERS, ORDERED, DType
from semiring.operators import table
from semiring.operators.expression import Expression
from semiring.operators.families import Binary
from semiring.operators.family import POSITION_TYPES
from semiring.operators.lookup import lookup_binary
from semiring.operators.registration import registration
from semiring.operators.tolerance import is_close
from semiring.operators.types import TypedBinary

BITS = (BOOL, *INTEGERS)


def _row(
    name: str,
    expr: str,
    types: tuple[DType, ...] = ALL,
    z: DType | str = "same",
    laws: str = "",
    follows: str = "",
    alias: str = "",
    counts: bool = False,
) -> Binary:
    made = Binary(name, Expression(expr), types, z, laws=laws, follows=follows, counts=counts)
    table.add(made, *alias.split())
    return made


def _logadd(more: str, twice: float) -> str:
    """The larger operand and `more`, which is `twice` where they are equal."""
    return f"max(x, y) + select(x == y, {twice}, {more})"


# Choice.
first = _row("first", "x", laws="ais", follows="x")
second = _row("second", "y", laws="ais", follows="y")
any = _row("any", "x", laws="cais")
pair = _row("pair", "1", laws="ca", alias="oneb", counts=True)
oneb = pair
min = _row("min", "min(x, y)", ORDERED, laws="cais")
max = _row("max", "max(x, y)", ORDERED, laws="cais")

# Arithmetic; on booleans the result is cast back, so plus is lor, times is land and minus is lxor.
plus = _row("plus", "x + y", laws="ca")
minus = _row("minus", "x - y")
times = _row("times", "x * y", laws="ca")
div = _row("div", "div(x, y)", alias="cdiv")
cdiv = div
truediv = _row("truediv", "truediv(x, y)", ALL, "double")
floordiv = _row("floordiv", "floordiv(x, y)", ORDERED)
mod = _row("mod", "mod(x, y)", ORDERED)
fmod = _row("fmod", "fmod(x, y)", ORDERED)
remainder = _row("remainder", "remainder(x, y)", FLOATS)
pow = _row("pow", "pow(x, y)")
rminus = _row("rminus", "y - x")
rdiv = _row("rdiv", "div(y, x)")
rtruediv = _row("rtruediv", "truediv(y, x)", ALL, "double")
rfloordiv = _row("rfloordiv", "floordiv(y, x)", ORDERED)
rpow = _row("rpow", "pow(y, x)")
absfirst = _row("absfirst", "abs(x)", z="real", follows="x")
abssecond = _row("abssecond", "abs(y)", z="real", follows="y")

# Comparisons to bool, and (is...) to 0 and 1 of the operands' type. Complex numbers have no order.
eq = _row("eq", "x == y", ALL, BOOL, laws="ca")
ne = _row("ne", "x != y", ALL, BOOL, laws="ca")
gt = _row("gt", "x > y", ORDERED, BOOL)
ge = _row("ge", "x >= y", ORDERED, BOOL)
lt = _row("lt", "x < y", ORDERED, BOOL)
le = _row("le", "x <= y", ORDERED, BOOL)
iseq = _row("iseq", "x == y", laws="c", counts=True)
isne = _row("isne", "x != y", laws="c", counts=True)
isgt = _row("isgt", "x > y", ORDERED, counts=True)
isge = _row("isge", "x >= y", ORDERED, counts=True)
islt = _row("islt", "x < y", ORDERED, counts=True)
isle = _row("isle", "x <= y", ORDERED, counts=True)
isclose = is_close()
table.add(isclose)

# Logic on the truth of any type, and bits.
land = _row("land", "land(x, y)", ORDERED, BOOL, laws="cais")
lor = _row("lor", "lor(x, y)", ORDERED, BOOL, laws="cais")
lxor = _row("lxor", "lxor(x, y)", ORDERED, BOOL, laws="ca")
lxnor = _row("lxnor", "lxnor(x, y)", ORDERED, BOOL, laws="ca")
band = _row("band", "band(x, y)", BITS, laws="cai")
bor = _row("bor", "bor(x, y)", BITS, laws="cai")
bxor = _row("bxor", "bxor(x, y)", BITS, laws="ca")
bxnor = _row("bxnor", "bxnor(x, y)", INTEGERS, laws="ca")
shl = _row("shl", "shl(x, y)", INTEGERS)
shr = _row("shr", "shr(x, y)", INTEGERS)
bshift = _row("bshift", "bshift(x, y)", INTEGERS)
bget = _row("bget", "bget(x, y)", INTEGERS)
bset = _row("bset", "bset(x, y)", INTEGERS)
bclr = _row("bclr", "bclr(x, y)", INTEGERS)

# Number theory: numpy.lcm is 0 where an operand is.
gcd = _row("gcd", "gcd(x, y)", INTEGERS, laws="ca")
lcm = _row("lcm", "abs(div(x, max(gcd(x, y), 1)) * y)", INTEGERS, laws="c")
binom = _row("binom", "binom(x, y)", INTEGERS)

# The complex number with this real and this imaginary part.
cmplx = _row("cmplx", "cmplx(x, y)", FLOATS, "infer")

# Floats.
atan2 = _row("atan2", "atan2(x, y)", FLOATS)
hypot = _row("hypot", "hypot(x, y)", FLOATS, laws="c")
copysign = _row("copysign", "copysign(x, y)", FLOATS)
ldexp = _row("ldexp", "ldexp(x, y)", FLOATS)
nextafter = _row("nextafter", "nextafter(x, y)", FLOATS)
# Logarithms of sums, from logarithms.  Equal operands are a case of their own: the difference of infinities is NaN.
logaddexp = _row("logaddexp", _logadd("log1p(exp(-abs(x - y)))", math.log(2.0)), FLOATS, laws="ca")
logaddexp2 = _row("logaddexp2", _logadd(f"log1p(exp2(-abs(x - y))) * {1 / math.log(2.0)}", 1.0), FLOATS, laws="ca")

# Positions of the entries that x and y come from, from 0 and from 1.
firsti = _row("firsti", "xi", POSITION_TYPES)
firsti1 = _row("firsti1", "xi + 1", POSITION_TYPES)
firstj = _row("firstj", "xj", POSITION_TYPES)
firstj1 = _row("firstj1", "xj + 1", POSITION_TYPES)
secondi = _row("secondi", "yi", POSITION_TYPES)
secondi1 = _row("secondi1", "yi + 1", POSITION_TYPES)
secondj = _row("secondj", "yj", POSITION_TYPES)
secondj1 = _row("secondj1", "yj + 1", POSITION_TYPES)


register_new, register_anonymous = registration(Binary, "lambda x, y: abs(x - y)")


def from_string(text: str) -> Binary | TypedBinary:
    """Return the operator of this name or symbol, with an optional type in brackets: ``"plus[int32]"``.

    Parameters
    ----------
    text : str

    Raises
    ------
    UnknownOperator, DomainMismatch

    Examples
    --------
    >>> from_string("+"), from_string("plus[int32]")
    (binary.plus, binary.plus[int32])
    """
    return lookup_binary(text)


def __getattr__(name: str) -> Binary:
    made: Binary = table.attribute("binary", name)
    return made


def __dir__() -> list[str]:
    return table.listing("binary")
