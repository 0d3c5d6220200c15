"""The steps of a program as text, one line each: what is computed, under which mask, and what is updated in place."""

from __future__ import annotations

from typing import Any

from ...formats import CSR, Bitmap, Full, VectorStore
from ..requests.operands import Index, Mask, Rows
from .program import Block, Branch, Compute, Leave, Loop, Program, Request, VectorList
from .traced import Number, Typed

_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "eq": "==", "ne": "!=", "and": "and", "or": "or",
}  # fmt: skip
_SYMBOLS = {
    "locate_groups": "minloc",
    "mxv": "mxv",
    "write_vector": "write",
    "reduce_scalar": "reduce",
    "extract_vector": "extract",
}


def listing(program: Program, in_place: set[int]) -> list[str]:
    """Return the lines.  in_place: the identities of results that are updates in place."""
    return _Listing(program, in_place).lines


class _Listing:
    def __init__(self, program: Program, in_place: set[int]) -> None:
        self._names, self._in_place = dict(program.names), in_place
        self._new = 0
        self.lines: list[str] = []
        self._block(program.body, 0)

    def _put(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def name(self, value: Any) -> str:
        """Return the variable of a store or number, or a new name ``t1``, ``t2``, ..."""
        if isinstance(value, Typed):
            value = value.number
        if isinstance(value, CSR):
            return f"{value.nrows} x {value.ncols}"
        if isinstance(value, (Bitmap, Full)):
            if isinstance(value, Full) and value.values is None:
                iso: Any = value.iso
                return self.name(iso) if isinstance(iso, Typed) else str(iso)
            words = getattr(value, "words", None)
            parts = [value.values, words] if value.iso is None else [words]
            keys = [id(part) for part in parts if part is not None]
        elif isinstance(value, (Number, VectorList)):
            keys = [id(value)]
        else:
            return str(value)
        for key in keys:
            if key in self._names:
                return self._names[key]
        self._new += 1
        self._names[keys[0]] = f"t{self._new}"
        return self._names[keys[0]]

    def _block(self, block: Block, depth: int) -> None:
        for step in block.steps:
            match step:
                case Request():
                    self._request(step, depth)
                case Compute():
                    self._compute(step, depth)
                case Loop():
                    self._block(step.head, depth)
                    self._put(depth, f"while {self.name(step.test)}:")
                    self._block(step.body, depth + 1)
                case Branch():
                    self._put(depth, f"if {self.name(step.test)}:")
                    self._block(step.then, depth + 1)
                    if any(not isinstance(inner, Leave) or inner.moves for inner in step.otherwise.steps):
                        self._put(depth, "else:")
                        self._block(step.otherwise, depth + 1)
                case Leave():
                    moves = [(self.name(m.target), self.name(m.source)) for m in step.moves]
                    changed = [f"{a} = {b}" for a, b in moves if a != b]
                    if changed:
                        self._put(depth, ", ".join(changed))
                    if step.kind != "next":
                        self._put(depth, step.kind.split()[0])

    def _request(self, step: Request, depth: int) -> None:
        spec, details = step.spec, []
        for field, value in vars(spec).items():
            if isinstance(value, Mask):
                kind = "S" if value.structural else "V"
                details.append(f"mask {'~' if value.complement else ''}{self.name(value.store)}.{kind}")
            elif isinstance(value, (VectorStore, Typed, VectorList, Number)):
                details.append(self.name(value))
            elif isinstance(value, Index) and value.array is not None:
                details.append(f"[{self._names.get(id(value.array), 'index')}]")
            elif isinstance(value, Index) and value.count == 1:
                details.append(f"[{self.name(value.start)}]")
            elif value is not None and not isinstance(value, (Rows, Index)) and hasattr(value, "uses"):
                details.append(str(getattr(value, "name", value)))
            elif field == "semiring":
                details.append(f"{value.add.op.name}.{value.mult.name}")
            elif field == "monoid":
                details.append(value.op.name)
            elif field in ("replace", "largest") and value:
                details.append(field)
        what = _SYMBOLS.get(spec.name, spec.name)
        if spec.name == "append":
            self._put(depth, f"append({', '.join(details)})")
            return
        made = step.result
        result = (
            f"{self.name(made.values)}, {self.name(made.positions)}"
            if spec.name == "locate_groups"
            else self.name(made)
        )
        if id(step.result) in self._in_place:
            details.append("in place")
        if spec.name == "write_vector" and self.name(spec.c) != result:
            self._names[id(step.result.values if step.result.iso is None else step.result.words)] = self.name(spec.c)
            result = self.name(step.result)
        self._put(depth, f"{result} = {what}({', '.join(details)})")

    def _compute(self, step: Compute, depth: int) -> None:
        op, made = step.op, self.name(step.result)
        texts = []
        for value in step.operands:
            known = self._names.get(id(value))
            texts.append(known if known is not None else self.name(value))
        stem = op.partition("_")[0]
        if stem in _SIGNS and len(texts) == 2:
            self._put(depth, f"{made} = {texts[0]} {_SIGNS[stem]} {texts[1]}")
        elif op == "count":
            self._put(depth, f"{made} = nvals({self._count_name(step.operands[0])})")
        elif op in ("drop", "clear"):
            self._put(depth, f"{op}({texts[0]})")
        elif op in ("within", "positions", "check", "present"):
            self._put(depth, f"check {op}")
        else:
            self._put(depth, f"{made} = {op}({', '.join(texts)})")

    def _count_name(self, structure: Any) -> str:
        return self._names.get(id(structure), "a result")
