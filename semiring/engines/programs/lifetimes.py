"""Where the placeholders of a program are defined and read: which row a result may take over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...formats import Bitmap, Full
from ..requests.operands import Mask
from ..requests.operations import Located
from .program import Block, Branch, Compute, Leave, Loop, Program, Request, Structure, Values


@dataclass(eq=False)
class Place:
    """A step: its position, and the loops and the sides of branches around it."""

    at: int
    loops: tuple[int, ...]
    sides: tuple[tuple[int, int], ...]


@dataclass(eq=False)
class _Life:
    """Where a placeholder is defined, and where it is read."""

    defined: Place
    uses: list[Place] = field(default_factory=list)


class Lifetimes:
    """The uses of each placeholder of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.outer: Loop | None = None
        self.nested = False
        self.phis: dict[int, list[Any]] = {}
        self.kept: list[Any] = []  # placeholders whose identity is a key
        self.places: dict[int, Place] = {}
        self._life: dict[int, _Life] = {}
        self._followed: set[int] = set()
        self._multiplied: set[int] = set()
        self._outputs = {id(part) for item in program.outputs for part in halves(item)}
        self._analyze()

    def _analyze(self) -> None:
        self._position = 0
        for item in self.program.inputs:
            self._define(item, (), ())
        for item, _ in self.program.constants:
            self._define(item, (), ())
        self._scan(self.program.body, (), ())

    def _scan(
        self, block: Block, loops: tuple[int, ...], sides: tuple[tuple[int, int], ...], *, branch: bool = False
    ) -> None:
        for step in block.steps:
            self._position += 1
            place = self.places[id(step)] = Place(self._position, loops, sides)
            match step:
                case Request():
                    for part in parts(step.spec):
                        self._read(part, place)
                    self._define(step.result, loops, sides)
                case Compute():
                    for part in step.operands:
                        self._read(part, place)
                case Loop():
                    inside = (*loops, id(step))
                    self.nested = self.nested or bool(loops)
                    if not loops and self.outer is None:
                        self.outer = step
                    self.phis[id(step)] = []
                    for move in step.initial:
                        self._read(move.source, place)
                    for phi in carried(step):
                        self._define(phi, inside, sides)
                        self.phis[id(step)].append(phi)
                    self._scan(step.head, inside, sides)
                    self._scan(step.body, inside, sides)
                case Branch():
                    for number, part in enumerate((step.then, step.otherwise)):
                        self._scan(part, loops, (*sides, (id(step), number)), branch=True)
                    for part in (step.then, step.otherwise):
                        for inner in part.steps:
                            if isinstance(inner, Leave) and inner.kind == "next":
                                for move in inner.moves:
                                    self._define(move.target, loops, sides)
                case Leave():
                    targets = {id(part) for move in step.moves for part in halves(move.target)}
                    for move in step.moves:
                        self._read(move.source, place)
                    if loops and not (branch and step.kind == "next"):
                        # What is carried and not set keeps its value.
                        for phi in self.phis[loops[-1]]:
                            for part in halves(phi):
                                if id(part) not in targets:
                                    self._read(part, place)

    def followed(self, part: Any) -> bool:
        """Return whether a step visits positions entry by entry: a list of them is then of use."""
        self._find_readers()
        return id(part) in self._followed

    def multiplied(self, part: Any) -> bool:
        """Return whether the positions are those of a vector that a product reads."""
        self._find_readers()
        return id(part) in self._multiplied

    def _find_readers(self) -> None:
        """Find the positions that steps visit, and those of vectors that products read; also what becomes of them."""
        if self._followed:
            return
        flows = []
        for step in all_steps(self.program.body):
            for move in (*getattr(step, "moves", ()), *getattr(step, "initial", ())):
                flows.append((words_of(move.target), words_of(move.source)))
            if isinstance(step, Request):
                visited = {id(words_of(item)) for item in parts(step.spec)}
                name = step.spec.name
                if name == "mxv":
                    self._multiplied.add(id(words_of(step.spec.vector)))
                    if step.spec.mask is not None:
                        visited = {id(words_of(step.spec.vector))}
                elif name == "write_vector":
                    visited -= {id(words_of(step.spec.c))}
                    flows.append((words_of(step.result), words_of(step.spec.c)))
                self._followed |= visited
            elif isinstance(step, Compute) and step.op not in ("count", "element"):
                self._followed |= {id(words_of(item)) for item in step.operands}
        for found in (self._followed, self._multiplied):
            before = -1
            while before != len(found):
                before = len(found)
                found |= {id(source) for target, source in flows if id(target) in found}

    def _define(self, item: Any, loops: tuple[int, ...], sides: Any) -> None:
        for part in halves(item):
            if id(part) not in self._life:
                self._life[id(part)] = _Life(Place(self._position, loops, sides))
                self.kept.append(part)

    def _read(self, item: Any, place: Place) -> None:
        for part in halves(item):
            life = self._life.get(id(part))
            if life is not None:
                life.uses.append(place)

    def uses(self, part: Any) -> list[Place]:
        """Return where a placeholder is read."""
        return self._life[id(part)].uses

    def move_use(self, part: Any, old: Place, new: Place) -> None:
        """Record that a step reads a placeholder in the place of another step."""
        life = self._life.get(id(part))
        if life is not None:
            life.uses = [new if use is old else use for use in life.uses]

    def dead(self, part: Any, place: Place) -> bool:
        """Return whether nothing reads a placeholder after a step, which may then take its row."""
        life = self._life[id(part)]
        if life.defined.loops != place.loops and not self._left(part, place):
            return False
        # A use outside of the loop reads what the loop has set at its end.
        inside = [use for use in life.uses if use.loops[: len(place.loops)] == place.loops]
        return not any(use.at > place.at and not exclusive(use.sides, place.sides) for use in inside)

    def _left(self, part: Any, place: Place) -> bool:
        """Return whether an inner loop that ends before a step of the loop around it carries a placeholder.

        The inner loop sets it again before it begins again, unless the program returns from within.
        """
        loops = self._life[id(part)].defined.loops
        if loops[:-1] != place.loops or not place.loops or self._carrier(part) != loops[-1]:
            return False
        return not _returns_within(self.program.body, 0)

    def _carrier(self, part: Any) -> int | None:
        """Return the loop that carries a placeholder."""
        return next(
            (loop for loop, made in self.phis.items() for phi in made for half in halves(phi) if half is part), None
        )

    def unread(self, values: Any) -> bool:
        """Return whether no step reads the values of a result, and no output has them."""
        return isinstance(values, Values) and not self._life[id(values)].uses and id(values) not in self._outputs

    def movable(self, part: Any, place: Place, begins: bool) -> bool:
        """Return whether a move may take the row of its source, which no other move of the same set reads or replaces.

        begins: whether the moves are those before the first iteration of a loop.
        """
        life, depth = self._life[id(part)], len(place.loops)
        if not life.defined.loops and any(part is each for item, _ in self.program.constants for each in halves(item)):
            return False
        owner = self._carrier(part)
        if owner is None:
            return self.dead(part, place)
        # What a loop carries: only after that loop, or where an inner one begins with it.  Both are set again before
        # they are read, unless the program returns from an inner loop.
        if (owner in place.loops and not begins) or _returns_within(self.program.body, 0):
            return False
        inside = [use for use in life.uses if use.loops[:depth] == place.loops]
        later = any(use.at > place.at and not exclusive(use.sides, place.sides) for use in inside)
        return life.defined.loops[:depth] == place.loops and not later


