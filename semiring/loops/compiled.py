"""`sr.compile`: functions whose loops over operations run as programs of the engine."""

from __future__ import annotations

import builtins
import functools
import inspect
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, overload

from ..config import config, default_device, engine_for
from ..engines import recording, registry
from ..engines.program import Program, ProgramResult, RunProgram
from ..engines.traced import Untraceable
from ..exceptions import InvalidType, NotSupported, OutOfMemory
from ..facade.holder import Holder
from ..facade.matrix import Matrix
from ..facade.vector import Vector
from . import build, plans, source
from .keys import Unknown, check_aliases, constant, constants, described, held_names

F = TypeVar("F", bound=Callable[..., Any])

# Programs of a function that are kept, for types, sizes and matrices.
_KEPT = 16
_SLOTS = ("_store", "_plan", "_elements")


class _Result(NamedTuple):
    """What a program has done: whether it returned, with which value, and the new values of variables.

    done: the number of iterations, where the loop continues step by step; else None.
    """

    returned: bool
    value: Any
    names: dict[str, Any]
    done: int | None = None


@dataclass(eq=False)
class _Entry:
    """A program that is kept: for which stores, and how its inputs and outputs belong to variables.

    inputs: the variable of each input.  in_place, assigned: variable and number of the output; `assigned` also has
    whether the output is a vector, and whether the variable may have no value before the loop.
    objects: of variables that exchange Vectors, the number of the output with the position among `names` of the
    variable that named the Vector before the loop.
    lists: of lists of vectors, the number of the output, and the class and the labels of the vectors.
    refused: why the engine does not execute the program.
    """

    program: Program
    stores: list[Any]
    inputs: list[str]
    in_place: list[tuple[str, int]]
    assigned: list[tuple[str, int, bool, bool]]
    returns: list[tuple[Any, list[int]]]
    static: tuple[str, ...]
    objects: dict[str, int]
    names: list[str]
    lists: dict[str, tuple[int, type[Vector], Any]]
    refused: Untraceable | None = None

    def valid(self) -> bool:
        """Return whether the stores that identify the entry still exist, so that none has the identity of another."""
        return all(store() is not None for store in self.stores)


