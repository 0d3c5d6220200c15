"""The order of the steps of a program, and element-wise steps that their only reader computes entry by entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...formats import Bitmap, Full
from ..requests.operands import Index, Mask
from .lifetimes import Lifetimes, all_steps, halves, parts
from .program import Block, Branch, Compute, Leave, Loop, Program, Request, Values
from .traced import Number, Typed

# The operands that a request reads at the position of the entry that it computes.
_POINTWISE: dict[str, tuple[str, ...]] = {
    "apply": ("a",),
    "ewise": ("a", "b"),
    "select": ("a",),
    "keep": ("a",),
    "reduce_scalar": ("a",),
    "write_vector": ("t",),
}
# Requests that may run earlier than the loop has them, where their operands are defined; not those with an index, whose
# positions a step between may check.
_MOVABLE = frozenset({"apply", "ewise", "select", "keep", "reduce_scalar", "mxv"})


def reorder(program: Program) -> None:
    """Move requests that read the old version of a vector before the write that changes it.

    The write is then an update in place.  Requests are recorded where their results are first used, so that a select
    of an element-wise operation may follow a write to an operand of the latter.
    """
    _reorder(program.body)
    for step in list(all_steps(program.body)):
        for name in ("head", "body", "then", "otherwise"):
            inner = getattr(step, name, None)
            if isinstance(inner, Block):
                _reorder(inner)


def _reorder(block: Block) -> None:
    at = 0
    while at < len(block.steps):
        step = block.steps[at]
        if isinstance(step, Request) and step.spec.name == "write_vector":
            moved = _readers_of_old(block.steps, at)
            if moved:
                later = [other for other in block.steps[at:] if not any(other is each for each in moved)]
                block.steps[at:] = [*moved, *later]
                at += len(moved)
        at += 1


def _readers_of_old(steps: list[Any], at: int) -> list[Request]:
    """Return the requests after a write that read what it changes, if they may all run before it."""
    old = {id(part) for part in halves(steps[at].spec.c)}
    waiting = {}  # results before the write whose only reader may compute them
    for step in steps[:at]:
        if isinstance(step, Request) and _may_wait(step) and old & set(_read(step)):
            waiting[id(step.result.values)] = step
    defined = set(_defined(steps[at]))
    moved: list[Request] = []
    for step in steps[at + 1 :]:
        read = set(_read(step))
        reads = bool(old & read) or (_is_select(step) and not read.isdisjoint(waiting))
        if reads and isinstance(step, Request) and step.spec.name in _MOVABLE and not read & defined:
            moved.append(step)
            continue
        if old & read:
            return []
        defined.update(_defined(step))
    return moved


def _is_select(step: Any) -> bool:
    return isinstance(step, Request) and step.spec.name == "select"


def _defined(step: Any) -> Iterator[int]:
    """Yield the identities of the placeholders and numbers that a step and those in it define."""
    for inner in _with_inner(step):
        results = [inner.result] if isinstance(inner, (Request, Compute)) else []
        results += [move.target for move in _moves(inner)]
        for result in results:
            yield from _identities(result)


def _read(step: Any) -> Iterator[int]:
    """Yield the identities of the placeholders and numbers that a step and those in it read."""
    for inner in _with_inner(step):
        if isinstance(inner, Request):
            for value in vars(inner.spec).values():
                yield from _identities(value)
            for part in parts(inner.spec):
                yield from _identities(part)
        elif isinstance(inner, Compute):
            for value in inner.operands:
                yield from _identities(value)
        elif isinstance(inner, (Loop, Branch)):
            yield id(inner.test)
        for move in _moves(inner):
            yield from _identities(move.source)


def _with_inner(step: Any) -> Iterator[Any]:
    block = Block()
    block.steps.append(step)
    return all_steps(block)


def _moves(step: Any) -> list[Any]:
    if isinstance(step, Leave):
        return step.moves
    return step.initial if isinstance(step, Loop) else []


def _identities(value: Any) -> Iterator[int]:
    """Yield the identities of the placeholders and numbers of an operand; of a mask only its number."""
    if isinstance(value, Mask):
        value = value.store.iso
    if isinstance(value, Index):
        for number in (value.start, value.step, value.count):
            yield from _identities(number)
        return
    if isinstance(value, Typed):
        value = value.number
    if isinstance(value, Number):
        yield id(value)
        return
    for part in halves(value):
        yield id(part)
    iso = getattr(value, "iso", None)
    if isinstance(iso, Typed):
        yield id(iso.number)


def deferred(program: Program, lifetimes: Lifetimes) -> dict[int, Request]:
    """Return the requests whose results are not stored, by the identity of the placeholder of the values.

    These are an apply, and an element-wise operation of full vectors, whose values one later request of the same block
    reads, entry by entry; and an element-wise operation of which a select is the only reader.  What they read is then
    read where that request is, which `lifetimes` records.  A write in between to what they read would copy all of it.
    """
    found: dict[int, Request] = {}
    _scan(program.body, lifetimes, found)
    return found


def _scan(block: Block, lifetimes: Lifetimes, found: dict[int, Request]) -> None:
    readers: dict[int, Request] = {}
    for step in block.steps:
        if isinstance(step, Request):
            for name in _POINTWISE.get(step.spec.name, ()):
                values = getattr(getattr(step.spec, name), "values", None)
                if isinstance(values, Values):
                    readers[id(values)] = step
    # From the last step, so that what an operand of a deferred step reads moves on with it.
    for step in reversed(block.steps):
        match step:
            case Loop():
                _scan(step.head, lifetimes, found)
                _scan(step.body, lifetimes, found)
            case Branch():
                _scan(step.then, lifetimes, found)
                _scan(step.otherwise, lifetimes, found)
            case Request() if _may_wait(step):
                values = step.result.values
                reader = readers.get(id(values))
                uses = lifetimes.uses(values)
                alone = reader is not None and len(uses) == 1 and uses[0] is lifetimes.places[id(reader)]
                if alone and isinstance(step.result, Bitmap) and step.spec.name == "ewise":
                    alone = _selects(reader, step, lifetimes)
                if reader is not None and alone and not _changes(block.steps, step, reader):
                    found[id(values)] = step
                    lifetimes.kept.append(values)
                    for item in parts(step.spec):
                        for part in halves(item):
                            lifetimes.move_use(part, lifetimes.places[id(step)], uses[0])
                            if isinstance(part, Values):
                                readers[id(part)] = reader


def _changes(steps: list[Any], step: Request, reader: Request) -> bool:
    """Return whether a write between a request and its reader changes what the request reads."""
    read = {id(part) for item in parts(step.spec) for part in halves(item)}
    after = False
    for other in steps:
        if other is reader:
            break
        writes = after and isinstance(other, Request) and other.spec.name == "write_vector"
        if writes and any(id(part) in read for part in halves(other.spec.c)):
            return True
        after = after or other is step
    return False


def _may_wait(step: Any) -> bool:
    """Return whether the values of a request are a function of the entries of its operands, position by position."""
    q, made = step.spec, step.result
    if q.name == "apply":
        return isinstance(made.values, Values)
    if q.name == "ewise" and isinstance(made.values, Values):
        return q.mode == "intersect" or all(isinstance(item, Full) for item in (q.a, q.b, made))
    return False


def _selects(reader: Any, step: Any, lifetimes: Lifetimes) -> bool:
    """Return whether a select is the only reader of the positions of a result, too, and nothing else of it."""
    words = step.result.words
    uses = lifetimes.uses(words)
    return reader.spec.name == "select" and reader.spec.a is step.result and len(uses) == 1
