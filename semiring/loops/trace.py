"""The tracer: runs the straight-line form of a loop once, and builds its program.

What changes from iteration to iteration is not known before the body was traced.  So a trace begins with the assumption
that nothing does, and where its end contradicts that, the assumption is corrected and the loop is traced again.  An
assumption only ever becomes more general: constant, one shared value, full, any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engines.programs import traced
from ..engines.programs.program import Compute, Leave, Loop, Move
from ..engines.programs.traced import Number, Typed, Untraceable
from ..engines.programs.tracing import Recorder
from ..facade.scalar import Scalar
from ..facade.vector import Vector
from .branches import Branches, Region
from .expressions import Undefined, is_static, unchanged
from .inner import Inline, is_while_loop, traced_call
from .kinds import Kind, as_kind, joined, placeholder
from .lists import TracedList
from .matrices import Operand


class Retrace(Exception):
    """An assumption was corrected."""


class Tracer(Branches):
    """Builds the program of one loop; its methods are called by the rewritten code (`source`)."""

    def __init__(
        self, assumed: dict[tuple[Any, ...], Kind], inline: Callable[[Any], Callable[..., Any] | None], device: str
    ) -> None:
        self.assumed = assumed
        self.recorder = Recorder(device)
        self.regions: list[Region] = []
        self.loops = 0
        self.ended = False  # the current block has left the loop: nothing that follows is executed
        self.returns: list[tuple[Any, list[Any]]] = []
        # Variables after a loop inside that may not have iterated: they name the Vector of before it, or another one.
        self.uncertain: list[tuple[str, Vector, Any]] = []
        self.lists: dict[str, TracedList] = {}
        self.captured: dict[str, Vector] = {}
        self._inline = inline
        self._depth = 0
        self.outer: Region | None = None
        # The variables of what loops carry, by the identity of placeholders and numbers.
        self.names: dict[int, str] = {}

    # -- loops -------------------------------------------------------------------------------------------------

    def loop(self, line: int, names: list[str], read: list[str], scope: dict[str, Any]) -> tuple[Any, ...]:
        """Open a loop; return the values of `names` at its head.  read: those that are read outside of the loop."""
        self._check_open()
        holders = self._scope(scope)
        values = {name: scope.get(name, Undefined()) for name in names}
        loop = Loop(line)
        region = Region(names, holders, {n: v.store for n, v in holders.items()}, values, self.recorder.block, loop)
        region.read = frozenset(read)
        region.key = (self.loops, line)
        self.loops += 1
        if self.outer is None:
            self.outer = region
        self.recorder.emit(loop)
        self.regions.append(region)
        for name, holder in holders.items():
            kind = self.assumed.get((*region.key, "in place", name))
            if kind is not None and (*region.key, "object", name) not in self.assumed:
                phi = self._named(name, placeholder(kind))
                region.phis["in place", name] = phi
                loop.initial.append(Move(phi, holder._store))
                holder._store = phi
        entered = {id(holder): region.stores[name] for name, holder in holders.items()}
        for name in names:
            value = values[name]
            kind = self.assumed.get((*region.key, "name", name))
            if kind is None or kind.what == "object":
                region.heads[name] = value if kind is None else _several(name, kind)
                continue
            phi = self._named(name, placeholder(kind))
            region.phis["name", name] = phi
            if kind.late:
                region.heads[name] = Undefined()
                continue
            if kind.what == "number":
                loop.initial.append(Move(phi, value))
                region.heads[name] = phi
            else:
                store = entered.get(id(value))  # a holder may have what the loop carries by now
                loop.initial.append(Move(phi, self.recorder.operand(value.store if store is None else store)))
                head = region.heads[name] = self.shadow(value, phi)
                if id(value) in self.recorder.held or (*region.key, "held", name) in self.assumed:
                    self.recorder.held[id(head)] = head
        for move in loop.initial:
            self.recorder.expect(move.target, many=self.recorder.likely_many(move.source))
        self._number_objects(region, scope)
        self.recorder.block = loop.head
        return tuple(region.heads[name] for name in names)

    def _number_objects(self, region: Region, scope: dict[str, Any]) -> None:
        """Carry which Vector each variable names, for variables that exchange Vectors that are written in place.

        The number is the position among `names` of the variable that named it before the loop.
        """
        assert region.loop is not None
        for number, name in enumerate(region.names):
            if (*region.key, "object", name) in self.assumed:
                others = [other for other, value in scope.items() if value is region.values[name] and other != name]
                if others:
                    raise Untraceable(f"{name} and {others[0]} are one Vector, and exchanged with others")
                phi = region.phis["object", name] = self._named(f"object of {name}", Number("int"))
                region.loop.initial.append(Move(phi, number))

    def _exchanged(self, region: Region, scope: dict[str, Any]) -> list[Move]:
        """Return the moves of which Vector each variable names; corrects the assumption that none is exchanged.

        A Vector that was written in place must still be named by a variable at the end of an iteration.
        """
        heads = {id(head): name for name, head in region.heads.items() if isinstance(head, Vector)}
        before = {name: heads.get(id(scope.get(name))) for name in heads.values()}
        known = {name for what, name in region.phis if what == "object"}
        changed = [name for name, was in before.items() if was != name]
        if any(("name", name) not in region.phis and isinstance(scope.get(name), Vector) for name in changed):
            return []  # `_carried_name` corrects first that it is not carried
        # Exchanged Vectors remain those of the caller, who may write to them after the loop.
        permuted = {name for name in changed if before[name] is not None}
        while (closed := permuted & {before[name] for name in permuted}) != permuted or any(
            before[name] not in permuted for name in permuted
        ):
            permuted = {name for name in closed if before[name] in closed}
        needed = (known | permuted) | {
            name
            for name in before
            if ("name", name) in region.phis and region.heads[name].store is not region.phis["name", name]
        }
        grown: set[str] = set()
        while grown != needed:
            grown = set(needed)
            needed |= {name for name, was in before.items() if was in grown}
            needed |= {was for name in grown if (was := before[name]) is not None}
        if not needed:
            return []
        if region is not self.outer or {before[name] for name in needed} != needed:
            lost = next((name for name in sorted(needed) if before[name] != name), min(needed))
            raise Untraceable(f"the variable {lost} is assigned, and the Vector that it names is written in place")
        if needed != known:
            self.assumed |= {(*region.key, "object", name): Kind("number", "int") for name in needed}
            raise Retrace
        return [Move(region.phis["object", n], region.phis["object", before[n] or n]) for n in sorted(needed)]

    def _named(self, name: str, value: Any) -> Any:
        for part in (value, getattr(value, "words", None), getattr(value, "values", None)):
            if part is not None:
                self.names[id(part)] = name
        return value

    def while_loop(self, line: int, scope: dict[str, Any], function: Any, *args: Any, **named: Any) -> Any:
        """Call `while_loop` within a loop: it becomes a loop inside."""
        if not is_while_loop(function):
            return self.call(function, *args, **named)
        return self.own(traced_call(self, line, scope, *args, **named))

    def inline(self, function: Callable[..., Any]) -> Inline:
        """Mark a lambda whose body was rewritten."""
        return Inline(function)

    def for_loop(
        self, line: int, names: list[str], read: list[str], scope: dict[str, Any], function: Any, *limits: Any
    ) -> Any:
        """Open ``for k in range(...)``."""
        vectors = limits[0] if len(limits) == 1 and isinstance(limits[0], TracedList) else None
        if vectors is not None and function in (iter, reversed):
            length = vectors.length()
            limits = (length,) if function is iter else (length - 1, -1, -1)
            vectors.begin()
        elif function is not range or not 1 <= len(limits) <= 3:
            raise Untraceable("a for loop over anything but range(...)")
        for limit in limits:
            if traced.kind_of(limit) != "int":
                raise Untraceable("a limit of range that is not an int")
        start, stop, step = (0, limits[0], 1) if len(limits) == 1 else (*limits, 1)[:3]
        if isinstance(step, Number) or not step:
            raise Untraceable("a step of range that is not known before the loop, or 0")
        heads = self.loop(line, names, read, scope)
        region = self.regions[-1]
        loop = region.loop
        assert loop is not None
        at = Number("int")
        loop.initial.append(Move(at, start))
        region.counter, region.vectors = at, vectors
        region.advance = lambda: Move(at, at + step)
        region.phis["counter", ""] = at
        self.test(at < stop if step > 0 else at > stop)
        return heads

    def counter(self) -> Any:
        """Return the number of a for loop, or the item of a list."""
        region = self.regions[-1]
        return region.counter if region.vectors is None else region.vectors[region.counter]

    def test(self, value: Any) -> None:
        """Set the condition of the loop, and open its body."""
        region = self.regions[-1]
        loop = region.loop
        assert loop is not None
        loop.test = bool(value) if is_static(value) else traced.truth(value)
        self.recorder.settle()
        if written := self._written(region):
            raise Untraceable(f"a write to {min(written)} in the condition of the loop")
        self.recorder.block = loop.body

    @staticmethod
    def _written(region: Region) -> set[str]:
        """Return the vectors that are written in place since the head of a loop."""
        holders, heads, phis = region.holders, region.heads, region.phis
        found = {n for n, h in holders.items() if h.store is not phis.get(("in place", n), region.stores[n])}
        return found | {
            n
            for n, h in heads.items()
            if isinstance(h, Vector) and ("name", n) in phis and h.store is not phis["name", n]
        }

    def _carried(self, region: Region, scope: dict[str, Any]) -> list[Move]:
        """Return the moves that make the present state that of what a loop carries; corrects assumptions."""
        moves: list[Move] = []
        loop = region.loop
        assert loop is not None
        scope = self._everything(scope)
        bound: dict[int, list[str]] = {}
        for name, value in scope.items():
            if isinstance(value, Vector) and id(value) in self.recorder.own:
                bound.setdefault(id(value), []).append(name)
        written = self._written(region)
        for every in bound.values():
            # A variable without a value before the iteration and after it names nothing else then.
            names = [name for name in every if not self._is_temporary(region, name)]
            if len(names) > 1 and not written.isdisjoint(names) and not self._same_names(region, names):
                raise Untraceable(f"{' and '.join(sorted(names))} become one Vector, which is written in place")
        self._check_held(region, scope)
        moves += self._exchanged(region, scope)
        for name, holder in region.holders.items():
            now = self.recorder.operand(holder.store)
            phi = region.phis.get(("in place", name))
            if phi is None:
                if now is not region.stores[name]:
                    self._correct((*region.key, "in place", name), as_kind(region.stores[name]), as_kind(now))
                continue
            self._fits((*region.key, "in place", name), now)
            if now is not phi:
                moves.append(Move(phi, now))
        for name in region.names:
            move = self._carried_name(region, name, scope.get(name, Undefined()))
            if move is not None:
                moves.append(move)
        if region.advance is not None:
            moves.append(region.advance())
        return moves

    def _same_names(self, region: Region, names: list[str]) -> bool:
        """Return whether these variables named one object at the head of the loop, too."""
        return len({id(region.values.get(name, region.holders.get(name))) for name in names}) == 1 and not any(
            name in region.names for name in names
        )

    def _check_held(self, region: Region, scope: dict[str, Any]) -> None:
        """Correct the assumption that no list holds the Vector that a variable names at the end of an iteration."""
        held = self.recorder.held
        for name, holder in region.holders.items():
            written = ("in place", name) in region.phis or holder.store is not region.stores[name]
            if written and id(holder) in held:
                raise Untraceable("a write to a Vector that a list holds, too")
        for name in region.names:
            key = (*region.key, "held", name)
            if id(scope.get(name)) in held and ("name", name) in region.phis and key not in self.assumed:
                self.assumed[key] = Kind("object")
                raise Retrace

    def _is_temporary(self, region: Region, name: str) -> bool:
        """Return whether each iteration has its own value of a variable."""
        return (
            name in region.names
            and ("name", name) not in region.phis
            and isinstance(region.values[name], Undefined)
            and name not in region.read
        )

    def _carried_name(self, region: Region, name: str, value: Any) -> Move | None:
        key = (*region.key, "name", name)
        head, kind = region.heads[name], self.assumed.get(key)
        if isinstance(value, Undefined):
            if value is head:
                return None
            temporary = kind is None and isinstance(region.values[name], Undefined) and name not in region.read
            if not temporary and (kind is None or kind.what != "object"):
                self.assumed[key] = Kind("object", why=f"a variable that {value.why}")
                raise Retrace
            return None
        if kind is None:
            if unchanged(value, head):
                return None
            if isinstance(region.values[name], Undefined) and name not in region.read:
                return None  # each iteration has its own
            now = self._kind_of(value)
            if isinstance(region.values[name], Undefined):
                self._correct(key, now._replace(late=True), now)
            self._correct(key, self._kind_of(region.values[name]), now)
        if kind is not None and kind.what == "object":
            return None
        now = self._store_of(value)
        self._fits(key, now)
        phi = region.phis["name", name]
        return None if now is phi else Move(phi, now)

    def _fits(self, key: tuple[Any, ...], value: Any) -> None:
        kind = self.assumed[key]
        wider = joined(kind, as_kind(value))
        if wider != kind:
            self.assumed[key] = wider
            raise Retrace

    def _correct(self, key: tuple[Any, ...], a: Kind, b: Kind) -> None:
        kind = joined(a, b)
        if kind.what == "object" and key[2] == "in place":
            raise Untraceable("a Vector that changes its type")
        self.assumed[key] = kind
        raise Retrace

    def end_loop(self, scope: dict[str, Any]) -> tuple[Any, ...]:
        """Close the loop; return the values of its names after it."""
        region = self.regions[-1]
        loop = region.loop
        assert loop is not None
        if not self.ended:
            self._settle(scope)
            loop.body.steps.append(Leave("next", self._carried(region, scope)))
        self.ended = False
        self.regions.pop()
        if region.vectors is not None:
            region.vectors.end()
        self.recorder.block = region.outer
        for name, holder in region.holders.items():
            holder._store = region.phis.get(("in place", name), region.stores[name])
            holder._plan = None
        after = []
        certain = loop.test is True
        for name in region.names:
            phi = region.phis.get(("name", name))
            kind = self.assumed.get((*region.key, "name", name))
            if phi is None:
                value = region.values[name] if kind is None else _several(name, kind)
            elif kind is not None and kind.late and not certain and self.regions:
                value = Undefined("the loop may not assign")
            elif isinstance(phi, Number):
                value = phi
            else:
                head = region.heads[name]
                value = self.shadow(head, phi) if isinstance(head, Vector) else self.own(Vector._new(phi))
                if id(head) in self.recorder.held or (*region.key, "held", name) in self.assumed:
                    self.recorder.held[id(value)] = value
                if not certain and self.regions:
                    self.uncertain.append((name, value, phi))
            after.append(value)
        return tuple(after)

    def check_uncertain(self) -> None:
        """Refuse writes in place where it depends on the data to which Vector they are."""
        for name, value, phi in self.uncertain:
            if value._store is not phi:
                raise Untraceable(f"a write to {name}, which a loop inside binds to another Vector or not")

    def leave(self, how: str, scope: dict[str, Any]) -> None:
        """``break`` or ``continue``."""
        self._check_open()
        self._settle(scope)
        region = next(region for region in reversed(self.regions) if region.loop is not None)
        moves = self._carried(region, scope)
        if how == "break" and region.advance is not None:
            moves.pop()
        self.recorder.emit(Leave(how, moves))
        self.ended = True

    def give(self, scope: dict[str, Any], value: Any) -> None:
        """``return value``."""
        self._check_open()
        if self._depth:
            raise Untraceable("return within a function that the loop calls")
        self._settle(scope)
        assert self.outer is not None
        moves = []
        # Within inner loops the outermost one carries the state of this moment as well.
        if any(region.loop is not None for region in self.regions):
            moves = self._carried(self.outer, scope)
            if self.outer.advance is not None:
                moves.pop()
        outputs: list[Any] = []
        form = self._output(value, outputs, moves, scope)
        self.returns.append((form, outputs))
        self.recorder.emit(Leave(f"return {len(self.returns)}", moves))
        self.ended = True

    def _output(self, value: Any, outputs: list[Any], moves: list[Move], scope: dict[str, Any]) -> Any:
        """Return how the returned value is made of outputs: nested tuples of constants and positions."""
        if isinstance(value, Typed) or (isinstance(value, Scalar) and isinstance(value._read(), Typed)):
            raise Untraceable("a Scalar that is returned from a loop; return its .value")
        if isinstance(value, Number):
            made: Any = Number(value.kind)
            moves.append(Move(made, traced.present(value)))
        elif isinstance(value, Vector):
            phis = self.outer.phis  # type: ignore[union-attr]
            exchanged = next((n for n, item in scope.items() if item is value and ("object", n) in phis), None)
            if exchanged is not None:
                return ("variable", exchanged)
            store = self.recorder.operand(value.store)
            made = placeholder(as_kind(store))
            moves.append(Move(made, store))
            outputs.append(made)
            name = next((n for n, holder in self.outer.holders.items() if holder is value), None)  # type: ignore[union-attr]
            return ("holder", name) if name is not None else ("vector", len(outputs) - 1, value._labels)
        elif type(value) is tuple:
            return ("tuple", [self._output(item, outputs, moves, scope) for item in value])
        elif isinstance(value, (list, dict)):
            raise Untraceable(f"a {type(value).__name__} that is returned from a loop")
        elif isinstance(value, Operand):
            self.recorder.reads_matrices = True
            return ("constant", value.matrix)
        else:
            return ("constant", value)
        outputs.append(made)
        return ("number", len(outputs) - 1)

    def fail(self) -> None:
        """``raise``: the program ends, and plain Python raises the error."""
        self._check_open()
        self.recorder.emit(Leave("fail", []))
        self.ended = True

    def check(self, value: Any) -> None:
        """``assert value``."""
        if is_static(value):
            assert value
            return
        self.recorder.emit(Compute(Number("bool"), "check", (traced.truth(value),)))


def _several(name: str, kind: Kind) -> Undefined:
    """Return the value of a variable that has several types."""
    return Undefined(f"has no single type in the loop: {name} is {kind.why}")
