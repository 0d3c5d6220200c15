"""`sr.compile`: functions whose loops over operations run as programs of the engine."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Generic, ParamSpec, TypeVar, overload

from ..config import config, default_device, engine_for
from ..devices import in_parts
from ..engines import recording, registry
from ..engines.programs.program import ProgramResult, RunProgram
from ..engines.programs.traced import Untraceable
from ..exceptions import InvalidType, NotSupported, OutOfMemory
from ..facade.matrix import Matrix
from ..facade.storage_slot import Holder
from ..facade.vector import Vector
from . import build, matrices, plans, source
from .captures import FORM
from .entries import Entry, LoopResult
from .keys import Callee, Unknown, check_aliases, constants, is_helper, is_list
from .local_functions import LocalFunctions

P = ParamSpec("P")
R = TypeVar("R")

# Programs of a function that are kept, for types, sizes and matrices.
_KEPT = 16
_ONE_BY_ONE = "the engine executes operations one by one"


# The traced forms of functions that loops call.
_inlined: weakref.WeakKeyDictionary[types.FunctionType, Callable[..., Any]] = weakref.WeakKeyDictionary()


class Unsettled(Untraceable):
    """A variable has several types in a loop."""


class _Family:
    """The programs of a loop for variables of the same types: what they assume, and the last ones of each constants."""

    __slots__ = ("assumed", "entries", "static")

    def __init__(self, static: Iterable[str]) -> None:
        self.assumed: dict[Any, Any] = {}
        self.static = set(static)
        self.entries: dict[Any, list[Entry]] = {}


class _Known:
    """The programs of a family for certain matrices."""

    __slots__ = ("entries", "family")

    def __init__(self, family: _Family) -> None:
        self.family = family
        self.entries: dict[Any, Entry | Untraceable] = {}


class Compiled(Callee, Generic[P, R]):
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
        super().__init__(function)
        self._strict = strict
        self._source: source.Source | None = None
        self._families: dict[tuple[Any, ...], _Family] = {}
        self._known: dict[tuple[Any, ...], _Known] = {}
        # Of loops that call functions among their variables, by number.
        self._local_functions: defaultdict[int, LocalFunctions] = defaultdict(LocalFunctions)

    def __call__(self, *args: P.args, **named: P.kwargs) -> R:  # noqa: D102  # the docstring is that of the function
        function = (self._source or self._rewritten()).function
        held = [
            (value, value._store, value._plan, value._elements)
            for value in (args + tuple(named.values()) if named else args)
            if isinstance(value, Holder)
        ]
        try:
            return function(*args, **named)  # type: ignore[no-any-return]
        except BaseException:
            # A function that raises leaves its arguments as they were, like an operation.
            for value, store, plan, elements in held:
                value._store, value._plan, value._elements = store, plan, elements
            raise

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str:
        return self._function.__qualname__

    def __repr__(self) -> str:
        return f"<compiled function {self._function.__qualname__}{inspect.signature(self._function)}>"

    def plan(self, *args: P.args, **named: P.kwargs) -> plans.Plan:
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
            self(*copies, **copied)  # type: ignore[arg-type]
        return plans.Plan(self._function.__qualname__, loops)

    def _rewritten(self) -> source.Source:
        if self._source is None:
            self._source = source.rewritten(self._function, self._enter)
        return self._source

    # -- a loop ----------------------------------------------------------------------------------------------

    def _enter(
        self, number: int, scope: dict[str, Any], again: bool = True, strict: bool | None = None
    ) -> LoopResult | None:
        """Run the program of a loop; None where the loop runs step by step.

        again: the first iteration may run step by step, where variables have their types after it.
        strict: None for that of the function.
        """
        site = self._rewritten().sites[number]
        if site.over is not None and not is_list(scope.get(site.over)):
            return None
        key: Any = number
        try:
            if recording.users and recording.FORMULAS.get() is not None:
                raise Untraceable(_ONE_BY_ONE)
            if site.called:
                package = (self._function.__module__ or "").partition(".")[0]
                functions, site, scope = self._local_functions[number].site(site, scope, package)
                key = number, functions
            entry = self._entry(key, site, scope)
            result = self._result(entry, scope)
        except Untraceable as reason:
            if again and site.restarts and isinstance(reason, Unsettled):
                return LoopResult(False, None, {}, 0, 1)
            strict = self._strict if strict is None else strict
            report_step_by_step(self._function.__qualname__, site.line, reason, strict)
            return None
        if again and site.restarts and result is not None and result.exit < 0 and not result.iterations:
            return LoopResult(False, None, {}, 0, 1)  # the first iteration is large; the next one may be small
        if plans.noting():
            plans.note(plans.LoopPlan(site.line, "", entry.program, result))
        return None if result is None else entry.finish(scope, result)

    def _result(self, entry: Entry, scope: dict[str, Any]) -> ProgramResult | None:
        """Run a program."""
        if entry.refused is not None:
            raise entry.refused
        try:
            result: ProgramResult | None = registry.run(RunProgram(entry.program, entry.values(scope)), entry.device)
        except Untraceable as reason:
            entry.refused = reason
            raise
        except OutOfMemory as error:  # its rows are more than what operations need one by one
            raise Untraceable(str(error)) from error
        return result

    def _entry(self, number: Any, site: source.Site, scope: dict[str, Any]) -> Entry:
        """Return the program of a loop for these variables; it is traced if it is not known."""
        try:
            key = site.variables.key(scope)
            key += number, config.device, config.cpu_engine, config.direction, config.fusion, site.outside.key()
        except Unknown:
            scope = _mentioned(site, scope)
            check_aliases(scope, [*site.outside.values(), *scope.values()])
            return self._traced(site, scope, _Family(site.static))
        exact = tuple(key)
        known = self._known.get(exact)
        found = None
        if known is not None:
            static = known.family.static
            found = known.entries.get(constants(scope, static) if static else ())
        if found is None or (isinstance(found, Entry) and not found.valid()):
            scope = _mentioned(site, scope)
            family = self._family(site, scope, exact)
            found = self._other(family, site, scope)
            if found is None:
                try:
                    found = self._traced(site, scope, family)
                    _limit(family.entries)
                    # Structures may be symmetric or not.
                    traced = family.entries.setdefault(constants(scope, family.static), [])
                    traced[:] = [*traced[-1:], found]
                except Untraceable as reason:
                    found = reason
            if known is None or known.family is not family:
                _limit(self._known)
                known = self._known[exact] = _Known(family)
            _limit(known.entries)
            known.entries[constants(scope, family.static)] = found
        if isinstance(found, Untraceable):
            raise found
        return found

    def _family(self, site: source.Site, scope: dict[str, Any], exact: tuple[Any, ...]) -> _Family:
        """Return the family of the programs for these types: one for all matrices of the same kinds."""
        kinds = tuple(site.variables.key(scope, matrices.kind))
        stores = [id(value.operand[0]) for value in scope.values() if isinstance(value, Matrix)]
        key = kinds + exact[len(kinds) :] + tuple(map(stores.index, stores))
        family = self._families.get(key)
        if family is None:
            _limit(self._families)
            family = self._families.setdefault(key, _Family(site.static))
        return family

    def _other(self, family: _Family, site: source.Site, scope: dict[str, Any]) -> Entry | None:
        """Return the program of a family that was traced with other matrices, for these."""
        for entry in reversed(family.entries.get(constants(scope, family.static), ())):
            found = entry.with_matrices(scope, site.outside.matrices())
            if found is not None:
                return found
        return None

    def _traced(self, site: source.Site, scope: dict[str, Any], family: _Family) -> Entry:
        if isinstance(site.traced, Untraceable):
            raise site.traced
        others = site.outside.matrices()
        device = _device(scope, others)
        if engine_for(device) not in ("cpu", "cuda"):
            raise Untraceable(_ONE_BY_ONE)
        token = recording.LOG.set(None)  # what is recorded is not executed
        try:
            made = build.traced_program(
                site.traced,
                scope,
                site.later,
                family.assumed,
                family.static,
                site.variables.varying,
                self._inline,
                device,
            )
        except Untraceable as reason:
            raise (Unsettled(str(reason)) if _unsettled(family) else reason) from None
        except KeyboardInterrupt:
            raise
        except Exception as error:  # step by step Python shows whether this is an error of the program
            raise (_unsettled(family) or Untraceable(f"{type(error).__name__}: {error}")) from error
        finally:
            recording.LOG.reset(token)
        return Entry(made, scope, others, device)

    def _inline(self, function: Any) -> Callable[..., Any] | None:
        """Return the form of another function that a traced loop calls: a compiled one, or one of the same package."""
        form = getattr(function, FORM, None) if type(function) is types.FunctionType else None
        if form is not None:  # it reads variables of the trace
            return form()  # type: ignore[no-any-return]
        if isinstance(function, Compiled):
            function = function._function
        elif not is_helper(function, (self._function.__module__ or "").partition(".")[0]):
            return None
        found = _inlined.get(function)
        if found is None:
            try:
                found = _inlined[function] = source.inlined(function)
            except NotSupported:
                return None
        return found


def report_step_by_step(name: str, line: int, reason: Any, strict: bool) -> None:
    """Report why a loop is not compiled, to plans and to `explain`; strict: raise NotSupported."""
    if strict:
        raise NotSupported(f"{name}, line {line}: the loop is not compiled: {reason}") from None
    plans.note(plans.LoopPlan(line, str(reason)))
    log = recording.LOG.get()
    if log is not None:
        log.append(recording.Call("loop", "step by step", 0.0, {"line": line, "reason": str(reason)}))


def _unsettled(family: _Family) -> Unsettled | None:
    """Return the reason if a variable has one type before an iteration and another after it."""
    for (*_, name), kind in family.assumed.items():
        if kind.what == "object" and kind.why:
            return Unsettled(f"the variable {name} has no single type in the loop: {kind.why}")
    return None


def _mentioned(site: source.Site, scope: dict[str, Any]) -> dict[str, Any]:
    """Return the variables that a loop mentions."""
    return {name: scope[name] for name in site.variables.names if name in scope}


def _limit(kept: dict[Any, Any]) -> None:
    """Drop the oldest until there is a place for another one."""
    while len(kept) >= _KEPT:
        kept.pop(next(iter(kept)), None)


def _device(scope: dict[str, Any], matrices: list[Matrix]) -> str:
    """Return the device of the variables; Untraceable where they are on several, or on several processes."""
    listed = [item for value in scope.values() if isinstance(value, list) for item in value]
    found = {value.device for value in (*scope.values(), *listed, *matrices) if isinstance(value, (Vector, Matrix))}
    if len(found) > 1:
        raise Untraceable(f"operands on {' and '.join(sorted(found))}")
    device = found.pop() if found else default_device()
    if in_parts(device):
        raise Untraceable(f"operands on {device}: loops are compiled for one process")
    return device


@overload
def compile(function: Callable[P, R]) -> Compiled[P, R]: ...
@overload
def compile(*, strict: bool = False) -> Callable[[Callable[P, R]], Compiled[P, R]]: ...
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