class Compiled:
    """A function whose loops are compiled; made by `compile`.

    Methods, threads and pickles treat it as the function.  ``f.plan(*args)`` returns what is compiled, and what is not
    and why; ``f.__wrapped__`` is the function itself.

    Examples
    --------
    >>> @sr.compile
    ... def reached(A, v):
    ...     while True:
    ...         before = v.nvals
    ...         v(accum="lor") << v.vxm(A, "any_pair")
    ...         if v.nvals == before:
    ...             return v
    >>> reached(Matrix.from_edgelist([(0, 1), (1, 2)], nrows=4, ncols=4), Vector.from_coo([0], True, size=4)).nvals
    3
    """

    def __init__(self, function: types.FunctionType, *, strict: bool) -> None:
        functools.update_wrapper(self, function)
        self._function, self._strict = function, strict
        self._source: source.Source | None = None
        self._entries: dict[Any, _Entry | Untraceable] = {}
        self._assumed: dict[Any, tuple[dict[Any, Any], set[str]]] = {}
        self._inlined: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **named: Any) -> Any:  # noqa: D102  # the docstring is that of the function
        made = self._rewritten()
        held = [
            (value, [getattr(value, slot) for slot in _SLOTS])
            for value in (*args, *named.values())
            if isinstance(value, Holder)
        ]
        try:
            return made.function(*args, **named)
        except BaseException:
            # A function that raises leaves its arguments as they were, like an operation.
            for value, slots in held:
                for slot, content in zip(_SLOTS, slots, strict=True):
                    setattr(value, slot, content)
            raise

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str:
        return self._function.__qualname__

    def __repr__(self) -> str:
        return f"<compiled function {self._function.__qualname__}{inspect.signature(self._function)}>"

    def plan(self, *args: Any, **named: Any) -> plans.Plan:
        """Call the function, and return what its loops did.

        Parameters
        ----------
        *args, **named : the arguments of the call, which are not changed

        Returns
        -------
        A `Plan`, which prints each loop: its program, or the reason why it runs step by step.

        Raises
        ------
        What the function raises.

        Notes
        -----
        Cost: that of the call, and of the copies of written arguments.

        Examples
        --------
        >>> @sr.compile
        ... def halved(v):
        ...     for _ in range(3):
        ...         v << v * 0.5
        ...     return v
        >>> plan = halved.plan(Vector.full(8.0, 2))
        >>> plan.loops[0].compiled, plan.loops[0].reason
        (True, '')
        """
        copies = [value.dup() if isinstance(value, (Vector, Matrix)) else value for value in args]
        copied = {k: value.dup() if isinstance(value, (Vector, Matrix)) else value for k, value in named.items()}
        with plans.recorded() as loops:
            self(*copies, **copied)
        return plans.Plan(self._function.__qualname__, loops)

    def _rewritten(self) -> source.Source:
        if self._source is None:
            self._source = source.rewritten(self._function, self._enter)
        return self._source

    # -- a loop ----------------------------------------------------------------------------------------------

    def _enter(self, number: int, scope: dict[str, Any]) -> _Result | None:
        """Run the program of a loop; None where the loop runs step by step."""
        site = self._rewritten().sites[number]
        try:
            return self._run(number, site, scope)
        except Untraceable as reason:
            if self._strict:
                raise NotSupported(
                    f"{self._function.__qualname__}, line {site.line}: the loop is not compiled: {reason}"
                ) from None
            plans.note(plans.LoopPlan(site.line, str(reason)))
            log = recording.LOG.get()
            if log is not None:
                details = {"line": site.line, "reason": str(reason)}
                log.append(recording.Call("loop", "step by step", 0.0, details))
            return None

    def _run(self, number: int, site: source.Site, scope: dict[str, Any]) -> _Result | None:
        if isinstance(site.traced, Untraceable):
            raise site.traced
        scope = {name: scope[name] for name in site.names if name in scope}
        device = _device(scope)
        if engine_for(device) not in ("cpu", "cuda") or (recording.users and recording.FORMULAS.get() is not None):
            raise Untraceable("the engine executes operations one by one")
        entry = self._entry(number, site, scope, device)
        if entry.refused is not None:
            raise entry.refused
        values = tuple(map(_value, (scope[name] for name in entry.inputs)))
        try:
            result: ProgramResult | None = registry.run(RunProgram(entry.program, values), device)
        except Untraceable as reason:
            entry.refused = reason
            raise
        except OutOfMemory as error:  # its rows are more than what operations need one by one
            raise Untraceable(str(error)) from error
        plans.note(plans.LoopPlan(site.line, "", entry.program, result))
        return None if result is None else _finish(scope, entry, result)

    def _entry(self, number: int, site: source.Site, scope: dict[str, Any], device: str) -> _Entry:
        """Return the program of a loop for these variables; it is traced if it is not known."""
        try:
            kinds = (number, device, config.direction, config.fusion, *map(described, scope, scope.values()))
            kinds += (held_names(scope), *(self._outside(name) for name in site.outside))
        except Unknown:
            others = [inspect.getclosurevars(self._function).nonlocals, self._function.__globals__]
            reached = [value for names in others for name, value in names.items() if name in site.outside]
            check_aliases(scope, [*reached, *scope.values()])
            return self._traced(site, scope, {}, set(), device)
        if len(self._assumed) > 4 * _KEPT:
            self._assumed.clear()
        assumed, static = self._assumed.setdefault(kinds, ({}, set()))
        found = self._entries.get((kinds, constants(scope, static)))
        if found is None or (isinstance(found, _Entry) and not found.valid()):
            try:
                found = self._traced(site, scope, assumed, static, device)
            except Untraceable as reason:
                found = reason
            while len(self._entries) >= _KEPT:
                self._entries.pop(next(iter(self._entries)))
            self._entries[kinds, constants(scope, static)] = found
        if isinstance(found, Untraceable):
            raise found
        return found

    def _outside(self, name: str) -> Any:
        """Return what a program depends on of a name that is not a variable of the function."""
        function = self._function
        if name in function.__code__.co_freevars:
            cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
            try:
                return constant(name, cells[name].cell_contents)
            except ValueError:
                raise Unknown from None  # not assigned yet
        if name in function.__globals__:
            return constant(name, function.__globals__[name])
        return name if hasattr(builtins, name) else (name, None)

    def _traced(self, site: source.Site, scope: dict[str, Any], assumed: Any, static: set[str], device: str) -> _Entry:
        assert not isinstance(site.traced, Untraceable)
        token = recording.LOG.set(None)  # what is recorded is not executed
        try:
            program, tracer, inputs = build.traced_program(
                site.traced, scope, site.later, assumed, static, self._inline, device
            )
        except (Untraceable, KeyboardInterrupt):
            raise
        except Exception as error:  # step by step Python shows whether this is an error of the program
            raise Untraceable(f"{type(error).__name__}: {error}") from error
        finally:
            recording.LOG.reset(token)
        outer = tracer.outer
        assert outer is not None
        at = {id(output): number for number, output in enumerate(program.outputs)}
        in_place, assigned, objects = [], [], {}
        for (what, name), phi in outer.phis.items():
            if what == "in place":
                in_place.append((name, at[id(phi)]))
            elif what == "object":
                objects[name] = at[id(phi)]
            elif what == "name":
                kind = tracer.assumed[(*outer.key, "name", name)]
                assigned.append((name, at[id(phi)], kind.what == "vector", kind.late))
        returns = [(form, [at[id(item)] for item in items]) for form, items in tracer.returns]
        matrices = [value.operand[0] for value in scope.values() if isinstance(value, Matrix)]
        program.held = [a.pattern for a in matrices] + [
            other for a in matrices for other in (a.pattern.facts.get("transpose"), a.cache.get("transpose"))
        ]
        stores = [weakref.ref(a) for a in matrices]
        constant_names = tuple(sorted(static))
        lists = {name: (at[id(listed.symbol)], *listed.description()) for name, listed in tracer.lists.items()}
        return _Entry(program, stores, inputs, in_place, assigned, returns, constant_names, objects, outer.names, lists)

    def _inline(self, function: Any) -> Callable[..., Any] | None:
        """Return the form of another compiled function that a traced loop calls."""
        if not isinstance(function, Compiled):
            return None
        if function._inlined is None:
            function._inlined = source.inlined(function._function)
        return function._inlined


