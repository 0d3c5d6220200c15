"""Branches of a traced loop, and the state that blocks of control flow save."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..engines.programs import traced
from ..engines.programs.program import Block, Branch, Leave, Loop, Move
from ..engines.programs.traced import Untraceable
from ..facade.matrix import Matrix
from ..facade.scalar import Scalar
from ..facade.vector import Vector
from .expressions import Expressions, Undefined, is_static, unchanged
from .kinds import Kind, as_kind, joined, placeholder
from .lists import TracedList


@dataclass(eq=False)
class Region:
    """A block of control flow that is open.

    names: the variables that it may assign.  holders: the vectors in scope, by the name of a variable.  stores, values:
    of both, where it began.
    """

    names: list[str]
    holders: dict[str, Vector]
    stores: dict[str, Any]
    values: dict[str, Any]
    outer: Block
    # Of loops.
    loop: Loop | None = None
    read: frozenset[str] = frozenset()
    key: tuple[Any, ...] = ()
    phis: dict[tuple[str, str], Any] = field(default_factory=dict)
    heads: dict[str, Any] = field(default_factory=dict)
    advance: Callable[[], Move] | None = None
    counter: Any = None
    vectors: TracedList | None = None
    # Of branches.
    branch: Branch | None = None
    ends: list[tuple[dict[str, Any], dict[str, Any]] | None] = field(default_factory=list)


class Branches(Expressions):
    """The part of a tracer that the rewritten ``if`` calls."""

    regions: list[Region]
    ended: bool
    captured: dict[str, Vector]

    def shadow(self, like: Vector, store: Any) -> Vector:
        """Return a new Vector with this store, of the class and the labels of another."""
        made = like._new(store)
        made._labels = like._labels
        return self.own(made)  # type: ignore[no-any-return]

    def _everything(self, scope: dict[str, Any]) -> dict[str, Any]:
        """Return variables with those of functions around the ones that the loop calls."""
        if not self.captured:
            return scope
        present = set(map(id, scope.values()))
        others = {
            name if name not in scope else f"{name} outside": value
            for name, value in self.captured.items()
            if id(value) not in present
        }
        return {**others, **scope}

    def _scope(self, scope: dict[str, Any]) -> dict[str, Vector]:
        """Return the vectors that variables name, each once, with their contents computed."""
        self.recorder.settle()
        scope = self._everything(scope)
        found: dict[str, Vector] = {}
        seen: set[int] = set()
        for name in sorted(scope):
            value = scope[name]
            if isinstance(value, (list, dict, set)) and any(
                isinstance(item, (Vector, Matrix, Scalar))
                for item in (value.values() if isinstance(value, dict) else value)
            ):
                raise Untraceable(f"the variable {name} is a {type(value).__name__} of vectors")
            if isinstance(value, Vector) and id(value) not in seen and id(value) in self.recorder.own:
                seen.add(id(value))
                found[name] = value
                value._store = self.recorder.operand(value.store)
        return found

    def _kind_of(self, value: Any) -> Kind:
        return as_kind(self._store_of(value))

    def _store_of(self, value: Any) -> Any:
        return self.recorder.operand(value.store) if isinstance(value, Vector) else value

    def _settle(self, scope: dict[str, Any]) -> None:
        """Execute what is pending: the program computes it here."""
        self.recorder.settle()
        for value in self._everything(scope).values():
            if isinstance(value, Vector) and id(value) in self.recorder.own:
                _ = value.store

    def _check_open(self) -> None:
        if self.ended:
            raise Untraceable("statements after the end of a block")

    def decide(self, value: Any) -> Any:
        """Return the truth of a condition where it is known now, else the number."""
        return bool(value) if is_static(value) else traced.truth(value)

    def then(self, test: Any, names: list[str], scope: dict[str, Any]) -> tuple[Any, ...]:
        """Open a branch."""
        self._check_open()
        holders = self._scope(scope)
        values = {name: scope.get(name, Undefined()) for name in names}
        branch = Branch(test)
        region = Region(names, holders, {n: v.store for n, v in holders.items()}, values, self.recorder.block)
        region.branch = branch
        self.recorder.emit(branch)
        self.regions.append(region)
        self.recorder.block = branch.then
        return tuple(values.values())

    def _end_block(self, region: Region, scope: dict[str, Any]) -> None:
        if self.ended:
            region.ends.append(None)
        else:
            self._settle(scope)
            stores = {name: self.recorder.operand(holder.store) for name, holder in region.holders.items()}
            region.ends.append((stores, {name: scope.get(name, Undefined()) for name in region.names}))
        self.ended = False
        for name, holder in region.holders.items():
            holder._store, holder._plan = region.stores[name], None

    def otherwise(self, scope: dict[str, Any]) -> tuple[Any, ...]:
        """End the first block, and open the second."""
        region = self.regions[-1]
        assert region.branch is not None
        self._end_block(region, scope)
        self.recorder.block = region.branch.otherwise
        return tuple(region.values.values())

    def end_if(self, scope: dict[str, Any]) -> tuple[Any, ...]:
        """Close the branch; return the values of its names after it."""
        region = self.regions.pop()
        branch = region.branch
        assert branch is not None
        self._end_block(region, scope)
        self.recorder.block = region.outer
        first, second = region.ends
        if first is None and second is None:
            self.ended = True
            return tuple(region.values.values())
        if first is None or second is None:
            stores, values = first or second  # type: ignore[misc]
            for name, holder in region.holders.items():
                holder._store = stores[name]
            return tuple(values.values())
        moves: tuple[list[Move], list[Move]] = ([], [])
        for name, holder in region.holders.items():
            holder._store = self._merged(first[0][name], second[0][name], moves)
        after = []
        for name in region.names:
            a, b = first[1][name], second[1][name]
            if unchanged(a, b):
                after.append(a)
                continue
            kind = joined(self._kind_of(a), self._kind_of(b))
            if isinstance(a, Undefined) or isinstance(b, Undefined) or kind.what == "object":
                after.append(Undefined("one branch of an if does not assign, or assigns as another type"))
            elif kind.what == "number":
                after.append(self._merged(a, b, moves))
            else:
                if any(value is holder for value in (a, b) for holder in region.holders.values()):
                    raise Untraceable(f"the variable {name} names one Vector or another, depending on an if")
                made = self.shadow(a, self._merged(self._store_of(a), self._store_of(b), moves))
                if id(a) in self.recorder.held or id(b) in self.recorder.held:
                    self.recorder.held[id(made)] = made
                after.append(made)
        for block, merged in zip((branch.then, branch.otherwise), moves, strict=True):
            block.steps.append(Leave("next", merged))
        return tuple(after)

    def _merged(self, a: Any, b: Any, moves: tuple[list[Move], list[Move]]) -> Any:
        if a is b:
            return a
        kind = joined(as_kind(a), as_kind(b))
        if kind.what == "object":
            raise Untraceable("a value that has one type or another, depending on an if")
        made = placeholder(kind)
        moves[0].append(Move(made, a))
        moves[1].append(Move(made, b))
        return made
