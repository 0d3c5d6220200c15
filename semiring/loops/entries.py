"""Programs that are kept: how their inputs and outputs belong to the variables of a function."""

from __future__ import annotations

import copy
import weakref
from typing import Any, NamedTuple

from ..engines.programs.program import ProgramResult
from ..engines.programs.traced import Untraceable
from ..facade.matrix import Matrix
from ..facade.vector import Vector
from ..formats import CSR
from .build import Traced
from .matrices import Roles


class LoopResult(NamedTuple):
    """What a program has done: whether it returned, with which value, and the new values of variables.

    done: the number of iterations, where the loop continues step by step; else None.
    again: 1 where another program may begin with the next iteration, which then has 2.
    """

    returned: bool
    value: Any
    names: dict[str, Any]
    done: int | None = None
    again: int = 0


class Entry:
    """A program that is kept, for a device; `others`: the matrices that it reads beside those of variables.

    in_place, assigned: variable and number of the output; `assigned` also has whether the output is a vector.
    objects: of variables that exchange Vectors, the number of the output with the position among `names` of the
    variable that named the Vector before the loop.
    lists: of lists of vectors, the number of the output, and the class and the labels of the vectors.
    refused: why the engine does not execute the program.
    """

    def __init__(self, made: Traced, scope: dict[str, Any], others: list[Matrix], device: str) -> None:
        program, tracer = made.program, made.tracer
        self.program, self.device = program, device
        self.refused: Untraceable | None = None
        outer = tracer.outer
        assert outer is not None
        at = {id(output): number for number, output in enumerate(program.outputs)}
        self.in_place: list[tuple[str, int]] = []
        self.assigned: list[tuple[str, int, bool]] = []
        self.objects: dict[str, int] = {}
        for (what, name), phi in outer.phis.items():
            if what == "in place":
                self.in_place.append((name, at[id(phi)]))
            elif what == "object":
                self.objects[name] = at[id(phi)]
            elif what == "name":
                kind = tracer.assumed[(*outer.key, "name", name)]
                self.assigned.append((name, at[id(phi)], kind.what == "vector"))
        self.names = outer.names
        self.lists = {name: (at[id(listed.symbol)], *listed.description()) for name, listed in tracer.lists.items()}
        self.returns = [(form, [at[id(item)] for item in items]) for form, items in tracer.returns]
        self._inputs = [(name, type(scope[name]) is list, isinstance(scope[name], Vector)) for name in made.inputs]
        matrices = _stores(scope, others)
        self._roles = None if tracer.recorder.reads_matrices else Roles(matrices)
        if self._roles is not None:
            program.roles = self._roles.named
        self._hold(matrices)

    def _hold(self, matrices: list[CSR]) -> None:
        self.program.held = [a.pattern for a in matrices] + [
            other for a in matrices for other in (a.pattern.facts.get("transpose"), a.cache.get("transpose"))
        ]
        self._stores = [weakref.ref(a) for a in matrices]

    def with_matrices(self, scope: dict[str, Any], others: list[Matrix]) -> Entry | None:
        """Return the entry of the same program for other matrices of the same kinds; None if it is to be traced."""
        compiled, stores = self.program.compiled, _stores(scope, others)
        if self._roles is None or compiled is None or compiled.roles is None:
            return None
        taken = self._roles.taken(compiled.roles, stores)
        if taken is None:
            return None
        made = copy.copy(self)
        made.program = copy.copy(self.program)
        made._hold(stores)
        made.program.compiled = compiled.with_matrices(taken, made.program.held)
        return None if made.program.compiled is None else made

    def valid(self) -> bool:
        """Return whether the stores that identify the entry still exist, so that none has the identity of another."""
        return None not in [store() for store in self._stores]

    def values(self, scope: dict[str, Any]) -> tuple[Any, ...]:
        """Return the values of the inputs of the program."""
        values = []
        for name, is_list, is_vector in self._inputs:
            value = scope[name]
            if is_vector:
                value = value.store
            elif is_list:
                value = tuple([item.store for item in value])
            values.append(value)
        return tuple(values)

    def finish(self, scope: dict[str, Any], result: ProgramResult) -> LoopResult:
        """Give the variables their values after the loop."""
        outputs = result.outputs
        names: dict[str, Any] = {}
        if not result.iterations:  # no variable is assigned: each names the same object
            return LoopResult(False, None, names, 0 if result.exit < 0 else None)
        for name, at, is_vector in self.assigned:
            if name in self.objects:
                names[name] = scope[self.names[outputs[self.objects[name]]]]
            else:
                names[name] = _vector(outputs[at], scope.get(name)) if is_vector else outputs[at]
        if self.objects:
            for name, at, _ in self.assigned:
                if name in self.objects:
                    names[name]._become(outputs[at])
        for name, (at, made, labels) in self.lists.items():
            unchanged, stores = outputs[at]
            scope[name][unchanged:] = vectors = list(map(made._new, stores))
            for vector in vectors:
                vector._labels = labels
        for name, at in self.in_place:
            scope[name]._become(outputs[at])
        if result.exit <= 0:
            return LoopResult(False, None, names, result.iterations if result.exit else None)
        form, items = self.returns[result.exit - 1]
        return LoopResult(True, _returned(form, [outputs[at] for at in items], scope, names), names)


def _stores(scope: dict[str, Any], others: list[Matrix]) -> list[CSR]:
    return [value.operand[0] for value in (*scope.values(), *others) if isinstance(value, Matrix)]


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
