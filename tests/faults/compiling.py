"""Interrupts during compilation: SIGINTs while a process compiles kernels, each for a new operator.

A trial is one interrupt.  After each the process makes the same call again, which must return the correct result.  In
every second process the first interrupts may arrive during the import of the engine's libraries.
"""

from __future__ import annotations

import os
import tempfile

from tests.faults._storm import PER_PROCESS, storm
from tests.faults.tally import Tally


def trials(count: int, seed: int, engine: str | None = None, interrupts: int = PER_PROCESS) -> Tally:
    """Interrupt `count` processes, each with an empty cache; `engine` is by default $FAULTS_ENGINE or ``"cpu"``."""
    tally = Tally("compiling", seed)
    engine = engine or os.environ.get("FAULTS_ENGINE", "cpu")
    for process in range(count):
        with tempfile.TemporaryDirectory() as cache:
            variables = {"SEMIRING_CACHE_DIR": cache}
            storm(
                tally,
                "tests.faults._compiling",
                engine,
                seed * 1_000_003 + process,
                latest=2.0,
                variables=variables,
                interrupts=interrupts,
            )
    return tally
