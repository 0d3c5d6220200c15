"""What the loops of a compiled function did: programs, or the reasons why they ran step by step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ..engines.programs.program import Program, ProgramResult

_LOOPS: ContextVar[list[LoopPlan] | None] = ContextVar("semiring_plans", default=None)


@dataclass(eq=False)
class LoopPlan:
    """An outermost loop, as it was executed.

    Attributes
    ----------
    line : int
        Its line in the file.
    reason : str
        Why it ran step by step; empty if it was compiled.
    program, result
        The program, and its result, which is None if a check failed: then the loop ran step by step.

    Examples
    --------
    >>> @sr.compile
    ... def printed(v):
    ...     while v.nvals > 3:
    ...         print(v.nvals)
    >>> printed.plan(Vector(int, 2)).loops[0].reason
    'a call of print, which may have effects that a program does not repeat'
    """

    line: int
    reason: str
    program: Program | None = None
    result: ProgramResult | None = None

    @property
    def compiled(self) -> bool:
        """Whether a program ran."""
        return self.result is not None

    @property
    def iterations(self) -> int:
        """The iterations that the program ran."""
        return 0 if self.result is None else self.result.iterations

    def __str__(self) -> str:
        if self.program is None:
            return f"line {self.line}: step by step: {self.reason}"
        if self.result is None:
            return f"line {self.line}: step by step, after a check of the program failed"
        rest = ", then step by step" if self.result.exit < 0 else ""
        head = f"line {self.line}: one kernel, {self.iterations} iterations{rest}, {self.result.nbytes:,} bytes"
        return "\n".join([head, *(f"  {line}" for line in self.program.listing)])


class Plan:
    """What the loops of a call of a compiled function did; prints as a listing.

    Attributes
    ----------
    name : str
        The function.
    loops : list of LoopPlan
        Its outermost loops, in the order of their execution.

    Examples
    --------
    >>> @sr.compile
    ... def doubled(v):
    ...     for _ in range(2):
    ...         v << v + v
    >>> plan = doubled.plan(Vector.full(1, 2))
    >>> plan.name, plan.loops[0].compiled, plan.loops[0].iterations
    ('doubled', True, 2)
    """

    def __init__(self, name: str, loops: list[LoopPlan]) -> None:
        self.name, self.loops = name, loops

    def __repr__(self) -> str:
        return "\n".join([self.name, *map(str, self.loops)])


@contextmanager
def recorded() -> Iterator[list[LoopPlan]]:
    """Record the loops that run inside the block."""
    loops: list[LoopPlan] = []
    token = _LOOPS.set(loops)
    try:
        yield loops
    finally:
        _LOOPS.reset(token)


def noting() -> bool:
    """Return whether there is a record."""
    return _LOOPS.get() is not None


def note(plan: LoopPlan) -> None:
    """Add a loop to the record, if there is one."""
    loops = _LOOPS.get()
    if loops is not None:
        loops.append(plan)


__all__: list[Any] = ["LoopPlan", "Plan", "note", "noting", "recorded"]
