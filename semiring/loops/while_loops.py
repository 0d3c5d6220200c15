"""`sr.while_loop`: a loop of two functions, which runs as a program of the engine."""

from __future__ import annotations

import numbers
import types
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..engines.programs.traced import Untraceable
from ..exceptions import InvalidType, InvalidValue, NotSupported
from ..facade.matrix import Matrix
from ..facade.scalar import Scalar
from ..facade.storage_slot import Holder
from ..facade.vector import Vector
from .captures import Captures, capture, plain_function, unused_name
from .compiled import Compiled, report_step_by_step
from .entries import LoopResult
from .inner import as_items, like, traced_loop
from .keys import Variables, package_of
from .source import Site, Source

S = TypeVar("S")

# Loops whose programs are kept: of two functions, a number of items, and of what the functions read.
_KEPT = 256
_loops: dict[tuple[int, ...], _Loop] = {}


class _Straight:
    """The traced form of a loop; `parameters`: its variables."""

    def __init__(self, line: int, names: tuple[str, ...], single: bool, captures: Captures) -> None:
        self.parameters = (*names, *captures.names)
        self._line, self._names, self._single, self._captures = line, names, single, captures

    def __call__(self, tracer: Any, **values: Any) -> None:
        cond, body = self._captures.forms(values)
        # Captured variables are never bound again: of those that name one Vector, one is enough.
        named = {id(values[name]): name for name in reversed(self._captures.names)}
        scope = {name: value for name, value in values.items() if named.get(id(value), name) == name}
        scope |= {name: values[name] for name in self._names}
        tracer.captured = {name: values[name] for name in named.values() if isinstance(values[name], Vector)}
        items = tuple(values[name] for name in self._names)
        state = items[0] if self._single else items
        traced_loop(
            tracer,
            self._line,
            list(self._names),
            scope,
            lambda *heads: cond(tracer, *heads),
            lambda *heads: body(tracer, *heads),
            state,
        )


class _Loop(Compiled[..., Any]):
    """The programs of a loop of functions with this code: the functions themselves are not kept."""

    def __init__(self, cond: types.FunctionType, body: types.FunctionType, count: int, *, single: bool) -> None:
        named = types.FunctionType(body.__code__, body.__globals__, "while_loop", None, _empty_cells(body))
        named.__qualname__, named.__module__ = f"while_loop of {body.__qualname__}", body.__module__
        super().__init__(named, strict=False)
        self.codes = [cond.__code__, body.__code__]
        taken: set[str] = set()
        code = body.__code__
        given = code.co_varnames[: min(count, code.co_argcount)]
        given += tuple(f"state_{number}" for number in range(len(given), count))
        self.names = tuple(unused_name(name, taken) for name in given)
        line = code.co_firstlineno
        self._captures: Captures | None = None
        traced: Any
        outside: Any = None
        try:
            self._captures = captures = Captures((cond, body), self.names)
            self.codes += captures.codes()
            traced, outside = _Straight(line, self.names, single, captures), captures.outside()
        except NotSupported as error:
            traced = Untraceable(str(error))
        captured = self._captures
        every = self.names if captured is None else (*self.names, *captured.names)
        site = Site(
            line, Variables(every, package_of(body)), self.names, frozenset(self.names), traced, outside, None, True
        )
        site.static = frozenset() if captured is None else frozenset(captured.static)
        self._source = Source(named, [site])

    def scope(self, items: tuple[Any, ...], captured: list[Any]) -> dict[str, Any]:
        """Return the values of the variables."""
        scope = dict(zip(self.names, items, strict=True))
        if self._captures is not None:
            scope.update(zip(self._captures.names, self._captures.values(captured), strict=True))
        return scope

    def enter(self, scope: dict[str, Any], strict: bool, again: bool = True) -> LoopResult | None:
        """Run the program; None where the loop runs step by step."""
        if self._captures is None:
            site = self._rewritten().sites[0]
            report_step_by_step(self._function.__qualname__, site.line, site.traced, strict)
            return None
        return self._enter(0, scope, again, strict)


