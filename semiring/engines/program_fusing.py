"""Element-wise steps of a program that are computed where their only reader visits the entries."""

from __future__ import annotations

from typing import Any

from ..formats import Bitmap, Full
from .program import Block, Branch, Loop, Program, Request, Values
from .program_lifetimes import Lifetimes, halves, parts

# The operands that a request reads at the position of the entry that it computes.
_POINTWISE: dict[str, tuple[str, ...]] = {
    "apply": ("a",),
    "ewise": ("a", "b"),
    "select": ("a",),
    "keep": ("a",),
    "reduce_scalar": ("a",),
    "write_vector": ("t",),
}


def deferred(program: Program, lifetimes: Lifetimes) -> dict[int, Request]:
    """Return the requests whose results are not stored, by the identity of the placeholder of the values.

    These are an apply, and an element-wise operation of full vectors, whose values one later request of the same block
    reads, entry by entry; and an element-wise operation of which a select is the only reader.  What they read is then
    read where that request is, which `lifetimes` records.
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
                if reader is not None and alone:
                    found[id(values)] = step
                    lifetimes.kept.append(values)
                    for item in parts(step.spec):
                        for part in halves(item):
                            lifetimes.move_use(part, lifetimes.places[id(step)], uses[0])
                            if isinstance(part, Values):
                                readers[id(part)] = reader


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
