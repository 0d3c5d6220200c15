"""The trace of a loop whose condition and body are functions, by itself or within another loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..engines.programs.traced import Untraceable


class LoopTracer(Protocol):
    """What a trace of a loop needs of a tracer."""

    ended: bool
    _inline: Callable[[Any], Callable[..., Any] | None]

    def loop(self, line: int, names: list[str], read: list[str], scope: dict[str, Any]) -> tuple[Any, ...]:
        """Open a loop."""

    def test(self, value: Any) -> None:
        """Set the condition of the loop."""

    def call(self, function: Any, *args: Any, **named: Any) -> Any:
        """Call a function."""

    def end_loop(self, scope: dict[str, Any]) -> tuple[Any, ...]:
        """Close the loop."""


class Inline:
    """A lambda of a rewritten function, of which the body is rewritten, too."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__name__ = "a lambda"

    def __call__(self, tracer: Any, *args: Any) -> Any:
        """Call it: its body has the tracer already."""
        return self._function(*args)


def is_while_loop(function: Any) -> bool:
    """Return whether a value is the function `while_loop`."""
    return getattr(function, "__module__", "") == f"{__package__}.while_loops"


def as_items(state: Any) -> tuple[Any, ...]:
    """Return the items of a state: a tuple, or a single value."""
    return tuple(state) if isinstance(state, tuple) else (state,)


def like(state: Any, items: tuple[Any, ...]) -> Any:
    """Return items as a state of the structure of another."""
    if not isinstance(state, tuple):
        return items[0]
    return items if type(state) is tuple else type(state)._make(items)  # type: ignore[attr-defined]


def traced_loop(
    tracer: LoopTracer,
    line: int,
    names: list[str],
    scope: dict[str, Any],
    cond: Callable[..., Any],
    body: Callable[..., Any],
    state: Any,
) -> tuple[Any, ...]:
    """Trace ``while cond(*state): state = body(*state)``; return the items of the state after it.

    cond, body: called with the items.  names: of the items, among the variables `scope`.
    """
    items = as_items(state)
    heads = tracer.loop(line, names, names, scope | dict(zip(names, items, strict=True)))
    tracer.test(cond(*heads))
    given = body(*heads)
    if not tracer.ended:
        if isinstance(given, tuple) is not isinstance(state, tuple) or len(as_items(given)) != len(items):
            raise Untraceable("the body returns another structure than that of the state")
        items = as_items(given)
    return tracer.end_loop(scope | dict(zip(names, items, strict=True)))


def traced_call(
    tracer: LoopTracer, line: int, scope: dict[str, Any], cond: Any, body: Any, state: Any, *, strict: bool = False
) -> Any:
    """Trace a call of `while_loop` in a loop.  scope: the variables of the function that calls it."""
    forms = []
    for what, function in (("condition", cond), ("body", body)):
        form = function if isinstance(function, Inline) else tracer._inline(function)
        if form is None:
            name = getattr(function, "__qualname__", type(function).__name__)
            raise Untraceable(
                f"a while_loop in the loop whose {what} is {name}: it must be a lambda, or a function of the same "
                "package or compiled"
            )
        forms.append(form)
    if isinstance(state, (list, dict)) or (
        isinstance(state, tuple) and not hasattr(type(state), "_make") and type(state) is not tuple
    ):
        raise Untraceable(f"a while_loop in the loop whose state is a {type(state).__name__}")
    names = [f"state {number}" for number, _ in enumerate(as_items(state))]
    taken = set(scope)
    while not taken.isdisjoint(names):
        names = [f"inner {name}" for name in names]
    first, second = forms
    made = traced_loop(
        tracer, line, names, scope, lambda *items: first(tracer, *items), lambda *items: second(tracer, *items), state
    )
    return like(state, made)
