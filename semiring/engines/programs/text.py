"""What the text of a program consists of, for any engine: buffers of vectors, variables, constants, and matrices."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .fusing import deferred, reorder
from .lifetimes import Lifetimes, steps
from .program import OPTIONAL, Compute, Program, Structure, Values, VectorList
from .traced import Number, Typed, Untraceable

KINDS = {"int": np.dtype(np.int64), "float": np.dtype(np.float64), "bool": np.dtype(np.bool_)}


class ProgramText:
    """The text of a program while it is written, and what its arguments are.

    Every placeholder has a *home*: a variable that names a buffer of its size and type.
    """

    # The steps of `OPTIONAL` that the engine has.
    optional: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, program: Program) -> None:
        self.program = program
        for step in steps(program.body):
            name = step.op if isinstance(step, Compute) else step.spec.name
            if name in OPTIONAL and name not in self.optional:
                raise Untraceable(f"the operation {name}, which programs of this engine do not have")
        reorder(program)
        self.lifetimes = Lifetimes(program)
        # Requests that are not executed: their readers compute the values.
        self.deferred = deferred(program, self.lifetimes)
        self.lists: list[VectorList] = []
        self.lines: list[str] = []
        self.indent = 1
        # Sizes of vectors, in order; buffers needed of each pool: structures or values of a type, of a size.
        self.sizes: list[int] = []
        self.rows: dict[str, int] = {}
        self.homes: dict[int, str] = {}
        self.numbers: dict[int, str] = {}
        self.kinds: dict[str, str] = {}  # of the variables of numbers
        self.constants: list[tuple[str, Any]] = []
        self._constant_names: dict[Any, str] = {}
        self.matrices: list[Any] = []
        self._matrix_names: dict[int, str] = {}
        self._temporary = 0
        # Results that take the buffer of an operand.
        self.in_place: set[int] = set()

    def size(self, size: int) -> int:
        """Return the class of a size."""
        if size not in self.sizes:
            self.sizes.append(size)
        return self.sizes.index(size)

    def _row(self, pool: str) -> str:
        number = self.rows[pool] = self.rows.get(pool, 0) + 1
        return f"{pool.lower()}_{number - 1}"

    def home(self, part: Any) -> str:
        """Return the variable with the buffer of a placeholder."""
        found = self.homes.get(id(part))
        if found is None:
            c = self.size(part.size)
            pool = f"S{c}" if isinstance(part, Structure) else f"V{c}_{part.dtype.name}"
            found = self.homes[id(part)] = self._row(pool)
            self.lifetimes.kept.append(part)
        return found

    def variable(self, number: Number) -> str:
        """Return the variable of a number."""
        found = self.numbers.get(id(number))
        if found is None:
            found = self.numbers[id(number)] = f"x{len(self.numbers)}"
            self.kinds[found] = number.kind
            self.lifetimes.kept.append(number)
        return found

    def constant(self, value: np.generic) -> str:
        """Return the variable with a value of a type."""
        key = value.dtype, value.tobytes()
        found = self._constant_names.get(key)
        if found is None:
            found = self._constant_names[key] = f"k{len(self.constants)}"
            self.constants.append((found, value))
        return found

    def list_number(self, vectors: VectorList) -> int:
        """Return the number of a list of vectors among the arguments."""
        for number, known in enumerate(self.lists):
            if known is vectors:
                return number
        self.lists.append(vectors)
        return len(self.lists) - 1

    def matrix(self, rows: Any) -> str:
        """Return the number of a matrix orientation among the arguments."""
        found = self._matrix_names.get(id(rows))
        if found is None:
            store = rows.get()
            for number, known in enumerate(self.matrices):
                if known.pattern is store.pattern and known.values is store.values and known.iso is store.iso:
                    found = str(number)
                    break
            else:
                found = str(len(self.matrices))
                self.matrices.append(store)
            self._matrix_names[id(rows)] = found
            self.lifetimes.kept.append(rows)
        return found

    def forget_matrices(self) -> None:
        """Drop the matrices, which the caller holds."""
        self.matrices, self._matrix_names, self.lifetimes.outer = [], {}, None
        self.lifetimes.kept = [item for item in self.lifetimes.kept if isinstance(item, (Structure, Values, Number))]

    def put(self, text: str) -> None:
        """Add lines at the current indentation."""
        for line in text.strip("\n").split("\n"):
            self.lines.append("    " * self.indent + line)

    def name(self, stem: str = "a") -> str:
        """Return a new variable."""
        self._temporary += 1
        return f"{stem}{self._temporary}_"


def kind_of(value: Any) -> str:
    """Return the kind of a number."""
    if isinstance(value, Typed):
        value = value.number
    return value.kind if isinstance(value, Number) else type(value).__name__
