"""The CUDA text of the numbers of a program: Python's arithmetic, with checks where it would leave 64 bits or raise."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..programs.program import Compute
from ..programs.text import KINDS, kind_of
from ..programs.traced import Number, Untraceable
from .program_text import TYPES, Text, cast, kind_cast

_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}
_OVERFLOWS = {"add": "add_overflows", "sub": "subtract_overflows", "mul": "multiply_overflows"}
_TESTS = {name: f"python_{name}({{0}})" for name in ("isnan", "isfinite", "isinf")}


class Numbers(Text):
    """Writes the steps of a program that compute numbers; every thread computes them."""

    optional: ClassVar[frozenset[str]] = frozenset({"close"})

    def _compute(self, step: Compute) -> None:
        op, operands = step.op, step.operands
        if op in ("count", "absent", "element", "same", "close", "positions"):
            getattr(self, f"_{op}")(self.number(step.result), step)
            return
        made = self.number(step.result)
        texts = [self.number(value) for value in operands]
        a, b = (*texts, "", "")[:2]
        name, _, kind = op.partition("_")
        if name == "present":
            self._guard(a)
            self.put(f"{made} = {b};")
        elif name == "within":
            self._guard(f"{a} < {b} || {a} > {texts[2]}")
        elif name == "check":
            self._guard(f"!{a}")
        elif name == "select":
            self.put(
                f"{made} = {a} ? {self._as(operands[1], step.result.kind)} : {self._as(operands[2], step.result.kind)};"
            )
        elif name in ("and", "or"):
            self.put(f"{made} = {a} {'&&' if name == 'and' else '||'} {b};")
        elif op == "not":
            self.put(f"{made} = !{a};")
        elif op == "truth":
            self.put(f"{made} = {a} != 0;")
        elif name in _SIGNS:
            if kind == "float":
                a, b = self._exact_float(operands[0]), self._exact_float(operands[1])
            else:
                a, b = self._as(operands[0], "int"), self._as(operands[1], "int")
            self.put(f"{made} = {a} {_SIGNS[name]} {b};")
        elif kind == "int":
            self._integer(name, made, self._as(operands[0], "int"), self._as(operands[1], "int"))
        elif kind == "float" and name in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
            self._floating(name, made, self._exact_float(operands[0]), self._exact_float(operands[1]))
        elif op == "neg":
            self.put(f"{made} = -{a};")
        elif op == "abs":
            x = self._as(operands[0], step.result.kind)
            if step.result.kind == "int":
                self._guard(f"{x} == i64({self.held(np.int64(-(2**63)))})")
                self.put(f"{made} = {x} < 0 ? -{x} : {x};")
            else:
                self.put(f"{made} = fabs({x});")
        elif op == "to_float":
            self.put(f"{made} = {self._exact_float(operands[0])};")
        elif op == "to_int":
            if kind_of(operands[0]) == "float":
                self._guard(f"!(fabs({a}) < 9.0e18)")
            self.put(f"{made} = i64({a});")
        elif op == "sqrt":
            x = self._exact_float(operands[0])
            self._guard(f"!({x} >= 0.0)")
            self.put(f"{made} = sqrt({x});")
        elif op not in _TESTS:
            raise Untraceable(f"the operation {op} on a GPU")
        else:
            self.put(f"{made} = {_TESTS[op].format(self._exact_float(operands[0]))};")

    def _guard(self, fails: str) -> None:
        self.put(f"if ({fails}) {self.leave('FAILED')}")

    def _as(self, value: Any, kind: str) -> str:
        return kind_cast(self.number(value), kind_of(value), kind)

    def _exact_float(self, value: Any) -> str:
        """Return an operand as a float; an integer must be exact in it."""
        text, source = self.number(value), kind_of(value)
        if source == "float":
            return text
        if isinstance(value, Number) and source == "int":
            self._guard(f"{text} > 9007199254740992ll || {text} < -9007199254740992ll")
        return f"f64({text})"

    def _integer(self, name: str, made: str, a: str, b: str) -> None:
        if name in ("floordiv", "mod"):
            self._guard(f"{b} == 0 || {b} == -1")
            self.put(f"{made} = {'floor_divide' if name == 'floordiv' else 'modulo'}({a}, {b});")
            return
        self._guard(f"{_OVERFLOWS[name]}({a}, {b})")
        self.put(f"{made} = {a} {_ARITHMETIC[name]} {b};")

    def _floating(self, name: str, made: str, a: str, b: str) -> None:
        if name in ("truediv", "floordiv", "mod"):
            self._guard(f"{b} == 0.0")
        function = {"floordiv": "floor_divide", "mod": "modulo"}.get(name)
        if function is not None:
            self._guard(f"!({_TESTS['isfinite'].format(a)} && {_TESTS['isfinite'].format(b)})")
            self.put(f"{made} = {function}({a}, {b});")
        elif name == "mul":  # not contracted with a sum that follows: Python rounds each operation
            self.put(f"{made} = __dmul_rn({a}, {b});")
        else:
            self.put(f"{made} = {a} {_ARITHMETIC[name]} {b};")

    # -- numbers of vectors --------------------------------------------------------------------------------

    def _count(self, made: str, step: Compute) -> None:
        positions = f"b.{self.home(step.operands[0])}"
        self.known(positions)
        self.put(f"{made} = {positions}.count;")

    def _absent(self, made: str, step: Compute) -> None:
        store, at = step.operands
        self.touch([self.set_of(store)])
        self.put(f"{made} = !{self.has(store, self._position(at))};")

    def _element(self, made: str, step: Compute) -> None:
        store, at = step.operands
        self.touch([self.values_of(store)])
        kind = step.result.kind
        text = cast(self.value(store, self._position(at)), KINDS[kind])
        self.put(f"{made} = {text};" if kind != "bool" else f"{made} = {TYPES[kind]}({text});")

    def _position(self, at: Any) -> str:
        return self.number(at) if isinstance(at, Number) else self.held(np.int64(at))

    def _same(self, made: str, step: Compute) -> None:
        a, b = step.operands
        x, y = self.value(a, "i"), self.value(b, "i")
        nan = f" && ({x} == {x} || {y} == {y})" if a.dtype.kind == "f" else ""
        self._compare(made, a, b, f"{x} != {y}{nan}")

    def _close(self, made: str, step: Compute) -> None:
        """Whether values agree within limits; they are compared in a type that has the values of both."""
        a, b, *limits = step.operands
        joint = np.result_type(a.dtype, b.dtype)
        x, y = (cast(self.value(store, "i"), joint) for store in (a, b))
        differs = f"{x} != {y}"
        if a.dtype.kind == b.dtype.kind == "f":
            differs += f" && ({x} == {x} || {y} == {y})"
        if limits[0] is not None:
            relative, absolute = map(self._exact_float, limits)
            floats = ", ".join(f"f64({self.value(store, 'i')})" for store in (a, b))
            differs += f" && !within_limits({floats}, {relative}, {absolute})"
        self._compare(made, a, b, differs)

    def _compare(self, made: str, a: Any, b: Any, differs: str) -> None:
        """Compare all entries of two vectors: positions, and values at i by a condition."""
        sets = [self.set_of(x) for x in (a, b)]
        reads = [*sets, self.values_of(a), self.values_of(b)]
        self.touch(reads if any(sets) else [], local_reads=[] if any(sets) else reads)
        k = self.counter()
        counts = [f"{x}.count" if x else self.n(a) for x in sets]
        self.point(self.items(a))
        missing = "false" if sets[1] is None else f"!{sets[1]}.has(i)"
        self.put("{")
        self.put("    u64 differ = 0;")
        self.put(f"    if ({counts[0]} == {counts[1]}) {self.each(a)}if ({missing} || ({differs})) differ++; }});")
        self.put(f"    g.count({k}, differ);")
        self.put("}")
        self.barrier()
        self.put(f"{made} = {counts[0]} == {counts[1]} && counted[{k}] == b.c{k};")
        self.later(f"b.c{k} = counted[{k}];")

    def _positions(self, made: str, step: Compute) -> None:
        store, size = step.operands
        self.touch(local_reads=[self.values_of(store)])
        self.point(self.items(store))
        x = f"i64({self.value(store, 'i')})"
        self.put("{")
        self.put("    u64 outside = 0;")
        self.put(f"    {self.each(store)}if ({x} < 0 || {x} >= {self.held(np.int64(size))}) outside++; }});")
        self.put("    g.count(INVALID, outside);")
        self.put("}")
        self.barrier()
        self._guard("counted[INVALID] != 0")

    def store_each(self, store: Any, values: str | None, value: str) -> None:
        """Put a loop that stores a value at each entry i of a store; of what it writes it reads position i alone."""
        if self.set_of(store) is None:
            self.put(f"store_each({values}, {self.n(store)}, [&](i64 i) {{ return {value}; }});")
        else:
            self.put(f"{self.each(store)}{values}[i] = {value}; }});")

    def each(self, store: Any) -> str:
        """Return the beginning of a loop over the entries of a store, as i; it ends with ``});``."""
        found, n = self.set_of(store), self.n(store)
        return f"each_position({n}, [&](i64 i) {{ " if found is None else f"each_entry({found}, {n}, [&](i64 i) {{ "
