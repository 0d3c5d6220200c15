"""Failed allocations: each allocation of arrays in each public operation fails once, alone or with all after it.

Trial (operation, k): the operation runs with its k-th allocation failing.  It must raise OutOfMemory, or return the
correct result without the memory; its operands and targets and the files around it are unchanged; and the same
operation then returns the correct result.  Operations run in a child process, one after the other: a crash or a hang
ends only one.

Not failed here: memory of kernels themselves (numba's own allocator), and of Python objects.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from semiring.config import config
from semiring.exceptions import OutOfMemory
from tests.faults.tally import Tally

# Seconds that a trial may take: far more than the first call of an operation, which compiles it.
_PATIENCE = 300


def trials(count: int, seed: int, engine: str = "cpu") -> Tally:
    """`count` trials: the operations in their order, all allocations of each; then again with other operands."""
    tally = Tally("allocations", seed)
    first = 0  # the next operation after one that killed its process
    while tally.outcomes.total() < count:
        begun = ""
        for line in _child(count - tally.outcomes.total(), seed, engine, first):
            if "begun" in line:
                begun, first = line["begun"], line["number"] + 1
            else:
                tally.add(line["outcome"], line["trial"])
        if tally.outcomes.total() < count:
            tally.add("died", f"{begun or 'before the first operation'}: the process ended or hung")
            if not begun:
                break
    return tally


def _child(count: int, seed: int, engine: str, first: int) -> Iterator[dict[str, Any]]:
    command = [sys.executable, "-m", __spec__.name, str(count), str(seed), engine, str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield json.loads(line)


def _run(count: int, seed: int, engine: str, first: int) -> None:
    import faulthandler

    from tests.faults._operations import CASES, device

    done, number = 0, first
    with device(engine):
        while done < count:
            case = CASES[number % len(CASES)]
            print(json.dumps({"begun": case.name, "number": number}), flush=True)
            faulthandler.dump_traceback_later(_PATIENCE, exit=True)
            for outcome, trial in _each_allocation(case, seed + number // len(CASES), engine):
                faulthandler.dump_traceback_later(_PATIENCE, exit=True)
                print(json.dumps({"outcome": outcome, "trial": trial}), flush=True)
                done += 1
                if done == count:
                    break
            number += 1
    faulthandler.cancel_dump_traceback_later()


def _each_allocation(case: Any, seed: int, engine: str) -> Iterator[tuple[str, str]]:
    """(outcome, trial) for each allocation of one operation."""
    from tests.faults._failing import failing
    from tests.faults._operations import comparable, operands

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case.run(operands(seed, folder))  # compiles its kernels
        with failing(engine, 0) as made:
            expected = case.run(operands(seed, folder))
        expected = comparable(expected)
        untouched = operands(seed, folder).targets()
        o = operands(seed, folder)
        with failing(engine, 0) as made:
            case.run(o)
        most = made.count
        for k in range(1, most + 1):
            lasting = (seed + k) % 2 == 0
            trial = f"{case.name}, seed {seed}, allocation {k} of {most}{' and all after it' if lasting else ''}"
            o = operands(seed, folder)
            outcome, detail = "ok", ""
            try:
                with failing(engine, k, lasting):
                    result = case.run(o)
            except OutOfMemory:
                outcome = "refused"
                if o.targets() != untouched:
                    outcome, detail = "wrong", ": operands or targets have changed"
            except BaseException as error:
                outcome, detail = "raw", f": {type(error).__name__}: {error}"
            else:
                if comparable(result) != expected:
                    outcome, detail = "wrong", ": another result"
            if outcome in ("ok", "refused"):
                again = operands(seed, folder) if outcome == "ok" else o
                if comparable(case.run(again)) != expected:
                    outcome, detail = "wrong", ": another result afterwards"
            yield outcome, trial + detail


if __name__ == "__main__":
    asked = argparse.ArgumentParser()
    asked.add_argument("count", type=int)
    asked.add_argument("seed", type=int)
    asked.add_argument("engine")
    asked.add_argument("first", type=int)
    given = asked.parse_args()
    config.quiet = True
    _run(given.count, given.seed, given.engine, given.first)
