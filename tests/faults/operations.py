"""Random operations, executed by this package and by SuiteSparse:GraphBLAS through python-graphblas.

    python -m tests.faults operations --count 100000 --seed 1
    python -m tests.faults.operations SEED FIRST LAST CASES ENGINE      # these trials alone, in this process

A trial is an operation with its operator and types (`_operation_cases`), operands of any shape, density and storage
kind with explicit zeros, extremes of integer types, NaN and infinities (`_operation_sides`), and a write: a target, of
the result's type or a wider one, that may be an operand; a mask by value or by structure, complemented or not; an
accumulator; `replace`.  Both sides must have the same positions, shape and type.  Integers and booleans are equal;
floats agree within the bounds of `tests.compare`, because sums are taken in different orders.

A few trials are malformed in shape: this package must raise a `SemiringError` and leave the target unchanged.
A trial that raises anything else counts as ``raw``.  Trials run in child processes: one that dies counts as ``died``.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

import semiring as sr
from semiring.exceptions import SemiringError
from tests.compare import TOLERANCE
from tests.faults._isolated import run_isolated
from tests.faults._operation_cases import CASES, DRAW, Case, Request
from tests.faults._operation_sides import Operands, Side, arrays, graphblas
from tests.faults.tally import Tally
from tests.storage_kinds import small_slices

# A case costs its compilation, so it is included if its expected number of draws is at least this.
_WORTH = 40
_MALFORMED = 0.02
_ACCUMULATORS = {
    "b": ("lor", "land", "second", "first", "lxor"),
    "": ("plus", "min", "max", "second", "minus", "first"),
}
_WIDER = {
    "bool": "int64",
    "int8": "int64",
    "uint8": "int32",
    "uint16": "int64",
    "int32": "float64",
    "float32": "float64",
}


def trials(count: int, seed: int, engine: str = "cpu") -> Tally:
    """`count` random operations on an engine; every one counts as ok, refused, wrong, raw, died or hung."""
    cases = min(len(CASES), max(count // _WORTH, 17))
    return run_isolated("tests.faults.operations", count, seed, [str(cases), engine])


class Trial:
    """One operation with its operands and its write.

    accumulators: by the kind of the target's type.  mask_types: of the objects that masks are of.
    wider: the share of targets of a wider type than the result's.
    """

    accumulators = _ACCUMULATORS
    mask_types: tuple[str, ...] = ("bool", "bool", "int64")
    wider = 0.2

    def __init__(self, seed: int, number: int, cases: int, engine: str) -> None:
        rng = Operands(np.random.default_rng([seed, number]), engine)
        self.operands = rng
        self.case: Case = rng.pick(CASES[:cases])
        self.request: Request = DRAW[self.case.operation](rng, self.case)
        self.number, self.seed, self.cases = number, seed, cases
        self.written = bool(self.request.shape) and (self.request.region is not None or rng.maybe(0.75))
        self.malformed = False
        if self.written:
            self._draw_write(rng)

    def _draw_write(self, rng: Operands) -> None:
        shape, region = self.request.shape, self.request.region
        dtype = self.request.dtype or self._result_dtype(rng)
        accums = self.accumulators["b" if dtype == "bool" else ""]
        self.accum = rng.pick(accums) if rng.maybe(0.5) else None
        if rng.maybe(self.wider):
            dtype = _WIDER.get(dtype, dtype)
        self.malformed = rng.maybe(_MALFORMED) and region is None
        target_shape = (shape[0] + 1, *shape[1:]) if self.malformed else shape
        self.target = "C" if len(shape) == 2 else "w"
        same = [
            name
            for name in ("A", "u")
            if name in rng.shapes and rng.shapes[name] == shape and str(rng.stores[name].dtype) == dtype
        ]
        if same and region is None and rng.maybe(0.15):
            self.target = same[0]  # the output is an operand
        elif len(shape) == 2:
            rng.matrix("C", *target_shape, dtype)
        else:
            rng.vector("w", *target_shape, dtype)
        self.mask = None
        if rng.maybe(0.65):
            masked_shape = self.request.masked or target_shape
            name = "M" if len(masked_shape) == 2 else "m"
            if rng.maybe(0.1) and masked_shape == shape and self.target in "Cw" and not self.malformed:
                name = self.target  # the output is its own mask
            elif name == "M":
                rng.matrix("M", *masked_shape, rng.pick(self.mask_types))
            else:
                rng.vector("m", *masked_shape, rng.pick(self.mask_types))
            self.mask = (name, rng.pick("SV"), rng.maybe(0.5))
        self.replace = self.mask is not None and rng.maybe(0.4)

    def _result_dtype(self, rng: Operands) -> str:
        """The type of the result in SuiteSparse."""
        self._theirs = Side(graphblas(), rng)
        return np.dtype(self.request.call(self._theirs).dtype.np_type).name

    def __str__(self) -> str:
        parts = [
            f"trial {self.number} of seed {self.seed} with {self.cases} cases: {self.case}",
            "; ".join(self.operands.notes),
        ]
        if self.written:
            mask = "" if self.mask is None else f", mask {'~' if self.mask[2] else ''}{self.mask[0]}.{self.mask[1]}"
            parts.append(f"into {self.target}{mask}, accum {self.accum}, replace {self.replace}")
        return ", ".join(parts)

    def run(self, s: Side) -> Any:
        """The result on one side: the target after the write, or the operation by itself."""
        if not self.written:
            made = self.request.call(s)
            return made.new() if hasattr(made, "new") and not s.is_ours else made
        options: dict[str, Any] = {}
        if self.accum is not None:
            options["accum"] = s.operator("binary", self.accum)
        if self.mask is not None:
            options.update(mask=self._mask_on(s, *self.mask), replace=self.replace)
        target = getattr(s, self.target)
        made = self.request.call(s)
        if not s.is_ours and hasattr(made, "new"):
            # In one step, SuiteSparse 9.4.5 writes the sum of two full objects into a full iso-valued target beyond
            # the target's single value, and the process dies; so it may in an assignment of all of the target.
            made = made.new()
            if self.request.region is None:
                made = made.apply(s.unary.identity)
        if self.request.region is None:
            target(**options) << made
        elif self.request.sub:
            target[self.request.region](**options) << made
        else:
            target(**options)[self.request.region] << made
        return target

    def _mask_on(self, s: Side, name: str, kind: str, complement: bool) -> Any:
        """The mask on one side."""
        masking = getattr(s, name)
        if not s.is_ours:
            # A copy, since SuiteSparse 9.4.5 may crash where the target is its own mask; and of type bool, since it
            # takes -0.0 for true.
            masking = masking.dup(dtype=bool) if kind == "V" else masking.dup()
        mask = getattr(masking, kind)
        return ~mask if complement else mask

    def outcome(self, gb: Any) -> tuple[str, str]:
        """The outcome of the trial, and the differences."""
        theirs = ours = None
        refused: Exception | None = None
        print("oracle", flush=True)
        try:
            theirs = arrays(self.run(Side(gb, self.operands)))
        except gb.exceptions.GraphblasException as error:
            refused = error
        print(self.number, flush=True)
        side = Side(sr, self.operands)
        before = arrays(getattr(side, self.target)) if self.malformed else None
        try:
            ours = arrays(self.run(side))
        except SemiringError as error:
            # Malformed: shapes disagree.  SuiteSparse misses that where a mask of another size is false everywhere.
            if refused is None and not self.malformed:
                return "wrong", f"{self}: refused ({type(error).__name__}: {error}), but SuiteSparse gives a result"
            if before is not None and (differs := difference(arrays(getattr(side, self.target)), before)):
                return "wrong", f"{self}: refused, and the target has changed: {differs}"
            return "refused", ""
        if refused is not None:
            return "wrong", f"{self}: a result, and SuiteSparse refuses ({type(refused).__name__}: {refused})"
        differs = difference(ours, theirs)
        return ("wrong", f"{self}: {differs}") if differs else ("ok", "")


def difference(ours: Any, theirs: Any) -> str:
    """What differs, or nothing."""
    (at, values, shape, dtype), (right_at, right, right_shape, right_dtype) = ours, theirs
    if shape != right_shape:
        return f"shape {shape}, expected {right_shape}"
    if dtype != right_dtype:
        return f"type {dtype}, expected {right_dtype}"
    if values.size != right.size or any((a != b).any() for a, b in zip(at, right_at, strict=True)):
        return f"{values.size} entries, expected {right.size}, or others"
    if values.dtype.kind == "f":
        bound = TOLERANCE[values.dtype]
        same = np.isclose(values, right, rtol=bound, atol=bound, equal_nan=True)
    else:
        same = values == right
    if same.all():
        return ""
    p = int(np.argmin(same))
    return f"{int((~same).sum())} values differ, first at {[int(a[p]) for a in at]}: {values[p]!r}, not {right[p]!r}"


def run_here(seed: int, first: int, last: int, cases: int, engine: str) -> None:
    """These trials in this process; prints what `_isolated` reads."""
    gb = graphblas()
    with sr.use(engine), small_slices():
        for number in range(first, last):
            print(number, flush=True)
            trial = None
            try:
                trial = Trial(seed, number, cases, engine)
                outcome, text = trial.outcome(gb)
            except Exception as error:
                place = error.__traceback__
                while place is not None and place.tb_next is not None:
                    place = place.tb_next
                where = "" if place is None else f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
                outcome = "raw"
                name = str(trial or f"trial {number} of seed {seed} with {cases} cases")
                text = f"{name}: {type(error).__name__}: {error} at {where}"
            print(json.dumps([outcome, text]), flush=True)


if __name__ == "__main__":
    run_here(*(int(word) for word in sys.argv[1:5]), engine=sys.argv[5])
