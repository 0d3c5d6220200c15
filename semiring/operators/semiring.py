"""Semirings: ``add_mult``, one row each; ``semiring.min_plus(A @ B)``, ``A.mxm(B, "min.+")``.

The semirings of the GraphBLAS literature are listed, so that editors complete them. Every other combination of a
monoid and a binary operator is made on first use: ``semiring.max_minus``, ``"bor.shl"``.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from semiring.exceptions import InvalidOperator, InvalidValue, UnknownOperator
from semiring.operators import binary, monoid, table
from semiring.operators.families import Binary, Monoid, Semiring
from semiring.operators.lookup import compose, lookup_binary, lookup_monoid, lookup_semiring
from semiring.operators.parameterized import Parameterized, same_parameters
from semiring.operators.types import TypedSemiring


def _row(add: Monoid, mult: Binary) -> Semiring:
    made = Semiring(f"{add.name}_{mult.name}", add, mult)
    table.add(made)
    return made


# plus
plus_first = _row(monoid.plus, binary.first)
plus_second = _row(monoid.plus, binary.second)
plus_pair = _row(monoid.plus, binary.pair)
plus_firsti = _row(monoid.plus, binary.firsti)
plus_firsti1 = _row(monoid.plus, binary.firsti1)
plus_firstj = _row(monoid.plus, binary.firstj)
plus_firstj1 = _row(monoid.plus, binary.firstj1)
plus_secondi = _row(monoid.plus, binary.secondi)
plus_secondi1 = _row(monoid.plus, binary.secondi1)
plus_secondj = _row(monoid.plus, binary.secondj)
plus_secondj1 = _row(monoid.plus, binary.secondj1)
plus_plus = _row(monoid.plus, binary.plus)
plus_minus = _row(monoid.plus, binary.minus)
plus_rminus = _row(monoid.plus, binary.rminus)
plus_times = _row(monoid.plus, binary.times)
plus_div = _row(monoid.plus, binary.div)
plus_rdiv = _row(monoid.plus, binary.rdiv)
plus_truediv = _row(monoid.plus, binary.truediv)
plus_rtruediv = _row(monoid.plus, binary.rtruediv)
plus_floordiv = _row(monoid.plus, binary.floordiv)
plus_rfloordiv = _row(monoid.plus, binary.rfloordiv)
plus_min = _row(monoid.plus, binary.min)
plus_max = _row(monoid.plus, binary.max)
plus_land = _row(monoid.plus, binary.land)
plus_lor = _row(monoid.plus, binary.lor)
plus_lxor = _row(monoid.plus, binary.lxor)
plus_iseq = _row(monoid.plus, binary.iseq)
plus_isne = _row(monoid.plus, binary.isne)
plus_isgt = _row(monoid.plus, binary.isgt)
plus_isge = _row(monoid.plus, binary.isge)
plus_islt = _row(monoid.plus, binary.islt)
plus_isle = _row(monoid.plus, binary.isle)
plus_absfirst = _row(monoid.plus, binary.absfirst)
plus_abssecond = _row(monoid.plus, binary.abssecond)
plus_pow = _row(monoid.plus, binary.pow)
plus_rpow = _row(monoid.plus, binary.rpow)

# times
times_first = _row(monoid.times, binary.first)
times_second = _row(monoid.times, binary.second)
times_pair = _row(monoid.times, binary.pair)
times_firsti = _row(monoid.times, binary.firsti)
times_firsti1 = _row(monoid.times, binary.firsti1)
times_firstj = _row(monoid.times, binary.firstj)
times_firstj1 = _row(monoid.times, binary.firstj1)
times_secondi = _row(monoid.times, binary.secondi)
times_secondi1 = _row(monoid.times, binary.secondi1)
times_secondj = _row(monoid.times, binary.secondj)
times_secondj1 = _row(monoid.times, binary.secondj1)
times_plus = _row(monoid.times, binary.plus)
times_minus = _row(monoid.times, binary.minus)
times_rminus = _row(monoid.times, binary.rminus)
times_times = _row(monoid.times, binary.times)
times_div = _row(monoid.times, binary.div)
times_rdiv = _row(monoid.times, binary.rdiv)
times_truediv = _row(monoid.times, binary.truediv)
times_rtruediv = _row(monoid.times, binary.rtruediv)
times_floordiv = _row(monoid.times, binary.floordiv)
times_rfloordiv = _row(monoid.times, binary.rfloordiv)
times_min = _row(monoid.times, binary.min)
times_max = _row(monoid.times, binary.max)
times_land = _row(monoid.times, binary.land)
times_lor = _row(monoid.times, binary.lor)
times_lxor = _row(monoid.times, binary.lxor)
times_iseq = _row(monoid.times, binary.iseq)
times_isne = _row(monoid.times, binary.isne)
times_isgt = _row(monoid.times, binary.isgt)
times_isge = _row(monoid.times, binary.isge)
times_islt = _row(monoid.times, binary.islt)
times_isle = _row(monoid.times, binary.isle)

# min
min_first = _row(monoid.min, binary.first)
min_second = _row(monoid.min, binary.second)
min_pair = _row(monoid.min, binary.pair)
min_firsti = _row(monoid.min, binary.firsti)
min_firsti1 = _row(monoid.min, binary.firsti1)
min_firstj = _row(monoid.min, binary.firstj)
min_firstj1 = _row(monoid.min, binary.firstj1)
min_secondi = _row(monoid.min, binary.secondi)
min_secondi1 = _row(monoid.min, binary.secondi1)
min_secondj = _row(monoid.min, binary.secondj)
min_secondj1 = _row(monoid.min, binary.secondj1)
min_plus = _row(monoid.min, binary.plus)
min_minus = _row(monoid.min, binary.minus)
min_rminus = _row(monoid.min, binary.rminus)
min_times = _row(monoid.min, binary.times)
min_div = _row(monoid.min, binary.div)
min_rdiv = _row(monoid.min, binary.rdiv)
min_truediv = _row(monoid.min, binary.truediv)
min_rtruediv = _row(monoid.min, binary.rtruediv)
min_floordiv = _row(monoid.min, binary.floordiv)
min_rfloordiv = _row(monoid.min, binary.rfloordiv)
min_min = _row(monoid.min, binary.min)
min_max = _row(monoid.min, binary.max)
min_land = _row(monoid.min, binary.land)
min_lor = _row(monoid.min, binary.lor)
min_lxor = _row(monoid.min, binary.lxor)
min_iseq = _row(monoid.min, binary.iseq)
min_isne = _row(monoid.min, binary.isne)
min_isgt = _row(monoid.min, binary.isgt)
min_isge = _row(monoid.min, binary.isge)
min_islt = _row(monoid.min, binary.islt)
min_isle = _row(monoid.min, binary.isle)

# max
max_first = _row(monoid.max, binary.first)
max_second = _row(monoid.max, binary.second)
max_pair = _row(monoid.max, binary.pair)
max_firsti = _row(monoid.max, binary.firsti)
max_firsti1 = _row(monoid.max, binary.firsti1)
max_firstj = _row(monoid.max, binary.firstj)
max_firstj1 = _row(monoid.max, binary.firstj1)
max_secondi = _row(monoid.max, binary.secondi)
max_secondi1 = _row(monoid.max, binary.secondi1)
max_secondj = _row(monoid.max, binary.secondj)
max_secondj1 = _row(monoid.max, binary.secondj1)
max_plus = _row(monoid.max, binary.plus)
max_minus = _row(monoid.max, binary.minus)
max_rminus = _row(monoid.max, binary.rminus)
max_times = _row(monoid.max, binary.times)
max_div = _row(monoid.max, binary.div)
max_rdiv = _row(monoid.max, binary.rdiv)
max_truediv = _row(monoid.max, binary.truediv)
max_rtruediv = _row(monoid.max, binary.rtruediv)
max_floordiv = _row(monoid.max, binary.floordiv)
max_rfloordiv = _row(monoid.max, binary.rfloordiv)
max_min = _row(monoid.max, binary.min)
max_max = _row(monoid.max, binary.max)
max_land = _row(monoid.max, binary.land)
max_lor = _row(monoid.max, binary.lor)
max_lxor = _row(monoid.max, binary.lxor)
max_iseq = _row(monoid.max, binary.iseq)
max_isne = _row(monoid.max, binary.isne)
max_isgt = _row(monoid.max, binary.isgt)
max_isge = _row(monoid.max, binary.isge)
max_islt = _row(monoid.max, binary.islt)
max_isle = _row(monoid.max, binary.isle)
max_absfirst = _row(monoid.max, binary.absfirst)
max_abssecond = _row(monoid.max, binary.abssecond)

# any
any_first = _row(monoid.any, binary.first)
any_second = _row(monoid.any, binary.second)
any_pair = _row(monoid.any, binary.pair)
any_firsti = _row(monoid.any, binary.firsti)
any_firsti1 = _row(monoid.any, binary.firsti1)
any_firstj = _row(monoid.any, binary.firstj)
any_firstj1 = _row(monoid.any, binary.firstj1)
any_secondi = _row(monoid.any, binary.secondi)
any_secondi1 = _row(monoid.any, binary.secondi1)
any_secondj = _row(monoid.any, binary.secondj)
any_secondj1 = _row(monoid.any, binary.secondj1)
any_plus = _row(monoid.any, binary.plus)
any_minus = _row(monoid.any, binary.minus)
any_rminus = _row(monoid.any, binary.rminus)
any_times = _row(monoid.any, binary.times)
any_div = _row(monoid.any, binary.div)
any_rdiv = _row(monoid.any, binary.rdiv)
any_truediv = _row(monoid.any, binary.truediv)
any_rtruediv = _row(monoid.any, binary.rtruediv)
any_floordiv = _row(monoid.any, binary.floordiv)
any_rfloordiv = _row(monoid.any, binary.rfloordiv)
any_min = _row(monoid.any, binary.min)
any_max = _row(monoid.any, binary.max)
any_land = _row(monoid.any, binary.land)
any_lor = _row(monoid.any, binary.lor)
any_lxor = _row(monoid.any, binary.lxor)
any_iseq = _row(monoid.any, binary.iseq)
any_isne = _row(monoid.any, binary.isne)
any_isgt = _row(monoid.any, binary.isgt)
any_isge = _row(monoid.any, binary.isge)
any_islt = _row(monoid.any, binary.islt)
any_isle = _row(monoid.any, binary.isle)
any_eq = _row(monoid.any, binary.eq)
any_ne = _row(monoid.any, binary.ne)
any_gt = _row(monoid.any, binary.gt)
any_ge = _row(monoid.any, binary.ge)
any_lt = _row(monoid.any, binary.lt)
any_le = _row(monoid.any, binary.le)

# truth
land_land = _row(monoid.land, binary.land)
land_lor = _row(monoid.land, binary.lor)
land_lxor = _row(monoid.land, binary.lxor)
land_eq = _row(monoid.land, binary.eq)
land_ne = _row(monoid.land, binary.ne)
land_gt = _row(monoid.land, binary.gt)
land_ge = _row(monoid.land, binary.ge)
land_lt = _row(monoid.land, binary.lt)
land_le = _row(monoid.land, binary.le)
land_first = _row(monoid.land, binary.first)
land_second = _row(monoid.land, binary.second)
land_pair = _row(monoid.land, binary.pair)
lor_land = _row(monoid.lor, binary.land)
lor_lor = _row(monoid.lor, binary.lor)
lor_lxor = _row(monoid.lor, binary.lxor)
lor_eq = _row(monoid.lor, binary.eq)
lor_ne = _row(monoid.lor, binary.ne)
lor_gt = _row(monoid.lor, binary.gt)
lor_ge = _row(monoid.lor, binary.ge)
lor_lt = _row(monoid.lor, binary.lt)
lor_le = _row(monoid.lor, binary.le)
lor_first = _row(monoid.lor, binary.first)
lor_second = _row(monoid.lor, binary.second)
lor_pair = _row(monoid.lor, binary.pair)
lxor_land = _row(monoid.lxor, binary.land)
lxor_lor = _row(monoid.lxor, binary.lor)
lxor_lxor = _row(monoid.lxor, binary.lxor)
lxor_eq = _row(monoid.lxor, binary.eq)
lxor_ne = _row(monoid.lxor, binary.ne)
lxor_gt = _row(monoid.lxor, binary.gt)
lxor_ge = _row(monoid.lxor, binary.ge)
lxor_lt = _row(monoid.lxor, binary.lt)
lxor_le = _row(monoid.lxor, binary.le)
lxor_first = _row(monoid.lxor, binary.first)
lxor_second = _row(monoid.lxor, binary.second)
lxor_pair = _row(monoid.lxor, binary.pair)
lxnor_lor = _row(monoid.lxnor, binary.lor)
eq_land = _row(monoid.eq, binary.land)
eq_lor = _row(monoid.eq, binary.lor)
eq_lxor = _row(monoid.eq, binary.lxor)
eq_eq = _row(monoid.eq, binary.eq)
eq_ne = _row(monoid.eq, binary.ne)
eq_gt = _row(monoid.eq, binary.gt)
eq_ge = _row(monoid.eq, binary.ge)
eq_lt = _row(monoid.eq, binary.lt)
eq_le = _row(monoid.eq, binary.le)
eq_first = _row(monoid.eq, binary.first)
eq_second = _row(monoid.eq, binary.second)
eq_pair = _row(monoid.eq, binary.pair)

# bits
band_band = _row(monoid.band, binary.band)
band_bor = _row(monoid.band, binary.bor)
band_bxor = _row(monoid.band, binary.bxor)
band_bxnor = _row(monoid.band, binary.bxnor)
bor_band = _row(monoid.bor, binary.band)
bor_bor = _row(monoid.bor, binary.bor)
bor_bxor = _row(monoid.bor, binary.bxor)
bor_bxnor = _row(monoid.bor, binary.bxnor)
bxor_band = _row(monoid.bxor, binary.band)
bxor_bor = _row(monoid.bxor, binary.bor)
bxor_bxor = _row(monoid.bxor, binary.bxor)
bxor_bxnor = _row(monoid.bxor, binary.bxnor)
bxnor_band = _row(monoid.bxnor, binary.band)
bxnor_bor = _row(monoid.bxnor, binary.bor)
bxnor_bxor = _row(monoid.bxnor, binary.bxor)
bxnor_bxnor = _row(monoid.bxnor, binary.bxnor)


def register_new(name: str, add: Monoid | str, mult: Binary | str, *, lazy: bool = False) -> Semiring:
    """Register a semiring under `name`, as an attribute of this module and for look-up by name.

    Parameters
    ----------
    name : str
        As that of `binary.register_new`.
    add : Monoid or str
        The monoid that reduces the products, registered or built in.
    mult : Binary or str
        The binary operator of the products.  If it or the monoid has parameters, the semiring has the same ones.
    lazy : bool
        Make the semiring at its first use, when errors are raised too; the result is None.

    Returns
    -------
    Semiring

    Raises
    ------
    NameTaken
    InvalidValue
        If an operator is typed.
    InvalidOperator
        If `add` is a binary operator, or `mult` a monoid.
    UnknownOperator
        If there is no such monoid or binary operator.

    Examples
    --------
    >>> manhattan = sr.semiring.register_new("manhattan", "plus", sr.binary.register_anonymous("abs(x - y)"))
    >>> Vector.from_dense([1, 5]).inner(Vector.from_dense([4, 3]), manhattan).value
    5
    """
    made = table.register("semiring", name, partial(register_anonymous, add, mult, name), lazy=lazy)
    return made  # type: ignore[no-any-return]


def register_anonymous(add: Monoid | str, mult: Binary | str, name: str = "") -> Semiring:
    """Make a semiring as `register_new` does, without registering it.

    Parameters
    ----------
    add, mult : as `register_new`
    name : only displayed

    Returns
    -------
    Semiring

    Raises
    ------
    InvalidValue, UnknownOperator

    Examples
    --------
    >>> closest = sr.semiring.register_anonymous("min", sr.binary.register_anonymous("abs(x - y)"))
    >>> Vector.from_dense([1, 5]).inner(Vector.from_dense([4, 3]), closest).value
    2
    """
    parts = [table.find(kind, part) or part if isinstance(part, str) else part for kind, part in _parts(add, mult)]
    if any(isinstance(part, Parameterized) for part in parts):
        label = name or "_".join(getattr(part, "name", str(part)) for part in parts)
        return same_parameters("semiring", label, register_anonymous, *parts)  # type: ignore[return-value]
    if getattr(add, "kind", "monoid") != "monoid" or getattr(mult, "kind", "binary") != "binary":
        raise InvalidOperator(f"a semiring is made of a monoid and a binary operator; got {add!r} and {mult!r}")
    collect, multiply = lookup_monoid(add), lookup_binary(mult)
    if not isinstance(collect, Monoid) or not isinstance(multiply, Binary):
        raise InvalidValue(f"a semiring is made of families, which have all types; got {add!r} and {mult!r}")
    return compose(collect, multiply, name)


def get_semiring(add: Monoid | Binary | str, mult: Binary | Monoid | str, name: str = "") -> Semiring:
    """Make a semiring as `register_anonymous` does, of a monoid and a binary operator that may be given as each other.

    Parameters
    ----------
    add, mult : monoid and binary operator, by object or name
    name : only displayed

    Returns
    -------
    Semiring

    Raises
    ------
    InvalidOperator
        If they are exchanged, or `add` is a binary operator of which no monoid is known.

    Examples
    --------
    >>> sr.semiring.get_semiring("min", "plus")
    semiring.min_plus
    """
    if isinstance(add, Binary) and isinstance(mult, Monoid):
        raise InvalidOperator(
            f"a semiring is made of a monoid and a binary operator, in this order; got {add!r}, {mult!r}"
        )
    return register_anonymous(lookup_monoid(add), lookup_binary(mult), name)  # type: ignore[arg-type]


def _parts(add: object, mult: object) -> tuple[tuple[str, object], tuple[str, object]]:
    return ("monoid", add), ("binary", mult)


def from_string(text: str) -> Semiring | TypedSemiring:
    """Return the semiring of this name or of these symbols: ``"min_plus"``, ``"min.+"``, ``"plus_times[float]"``.

    Parameters
    ----------
    text : str

    Raises
    ------
    UnknownOperator, DomainMismatch

    Examples
    --------
    >>> from_string("min.+"), from_string("plus_times[float]")
    (semiring.min_plus, semiring.plus_times[float64])
    """
    return lookup_semiring(text)


def __getattr__(name: str) -> Semiring:
    if name.startswith("__"):
        raise AttributeError(name)
    if (known := table.find("semiring", name)) is not None:
        return known  # type: ignore[no-any-return]
    with suppress(UnknownOperator):
        return lookup_semiring(name)  # type: ignore[return-value]
    return table.attribute("semiring", name)  # type: ignore[no-any-return]


def __dir__() -> list[str]:
    return table.listing("semiring", "get_semiring")
