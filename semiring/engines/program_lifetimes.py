"""Where the placeholders of a program are defined and read: which row a result may take over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..formats import Bitmap, Full
from .operands import Mask
from .program import Block, Branch, Compute, Leave, Loop, Program, Request, Structure, Values
from .spec_rows import Located


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
        self._analyse()

    def _analyse(self) -> None:
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

    def dead(self, part: Any, place: Place) -> bool:
        """Return whether nothing reads a placeholder after a step, which may then take its row."""
        life = self._life[id(part)]
        if life.defined.loops != place.loops:
            return False
        # A use outside of the loop reads what the loop has set at its end.
        inside = [use for use in life.uses if use.loops[: len(place.loops)] == place.loops]
        return not any(use.at > place.at and not exclusive(use.sides, place.sides) for use in inside)


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
    """Yield the stores and the index arrays of a request."""
    for value in vars(spec).values():
        if isinstance(value, Mask):
            yield value.store
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
