"""The program of a traced loop: requests to an engine, arithmetic of numbers, and the control flow around them.

A program is in static single assignment form.  Its vectors are stores whose arrays are placeholders: a `Structure`
names the positions of the entries, a `Values` their values, and several stores may share either.  Its numbers are
`Number`.  What changes from iteration to iteration is carried: the loop has a placeholder for it, which a `Move` sets.

`engines.programs.tracing` records programs; an engine that implements `RunProgram` executes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...formats import VectorStore
from ...formats.records import record
from ...memory.arrays import Placeholder
from ..requests.operands import Spec

if TYPE_CHECKING:
    from .traced import Number

__all__ = [
    "OPTIONAL",
    "Append",
    "Block",
    "Branch",
    "Compute",
    "Item",
    "Leave",
    "Loop",
    "Move",
    "Program",
    "Request",
    "RunProgram",
    "Structure",
    "Values",
    "VectorList",
]  # fmt: skip


# Steps that an engine may lack: operations of `Compute`, and names of requests.  `programs.text` refuses a program that
# has others than the engine names.
OPTIONAL = frozenset({"append", "clear", "close", "drop", "item", "length", "locate_groups"})


class Structure(Placeholder):
    """The positions of the entries of a vector of `size`, unknown until the program runs."""

    def __init__(self, size: int, device: str) -> None:
        self.size, self.device = size, device


class Values(Placeholder):
    """The values of a vector of `size`, one for each position; those of absent entries are arbitrary."""

    def __init__(self, size: int, dtype: np.dtype[Any], device: str) -> None:
        self.size, self.dtype, self.device = size, dtype, device


class Request:
    """A request to the engine, whose operands may have placeholders; result: a store, or a number."""

    def __init__(self, spec: Any, result: Any) -> None:
        self.spec, self.result = spec, result


class Compute:
    """result = op(*operands) of numbers.  Operands are numbers, Python's numbers, or stores (`count`, `element`).

    ``close``: whether two stores have the same entries, with values that are equal (the third operand is None), or
    |a - b| <= fourth + third |b|, both finite.
    """

    def __init__(self, result: Number, op: str, operands: tuple[Any, ...]) -> None:
        self.result, self.op, self.operands = result, op, operands


class Move:
    """target = source, for what a loop carries or a branch merges; all moves of a list happen at once."""

    def __init__(self, target: Any, source: Any) -> None:
        self.target, self.source = target, source


class Block:
    """Steps in order."""

    def __init__(self) -> None:
        self.steps: list[Any] = []


class Loop:
    """``while head, test: body``, at a line of the file.

    initial: sets what is carried before the first iteration.  The body ends with the moves to the next one.  What is
    carried has, after the loop, the value at the test that failed, or that a `Leave` set.
    """

    def __init__(self, line: int) -> None:
        self.line = line
        self.initial: list[Move] = []
        self.head, self.body = Block(), Block()
        self.test: Any = True


class Branch:
    """``if test: then else: otherwise``; each block ends with moves to what is merged, or leaves the loop."""

    def __init__(self, test: Any) -> None:
        self.test = test
        self.then, self.otherwise = Block(), Block()


class Leave:
    """The end of a block, after moves: ``next``, ``break``, ``continue``, ``fail``, or ``return`` and its number."""

    def __init__(self, kind: str, moves: list[Move]) -> None:
        self.kind, self.moves = kind, moves


class Program:
    """A loop with what it reads and what it computes.

    inputs: stores with placeholders, numbers, and lists of vectors (`VectorList`), in the order in which
    `RunProgram` has their values.
    outputs: stores, numbers and lists that hold the results at each exit.
    constants: stores of the program, and their contents.
    names: the variables of placeholders and numbers, by identity.
    held: patterns of matrices that the caller holds while the program may run; an engine keeps no others of them alive.
    roles: a function of the matrices that the engine reads: which of the caller's each is (`loops.matrices`).
    compiled, listing: what the engine made of the program, and its steps as text.  ``compiled.roles`` are those of its
    matrices, and ``compiled.with_matrices(stores, held)`` is the same program of others, or None where its text does
    not serve them.
    """

    def __init__(
        self, inputs: list[Any], body: Block, outputs: list[Any], constants: list[Any], names: dict[int, str]
    ) -> None:
        self.inputs, self.body, self.outputs, self.constants, self.names = inputs, body, outputs, constants, names
        self.held: list[Any] = []
        self.roles: Callable[[list[Any]], Any] = lambda matrices: None
        self.compiled: Any = None
        self.listing: list[str] = []

    def forget_steps(self) -> None:
        """Drop the steps, which hold matrices, once an engine has compiled them."""
        self.body, self.held = Block(), []


@record
class RunProgram(Spec):
    """Run a program; the result is a `ProgramResult`, or None where a check failed and the program had no effect.

    values: of the inputs: stores of the same types, numbers, and tuples of stores for lists.
    A check fails where plain Python would raise an error, or where a number leaves the type that was assumed.
    """

    name: ClassVar[str] = "run_program"
    decodable: ClassVar[bool] = False
    program: Program
    values: tuple[Any, ...]


class ProgramResult:
    """outputs: of lists the number of first vectors that did not change, and those after them; of others as they are.

    exit: 0, or the number of the ``return``.  iterations: of the outermost loop.

    exit -1: the program ended before an iteration, because iterations are so long that operations on several threads,
    one by one, take less time.  The outputs are the state of that moment.  nbytes: of the vectors of the program.
    """

    def __init__(self, outputs: list[Any], exit: int, iterations: int, nbytes: int) -> None:
        self.outputs, self.exit, self.iterations, self.nbytes = outputs, exit, iterations, nbytes


class VectorList:
    """A list of vectors of one size and type, which the steps of a program change in their order.

    size, dtype: None until a vector of it is known.  Further steps are operations of `program.Compute`: ``length``,
    ``drop`` (remove the last vector) and ``clear``.
    """

    def __init__(self, size: int | None = None, dtype: np.dtype[Any] | None = None) -> None:
        self.size, self.dtype = size, dtype


@record
class Append(Spec):
    """Add a copy of a vector at the end of a list."""

    name: ClassVar[str] = "append"
    decodable: ClassVar[bool] = False
    vectors: VectorList
    store: VectorStore


@record
class Item(Spec):
    """The vector at a position of a list, which the program checks; a Number or an integer, from 0."""

    name: ClassVar[str] = "item"
    decodable: ClassVar[bool] = False
    vectors: VectorList
    at: Any