def _value(variable: Any) -> Any:
    """Return the value of a variable for a program."""
    if isinstance(variable, list):
        return tuple(item.store for item in variable)
    return variable.store if isinstance(variable, Vector) else variable


def _finish(scope: dict[str, Any], entry: _Entry, result: ProgramResult) -> _Result:
    """Give the variables their values after the loop."""
    outputs, names = result.outputs, {}
    for name, at, is_vector, late in entry.assigned:
        if late and not result.iterations:
            continue
        if name in entry.objects:
            names[name] = scope[entry.names[outputs[entry.objects[name]]]]
        else:
            names[name] = _vector(outputs[at], scope.get(name)) if is_vector else outputs[at]
    for name, at, _, _ in entry.assigned:
        if name in entry.objects:
            names[name]._become(outputs[at])
    for name, (at, made, labels) in entry.lists.items():
        unchanged, stores = outputs[at]
        scope[name][unchanged:] = vectors = list(map(made._new, stores))
        for vector in vectors:
            vector._labels = labels
    for name, at in entry.in_place:
        scope[name]._become(outputs[at])
    if result.exit <= 0:
        return _Result(False, None, names, result.iterations if result.exit else None)
    form, items = entry.returns[result.exit - 1]
    return _Result(True, _returned(form, [outputs[at] for at in items], scope, names), names)


