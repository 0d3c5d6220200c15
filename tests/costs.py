"""Measure which test functions make a run with an empty kernel cache long, and list them in `costs.txt`.

    python -m tests.costs --seed 1      an hour with an empty cache of kernels, in one process

A kernel is compiled by the first test that calls it, so the duration of a test says little about what a run without it
saves.  Here every function starts without kernels in memory, which shows the kernels that each function uses.  Then the
function that saves most is left out, again and again: its own seconds, and the compilation of the kernels that no other
function left uses.  The list ends with the first that saves less than `LEAST_SECONDS`.

A function is kept if no other function left calls some public function or method of the library, so that a run of all
tests calls all those that the tests without the mark ``costly`` call.  All seconds are processor seconds, with those of
subprocesses.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from numba.core import event

from semiring.engines.cpu import compile
from tests import sampling

LEAST_SECONDS = 0.7  # about one kernel
# A run takes all of these: the tour, and the checks of documentation, imports and sizes.
KEPT = "tests/test_"
LIBRARY = Path(compile.__file__).parents[2]
HEADER = """\
# Processor seconds that a run with an empty kernel cache saves without a test function and those that save more.
# Written by `python -m tests.costs`; a run of all tests takes a sample of these functions (`tests.sampling`).
"""
Names = Mapping[str, Iterable[str]]


def costly(own: Mapping[str, float], kernels: Names, seconds: Mapping[str, float], calls: Names) -> dict[str, float]:
    """Return the test functions to leave out, and the seconds that each saves.

    Given are the seconds of each without those of the compiler, the kernels that it uses, the seconds that these take
    to compile, and the functions of the library that it calls.
    """
    users, callers = _inverse(kernels), _inverse(calls)
    names = [name for name in own if not name.startswith(KEPT)]
    saved = {name: own[name] + sum(seconds[k] for k in kernels[name] if len(users[k]) == 1) for name in names}
    out: dict[str, float] = {}
    while saved:
        name = max(saved, key=lambda each: (saved[each], each))
        saving = saved.pop(name)
        if saving < LEAST_SECONDS:
            break
        if any(len(callers[called]) == 1 for called in calls[name]):
            continue
        out[name] = saving
        for called in calls[name]:
            callers[called].remove(name)
        for kernel in kernels[name]:
            users[kernel].remove(name)
            if len(users[kernel]) == 1:
                (last,) = users[kernel]
                if last in saved:
                    saved[last] += seconds[kernel]
    return out


def _inverse(names: Names) -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, used in names.items():
        for each in used:
            found[each].add(name)
    return found


def processor_seconds() -> float:
    """The processor seconds of this process and of the subprocesses that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Recorder(event.Listener):
    """A plugin of pytest that records what every test function costs, uses and calls."""

    def __init__(self) -> None:
        self.own: Counter[str] = Counter()
        self.kernels: defaultdict[str, set[str]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self.calls: defaultdict[str, set[str]] = defaultdict(set)
        self._function = self._kernel = ""
        self._begun = self._in_compiler = 0.0

    def pytest_sessionstart(self) -> None:
        """Observe the kernels that are loaded from the cache or compiled."""
        load = compile._Stored.load_overload

        def load_overload(stored: Any, signature: Any, context: Any) -> Any:
            self._kernel = f"{stored._identity} {signature}"
            begun = time.thread_time()
            found = load(stored, signature, context)
            self._in_compiler += time.thread_time() - begun
            self.kernels[self._function].add(self._kernel)
            self.seconds.setdefault(self._kernel, 1.0)  # one that is in the cache before the run
            return found

        compile._Stored.load_overload = load_overload  # type: ignore[method-assign]
        event.register("numba:compile", self)

    def on_start(self, event: Any) -> None:
        """Begin the compilation of a kernel, or of a function that one calls."""
        if event.data["dispatcher"] in compile._kernels:
            self._begun = time.thread_time()

    def on_end(self, event: Any) -> None:
        """Record what a compiled kernel took."""
        if event.data["dispatcher"] in compile._kernels:
            self.seconds[self._kernel] = time.thread_time() - self._begun
            self._in_compiler += self.seconds[self._kernel]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Run one test, the first of each function without kernels in memory."""
        name = sampling.function_of(item)
        if name != self._function:
            for kernel in compile._kernels:
                kernel._reset_overloads()
        self._function, self._in_compiler = name, 0.0
        codes: set[CodeType] = set()
        begun = processor_seconds()
        sys.setprofile(lambda frame, what, _: codes.add(frame.f_code) if what == "call" else None)
        try:
            result = yield
        finally:
            sys.setprofile(None)
        self.own[name] += processor_seconds() - begun - self._in_compiler
        self.calls[name].update(f"{code.co_filename} {code.co_qualname}" for code in codes if _public(code))
        return result


def _public(code: CodeType) -> bool:
    names = code.co_qualname.split(".")
    private = any(name.startswith(("_", "<")) and not name.endswith("__") for name in names)
    return not private and Path(code.co_filename).is_relative_to(LIBRARY)


def main(arguments: list[str]) -> int:
    """Run the tests without a mark, of all families, and write the list."""
    sampling.mark_costly = lambda items: None
    recorder = Recorder()
    fixed = ["-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not costly", "--costly", "1/1"]
    code = pytest.main([*fixed, *arguments], plugins=[recorder])
    found = costly(recorder.own, recorder.kernels, recorder.seconds, recorder.calls)
    rows = [f"{seconds:6.1f} {name}\n" for name, seconds in sorted(found.items())]
    sampling.COSTS.write_text(HEADER + "".join(rows), encoding="utf-8")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
