"""Random operations on an engine, compared with the specification (the engine ``reference``) and with SuiteSparse.

    python -m tests.faults differential --count 20000 --seed 1 --engine cuda
    python -m tests.faults.differential SEED FIRST LAST BLOCK ENGINE [UNTIL]     # these trials alone, in this process

A trial is an operation with its operator and types (`_differential_cases`) on operands of any structure, storage kind
and shape (sizes 0 and 1, and large dimensions with few entries), transposed or not, by any method and direction, with
fused writes or without, and a write: a target that may be an operand; a mask by value or by structure, complemented
or not, alone or joined with another by ``&`` or ``|``; an accumulator; `replace`.  The result must have the type,
shape and entries that the specification gives, and the specification those that SuiteSparse gives, where python-
graphblas is installed and has the operation.

The trials of a block share what an engine compiles for, so that a GPU compares tens of thousands in minutes.  UNTIL
is a time (seconds since the epoch): trials that would begin later count as ``not run``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import semiring as sr
from semiring.config import config
from semiring.exceptions import SemiringError
from semiring.ops.mxm import METHODS
from tests.faults._differential_cases import DRAW, WITH_ORACLE, Block, Drawn, Specified, Tested, gathered
from tests.faults._isolated import run_isolated
from tests.faults._operation_sides import Side, arrays, graphblas
from tests.faults.operations import Trial, difference
from tests.faults.tally import Tally
from tests.storage_kinds import small_slices

# Trials of a block, and blocks of a child process at most.
_BLOCK = 400
_CHILD = 2
_PROCESSES = 14


def trials(count: int, seed: int, engine: str = "cpu", seconds: float | None = None) -> Tally:
    """`count` random operations; every one counts as ok, refused, wrong, raw, died, hung or not run.

    seconds: after which no further trial begins.
    """
    block = min(_BLOCK, max(count // 4, 1))
    until = time.time() + seconds if seconds is not None else float("inf")
    options = [str(block), engine, str(until)]
    chunk = min(_CHILD, -(-count // (min(os.cpu_count() or 1, _PROCESSES) * block))) * block
    return run_isolated("tests.faults.differential", count, seed, options, chunk=chunk, most=_PROCESSES, until=until)


class Difference(Trial):
    """One operation, whose result is compared."""

    def __init__(self, seed: int, number: int, block: int, engine: str) -> None:
        shared = self.block = Block(seed, number // block)
        self.accumulators, self.mask_types, self.wider = shared.accumulators, shared.mask_types, shared.wider
        rng = np.random.default_rng([seed, number, 2])
        drawn = self.operands = Drawn(rng, engine, shared, rng.random() < shared.large and engine != "reference")
        self.case, self.number, self.seed, self.cases = shared.case, number, seed, block
        self.request = DRAW[self.case.operation](drawn, self.case)
        self.written = bool(self.request.shape) and (self.request.region is not None or drawn.maybe(0.75))
        self.malformed, self.replace, self.target = False, False, ""
        self.mask = self.joined = None
        if self.written:
            self._draw_write(drawn)
        if self.mask is not None and drawn.maybe(0.3):
            self._join_mask(drawn)
        self.method, self.direction = drawn.pick(METHODS), drawn.pick(("auto", "auto", "push", "pull"))
        self.fusion, self.few = drawn.maybe(0.8), drawn.maybe(0.6)

    def _join_mask(self, rng: Drawn) -> None:
        assert self.mask is not None
        shape = rng.shapes[self.mask[0]]
        name = "N" if len(shape) == 2 else "n"
        (rng.matrix if len(shape) == 2 else rng.vector)(name, *shape, rng.pick(self.mask_types))
        self.joined = (rng.pick("&|"), name, rng.pick("SV"), rng.maybe(0.5), rng.maybe(0.3))

    def _result_dtype(self, _: Any) -> str:
        with sr.use("reference"):
            return np.dtype(self.request.call(Specified(self.operands)).dtype).name

    def _mask_on(self, s: Side, name: str, kind: str, complement: bool) -> Any:
        mask = super()._mask_on(s, name, kind, complement)
        if self.joined is None:
            return mask
        join, name, kind, complement, whole = self.joined
        other = super()._mask_on(s, name, kind, complement)
        made = mask & other if join == "&" else mask | other
        return ~made if whole else made

    def __str__(self) -> str:
        name, cases = f"trial {self.number} of seed {self.seed} with", f"{self.cases}"
        text = super().__str__().replace(f"{name} {cases} cases", f"{name} blocks of {cases}")
        joined = "" if self.joined is None else f" joined by {self.joined}"
        how = f"method {self.method}, direction {self.direction}, fusion {self.fusion}, few {self.few}"
        return f"{text}{joined}, {how}{', large' if self.operands.large else ''}"

    def outcome(self, gb: Any) -> tuple[str, str]:
        refused: str | None = None
        expected: Any = None
        with sr.use("reference"):
            try:
                expected = arrays(self.run(Specified(self.operands)))
            except SemiringError as error:
                refused = type(error).__name__
        if refused is None and gb is not None and (differs := self._from_suitesparse(gb, expected)):
            return "wrong", f"{self}: the specification differs from SuiteSparse: {differs}"
        try:
            found = self._found()
        except SemiringError as error:
            if refused is not None and type(error).__name__ == refused:
                return "refused", ""
            return "wrong", f"{self}: {type(error).__name__}: {error}; expected {refused or 'a result'}"
        if refused is not None:
            return "wrong", f"{self}: a result; expected {refused}"
        if self.operands.large and expected[2]:
            found = gathered(found, expected[2])
        differs = difference(found, expected)
        return ("wrong", f"{self}: {differs}") if differs else ("ok", "")

    def _found(self) -> Any:
        options = {"fusion": self.fusion, "direction": self.direction}
        with config.set(**options), _usual_methods(self.operands.engine, self.few):
            return arrays(self.run(Tested(self.operands, self.method)))

    def _from_suitesparse(self, gb: Any, expected: Any) -> str:
        """What differs, or nothing; it has no objects of size 0."""
        if self.case.operation not in WITH_ORACLE or 0 in sum(self.operands.shapes.values(), ()):
            return ""
        print("oracle", flush=True)
        try:
            return difference(expected, arrays(self.run(Side(gb, self.operands))))
        finally:
            print(self.number, flush=True)


@contextmanager
def _usual_methods(engine: str, few: bool) -> Iterator[None]:
    """Kernels for large operands, unless `few`: engines have products of their own for few entries."""
    if few or engine not in ("cpu", "cuda"):
        yield
        return
    module = "semiring.engines.cpu.index_rank" if engine == "cpu" else "semiring.engines.cuda.tuning"
    with patch(f"{module}.{'FEW_ENTRIES' if engine == 'cpu' else 'DENSE_STEPS'}", -1):
        yield


def run_here(seed: int, first: int, last: int, block: int, engine: str, until: float = float("inf")) -> None:
    """These trials in this process; prints what `_isolated` reads."""
    gb = graphblas() if importlib.util.find_spec("graphblas") is not None else None
    with sr.use(engine), small_slices():
        for number in range(first, last):
            print(number, flush=True)
            if time.time() >= until:
                print(json.dumps(["not run", ""]), flush=True)
                continue
            trial, kind = None, Block(seed, number // block).case.operation
            try:
                trial = Difference(seed, number, block, engine)
                outcome, text = trial.outcome(gb)
            except Exception as error:
                place = error.__traceback__
                while place is not None and place.tb_next is not None:
                    place = place.tb_next
                where = "" if place is None else f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
                outcome = "raw"
                name = str(trial or f"trial {number} of seed {seed} with blocks of {block}")
                text = f"{name}: {type(error).__name__}: {error} at {where}"
            print(json.dumps([outcome, text, kind]), flush=True)


if __name__ == "__main__":
    run_here(
        *(int(word) for word in sys.argv[1:5]),
        engine=sys.argv[5],
        until=float(sys.argv[6]) if sys.argv[6:] else float("inf"),
    )
