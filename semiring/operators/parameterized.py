"""Operators with parameters: a call with them returns the operator, ``scaled(2.5)``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from semiring.exceptions import InvalidValue

__all__ = ["Parameterized", "same_parameters"]


class Parameterized:
    """A user-defined operator that a call with parameters makes.

    It is accepted where an operator is, and is then the one with the default parameters.  Equal parameters give one
    operator.

    Attributes
    ----------
    kind, name : str
        As those of the operators that it makes.
    signature : inspect.Signature
        The parameters.
    """

    builtin = False

    def __init__(self, kind: str, name: str, make: Callable[..., Any], signature: inspect.Signature) -> None:
        self.kind, self.name, self.signature = kind, name, signature
        self._make = make
        self._made: dict[Any, Any] = {}

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Return the operator with these parameters."""
        bound = self.signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        key = tuple(bound.arguments.items())
        try:
            if (made := self._made.get(key)) is None:
                made = self._made[key] = self._make(*bound.args, **bound.kwargs)
        except TypeError:  # parameters that cannot be hashed
            made = self._make(*bound.args, **bound.kwargs)
        return made

    @property
    def is_positional(self) -> bool:
        """Whether the operator with the default parameters is made of positions alone."""
        return bool(self().is_positional)

    @property
    def is_idempotent(self) -> bool:
        """Whether the monoid with the default parameters is idempotent."""
        return bool(self().is_idempotent)

    @property
    def monoid(self) -> Any:
        """None: a monoid of such operators is not found from them."""
        return None

    def __repr__(self) -> str:
        return f"{self.kind}.{self.name}{self.signature}"


def same_parameters(kind: str, name: str, make: Callable[..., Any], *parts: Any) -> Parameterized:
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

    def made(*arguments: Any, **keywords: Any) -> Any:
        called = [
            part(*arguments, **keywords) if isinstance(part, Parameterized) or inspect.isfunction(part) else part
            for part in parts
        ]
        return make(*called)

    return Parameterized(kind, name, made, signatures[0])
