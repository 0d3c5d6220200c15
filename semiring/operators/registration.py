"""How users add operators of their own: ``register_new`` and its companions, made once for each kind of function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from semiring.operators import table
from semiring.operators.families import Binary, IndexUnary, Select, Unary
from semiring.operators.lookup import anonymous

__all__ = ["registration"]

F = TypeVar("F", Unary, Binary, IndexUnary, Select)
F_co = TypeVar("F_co", Unary, Binary, IndexUnary, Select, covariant=True)


class RegisterNew(Protocol[F_co]):
    """The type of ``unary.register_new`` and its like."""

    def __call__(self, name: str, function: Callable[..., Any] | str) -> F_co:
        """Register a user-defined operator."""


class RegisterAnonymous(Protocol[F_co]):
    """The type of ``unary.register_anonymous`` and its like."""

    def __call__(self, function: Callable[..., Any] | str, name: str = "") -> F_co:
        """Make a user-defined operator."""


def registration(family: type[F], example: str) -> tuple[RegisterNew[F], RegisterAnonymous[F]]:
    """``register_new`` and ``register_anonymous`` of the module that holds this family of operators.

    Parameters
    ----------
    family : type
        `Unary`, `Binary`, `IndexUnary` or `Select`.
    example : str
        A function of the right parameters, for the documentation.
    """
    kind = family.kind
    result = "cast to bool" if kind == "select" else "of the type that follows from the operands by NumPy's rules"

    def register_new(name: str, function: Callable[..., Any] | str) -> F:
        table.check_name(kind, name)
        made = register_anonymous(function, name)
        table.add(made)
        return made

    def register_anonymous(function: Callable[..., Any] | str, name: str = "") -> F:
        made: F = anonymous(kind, function, name)
        return made

    register_new.__doc__ = f"""Register a user-defined operator: ``{kind}.name`` and, by name, everywhere.

    Parameters
    ----------
    name : str
        An identifier that is no attribute of `{kind}` yet, unless a user's operator has it: that one is replaced,
        and what was made with it keeps it. Built-in operators cannot be replaced.
    function : callable or str
        A Python function without loops, or an expression: ``{example}``.

    Returns
    -------
    {family.__name__}
        It runs on every engine; its result is {result}.

    Raises
    ------
    UdfParseError
        If it cannot be turned into an expression; the message quotes the line.
    InvalidValue
        If the name is taken, or is no identifier.
    """
    register_anonymous.__doc__ = f"""As ``{kind}.register_new``, without entering it anywhere; `name` is only shown."""
    for function in (register_new, register_anonymous):
        function.__module__, function.__qualname__ = f"semiring.operators.{kind}", function.__name__
    return register_new, register_anonymous
