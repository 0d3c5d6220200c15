"""User-defined operators: ``register_new`` and ``register_anonymous`` of each kind of function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

from semiring.exceptions import InvalidType
from semiring.operators import table
from semiring.operators.families import Binary, IndexUnary, Select, Unary
from semiring.operators.lookup import anonymous
from semiring.operators.parameterized import Parameterized

__all__ = ["registration"]

F = TypeVar("F", Unary, Binary, IndexUnary, Select)
F_co = TypeVar("F_co", Unary, Binary, IndexUnary, Select, covariant=True)


class RegisterNew(Protocol[F_co]):
    """The type of ``unary.register_new`` and of the other kinds."""

    def __call__(
        self,
        name: str,
        function: Callable[..., Any] | str,
        *,
        parameterized: bool = False,
        is_udt: bool = False,
        lazy: bool = False,
    ) -> F_co:
        """Register a user-defined operator."""


class RegisterAnonymous(Protocol[F_co]):
    """The type of ``unary.register_anonymous`` and of the other kinds."""

    def __call__(
        self,
        function: Callable[..., Any] | str,
        name: str = "",
        *,
        parameterized: bool = False,
        is_udt: bool = False,
        lazy: bool = False,
    ) -> F_co:
        """Make a user-defined operator."""


# For the documentation of each kind: a name, an expression that uses the operator of the example, and its value.
_EXAMPLES = {
    "unary": ("clip01", "Vector.from_dense([-0.5, 0.25, 3.0]).apply(op).to_dict()", "{0: 0.0, 1: 0.25, 2: 1.0}"),
    "binary": (
        "absdiff",
        "Vector.from_dense([1, 5]).ewise_mult(Vector.from_dense([4, 3]), op).to_dict()",
        "{0: 3, 1: 2}",
    ),
    "indexunary": ("near", "Matrix.from_dense([[5, 6]]).apply(op, 0).to_dicts()", "{0: {0: True, 1: False}}"),
    "select": ("near", "Matrix.from_dense([[5, 6], [7, 8]]).select(op, 0).to_dicts()", "{0: {0: 5}, 1: {1: 8}}"),
}


def registration(family: type[F], example: str) -> tuple[RegisterNew[F], RegisterAnonymous[F]]:
    """Return ``register_new`` and ``register_anonymous`` for the module of this family of operators.

    Parameters
    ----------
    family : type
        `Unary`, `Binary`, `IndexUnary` or `Select`.
    example : str
        A function with the parameters of this kind, for the documentation.
    """
    kind = family.kind
    short, use, value = _EXAMPLES[kind]
    result = "cast to bool" if kind == "select" else "of the type that follows from the operands by NumPy's rules"

    def register_new(
        name: str,
        function: Callable[..., Any] | str,
        *,
        parameterized: bool = False,
        is_udt: bool = False,
        lazy: bool = False,
    ) -> F:
        make = partial(register_anonymous, function, name, parameterized=parameterized)
        return table.register(kind, name, make, lazy=lazy)  # type: ignore[no-any-return]

    def register_anonymous(
        function: Callable[..., Any] | str,
        name: str = "",
        *,
        parameterized: bool = False,
        is_udt: bool = False,
        lazy: bool = False,
    ) -> F:
        made: F
        if parameterized:
            if not inspect.isfunction(function):
                raise InvalidType(f"{kind}: expected a function that returns the operator's, got {function!r}")
            make, signature = partial(_with_parameters, kind, function, name), inspect.signature(function)
            made = Parameterized(kind, name or function.__name__, make, signature, orig_func=function)  # type: ignore[assignment]
        else:
            made = anonymous(kind, function, name)
        return made

    register_new.__doc__ = f"""Register a user-defined operator: ``{kind}.name`` and, by name, everywhere.

    Parameters
    ----------
    name : str
        An identifier that is not yet an attribute of `{kind}`. A user-defined operator of that name is replaced;
        objects made with the earlier one still use it. Built-in operators cannot be replaced.  Identifiers joined by
        dots are a path, ``{kind}.family.member``, and replace nothing.
    function : callable or str
        A Python function without loops, or an expression: ``{example}``.
    parameterized : bool
        `function` returns the operator's function: ``{kind}.name(2)`` is the operator with the parameter 2.
    lazy : bool
        Parse the function when the operator is first used, which raises the errors then; the result is None.
    is_udt : bool
        Accepted for programs of python-graphblas; it changes nothing.

    Returns
    -------
    {family.__name__}
        It runs on every engine; its result is {result}.

    Raises
    ------
    UdfParseError
        If it cannot be turned into an expression; the message quotes the line.
    NameTaken
        If the name belongs to something else.
    InvalidValue
        If the name is not an identifier, or `function` is neither a function nor a text.

    Examples
    --------
    >>> op = sr.{kind}.register_new("{short}", {example})
    >>> {use}
    {value}
    """
    register_anonymous.__doc__ = f"""Make an operator as ``{kind}.register_new`` does, without registering it.

    Parameters
    ----------
    function, parameterized, is_udt : as ``register_new``
    name : str
        Only displayed.
    lazy : bool
        Accepted for programs of python-graphblas; it changes nothing.

    Returns
    -------
    {family.__name__}

    Raises
    ------
    UdfParseError
        If it cannot be turned into an expression; the message quotes the line.

    Examples
    --------
    >>> op = sr.{kind}.register_anonymous({example})
    >>> {use}
    {value}
    """
    for function in (register_new, register_anonymous):
        function.__module__, function.__qualname__ = f"semiring.operators.{kind}", function.__name__
    return register_new, register_anonymous


def _with_parameters(kind: str, function: Callable[..., Any], name: str, *arguments: Any, **keywords: Any) -> Any:
    """Return the operator of the function that `function` returns for these parameters."""
    return anonymous(kind, function(*arguments, **keywords), name or function.__name__)
