"""The parts that the CUDA text of every request consists of: numbers, constants, entries, operators, barriers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...dtypes import c_name
from ...formats import Bitmap, index_dtype
from ..programs.program import Program, Values
from ..programs.text import ProgramText
from ..programs.traced import Number, Typed
from ..requests.operands import Mask
from ..shared.iso_results import POSITIONS
from . import specialize
from .program_counters import FIRST_COUNTER

TYPES = {"int": "i64", "float": "f64", "bool": "i64"}


_Pending = tuple[dict[str, set[str]], list[str], set[str], dict[str, str]]


def _untouched() -> dict[str, set[str]]:
    return {"r": set(), "w": set(), "lr": set(), "lw": set()}


class Text(ProgramText):
    """The text of a program as one kernel.

    A barrier separates a request from what it depends on: `touch` records what was read and written since the last one.
    What a request counts is assigned behind the next barrier.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.operators: list[str] = []
        self._operator_names: dict[Any, str] = {}
        self.products: list[Any] = []
        self.searches: list[str] = []  # for extreme entries: a namespace of the text each
        # Buffers of fixed use beside the homes: the name, the type, and how many elements (an expression of sizes).
        self.buffers: list[tuple[str, str, Any]] = []
        self.points = 0
        self.counters = FIRST_COUNTER
        self._touched = _untouched()
        # Values that were written at the entries of a vector alone, by the threads that visit these: its positions.
        self._visited: dict[str, str] = {}
        self._waiting: list[str] = []  # statements for behind the next barrier
        self._awaited: set[str] = set()  # the variables that they assign
        # Positions to which a request since the last barrier adds those of another vector (1), or from which it removes
        # them (2), and nothing else.
        self.changing: dict[str, tuple[int, str]] = {}
        # The matrix that vectors of a size are pushed through, where all pushes are through one.
        self.edged: dict[int, str | None] = {}
        # Products that may end rows at the least or the greatest value of their vector.
        self.bounded: list[int] = []
        self.host_products: list[Any] = []  # products that the host may execute
        # Matrices of which a product reads tiles of rows, and the rows that have entries.
        self.tiled: set[str] = set()
        self.present: set[str] = set()
        # Those of which a vector may have all columns that have entries.
        self.covered: set[str] = set()

    # -- numbers -------------------------------------------------------------------------------------------

    def number(self, value: Any) -> str:
        """Return the text of a number."""
        if isinstance(value, Typed):
            value = value.number
        if isinstance(value, Number):
            return f"s.{self.variable(value)}"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, int):
            return f"i64({value})" if value in (-1, 0, 1, 2) else self.held(np.int64(value))
        return self.held(np.float64(value))

    def held(self, value: np.generic) -> str:
        """Return the text of a constant, which is an argument."""
        return f"a.{self.constant(value)}"

    def typed(self, value: Any, dtype: np.dtype[Any]) -> str:
        """Return the text of a scalar operand in a type."""
        if isinstance(value, Typed):
            text = self.number(value.number)
            return cast(f"({text} != 0)" if value.number.kind == "bool" else text, dtype)
        if isinstance(value, np.generic):
            return cast(self.held(value), dtype)
        return self.held(dtype.type(value))

    # -- operators -----------------------------------------------------------------------------------------

    def operator(self, kind: str, op: Any) -> str:
        """Return the name of the device function of an operator; kind: ``"binary"`` or ``"indexunary"``."""
        found = self._operator_names.get((kind, op))
        if found is None:
            found = self._operator_names[kind, op] = f"f{len(self.operators)}"
            self.operators.append(getattr(specialize, kind)(found, op))
        return found

    # -- entries -------------------------------------------------------------------------------------------

    def set_of(self, store: Any) -> str | None:
        """Return the variable with the positions of a store; None for a full one."""
        return f"b.{self.home(store.words)}" if isinstance(store, Bitmap) else None

    def values_of(self, store: Any) -> str | None:
        """Return the variable with the values of a store; None where all share one."""
        return f"b.{self.home(store.values)}" if isinstance(store.values, Values) else None

    def operands(self, *stores: Any) -> list[str | None]:
        """Return the variables that are read for the entries of stores."""
        found: list[str | None] = []
        for store in stores:
            producer = self.deferred.get(id(store.values))
            if producer is None:
                found += [self.set_of(store), self.values_of(store)]
            else:
                q = producer.spec
                found += [self.set_of(store), *self.operands(q.a, *([q.b] if q.name == "ewise" else []))]
        return found

    def computed(self, q: Any) -> str:
        """Return the text of an entry of an apply, or of an element-wise operation of full vectors."""
        if q.name == "apply":
            return self.unary(q.op, q.k, q.a)
        return self.binary(q.op, self.value(q.a, "i"), self.value(q.b, "i"))

    def unary(self, op: Any, k: Any, store: Any) -> str:
        """Return the text of op(x, i, j, k)."""
        name = self.operator("indexunary", op)
        x = self.value(store, "i") if "x" in op.uses else f"{c_name(op.x)}()" if " " not in c_name(op.x) else "0"
        thunk = self.typed(k, op.k) if "k" in op.uses else "0"
        return f"{name}({x}, i, i64(0), {thunk})"

    def binary(self, op: Any, x: str, y: str) -> str:
        """Return the text of op(x, y) with positions, where it reads them."""
        positions = ", i, i64(0), i, i64(0)" if op.uses & POSITIONS else ""
        return f"{self.operator('binary', op)}({x}, {y}{positions})"

    def n(self, store: Any) -> str:
        """Return the text of the size of a store."""
        return f"a.n{self.size(store.size)}"

    def value(self, store: Any, i: str) -> str:
        """Return the text of the value of an entry."""
        producer = self.deferred.get(id(store.values))
        if producer is not None:
            assert i == "i"
            return cast(self.computed(producer.spec), store.dtype)
        values = self.values_of(store)
        return self.typed(store.iso, store.dtype) if values is None else f"{values}[{i}]"

    def has(self, store: Any, i: str) -> str:
        """Return the text of the presence of a position; ``true`` where all are present."""
        found = self.set_of(store)
        return "true" if found is None else f"{found}.has({i})"

    def admits(self, mask: Mask | bool, i: str) -> str:
        """Return the text of whether a simplified mask admits a position."""
        if isinstance(mask, bool):
            return str(mask).lower()
        store: Any = mask.store
        inside = self.has(store, i)
        if not mask.structural:
            inside = f"{inside} && {self.value(store, i)} != {cast('0', store.dtype)}"
        return f"!({inside})" if mask.complement else f"({inside})"

    def shift(self, c: int) -> str:
        """Return the text of the bits below the rows in counts of vectors of a size."""
        m = self.edged.get(c)
        return "0" if m is None else f"int(a.shift{m})"

    def set_type(self, c: int) -> str:
        """Return the type of the positions of vectors of a size."""
        m = self.edged.get(c)
        offsets = np.dtype(np.int32) if m is None else self.matrices[int(m)].indptr.dtype
        return f"Positions<{c_name(index_dtype(self.sizes[c]))}, {c_name(offsets)}>"

    def counter(self, count: int = 1) -> int:
        """Return the first of new counters."""
        first, self.counters = self.counters, self.counters + count
        return first

    def buffer(self, stem: str, dtype: str, count: Any, fill: Any = None) -> str:
        """Return an argument that points to memory of the program.  count: its elements; fill: their initial value."""
        name = f"{stem}{len(self.buffers)}"
        self.buffers.append((name, dtype, (count, fill)))
        return f"a.{name}"

    # -- barriers ------------------------------------------------------------------------------------------

    def touch(
        self,
        reads: Iterable[str | None] = (),
        writes: Iterable[str | None] = (),
        *,
        local_reads: Iterable[str | None] = (),
        local_writes: Iterable[str | None] = (),
        visits: str | None = None,
    ) -> None:
        """Put a barrier here if a request with these operands must not run beside those since the last one.

        local_reads, local_writes: values that the thread of position i alone reads and writes at i, in a loop over all
        positions, where each thread always has the same ones.  visits: the positions whose entries the request visits,
        at which alone it reads values: a thread visits those that it visited before.
        """
        now = {
            kind: {name for name in names if name}
            for kind, names in (("r", reads), ("w", writes), ("lr", local_reads), ("lw", local_writes))
        }
        past = self._touched
        same = {name for name, positions in self._visited.items() if positions == visits}
        touches = (now["r"] - same) | now["w"] | now["lr"] | now["lw"]
        clash = (
            touches & (past["w"] | self._awaited)
            or (now["w"] | now["lw"]) & past["r"]
            or (now["r"] | now["w"]) & past["lw"]
            or now["w"] & past["lr"]
        )
        if clash:
            self.barrier()
        for kind, names in now.items():
            self._touched[kind] |= names
        for name in now["w"] | now["lw"]:
            self._visited.pop(name, None)

    def visited(self, positions: str, values: str) -> None:
        """Note that the request whose `touch` was the last one wrote values at the entries that it visits alone."""
        self._visited[values] = positions

    def known(self, *variables: str | None) -> None:
        """Put a barrier here if the numbers of entries are assigned behind the next one."""
        if not self._awaited.isdisjoint(variables):
            self.barrier()

    def barrier(self) -> None:
        """Put a barrier, and what waits for it."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self.put("g.barrier([&] {")
            for statement in waiting:
                self.put(f"    {statement}")
            self.put("});")
        else:
            self.put("g.barrier();")
        self._touched, self._awaited, self.changing, self._visited = _untouched(), set(), {}, {}

    def settle(self) -> None:
        """Put a barrier if any request has run since the last one."""
        if self.unsettled():
            self.barrier()

    def unsettled(self) -> bool:
        """Return whether any request has run since the last barrier."""
        return any(self._touched.values()) or bool(self._waiting)

    def later(self, statement: str, *variables: str) -> None:
        """Put a statement behind the next barrier, which assigns variables."""
        self._waiting.append(statement)
        self._awaited |= set(variables)

    def pending(self) -> _Pending:
        """Return what the next barrier separates, for another block of the program."""
        touched = {kind: set(names) for kind, names in self._touched.items()}
        return touched, list(self._waiting), set(self._awaited), dict(self._visited)

    def resume(self, pending: _Pending | None = None) -> None:
        """Continue with what `pending` returned; None: behind a barrier."""
        touched, waiting, awaited, visited = pending or (_untouched(), [], set(), {})
        self._touched = {kind: set(names) for kind, names in touched.items()}
        self._waiting, self._awaited, self.changing, self._visited = list(waiting), set(awaited), {}, dict(visited)

    def join_pending(self, other: _Pending) -> None:
        """Continue after two blocks of which one was executed; the same statements wait behind both."""
        touched, waiting, _, visited = other
        assert waiting == self._waiting
        for name in touched["w"] | self._touched["w"]:
            found = [
                of.get(name) for of, kinds in ((self._visited, self._touched), (visited, touched)) if name in kinds["w"]
            ]
            self._visited.pop(name, None)
            if len(set(found)) == 1 and found[0] is not None:
                self._visited[name] = found[0]
        for kind, names in touched.items():
            self._touched[kind] |= names

    def point(self, items: str) -> None:
        """Put a place where the group continues with more blocks if it has so many items to process."""
        self.points += 1
        k = self.points
        self.put_at(0, f"point_{k}:")
        self.put(
            f"if (active < g.blocks_for({items})) {{ s.point = {k}; blocks = g.blocks_for({items}); goto together; }}"
        )
        self.put(f"s.work += {items};")

    def prefer_list(self, positions: str | None, n: str, condition: str = "unlisted") -> None:
        """List the entries here if they are few and not listed; behind `touch`."""
        if positions is None:
            return
        k = self.counter()
        self.put(
            f"if ({positions}.{condition}({n})) {{ relist(g, {positions}, {k}, b.c{k}, {n}); "
            f"g.barrier([&] {{ {positions}.listed = 1; b.c{k} = counted[{k}]; }}); }}"
        )

    @staticmethod
    def leave(outcome: str, point: int = 0) -> str:
        """Return the statements that end the launch; the next one continues at a point."""
        return f"{{ s.point = {point}; s.exit = {outcome}; goto end; }}"

    def put_at(self, indent: int, text: str) -> None:
        """Add a line at an indentation."""
        self.lines.append("    " * indent + text)

    def items(self, store: Any) -> str:
        """Return the text of the number of positions that a loop over the entries visits."""
        found, n = self.set_of(store), self.n(store)
        return n if found is None else f"({found}.sparse({n}) ? {found}.count : {n})"

    def counted(self, c: int, target: str, k: int, *, listed: str) -> None:
        """Assign the number of entries of a result behind the next barrier.

        k: its counter.  listed: the text of the kind of its list.
        """
        amount = f"counted[{k}] - b.c{k}"
        edges = f" {target}.edges = packing.edges({amount});" if self.edged.get(c) is not None else ""
        packing = f"const Packing packing = {{{self.shift(c)}}}; "
        self.later(
            f"{{ {packing}{target}.count = packing.rows({amount}); {target}.listed = {listed};{edges} "
            f"b.c{k} = counted[{k}]; }}",
            target,
        )


def cast(text: str, dtype: np.dtype[Any]) -> str:
    """Return the text of a value in a type."""
    return f"cast<{c_name(dtype)}>({text})"


def kind_cast(text: str, source: str, kind: str) -> str:
    """Return the text of a number of one kind as another."""
    return text if source == kind else f"{TYPES[kind]}({text})"
