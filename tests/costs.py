"""Measure which test functions make a run with an empty kernel cache long, and list them in `costs.txt`.

    python -m tests.costs --seed 1      an hour with an empty cache of kernels, in one process
    python -m tests.costs --more        add to the list; what it contains is not run

A kernel is compiled by the first test that calls it, so the duration of a test says little about what a run without it
saves.  Here every function starts without kernels in memory, which shows the kernels that each function uses.  Then the
function that costs most is left out, again and again: its own seconds, and its part of the compilation of its kernels,
which all functions left that use one share.  The list ends with the first that costs less than `LEAST_COST`; a function
whose kernels are still compiled for others, so that a run without it saves less than `LEAST_SAVED`, is not listed.

A function is kept if no other function left calls some public function or method of the library, so that a run of all
tests calls all those that the tests without the mark ``costly`` call.  All seconds are processor seconds, with those of
subprocesses.
"""

from __future__ import annotations

import cProfile
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

LEAST_COST, LEAST_SAVED = 1.0, 0.5  # seconds; a kernel takes 0.75
# A run takes all of these: the tour, and the checks of documentation, imports and sizes.
KEPT = "tests/test_"
LIBRARY = Path(compile.__file__).parents[2]
HEADER = """\
# Processor seconds of test functions in a run with an empty kernel cache, when those that cost more are left out.
# Written by `python -m tests.costs`; a run of all tests takes a sample of these functions (`tests.sampling`).
"""
Names = Mapping[str, Iterable[str]]


def costly(own: Mapping[str, float], kernels: Names, seconds: Mapping[str, float], calls: Names) -> dict[str, float]:
    """Return the test functions to leave out, and the seconds of each when it was left out.

    Given are the seconds of each without those of the compiler, the kernels that it uses, the seconds that these take
    to compile, and the functions of the library that it calls.
    """
    users, callers = _inverse(kernels), _inverse(calls)

    def cost(name: str) -> float:
        return own[name] + sum(seconds[k] / len(users[k]) for k in kernels[name])

    names = {name for name in own if not name.startswith(KEPT)}
    out: dict[str, float] = {}
    while names:
        name = max(names, key=lambda each: (cost(each), each))
        if cost(name) < LEAST_COST:
            break
        names.remove(name)
        if any(len(callers[called]) == 1 for called in calls[name]):
            continue
        out[name] = cost(name)
        for called in calls[name]:
            callers[called].remove(name)
        for kernel in kernels[name]:
            users[kernel].remove(name)
    for name in sorted(out, key=lambda each: out[each]):
        if own[name] + sum(seconds[k] for k in kernels[name] if not users[k]) < LEAST_SAVED:
            del out[name]
            for kernel in kernels[name]:
                users[kernel].add(name)
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
        profile = cProfile.Profile(builtins=False)
        begun = processor_seconds()
        profile.enable()
        try:
            result = yield
        finally:
            profile.disable()
        self.own[name] += processor_seconds() - begun - self._in_compiler
        codes = [entry.code for entry in profile.getstats()]
        self.calls[name].update(
            f"{code.co_filename} {code.co_qualname}" for code in codes if not isinstance(code, str) and _public(code)
        )
        return result


def _public(code: CodeType) -> bool:
    names = code.co_qualname.split(".")
    private = any(name.startswith(("_", "<")) and not name.endswith("__") for name in names)
    return not private and Path(code.co_filename).is_relative_to(LIBRARY)


def main(arguments: list[str]) -> int:
    """Run the tests without a mark, of all families, and write the list."""
    present: dict[str, float] = {}
    if "--more" in arguments:
        arguments.remove("--more")
        present = sampling.costs()
    else:
        sampling.mark_costly = lambda items: None
    recorder = Recorder()
    fixed = ["-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not costly", "--costly", "1/1"]
    code = pytest.main([*fixed, *arguments], plugins=[recorder])
    found = present | costly(recorder.own, recorder.kernels, recorder.seconds, recorder.calls)
    rows = [f"{seconds:6.1f} {name}\n" for name, seconds in sorted(found.items())]
    sampling.COSTS.write_text(HEADER + "".join(rows), encoding="utf-8")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
