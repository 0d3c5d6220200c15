"""Interrupts during parallel work: real SIGINTs at random times, while a process repeats every parallel operation.

A trial is one interrupt.  After each one the process computes every operation again, and compares the results with
the earlier ones; the target of an interrupted write must be unchanged, or have the value of the whole write.  Some
interrupts are sent in groups of two or three, so that the later ones arrive while the first is handled.
"""

from __future__ import annotations

import os

from tests.faults._storm import PER_PROCESS, storm
from tests.faults.tally import Tally

__all__ = ["PER_PROCESS", "trials"]


def trials(count: int, seed: int, engine: str | None = None, operations: tuple[str, ...] = ()) -> Tally:
    """Interrupt `count` processes `PER_PROCESS` times each; `engine` is by default $FAULTS_ENGINE or ``"cpu"``."""
    tally = Tally("interrupts", seed)
    engine = engine or os.environ.get("FAULTS_ENGINE", "cpu")
    for process in range(count):
        number = seed * 1_000_003 + process
        storm(tally, "tests.faults._interrupted", engine, number, *operations, latest=0.5, variables={})
    return tally