def _returns_within(block: Block, depth: int) -> bool:
    """Return whether a program returns from an inner loop."""
    for step in block.steps:
        match step:
            case Loop():
                inner = any(_returns_within(part, depth + 1) for part in (step.head, step.body))
            case Branch():
                inner = any(_returns_within(part, depth) for part in (step.then, step.otherwise))
            case _:
                inner = depth > 1 and isinstance(step, Leave) and step.kind.startswith("return")
        if inner:
            return True
    return False


def exclusive(a: tuple[tuple[int, int], ...], b: tuple[tuple[int, int], ...]) -> bool:
    """Return whether two places are in different blocks of one branch."""
    sides = dict(a)
    return any(sides.get(branch, side) != side for branch, side in b)


def halves(item: Any) -> Iterator[Any]:
    """Yield the placeholders of a store, or of both stores of `Located`."""
    if isinstance(item, Located):
        yield from halves(item.values)
        if isinstance(item.positions.values, Values):
            yield item.positions.values
    elif isinstance(item, (Structure, Values)):
        yield item
    elif isinstance(item, (Bitmap, Full)):
        if isinstance(item, Bitmap) and isinstance(item.words, Structure):
            yield item.words
        if isinstance(item.values, Values):
            yield item.values


def words_of(item: Any) -> Any:
    """Return the positions of a store, or the item itself."""
    return getattr(item, "words", item)


def all_steps(block: Block) -> Iterator[Any]:
    """Yield the steps of a block and of the blocks in it."""
    for step in block.steps:
        yield step
        for name in ("head", "body", "then", "otherwise"):
            inner = getattr(step, name, None)
            if isinstance(inner, Block):
                yield from all_steps(inner)


def steps(block: Block) -> Iterator[Request | Compute]:
    """Yield the steps of a block and of the blocks in it that compute."""
    for step in block.steps:
        match step:
            case Request() | Compute():
                yield step
            case Loop():
                yield from steps(step.head)
                yield from steps(step.body)
            case Branch():
                yield from steps(step.then)
                yield from steps(step.otherwise)


def parts(spec: Any) -> Iterator[Any]:
    """Yield the stores and the index arrays of a request; of a structural mask its positions."""
    for value in vars(spec).values():
        if isinstance(value, Mask):
            if not value.structural:
                yield value.store
            elif isinstance(value.store, Bitmap):
                yield value.store.words
        elif isinstance(getattr(value, "array", None), Values):
            yield value.array
        elif isinstance(value, (Bitmap, Full)):
            yield value


def carried(loop: Loop) -> list[Any]:
    """Return what a loop carries: the targets of all moves to its next iteration, and of those that leave it."""
    found = {id(move.target): move.target for move in loop.initial}

    def scan(block: Block, inner: bool) -> None:
        for step in block.steps:
            if isinstance(step, Loop):
                scan(step.head, True)
                scan(step.body, True)
            elif isinstance(step, Branch):
                scan(step.then, inner)
                scan(step.otherwise, inner)

    scan(loop.body, False)
    for block, merged in leaves(loop.body):
        if not merged:
            for move in block.moves:
                found.setdefault(id(move.target), move.target)
    return list(found.values())


def leaves(block: Block, *, in_branch: bool = False) -> Iterator[tuple[Leave, bool]]:
    """Yield what ends an iteration of the loop of this block, and whether it only ends a branch."""
    for step in block.steps:
        if isinstance(step, Leave):
            if step.kind in ("next", "break", "continue"):
                yield step, in_branch and step.kind == "next"
        elif isinstance(step, Branch):
            yield from leaves(step.then, in_branch=True)
            yield from leaves(step.otherwise, in_branch=True)
