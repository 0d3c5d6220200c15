"""Operators with parameters: a call with them returns the operator, ``scaled(2.5)``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from semiring.exceptions import InvalidValue

__all__ = ["Parameterized", "same_parameters"]


class Parameterized:
    """A user-defined operator that a call with parameters makes.

    It is accepted where an operator is, and is then the one with the default parameters.  Equal parameters give one
    operator.  It can be pickled if its function can.

    Attributes
    ----------
    kind, name : str
        As those of the operators that it makes.
    signature : inspect.Signature
        The parameters.
    orig_func : callable or None
        The function that returns the operator's function; of a monoid or a semiring None.
    monoid : Parameterized or None
        Of a binary operator the first monoid that was made of it, with the same parameters.
    """

    builtin = False

    def __init__(
        self,
        kind: str,
        name: str,
        make: Callable[..., Any],
        signature: inspect.Signature,
        *,
        orig_func: Callable[..., Any] | None = None,
        declared_idempotent: bool = False,
    ) -> None:
        self.kind, self.name, self.signature, self.orig_func = kind, name, signature, orig_func
        self.monoid: Parameterized | None = None
        self._make = make
        self._declared_idempotent = declared_idempotent
        self._made: dict[Any, Any] = {}

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Return the operator with these parameters."""
        bound = self.signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        key = tuple(bound.arguments.items())
        try:
            known = self._made.get(key)
        except TypeError:  # parameters that cannot be hashed
            return self._make(*bound.args, **bound.kwargs)
        if known is not None:
            return known
        made = self._make(*bound.args, **bound.kwargs)
        made = self._made.setdefault(key, made)  # making a monoid makes its operator, which makes its monoid
        if self.monoid is not None:
            with suppress(Exception):  # the identity is a function of the user: without its value there is no monoid
                self.monoid(*bound.args, **bound.kwargs)
        return made

    def associate(self, monoid: Parameterized) -> None:
        """Let operators that are made from now on have a monoid: that of the same parameters."""
        if self.monoid is None:
            self.monoid = monoid
            self._made.clear()

    @property
    def is_positional(self) -> bool:
        """Whether the operator with the default parameters is made of positions alone."""
        return bool(self().is_positional)

    @property
    def is_idempotent(self) -> bool:
        """Whether the monoid was declared idempotent, or with the default parameters is known to be."""
        return self._declared_idempotent or bool(self().is_idempotent)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": {}}

    def __repr__(self) -> str:
        return f"{self.kind}.{self.name}{self.signature}"


def same_parameters(
    kind: str, name: str, make: Callable[..., Any], *parts: Any, declared_idempotent: bool = False
) -> Parameterized:
    """Return the operator of parts that have parameters, at least one of them: each is called with the same ones.

    Raises
    ------
    InvalidValue
        If the parts have different parameters.
    """
    signatures = [
        part.signature if isinstance(part, Parameterized) else inspect.signature(part)
        for part in parts
        if isinstance(part, Parameterized) or inspect.isfunction(part)
    ]
    shapes = [[(one.name, one.kind, one.default) for one in each.parameters.values()] for each in signatures]
    if any(shape != shapes[0] for shape in shapes):
        raise InvalidValue(f"{kind}: its parts have different parameters: {', '.join(map(str, signatures))}")
    assembled = partial(_assembled, make, parts)
    return Parameterized(kind, name, assembled, signatures[0], declared_idempotent=declared_idempotent)


def _assembled(make: Callable[..., Any], parts: tuple[Any, ...], *arguments: Any, **keywords: Any) -> Any:
    """Return what `make` returns for the parts with these parameters."""
    called = [
        part(*arguments, **keywords) if isinstance(part, Parameterized) or inspect.isfunction(part) else part
        for part in parts
    ]
    return make(*called)
