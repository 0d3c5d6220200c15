"""Trials in child processes: a crash or a hang ends only its trial, and the others still run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

from tests.faults.tally import Tally

ROOT = Path(__file__).resolve().parent.parent.parent
# Trials of one child: enough that its start costs little in comparison.
CHUNK = 5000
# The longest that a child may work on one trial; the first trial of a kind compiles.
_SLOWEST_S = 120.0
_HUNG = -1000


def run_isolated(
    module: str,
    count: int,
    seed: int,
    options: Sequence[str] = (),
    *,
    chunk: int = CHUNK,
    most: int = 8,
    until: float = float("inf"),
) -> Tally:
    """The trials 0 to `count` of a campaign, in as many children at a time as there are processors, up to `most`.

    chunk: the trials of one child.  until: a time (seconds since the epoch) after which no child starts; its trials
    count as ``not run``.

    A child is ``python -m MODULE SEED FIRST LAST OPTIONS...``: for each trial it prints the trial's number before the
    trial, and ``OUTCOME<tab>DESCRIPTION`` (as JSON) after it, both at once.  While another program computes what a
    result is compared with, the last line is ``oracle``: a child that dies there is counted as such.
    """
    total = Tally(module.rpartition(".")[2], seed)
    chunks = [(first, min(first + chunk, count)) for first in range(0, count, chunk)]
    with ThreadPoolExecutor(min(os.cpu_count() or 1, most)) as pool:
        for tally in pool.map(lambda part: _chunk(module, seed, *part, options, until), chunks):
            total.merge(tally)
    return total


def _chunk(module: str, seed: int, first: int, last: int, options: Sequence[str], until: float) -> Tally:
    tally = Tally(module.rpartition(".")[2], seed)
    if time.time() >= until:
        tally.outcomes["not run"] += last - first
        return tally
    while first < last:
        first = _child(module, seed, first, last, options, tally)
    return tally


def _child(module: str, seed: int, first: int, last: int, options: Sequence[str], tally: Tally) -> int:
    """One child, until it has ended; returns the first trial that is not counted yet."""
    command = [sys.executable, "-m", module, str(seed), str(first), str(last), *options]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8", cwd=ROOT, env=env
        ) as child:
            current, begun, oracle = first, False, False
            code = None
            reader = _Lines(child)
            while (line := reader.next_line(_SLOWEST_S)) is not None:
                if line == "":
                    child.kill()
                    code = _HUNG
                    break
                oracle = line == "oracle\n"
                if oracle:
                    continue
                if line[0].isdigit():
                    current, begun = int(line), True
                else:
                    tally.add(*json.loads(line))
                    current, begun = current + 1, False
            code = child.wait() if code is None else code
        if code == 0 and current == last:
            return last
        errors.seek(0)
        last_lines = " | ".join(errors.read().strip().splitlines()[-3:])
    if not begun and code != _HUNG:
        raise RuntimeError(
            f"{module}: a child ended between two trials, before {current}, with code {code}: {last_lines}"
        )
    name = " ".join([f"trial {current} of seed {tally.seed}", *options])
    died = "oracle died" if oracle else "died"
    tally.add("hung" if code == _HUNG else died, f"{name}, code {code}: {last_lines}")
    return current + 1


class _Lines:
    """The lines that a child prints, with a limit on the wait for each."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self._queue: Queue[str | None] = Queue()
        Thread(target=self._read, args=(child,), daemon=True).start()

    def _read(self, child: subprocess.Popen[str]) -> None:
        assert child.stdout is not None
        for line in child.stdout:
            self._queue.put(line)
        self._queue.put(None)

    def next_line(self, timeout_s: float) -> str | None:
        """The next line; None at the end of the output; empty after `timeout_s` seconds without one."""
        try:
            return self._queue.get(timeout=timeout_s)
        except Empty:
            return ""