def _empty_cells(function: types.FunctionType) -> tuple[types.CellType, ...]:
    return tuple(types.CellType() for _ in function.__code__.co_freevars)


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], state: S, *, strict: bool = False) -> S:
    """Repeat ``state = body(*state)`` while ``cond(*state)``: all iterations run as one program of the engine.

    The result is that of ::

        while cond(*state):
            state = body(*state)
        return state

    Parameters
    ----------
    cond : a function of the items of the state that returns whether to continue: a bool, a number or a Scalar
    body : a function of the items of the state that returns the next state, of the same structure
    state : a tuple of Vectors and numbers, or a single Vector or number; of a NamedTuple the type is kept
    strict : whether a loop that cannot be compiled raises NotSupported

    Returns
    -------
    The last state: that which `cond` refuses.

    Raises
    ------
    InvalidType
        If `cond` or `body` is not callable, the state is a list or dict, or `body` returns no tuple where the state is
        one, or an item that is no Vector where the item of the state is one, or no number where that is a number.
    InvalidValue
        If `body` returns a tuple of another length.
    NotSupported
        For ``strict=True``, if the loop is not compiled; the message has the reason.

    Notes
    -----
    The functions may be defined by ``def``, lambdas, or compiled.  They may read variables of the functions around
    them, and write to their Vectors in place, as plain Python does.  The program belongs to their code and to the
    matrices that they read: functions that are made anew in each call share it, and numbers and Vectors that they read
    are its inputs.  What is compiled, and how, is that of `compile`; in a compiled function the call is compiled
    with the loop around it.  Otherwise the loop runs step by step, and `explain` reports the reason.

    If an error is raised, the Vectors of the state and those that the functions read are as they were before the call.

    Cost: that of the iterations, and 20 microseconds a call.  The first call compiles for a second or two; the kernel
    is cached on disk.  Synchronization: on a GPU the call waits for the end of the loop.  Source: the while_loop of JAX
    (``jax.lax.while_loop``), with the items of a state as separate arguments.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)], nrows=5, ncols=5)
    >>> def reached(s):
    ...     seen = Vector.from_coo([s], True, size=5)
    ...     def step(new, depth):
    ...         new = new.vxm(A, "any_pair").dup(mask=~seen.S)
    ...         seen(new.S) << True
    ...         return new, depth + 1
    ...     _, depth = sr.while_loop(lambda new, depth: new.nvals, step, (seen, 0))
    ...     return seen.nvals, depth
    >>> reached(1)
    (3, 3)
    """
    for function in (cond, body):
        _check_callable(function)
    if isinstance(state, (list, dict)):
        raise InvalidType(
            f"sr.while_loop expects a state that is a tuple, a Vector or a number, got {type(state).__name__}"
        )
    items = as_items(state)
    loop, scope = _found(cond, body, items, isinstance(state, tuple), strict)
    held = [
        (value, value._store, value._plan, value._elements)
        for value in (items if loop is None else scope.values())
        if isinstance(value, Holder)
    ]
    try:
        made: S = _run(loop, scope, cond, body, state, strict)
        return made
    except BaseException:
        for value, store, plan, elements in held:
            value._store, value._plan, value._elements = store, plan, elements
        raise


def _check_callable(function: Any) -> None:
    if not callable(function):
        raise InvalidType(f"sr.while_loop expects functions for cond and body, got {type(function).__name__}")


def _found(
    cond: Any, body: Any, items: tuple[Any, ...], several: bool, strict: bool
) -> tuple[_Loop | None, dict[str, Any]]:
    """Return the loop of two functions and the values of its variables; None where it runs step by step."""
    plain, functions = plain_function(cond), plain_function(body)
    if plain is None or functions is None:
        wrong = body if functions is None else cond
        name = getattr(wrong, "__qualname__", type(wrong).__name__)
        return _refused(f"{name} is no function defined by def or lambda", strict)
    signature: list[int] = [len(items) if several else -1]
    captured: list[Any] = []
    try:
        capture((plain, functions), signature, captured)
    except Untraceable as reason:
        return _refused(str(reason), strict)
    key = tuple(signature)
    loop = _loops.get(key)
    if loop is None:
        while len(_loops) >= _KEPT:
            _loops.pop(next(iter(_loops)), None)
        loop = _loops.setdefault(key, _Loop(plain, functions, len(items), single=not several))
    return loop, loop.scope(items, captured)


def _refused(reason: str, strict: bool) -> tuple[None, dict[str, Any]]:
    report_step_by_step("while_loop", 0, Untraceable(reason), strict)
    return None, {}


def _run(loop: _Loop | None, scope: dict[str, Any], cond: Any, body: Any, state: Any, strict: bool) -> Any:
    """Run the program, and the iterations that it leaves step by step."""
    items, again = as_items(state), 0
    if loop is not None:
        result = loop.enter(scope, strict)
        if result is not None:
            items = tuple([result.names.get(name, item) for name, item in zip(loop.names, items, strict=True)])
            if result.done is None:
                return like(state, items) if result.names else state
            again = result.again
    while cond(*items):
        if again == 2 and loop is not None:  # variables have their types after the first iteration
            again = 0
            scope.update(zip(loop.names, items, strict=True))
            result = loop.enter(scope, strict, False)
            if result is not None:
                items = tuple([result.names.get(name, item) for name, item in zip(loop.names, items, strict=True)])
                if result.done is None:
                    break
                continue
        again = 2 if again == 1 else 0
        items = _checked(body(*items), state)
    return like(state, items)


def _checked(given: Any, state: Any) -> tuple[Any, ...]:
    """Return the items of what a body has returned; InvalidType or InvalidValue if its structure is another."""
    if isinstance(given, tuple) is not isinstance(state, tuple):
        raise InvalidType(f"sr.while_loop: body returned {_type(given)}, the state is {_type(state)}")
    before, after = as_items(state), as_items(given)
    if len(before) != len(after):
        raise InvalidValue(f"sr.while_loop: body returned {len(after)} items, the state has {len(before)}")
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if _kind(old) not in (_kind(new), None):
            where = f"item {number} of the state" if isinstance(state, tuple) else "the state"
            raise InvalidType(f"sr.while_loop: body returned {_type(new)} for {where}, which is {_type(old)}")
    return after


def _kind(value: Any) -> str | None:
    """Return what must remain of an item of the state."""
    if isinstance(value, (Vector, Matrix)):
        return "Vector" if isinstance(value, Vector) else "Matrix"
    return "number" if isinstance(value, (numbers.Number, np.generic, Scalar)) else None


def _type(value: Any) -> str:
    """Return the type of a value with an article."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
