"""What a call costs the host: operations on 64 vertices beside a bare CuPy or NumPy program.

Three times of each call, in microseconds.  host: from the call to its return, which is all that a loop of calls needs
where nothing is read back.  called: until the device has finished.  kernels: what the device itself is busy, gaps
between launches included (the calls are queued behind a kernel that spins, so the host's time is hidden); a call that
reads back shows the time of the copy in it.  Medians of batches.  Targets: `host`, or `called` for calls that wait.

The first row is a bare program: CuPy or NumPy without this library.  All calls take turns with it, so that a slow phase
of a shared machine affects all equally.  best: the least `host` of a batch, and the least `called`.  Runs are compared
by the best of a row over the best of the bare program in the same run: medians, and hosts of one kind, differ by more
than the 10% that a comparison names.
"""

from __future__ import annotations

import cProfile
import io
import pstats
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import semiring as sr
from examples.bfs_six_lines import bfs_levels as six_lines

from .. import checks, graphs
from ..case import Run
from ..harness import SOURCES, Contender, compare
from ..report import Peer

# A turn of a call: calls that warm it up, a batch for `host`, single calls for `called`, and one for `kernels`.
_TURNS, _WARM, _CALLS, _SINGLE = 15, 5, 40, 10
_SPIN_MS = 3.0
_SPIN = r"""
extern "C" __global__ void spin(long long cycles) {
    for (long long start = clock64(); clock64() - start < cycles;) {}
}
"""


@dataclass(frozen=True)
class Case:
    """A call, what it should cost at most on the GPU and the CPU, and whether it waits for the device."""

    call: Callable[[], Any]
    cuda_us: float | None = None
    cpu_us: float | None = None
    waits: bool = False


