"""The parts that the text of every request consists of: rows, numbers, constants, entries, operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import Bitmap
from ..operands import Mask
from ..program import Program, Structure, Values
from ..traced import Number, Typed
from .program_lifetimes import Lifetimes
from .scalar import cast_text, scalar_lines

KINDS = {"int": np.dtype(np.int64), "float": np.dtype(np.float64), "bool": np.dtype(np.bool_)}


class Text:
    """The text of a program while it is written, and what its arguments are."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lifetimes = Lifetimes(program)
        self.lines: list[str] = []
        self.indent = 1
        self.functions: list[str] = []
        self.helpers: set[str] = set()
        self._functions: dict[Any, str] = {}
        # Sizes of vectors, in order; rows needed of each pool: structures or values of a type, of a size.
        self.sizes: list[int] = []
        self.rows: dict[str, int] = {}
        self.homes: dict[int, str] = {}
        self.numbers: dict[int, str] = {}
        self.constants: list[tuple[str, Any]] = []
        self._constant_names: dict[Any, str] = {}
        self.matrices: list[Any] = []
        self._matrix_names: dict[int, str] = {}
        self._temporary = 0
        # Results that take the row of an operand.
        self.in_place: set[int] = set()

    # -- homes, numbers, constants -------------------------------------------------------------------------

    def size(self, size: int) -> int:
        """Return the class of a size."""
        if size not in self.sizes:
            self.sizes.append(size)
        return self.sizes.index(size)

    def _row(self, pool: str) -> str:
        number = self.rows[pool] = self.rows.get(pool, 0) + 1
        return f"{pool.lower()}_{number - 1}"

    def home(self, part: Any) -> str:
        """Return the variable with the row of a placeholder."""
        found = self.homes.get(id(part))
        if found is None:
            c = self.size(part.size)
            pool = f"S{c}" if isinstance(part, Structure) else f"V{c}_{part.dtype.name}"
            found = self.homes[id(part)] = self._row(pool)
            self.lifetimes.kept.append(part)
        return found

    def number(self, value: Any) -> str:
        """Return the text of a number."""
        if isinstance(value, Typed):
            value = value.number
        if isinstance(value, Number):
            found = self.numbers.get(id(value))
            if found is None:
                found = self.numbers[id(value)] = f"x{len(self.numbers)}"
                self.lifetimes.kept.append(value)
            return found
        if isinstance(value, bool):
            return repr(value)
        if isinstance(value, int):
            return f"np.int64({value})" if value in (-1, 0, 1, 2) else self.constant(np.int64(value))
        return self.constant(np.float64(value))

    def constant(self, value: np.generic) -> str:
        """Return the variable with a value of a type."""
        key = value.dtype, value.tobytes()
        found = self._constant_names.get(key)
        if found is None:
            found = self._constant_names[key] = f"k{len(self.constants)}"
            self.constants.append((found, value))
        return found

    def typed(self, value: Any, dtype: np.dtype[Any]) -> str:
        """Return the text of a scalar operand in a type."""
        if isinstance(value, Typed):
            return cast_text(self.number(value.number), KINDS[value.number.kind], dtype)
        if isinstance(value, np.generic):
            return cast_text(self.constant(value), value.dtype, dtype)
        return self.constant(dtype.type(value))

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

    # -- text ----------------------------------------------------------------------------------------------

    def put(self, text: str) -> None:
        """Add lines at the current indentation."""
        for line in text.strip("\n").split("\n"):
            self.lines.append("    " * self.indent + line)

    def name(self, stem: str = "a") -> str:
        """Return a new variable."""
        self._temporary += 1
        return f"{stem}{self._temporary}_"

    def function(self, op: Any, actual: dict[str, tuple[str, np.dtype[Any]]], result: np.dtype[Any]) -> str:
        """Return the name of a device function for an operator's expression.

        actual: for each variable that it may read, the parameter and its type.
        """
        formal = {"x": getattr(op, "x", None), "y": getattr(op, "y", None), "k": getattr(op, "k", None)}
        integer = np.dtype(np.int64)
        uses = op.uses
        given = {v: (arg, dtype, formal.get(v) or integer) for v, (arg, dtype) in actual.items() if v in uses}
        signature = ", ".join(arg for arg, _ in actual.values())
        key = op.expr, result, tuple((v, d, f) for v, (_, d, f) in given.items()), signature
        found = self._functions.get(key)
        if found is None:
            lines, calls = scalar_lines(op.expr, given, result)
            self.helpers |= set(calls)
            found = self._functions[key] = f"f{len(self.functions)}"
            body = "".join(f"    {line}\n" for line in lines)
            self.functions.append(f"@inlined\ndef {found}({signature}):\n{body}")
        return found

    def put_at(self, indent: int, text: str) -> None:
        """Add a line at an indentation."""
        self.lines.append("    " * indent + text)

    @staticmethod
    def _structure(c: int) -> str:
        return f"W{c}, L{c}, N{c}, T{c}"

    def _value(self, store: Any, i: str) -> str:
        """Return the text of the value of an entry."""
        if isinstance(store.values, Values):
            c = self.size(store.size)
            return f"V{c}_{store.dtype.name}[np.uintp({self.home(store.values)} * n{c} + {i})]"
        return self.typed(store.iso, store.dtype)

    def _has(self, structure: Any, i: str) -> str:
        """Return the text of the presence of a position; ``True`` where all are present."""
        if structure is None:
            return "True"
        c, home = self.size(structure.size), self.home(structure)
        return f"(W{c}[np.uintp({home} * w{c} + ({i} >> 5))] >> np.uint32({i} & 31)) & np.uint32(1) != 0"

    def _insert(self, c: int, home: str, i: str, *, bit: bool = True) -> None:
        """Add an entry that is not present to a result; the number of its entries is in `m_` until `_counted`."""
        if bit:
            self.put(f"W{c}[np.uintp({home} * w{c} + ({i} >> 5))] |= np.uint32(1) << np.uint32({i} & 31)")
        self.put(f"L{c}[np.uintp({home} * n{c} + m_)] = {i}")
        self.put("m_ += 1")

    def _clear(self, c: int, home: str) -> None:
        """Remove all entries of a row; of few here, else by a call."""
        self.put(f"if T{c}[{home}] != 0 and N{c}[{home}] < 16:")
        self.indent += 1
        self.put(f"for q_ in range({home} * n{c}, {home} * n{c} + N{c}[{home}]):")
        self.put_at(self.indent + 1, f"W{c}[np.uintp({home} * w{c} + (np.int64(L{c}[np.uintp(q_)]) >> 5))] = 0")
        self.indent -= 1
        self.put("else:")
        self.put_at(self.indent + 1, f"clear({self._structure(c)}, {home}, w{c}, n{c})")
        self.put("m_ = 0")

    def _counted(self, c: int, home: str, order: str) -> None:
        """Store the number of entries of a result, and the order of its list: the text of a number (see support)."""
        self.put(f"N{c}[{home}] = m_")
        self.put(f"T{c}[{home}] = {order}")

    def _each(self, store: Any, i: str, structure: Any = None, *, sort: bool = False) -> None:
        """Begin a loop over the entries of a store."""
        c = self.size(store.size)
        words = store.words if isinstance(store, Bitmap) else None
        if words is None:
            self.put(f"budget -= n{c}")
            self.put(f"for {i} in range(n{c}):")
            self.indent += 1
            return
        home, q = self.home(words), self.name("q")
        how = "ascending" if sort else "relist"
        self.put(f"if T{c}[{home}] {'!= 2' if sort else '== 0'}:")
        self.put_at(self.indent + 1, f"{how}({self._structure(c)}, {home}, w{c}, n{c})")
        self.put(f"budget -= N{c}[{home}]")
        self.put(f"for {q} in range({home} * n{c}, {home} * n{c} + N{c}[{home}]):")
        self.indent += 1
        self.put(f"{i} = np.int64(L{c}[np.uintp({q})])")

    def _admits(self, mask: Mask | bool, i: str) -> str:
        """Return the text of whether a simplified mask admits a position."""
        if isinstance(mask, bool):
            return repr(mask)
        store: Any = mask.store
        inside = self._has(store.words if isinstance(store, Bitmap) else None, i)
        if not mask.structural:
            value = self._value(store, i)
            inside = f"({inside}) and {value} != 0" if inside != "True" else f"{value} != 0"
        return f"not ({inside})" if mask.complement else f"({inside})"

    def _fresh(self, store: Any) -> tuple[int, str | None, str | None]:
        """Return size class, rows of structure (cleared) and of values of a result."""
        c = self.size(store.size)
        s = self.home(store.words) if isinstance(store, Bitmap) else None
        v = self.home(store.values) if isinstance(store.values, Values) else None
        if s is not None:
            self._clear(c, s)
        return c, s, v

    def _set(self, store: Any, c: int, v: str | None, i: str, value: str) -> None:
        if v is not None:
            self.put(f"V{c}_{store.dtype.name}[np.uintp({v} * n{c} + {i})] = {value}")


def kind_of(value: Any) -> str:
    """Return the kind of a number."""
    if isinstance(value, Typed):
        value = value.number
    return value.kind if isinstance(value, Number) else type(value).__name__
