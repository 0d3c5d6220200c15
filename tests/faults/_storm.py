"""A process under a storm of SIGINTs, and the lines that it reports."""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

from tests.faults.tally import Tally

PER_PROCESS = 12
# Seconds in which a process must have checked everything, and those for compiling when it starts.
_PATIENCE, _STARTING = 120.0, 900.0


def storm(
    tally: Tally,
    module: str,
    engine: str,
    seed: int,
    *arguments: str,
    latest: float,
    variables: dict[str, str],
    interrupts: int = PER_PROCESS,
) -> None:
    """Interrupt a process a number of times, and count its reports after each volley.

    module: the process runs it with an engine, a seed and `arguments`.  It writes a line when it is ready, and
    ``{"wrong": [...]}`` for each byte that follows a volley.  latest: seconds from a line to the next interrupt, at
    most; early ones are the more frequent.  variables: of its environment.
    """
    rng = random.Random(seed)
    child = subprocess.Popen(
        [sys.executable, "-m", module, engine, str(seed % 2**32), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Four threads also on fewer cores: the faults are in their interaction.
        env={"NUMBA_NUM_THREADS": "4", "SEMIRING_QUIET": "1", **os.environ, **variables},
        cwd=Path(__file__).resolve().parents[2],
    )
    assert child.stdout is not None
    assert child.stdin is not None
    lines = Lines(child.stdout)
    about = f"{module}, process {seed}, engine {engine}"
    sent = 0
    try:
        if lines.next(_STARTING) is None:
            tally.add("died" if child.poll() is not None else "hung", f"{about}: not ready")
            return
        while sent < interrupts:
            time.sleep(rng.random() ** 2 * latest)
            volley = min(rng.choice((1, 1, 1, 2, 3)), interrupts - sent)
            for _ in range(volley):
                child.send_signal(signal.SIGINT)
                time.sleep(rng.random() ** 3 * 0.01)
            sent += volley
            with contextlib.suppress(BrokenPipeError):
                child.stdin.write(b"?")
                child.stdin.flush()
            line = lines.next(_PATIENCE)
            if line is None:
                code = child.poll()
                if code is None:  # faulthandler then writes where its threads are
                    child.send_signal(signal.SIGABRT)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        child.wait(5)
                tally.add("hung" if code is None else "died", f"{about}, interrupt {sent}: exit code {code}")
                return
            wrong = json.loads(line)["wrong"]
            for _ in range(volley):
                tally.add("wrong" if wrong else "ok", f"{about}, interrupt {sent}: {'; '.join(wrong[:5])}")
        _close(child.stdin)
        try:
            code = child.wait(_PATIENCE)
            if code != 0:
                tally.add("died", f"{about}: exit code {code} at its end")
        except subprocess.TimeoutExpired:
            tally.add("hung", f"{about}: at its end")
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        _close(child.stdin)
        lines.close()


def _close(stream: IO[bytes]) -> None:
    with contextlib.suppress(BrokenPipeError):
        stream.close()


class Lines:
    """The lines of a pipe, one by one."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._read = b""

    def next(self, seconds: float) -> bytes | None:
        """The next line, or None if there is none in time or the other end is closed."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._read:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._stream], [], [], left)[0]:
                return None
            more = os.read(self._stream.fileno(), 1 << 16)
            if not more:
                return None
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return line

    def close(self) -> None:
        """Close the pipe."""
        self._stream.close()
