"""The functions of the backend, by the names under which NetworkX dispatches them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from semiring.exceptions import ConvergenceFailure, SemiringError

F = TypeVar("F", bound=Callable[..., Any])

#: What NetworkX calls, by name.
FUNCTIONS: dict[str, Callable[..., Any]] = {}


def implements(name: str | None = None) -> Callable[[F], F]:
    """Register a function under its own name, or that of the dispatch namespace where it differs.

    Parameters
    ----------
    name : str, optional
        The name of the dispatch namespace.
    """

    def register(function: F) -> F:
        FUNCTIONS[name or function.__name__] = function
        return function

    return register


def refuse(reason: str) -> NotImplementedError:
    """Return the error that makes NetworkX try the next backend, or itself."""
    return NotImplementedError(f"semiring: {reason}")


def left_to_networkx(call: Callable[[], Any]) -> Any:
    """Return ``call()``; raise NotImplementedError where an algorithm refuses the values, such as negative weights."""
    try:
        return call()
    except (ConvergenceFailure, MemoryError):
        raise
    except SemiringError as error:
        raise refuse(str(error)) from error
