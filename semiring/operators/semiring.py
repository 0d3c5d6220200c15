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

# The operators that every numeric monoid has as a product, those on truth, and those on bits.
_POSITIONS = "first second pair firsti firsti1 firstj firstj1 secondi secondi1 secondj secondj1"
_NUMBERS = (
    f"{_POSITIONS} plus minus rminus times div rdiv truediv rtruediv floordiv rfloordiv min max land lor lxor "
    "iseq isne isgt isge islt isle"
)
_TRUTH = "land lor lxor eq ne gt ge lt le first second pair"
_BITS = "band bor bxor bxnor"
# The monoids of the listed semirings, with their products.  `semiring.pyi` has their names for editors.
_LISTED = {
    "plus": f"{_NUMBERS} absfirst abssecond pow rpow",
    "times": _NUMBERS,
    "min": _NUMBERS,
    "max": f"{_NUMBERS} absfirst abssecond",
    "any": f"{_NUMBERS} eq ne gt ge lt le",
    **dict.fromkeys(("land", "lor", "lxor", "eq"), _TRUTH),
    "lxnor": "lor",
    **dict.fromkeys(_BITS.split(), _BITS),
}

for _add, _products in _LISTED.items():
    for _mult in _products.split():
        _made = Semiring(f"{_add}_{_mult}", getattr(monoid, _add), getattr(binary, _mult))
        table.add(_made)
        globals()[_made.name] = _made


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
