"""The parts that the text of every request consists of: numbers, constants, entries, operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import Bitmap
from ..programs.program import Program, Values
from ..programs.text import KINDS, ProgramText
from ..programs.traced import Number, Typed
from ..requests.operands import Mask
from .scalar import cast_text, scalar_lines


class Text(ProgramText):
    """The text of a numba kernel."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.functions: list[str] = []
        self.helpers: set[str] = set()
        # Matrices of which pulls read the hubs.
        self.hub_matrices: set[int] = set()
        # The matrices of products, by the identity of the request; which of them read all entries.
        self.multiplied: dict[int, int] = {}
        self.whole: set[int] = set()
        self._functions: dict[Any, str] = {}

    def number(self, value: Any) -> str:
        """Return the text of a number."""
        if isinstance(value, Typed):
            value = value.number
        if isinstance(value, Number):
            return self.variable(value)
        if isinstance(value, bool):
            return repr(value)
        if isinstance(value, int):
            return f"np.int64({value})" if value in (-1, 0, 1, 2) else self.constant(np.int64(value))
        return self.constant(np.float64(value))

    def typed(self, value: Any, dtype: np.dtype[Any]) -> str:
        """Return the text of a scalar operand in a type."""
        if isinstance(value, Typed):
            return cast_text(self.number(value.number), KINDS[value.number.kind], dtype)
        if isinstance(value, np.generic):
            return cast_text(self.constant(value), value.dtype, dtype)
        return self.constant(dtype.type(value))

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
    def _structure(c: int, home: str) -> str:
        """Return the text of a structure as arguments of a function of `program_support`."""
        return f"W{c}, L{c}, {home}w, {home}l, {home}n, {home}t"

    def _emptied(self, c: int, home: str) -> None:
        """Remove all entries of a row that is read as it is."""
        self.put(f"clear({self._structure(c, home)}, w{c})")
        self.put(f"{home}n, {home}t = 0, 2")

    def _copied(self, c: int, source: str, target: str) -> None:
        """Copy the positions of a vector."""
        self.put(f"clear({self._structure(c, target)}, w{c})")
        self.put(f"{target}t = copy_structure({self._structure(c, source)}, {target}w, {target}l, w{c})")
        self.put(f"{target}n = {source}n")

    def _value(self, store: Any, i: str) -> str:
        """Return the text of the value of an entry."""
        producer = self.deferred.get(id(store.values))
        if producer is not None:
            assert i == "i_"
            return self._computed(producer.spec, store.dtype)
        if isinstance(store.values, Values):
            c = self.size(store.size)
            return f"V{c}_{store.dtype.name}[np.uintp({self.home(store.values)} + {i})]"
        return self.typed(store.iso, store.dtype)

    def _computed(self, q: Any, dtype: np.dtype[Any]) -> str:
        """Return the text of an entry of an apply, or of an element-wise operation, in a type."""
        if q.name == "apply":
            return cast_text(self._unary(q.op, q.k, q.a), q.op.z, dtype)
        pair = self._pair(q, self._value(q.a, "i_"), q.a.dtype, self._value(q.b, "i_"), q.b.dtype)
        return cast_text(pair, q.op.z, dtype)

    def _pair(self, q: Any, x: str, xd: np.dtype[Any], y: str, yd: np.dtype[Any]) -> str:
        integer = np.dtype(np.int64)
        names = {"x": ("x", xd), "y": ("y", yd)} | {n: (n, integer) for n in ("xi", "xj", "yi", "yj")}
        texts = {"x": x, "y": y, "xi": "i_", "xj": "np.int64(0)", "yi": "i_", "yj": "np.int64(0)"}
        read = {name: names[name] for name in names if name in q.op.uses}
        return f"{self.function(q.op, read, q.op.z)}({', '.join(texts[name] for name in read)})"

    def _unary(self, op: Any, k: Any, store: Any, x: str = "") -> str:
        """Return the text of op(x, i, j, k); x: the value, if it is at hand."""
        integer = np.dtype(np.int64)
        names = {"x": ("x", store.dtype), "i": ("i", integer), "j": ("j", integer), "k": ("k", op.k)}
        texts = {"i": "i_", "j": "np.int64(0)"}
        read = {name: names[name] for name in names if name in op.uses}
        if "x" in read:
            texts["x"] = x or self._value(store, "i_")
        if "k" in read:
            texts["k"] = self.typed(k, op.k)
        return f"{self.function(op, read, op.z)}({', '.join(texts[name] for name in read)})"

    def _has(self, structure: Any, i: str) -> str:
        """Return the text of the presence of a position; ``True`` where all are present."""
        if structure is None:
            return "True"
        c, home = self.size(structure.size), self.home(structure)
        return f"(W{c}[np.uintp({home}w + ({i} >> 5))] >> np.uint32({i} & 31)) & np.uint32(1) != 0"

    def _insert(self, c: int, home: str, i: str, *, bit: bool = True) -> None:
        """Add an entry that is not present to a result; the number of its entries is in `m_` until `_counted`."""
        if bit:
            self.put(f"W{c}[np.uintp({home}w + ({i} >> 5))] |= np.uint32(1) << np.uint32({i} & 31)")
        self.put(f"L{c}[np.uintp({home}l + m_)] = {i}")
        self.put("m_ += 1")

    def _clear(self, c: int, home: str) -> None:
        """Remove all entries of a row; of few here, else by a call."""
        self.put(f"if {home}t != 0 and {home}n < 16:")
        self.indent += 1
        self.put(f"for q_ in range({home}l, {home}l + {home}n):")
        self.put_at(self.indent + 1, f"W{c}[np.uintp({home}w + (np.int64(L{c}[np.uintp(rolled(q_))]) >> 5))] = 0")
        self.indent -= 1
        self.put("else:")
        self.put_at(self.indent + 1, f"clear({self._structure(c, home)}, w{c})")
        self.put("m_ = 0")

    def _counted(self, c: int, home: str, order: str) -> None:
        """Store the number of entries of a result, and the order of its list: the text of a number (see support)."""
        self.put(f"{home}n = m_")
        self.put(f"{home}t = {order}")

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
        self._listed(store, sort=sort)
        self.put(f"budget -= {home}n")
        self.put(f"for {q} in range({home}l, {home}l + {home}n):")
        self.indent += 1
        self.put(f"{i} = np.int64(L{c}[np.uintp({q})])")

    def _listed(self, store: Any, *, sort: bool = False) -> None:
        """Make the list of a store current, and sort it."""
        c, home, how = self.size(store.size), self.home(store.words), "ascending" if sort else "relist"
        self.put(f"if {home}t {'!= 2' if sort else '== 0'}:")
        self.put_at(self.indent + 1, f"{how}({self._structure(c, home)}, w{c})")
        self.put_at(self.indent + 1, f"{home}t = 2")

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

    def _fresh(self, store: Any, *, always: bool = False) -> tuple[int, str | None, str | None]:
        """Return size class, rows of structure (cleared) and of values of a result.

        always: whether the values are stored where no step reads them, too.
        """
        c = self.size(store.size)
        s = self.home(store.words) if isinstance(store, Bitmap) else None
        unread = s is not None and not always and self.lifetimes.unread(store.values)
        v = self.home(store.values) if isinstance(store.values, Values) and not unread else None
        if s is not None:
            self._clear(c, s)
        return c, s, v

    def _set(self, store: Any, c: int, v: str | None, i: str, value: str) -> None:
        if v is not None:
            self.put(f"V{c}_{store.dtype.name}[np.uintp({v} + {i})] = {value}")
