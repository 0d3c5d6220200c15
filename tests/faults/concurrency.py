"""Threads, forks and exits: several Python threads, children forked during work, an interpreter that exits during work.

A trial is one process, of the kinds of `_concurrent` in turn.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.faults.tally import Tally

KINDS = ("alarm", "fork_from_threads", "leave_compiling", "leave", "threads", "fork", "fork_while_compiling")
# Seconds for a process, compilation included.
_PATIENCE = 900.0


def trials(count: int, seed: int, engine: str | None = None) -> Tally:
    """Run `count` processes; `engine` is by default $FAULTS_ENGINE or ``"cpu"``.  A GPU is not forked."""
    tally = Tally("concurrency", seed)
    engine = engine or os.environ.get("FAULTS_ENGINE", "cpu")
    kinds = [kind for kind in KINDS if engine == "cpu" or not kind.startswith("fork")]
    for trial in range(count):
        kind = kinds[trial % len(kinds)]
        number = (seed * 1_000_003 + trial) % 2**32
        about = f"{kind}, process {number}, engine {engine}"
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-m", "tests.faults._concurrent", kind, engine, str(number)],
                capture_output=True,
                text=True,
                timeout=_PATIENCE,
                env={"NUMBA_NUM_THREADS": "4", "SEMIRING_QUIET": "1", **os.environ},
                cwd=Path(__file__).resolve().parents[2],
                check=False,
            )
        except subprocess.TimeoutExpired:
            tally.add("hung", about)
            continue
        said = f"{done.stdout[-500:]} {done.stderr[-500:]}"
        if done.returncode == 0 and not done.stderr:
            tally.add("ok")
        else:
            tally.add("wrong" if done.returncode in (0, 1) else "died", f"{about}: {done.returncode}: {said}")
    return tally