def cases(device: str) -> dict[str, Case]:
    """The calls, by name.  Vectors: x, y full; v, w lists of a third of the positions; f the presence of v."""
    n = 64
    rng = np.random.default_rng(7)
    rows, columns = rng.integers(0, n, (2, 4 * n))
    both = np.r_[rows, columns], np.r_[columns, rows]
    A = sr.Matrix.from_coo(*both, 1.0, nrows=n, ncols=n, dup_op="any", device="cpu").to(device)
    W = sr.Matrix.from_coo(*both, np.tile(rng.random(4 * n), 2), nrows=n, ncols=n, dup_op="any", device="cpu").to(
        device
    )
    x = sr.Vector.from_dense(rng.random(n), device=device)
    y = sr.Vector.from_dense(rng.random(n), device=device)
    some = [np.sort(rng.choice(n, n // 3, replace=False)) for _ in range(2)]
    v, w = (sr.Vector.from_coo(at, rng.random(at.size), size=n, device="cpu").to(device) for at in some)
    f = sr.Vector(np.float64, n, device=device)
    f(v.S) << 2.0
    out = sr.Vector(np.float64, n, device=device)
    m = v.dup()

    def assign() -> None:
        f(m.S) << 3.0

    return {
        "bfs_levels": Case(lambda: sr.algorithms.bfs_levels(A, 0), 80, 80, waits=True),
        "connected_components": Case(lambda: sr.algorithms.connected_components(A).store, 160, waits=True),
        "mxv": Case(lambda: W.mxv(x).store, 25, 25),
        "mxv with a mask": Case(lambda: W.mxv(x, mask=~m.S).store, 30),
        "mxv into": Case(lambda: out << W.mxv(x)),
        "v + w, sparse": Case(lambda: (v + w).store, 30, 15, waits=True),
        "apply": Case(lambda: x.apply("sqrt").store, 22),
        "ewise_mult, full": Case(lambda: x.ewise_mult(y).store, 22),
        "reduce": Case(lambda: x.reduce().value, 25, waits=True),
        "f(m.S) << 3.0": Case(assign, 30),
        "select": Case(lambda: v.select(">", 0.5).store, 35, waits=True),
        "extract": Case(lambda: x[some[0]].store, 40),
        "mxm": Case(lambda: A.mxm(A).store, 120, waits=True),
    }


@dataclass(frozen=True)
class Times:
    """Microseconds of a call in all turns: a batch each, or single calls; `kernels` is empty on the CPU."""

    waits: bool
    host: list[float] = field(default_factory=list)
    called: list[float] = field(default_factory=list)
    kernels: list[float] = field(default_factory=list)

    @property
    def figures(self) -> list[float]:
        """The times that the row of the call reports."""
        return self.called if self.waits else self.host

    @property
    def least(self) -> float:
        """The least of these."""
        return min(self.figures)

    @property
    def note(self) -> str:
        """The medians, and the least of those on the host's clock."""
        medians = {"host": self.host, "called": self.called, "kernels": self.kernels}
        text = ", ".join(f"{name} {statistics.median(taken):.1f}" for name, taken in medians.items() if taken)
        return f"{text}; best: host {min(self.host):.1f}, called {min(self.called):.1f}"


class Clock:
    """The three times of a call."""

    def __init__(self, device: str) -> None:
        self.cupy: Any = None
        if device == "cuda":
            import cupy

            self.cupy = cupy
            self._spin = cupy.RawKernel(_SPIN, "spin")
            rate = cupy.cuda.runtime.deviceGetAttribute(cupy.cuda.runtime.cudaDevAttrClockRate, 0)  # in kHz
            self._cycles = int(rate * _SPIN_MS)

    def take_turns(self, cases: Mapping[str, Case]) -> dict[str, Times]:
        """The times of all cases, one turn each after another."""
        times = {name: Times(case.waits) for name, case in cases.items()}
        for _ in range(_TURNS):
            for name, case in cases.items():
                for _ in range(_WARM):
                    case.call()
                self._host(case.call, times[name].host)
                self._called(case.call, times[name].called)
                if self.cupy is not None:
                    self._kernels(case.call, times[name].kernels)
        return times

    def _wait(self) -> None:
        if self.cupy is not None:
            self.cupy.cuda.runtime.deviceSynchronize()

    def _host(self, call: Callable[[], Any], taken: list[float]) -> None:
        """From call to return, the device idle before the batch."""
        self._wait()
        start = time.perf_counter()
        for _ in range(_CALLS):
            call()
        taken.append((time.perf_counter() - start) / _CALLS * 1e6)

    def _called(self, call: Callable[[], Any], taken: list[float]) -> None:
        """From call until the device has finished."""
        for _ in range(_SINGLE):
            self._wait()
            start = time.perf_counter()
            call()
            self._wait()
            taken.append((time.perf_counter() - start) * 1e6)

    def _kernels(self, call: Callable[[], Any], taken: list[float]) -> None:
        """Between events around a call that is queued behind a spinning kernel."""
        before, after = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        self._wait()
        self._spin((1,), (1,), (np.int64(self._cycles),))
        before.record()
        call()
        after.record()
        after.synchronize()
        taken.append(self.cupy.cuda.get_elapsed_time(before, after) * 1e3)


def profile(call: Callable[[], Any], calls: int = 2000) -> str:
    """Where the host's time goes: functions by their own time, in so many calls."""
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(calls):
        call()
    profiler.disable()
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).sort_stats("tottime").print_stats(32)
    return text.getvalue()


def bare(clock: Clock) -> tuple[str, Case]:
    """The name of the bare program of a device, and the program."""
    if clock.cupy is None:
        return "bare NumPy program", Case(_bare_numpy(), waits=True)
    return "bare CuPy program", Case(_bare_cupy(clock.cupy), waits=True)


def _bare_numpy() -> Callable[[], Any]:
    """What a call consists of on the CPU, 8 times: look-ups, small objects, NumPy calls on 64 elements."""
    x = np.arange(64.0)
    operations = {("plus", i): np.add for i in range(8)}

    def step(i: int) -> dict[str, Any]:
        values = np.empty(x.size)
        operations["plus", i](x, x, out=values)
        return {"size": values.size, "dtype": values.dtype, "values": values}

    return lambda: [step(i) for i in range(8)]


def _bare_cupy(cupy: Any) -> Callable[[], Any]:
    """The least that a search needs in CuPy: allocate, clear, launch twice, read four words back."""
    empty = cupy.RawKernel('extern "C" __global__ void nothing(long long* state) {}', "nothing")
    pinned = np.frombuffer(cupy.cuda.alloc_pinned_memory(4096), np.uint8, 4096)

    def call() -> None:
        memory, stream = cupy.empty(1024, np.uint32), cupy.cuda.get_current_stream()
        memory.data.memset_async(0, memory.nbytes, stream)
        empty((1,), (32,), (memory,))
        empty((1,), (32,), (memory,))
        kind = cupy.cuda.runtime.memcpyDeviceToHost
        cupy.cuda.runtime.memcpyAsync(pinned.ctypes.data, memory.data.ptr, 32, kind, stream.ptr)
        stream.synchronize()

    return call


def loops(name: str, run: Run) -> None:
    """The six-line search of the examples against `bfs_levels` on a graph."""
    A = graphs.make(name)
    levels = checks.levels(A)
    contenders = {
        "bfs_levels": Contender(lambda s: sr.algorithms.bfs_levels(A, s), levels),
        "six lines": Contender(lambda s: six_lines(A, s), levels),
    }
    found = compare(contenders, graphs.sources(A, SOURCES), run.device)
    built_in, own = found["bfs_levels"], found["six lines"]
    beside = (Peer("bfs_levels", built_in.median, samples=built_in.wall_ms),)
    what, ratio, relative = (
        f"six-line BFS against bfs_levels, {name}",
        own.median / built_in.median,
        own.least / built_in.least,
    )
    run.add(what, "x slower", ratio, peers=beside, note=f"six lines {own}", relative=relative)


OPTIONS = {
    "calls": ((), "only those whose names begin so"),
    "profile": (None, "print where the host's time goes in the calls whose names begin so"),
    "loops": ((), "graphs: six lines against bfs_levels"),
}


def main(run: Run) -> None:
    """The calls that are selected, in turns with the bare program, and loops."""
    clock = Clock(run.device)
    reference, program = bare(clock)
    known = cases(run.device)
    chosen = {name: case for name, case in known.items() if name.startswith(tuple(run.options.calls) or "")}
    if not chosen:
        sys.exit(f"no such call: {', '.join(run.options.calls)}; there are {', '.join(known)}")
    times = clock.take_turns({reference: program, **chosen})
    for name, case in {reference: program, **chosen}.items():
        taken = times[name]
        relative = taken.least / times[reference].least
        bound = case.cuda_us if run.on_gpu else case.cpu_us
        note = f"{taken.note}; {relative:.2f} x bare"
        run.add(name, "us", statistics.median(taken.figures), bound, note=note, relative=relative)
        if run.options.profile is not None and name.startswith(run.options.profile):
            print(profile(case.call), flush=True)
    for name in run.options.loops:
        loops(name, run)
