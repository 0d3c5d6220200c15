"""Every built-in operator on every type that it has, for tests that compare the engines."""

from __future__ import annotations

from collections.abc import Iterator

from semiring.operators import table
from semiring.operators.types import (
    TypedBinary,
    TypedIndexUnary,
    TypedMonoid,
    TypedSemiring,
    TypedUnary,
)

__all__ = ["catalog"]

_KINDS = ("unary", "binary", "indexunary", "select", "monoid", "semiring")


def catalog(
    *kinds: str,
) -> Iterator[tuple[str, TypedUnary | TypedBinary | TypedIndexUnary | TypedMonoid | TypedSemiring]]:
    """Yield ``(kind, typed operator)`` once for each built-in family and each type that needs no cast.

    Parameters
    ----------
    *kinds : {"unary", "binary", "indexunary", "select", "monoid", "semiring"}
        Which kinds; by default all.
    """
    for kind in kinds or _KINDS:
        for name in table.names(kind):
            family = table.find(kind, name)
            if not family.builtin or family.name != name or family.kind != kind:
                continue  # a user-defined operator, an alias, or an operator of another kind
            for typed in dict.fromkeys(family[dtype] for dtype in family.types):
                yield kind, typed
