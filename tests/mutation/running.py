"""Run mutants on several processes until all are tried or the time is up, and keep each result as it is known."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

from .copies import Copy
from .drawing import Draw, Mutant
from .suspects import LAST, tests_of

# Seconds that one test may take on a mutant: unchanged, none takes as long, and a loop without end would.
_TEST_SECONDS = 60
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - (.*))?$", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """What the tests of a mutant reported.

    `outcome`: killed; slow, if a test or all of them exceeded their time limit; survived; unfinished, if the run was
    stopped meanwhile.  `test` is the first that failed; there is none where the tests could not be imported.
    """

    mutant: str
    outcome: str
    module: str
    line: int
    operator: str
    seconds: float
    test: str
    difference: str


class Campaign:
    """The mutants of a draw, on `processes` copies of a tree, up to `seconds` after the start."""

    def __init__(self, root: Path, drawn: Draw, processes: int, seconds: float, limit: float, out: Path | None) -> None:
        """Read the results that `out` already has; `limit` is the number of seconds of one mutant."""
        self.started = time.monotonic()
        self.root, self.drawn, self.processes, self.limit, self.out = root, drawn, processes, limit, out
        for mutant in drawn.mutants:
            mutant.apply((root / mutant.module).read_text(encoding="utf-8"))  # a changed tree is detected first
        self.results = read(out) if out is not None and out.exists() else {}
        if out is not None:
            out.write_text("".join(map(_line, self.results.values())), encoding="utf-8")  # without a partial line
        self._waiting: SimpleQueue[Mutant] = SimpleQueue()
        for mutant in drawn.mutants:
            if mutant.name not in self.results:
                self._waiting.put(mutant)
        self._options: list[str] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._clock = threading.Timer(seconds, self._stop.set)

    def run(self, folder: Path) -> None:
        """Run the unchanged tests, then the mutants, in copies of the tree in `folder`.

        The run ends when all are tried, when the time is up, or at a signal.
        """
        previous = {name: signal.signal(name, lambda *_: self._stop.set()) for name in (signal.SIGINT, signal.SIGTERM)}
        self._clock.start()
        cores = max(2, (os.cpu_count() or 1) // self.processes)
        try:
            first = Copy.of_tree(self.root, folder / "0", cores)
            if not self._waiting.empty() and self._run_unchanged(first):
                self._run_on(first, folder, cores)
        finally:
            self._clock.cancel()
            for name, handler in previous.items():
                signal.signal(name, handler)

    def _run_on(self, first: Copy, folder: Path, cores: int) -> None:
        """Run the mutants in a copy and in copies of it."""
        with ThreadPoolExecutor(self.processes) as pool:
            try:
                numbers = range(1, self.processes)
                others = list(pool.map(lambda number: first.again(folder / str(number), cores), numbers))
                for _ in pool.map(self._work, [first, *others]):
                    pass
            except BaseException:
                self._stop.set()  # the pool waits for its threads
                raise

    def _run_unchanged(self, copy: Copy) -> bool:
        """Run all tests on the unchanged tree, without those that fail from then on; returns False if stopped."""
        modules = dict.fromkeys(mutant.module for mutant in self.drawn.mutants)
        tests = dict.fromkeys(test for module in modules for test in tests_of(module, copy.root))
        workers = ["-n", str(self.processes)] if self.processes > 1 else []
        code = copy.run([*workers, *tests], float("inf"), self._stop)
        if code is None:
            print("stopped during the tests of the unchanged tree")
            return False
        log = copy.log.read_text(encoding="utf-8", errors="replace")
        if code not in (0, 1):
            raise SystemExit(f"the tests of the unchanged tree do not run:\n{log[-4000:]}")
        failed = [test for test, _ in _FAILED.findall(log)]
        self._options = [f"--deselect={test}" for test in failed]
        print(f"unchanged tests: {time.monotonic() - self.started:.0f} s, {len(failed)} failed", flush=True)
        for test in failed:
            print(f"left out, since it fails on the unchanged tree: {test}", flush=True)
        return True

    def _work(self, copy: Copy) -> None:
        """Run waiting mutants in one copy."""
        while not self._stop.is_set():
            try:
                mutant = self._waiting.get_nowait()
            except Empty:
                return
            result = self._try(mutant, copy)
            with self._lock:
                self.results[mutant.name] = result
                if self.out is not None and result.outcome != "unfinished":
                    with self.out.open("a", encoding="utf-8") as file:
                        file.write(_line(result))

    def _try(self, mutant: Mutant, copy: Copy) -> Result:
        before = time.monotonic()
        difference = mutant.difference((copy.root / mutant.module).read_text(encoding="utf-8"))
        with copy.changed(mutant):
            options = ["-x", "-p", "no:xdist", f"--timeout={_TEST_SECONDS}", *self._options]
            tests = tests_of(mutant.module, copy.root)
            code = copy.run([*options, f"--ignore={LAST}", *tests], self.limit, self._stop)
            if code == 0 and "tests/ops" in tests:
                code = copy.run([*options, LAST], self.limit - (time.monotonic() - before), self._stop)
        outcome, test = verdict(code, copy.log.read_text(encoding="utf-8", errors="replace"))
        if code is None and self._stop.is_set():
            outcome = "unfinished"
        where = (mutant.module, mutant.line, mutant.operator)
        return Result(mutant.name, outcome, *where, round(time.monotonic() - before, 1), test, difference)


def verdict(code: int | None, log: str) -> tuple[str, str]:
    """Return the outcome and the first test that failed, from the exit code (None: killed at the limit) and the log."""
    failed = _FAILED.search(log)
    test, reason = failed.groups(default="") if failed else ("", "")
    if code == 0:
        return "survived", ""
    return ("slow" if code is None or "Timeout (>" in reason else "killed"), test


def _line(result: Result) -> str:
    return f"{json.dumps(asdict(result))}\n"


def read(path: Path) -> dict[str, Result]:
    """Read the results in a file of ``--out``; a last line that a stop cut short is left out."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    results = [Result(**json.loads(line)) for line in lines if line.endswith("\n")]
    return {result.mutant: result for result in results}


def report(drawn: Draw, results: dict[str, Result]) -> str:
    """Describe each mutant that no test detected, list those that were not tried, and count the outcomes."""
    lines: list[str] = []
    counts: dict[str, int] = dict.fromkeys(("killed", "slow", "survived", "unfinished", "not tried"), 0)
    order: Sequence[Mutant] = sorted(drawn.mutants, key=lambda mutant: (mutant.module, mutant.line))
    for mutant in order:
        result = results.get(mutant.name)
        outcome = result.outcome if result else "not tried"
        counts[outcome] += 1
        if outcome != "killed":
            lines.append(f"{outcome} {mutant.module}:{mutant.line} {mutant.operator} ({mutant.name})")
            lines += [result.difference] if result else []
    total = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    lines.append(f"{len(drawn.mutants)} mutants drawn of {drawn.places} places, seed {drawn.seed}: {total}")
    return "\n".join(lines)
