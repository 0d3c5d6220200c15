"""Interrupts during parallel work: real SIGINTs at random times, while a process repeats every parallel operation.

A trial is one interrupt.  After each one the process computes every operation again, and compares the results with
those of before; the target of an interrupted write must be as it was, or as the whole write leaves it.  Some interrupts
come as two or three in short order, so that the later ones meet the way out of the first.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

from tests.faults._lines import Lines
from tests.faults.tally import Tally

PER_PROCESS = 12
# Seconds in which a process must have checked everything, and those for compiling when it starts.
_PATIENCE, _STARTING = 120.0, 900.0
# Signals come this many seconds after the last check, at most.
_LATEST = 0.5


def trials(count: int, seed: int, engine: str | None = None, operations: tuple[str, ...] = ()) -> Tally:
    """Interrupt `count` processes `PER_PROCESS` times each; `engine` is by default $FAULTS_ENGINE or ``"cpu"``."""
    tally = Tally("interrupts", seed)
    engine = engine or os.environ.get("FAULTS_ENGINE", "cpu")
    for process in range(count):
        _storm(tally, engine, seed * 1_000_003 + process, operations)
    return tally


def _storm(tally: Tally, engine: str, seed: int, operations: tuple[str, ...]) -> None:
    """Interrupt one process again and again, and count what it reports."""
    rng = random.Random(seed)
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.faults._interrupted", engine, str(seed % 2**32), *operations],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Four threads also where there are fewer cores: what is to be found is found between them.
        env={"NUMBA_NUM_THREADS": "4", "SEMIRING_QUIET": "1", **os.environ},
        cwd=Path(__file__).resolve().parents[2],
    )
    assert child.stdout is not None
    assert child.stdin is not None
    lines = Lines(child.stdout)
    sent = 0
    try:
        if lines.next(_STARTING) is None:
            tally.add("died" if child.poll() is not None else "hung", f"process {seed}: not ready")
            return
        while sent < PER_PROCESS:
            time.sleep(rng.random() ** 2 * _LATEST)
            volley = min(rng.choice((1, 1, 1, 2, 3)), PER_PROCESS - sent)
            for _ in range(volley):
                child.send_signal(signal.SIGINT)
                time.sleep(rng.random() ** 3 * 0.01)
            sent += volley
            _ask(child.stdin)
            line = lines.next(_PATIENCE)
            trial = f"process {seed}, engine {engine}, interrupt {sent}"
            if line is None:
                code = child.poll()
                tally.add("hung" if code is None else "died", f"{trial}: exit code {code}")
                return
            wrong = json.loads(line)["wrong"]
            for _ in range(volley):
                tally.add("wrong" if wrong else "ok", f"{trial}: {'; '.join(wrong[:5])}")
        _close(child.stdin)
        try:
            code = child.wait(_PATIENCE)
            if code != 0:
                tally.add("died", f"process {seed}, engine {engine}: exit code {code} at its end")
        except subprocess.TimeoutExpired:
            tally.add("hung", f"process {seed}, engine {engine}: at its end")
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        _close(child.stdin)
        lines.close()


def _ask(stream: IO[bytes]) -> None:
    """Have the process check everything."""
    with contextlib.suppress(BrokenPipeError):
        stream.write(b"?")
        stream.flush()


def _close(stream: IO[bytes]) -> None:
    with contextlib.suppress(BrokenPipeError):
        stream.close()