def _device(scope: dict[str, Any]) -> str:
    """Return the device of the variables; Untraceable where they are on several, or on several processes."""
    listed = [item for value in scope.values() if isinstance(value, list) for item in value]
    found = {value.device for value in (*scope.values(), *listed) if isinstance(value, (Vector, Matrix))}
    if len(found) > 1:
        raise Untraceable(f"operands on {' and '.join(sorted(found))}")
    device = found.pop() if found else default_device()
    if " " in device:
        raise Untraceable(f"operands on {device}: loops are compiled for one process")
    return device


def _vector(store: Any, like: Any) -> Vector:
    """Return a new Vector of the class and with the labels of another."""
    if not isinstance(like, Vector):
        return Vector._new(store)
    made = like._new(store)
    made._labels = like._labels
    return made


def _returned(form: Any, outputs: list[Any], scope: dict[str, Any], names: dict[str, Any]) -> Any:
    match form:
        case ("tuple", parts):
            return tuple(_returned(part, outputs, scope, names) for part in parts)
        case ("constant", value):
            return value
        case ("number", at):
            return outputs[at]
        case ("holder", name):
            return scope[name]
        case ("variable", name):
            return names[name]
        case ("vector", at, labels):
            made = Vector._new(outputs[at])
            made._labels = labels
            return made
    raise AssertionError(form)


@overload
def compile(function: F) -> F: ...
@overload
def compile(*, strict: bool = False) -> Callable[[F], F]: ...
def compile(function: Any = None, *, strict: bool = False) -> Any:  # the public name is sr.compile
    """Compile the loops of a function: all iterations run as one program of the engine.

    The result is that of the function without the decorator.  Python around the loops remains Python.  A loop that
    cannot be compiled runs step by step, and ``f.plan(...)`` and `explain` name the reason.

    Parameters
    ----------
    function : a function defined by ``def``, whose source is available
    strict : whether a loop that cannot be compiled raises NotSupported

    Returns
    -------
    A `Compiled` function.

    Raises
    ------
    InvalidType
        If it is not a function.
    NotSupported
        When it is first called, if its source is not available; and for ``strict=True``.

    Notes
    -----
    Compiled are ``while``, ``for ... in range(...)``, ``if``, ``break``, ``continue``, ``return`` and ``assert``, with
    numbers that change, and operations on vectors: products with a Matrix, element-wise operations, apply, select,
    reductions to scalars, writes under masks, elements, extraction and scatter by index vectors, and lists of vectors.
    Operations on matrices, and calls that may have effects, run step by step.

    A loop is compiled for types, formats and operators, not for sizes or values: a second or two the first time, then
    cached on disk.  On the CPU engine one thread runs the program; it returns to operations one by one where iterations
    are so large that their threads take less time.  On a GPU all blocks run it in one launch, or the first alone while
    the work is small.  On a grid of processes loops run step by step.

    If the function raises, its arguments are as they were before the call.

    Examples
    --------
    >>> @sr.compile
    ... def levels(A, s):
    ...     level, depth = Vector(int, A.nrows), 0
    ...     frontier = Vector.from_coo([s], True, size=A.nrows)
    ...     while frontier.nvals:
    ...         level(frontier.S) << depth
    ...         frontier(~level.S, replace=True) << frontier.vxm(A, "any_pair")
    ...         depth += 1
    ...     return level
    >>> levels(Matrix.from_edgelist([(0, 1), (1, 2)], nrows=3, ncols=3), 0).to_dict()
    {0: 0, 1: 1, 2: 2}
    """
    if function is None:
        return functools.partial(compile, strict=strict)
    if isinstance(function, Compiled):
        return Compiled(function._function, strict=strict)
    if not isinstance(function, types.FunctionType):
        raise InvalidType(f"sr.compile decorates a function defined by def, got {type(function).__name__}")
    if (
        function.__name__ == "<lambda>"
        or inspect.iscoroutinefunction(function)
        or inspect.isgeneratorfunction(function)
    ):
        raise InvalidType("sr.compile decorates a function defined by def that is no generator or coroutine")
    return Compiled(function, strict=strict)
