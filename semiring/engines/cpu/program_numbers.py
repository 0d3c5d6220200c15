"""The text of the numbers of a program: Python's arithmetic, with checks where it would leave 64 bits or raise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import Bitmap
from ..programs.program import Compute
from ..programs.text import KINDS, kind_of
from ..programs.traced import Number
from .program_text import Text
from .scalar import cast_text

# Results of a program.
FAILED, STOPPED, YIELDED = -2, -3, -4


class Numbers(Text):
    """Writes the steps of a program that compute numbers."""

    def _compute(self, step: Compute) -> None:
        op, operands = step.op, step.operands
        made = self.number(step.result)
        if op == "count":
            self.put(f"{made} = {self.home(operands[0])}n")
            return
        if op in ("absent", "element"):
            store, at = operands
            i = self.number(at) if isinstance(at, Number) else self.constant(np.int64(at))
            if op == "absent":
                self.put(f"{made} = not ({self._has(store.words, i)})")
            else:
                self.put(f"{made} = {cast_text(self._value(store, i), store.dtype, KINDS[step.result.kind])}")
            return
        if op == "same":
            self._same(made, *operands)
            return
        if op == "positions":
            store, size = operands
            self._each(store, "i_")
            value = self._value(store, "i_")
            self.put(f"v_ = {value}")
            self.put(f"if v_ < 0 or v_ >= {self.constant(np.int64(size))}:")
            self.put_at(self.indent + 1, f"return {FAILED}")
            self.indent -= 1
            return
        texts = [self.number(value) for value in operands]
        a, b = (*texts, "", "")[:2]
        name, _, kind = op.partition("_")
        if name == "present":
            self._guard(a)
            self.put(f"{made} = {b}")
        elif name == "within":
            self._guard(f"{a} < {b} or {a} > {texts[2]}")
        elif name == "check":
            self._guard(f"not {a}")
        elif name == "select":
            self.put(f"if {a}:")
            self.put_at(self.indent + 1, f"{made} = {self._as(operands[1], step.result.kind)}")
            self.put("else:")
            self.put_at(self.indent + 1, f"{made} = {self._as(operands[2], step.result.kind)}")
        elif name in ("and", "or"):
            self.put(f"{made} = {a} {name} {b}")
        elif op == "not":
            self.put(f"{made} = not {a}")
        elif op == "truth":
            self.put(f"{made} = {a} != 0")
        elif name in ("lt", "le", "gt", "ge", "eq", "ne"):
            sign = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}[name]
            if kind == "float":
                a, b = self._exact_float(operands[0]), self._exact_float(operands[1])
            else:
                a, b = self._as(operands[0], "int"), self._as(operands[1], "int")
            self.put(f"{made} = {a} {sign} {b}")
        elif kind == "int":
            self._integer(name, made, self._as(operands[0], "int"), self._as(operands[1], "int"))
        elif kind == "float" and name in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
            self._floating(name, made, self._exact_float(operands[0]), self._exact_float(operands[1]))
        elif op == "neg":
            self.put(f"{made} = -{a}")
        elif op == "abs":
            if step.result.kind == "int":
                self._guard(f"{self._as(operands[0], 'int')} == -9223372036854775808")
            self.put(f"{made} = abs({self._as(operands[0], step.result.kind)})")
        elif op == "to_float":
            self.put(f"{made} = {self._exact_float(operands[0])}")
        elif op == "to_int":
            if kind_of(operands[0]) == "float":
                self._guard(f"not (abs({a}) < 9.0e18)")
            self.put(f"{made} = np.int64({a})")
        elif op == "sqrt":
            self._guard(f"not ({self._exact_float(operands[0])} >= 0.0)")
            self.put(f"{made} = math.sqrt({self._exact_float(operands[0])})")
        else:
            self.put(f"{made} = math.{op}({self._exact_float(operands[0])})")

    def _guard(self, fails: str) -> None:
        self.put(f"if {fails}:")
        self.put_at(self.indent + 1, f"return {FAILED}")

    def _as(self, value: Any, kind: str) -> str:
        text, source = self.number(value), kind_of(value)
        return text if source == kind else cast_text(text, KINDS[source], KINDS[kind])

    def _exact_float(self, value: Any) -> str:
        """Return an operand as a float; an integer must be exact in it."""
        text, source = self.number(value), kind_of(value)
        if source == "float":
            return text
        if isinstance(value, Number) and source == "int":
            self._guard(f"abs({text}) > 9007199254740992")
        return f"np.float64({text})"

    def _integer(self, name: str, made: str, a: str, b: str) -> None:
        if name in ("floordiv", "mod"):
            self._guard(f"{b} == 0 or {b} == -1")
            self.put(f"{made} = {a} {'//' if name == 'floordiv' else '%'} {b}")
            return
        sign = {"add": "+", "sub": "-", "mul": "*"}[name]
        if name == "mul":
            self._guard(f"multiply_overflows({a}, {b})")
            self.put(f"{made} = {a} * {b}")
            return
        self.put(f"z_i = np.int64(np.uint64({a}) {sign} np.uint64({b}))")
        other = b if name == "add" else f"(~({b}))"
        self._guard(f"add_overflows({a}, {other}, z_i)")
        self.put(f"{made} = z_i")

    def _floating(self, name: str, made: str, a: str, b: str) -> None:
        if name in ("truediv", "floordiv", "mod"):
            self._guard(f"{b} == 0.0")
        function = {"floordiv": "floor_divide", "mod": "modulo"}.get(name)
        if function is not None:
            self._guard(f"not (math.isfinite({a}) and math.isfinite({b}))")
            self.put(f"{made} = {function}({a}, {b})")
        else:
            sign = {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}[name]
            self.put(f"{made} = {a} {sign} {b}")

    def _same(self, made: str, a: Any, b: Any) -> None:
        c = self.size(a.size)
        counts = [f"{self.home(x.words)}n" if isinstance(x, Bitmap) else f"n{c}" for x in (a, b)]
        self.put(f"{made} = {counts[0]} == {counts[1]}")
        self.put(f"if {made}:")
        self.indent += 1
        self._each(a, "i_")
        x, y = self._value(a, "i_"), self._value(b, "i_")
        missing = f"not ({self._has(b.words, 'i_')}) or " if isinstance(b, Bitmap) else ""
        nan = f" and ({x} == {x} or {y} == {y})" if a.dtype.kind == "f" else ""
        self.put(f"if {missing}({x} != {y}{nan}):")
        self.indent += 1
        self.put(f"{made} = False")
        self.put("break")
        self.indent -= 3
