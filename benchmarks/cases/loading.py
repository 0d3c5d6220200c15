"""Opening .srb files, cold and warm, compared with the disk and the interconnect.

A file is written in each storage kind, then opened by `sr.io.open` as users call it.  Cold: the file was removed from
the page cache.  The speed of the disk is measured on the same file by threads that read it in chunks into their own
buffers, cold and warm; the speed of the interconnect, by copies from page-locked memory.  Every matrix is compared
with the one that was written.  The targets are for kron25 on a GPU.
"""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import semiring as sr

from .. import graphs
from ..case import Run
from ..forms import FORMS, encoded
from ..report import Peer

GRAPH = {"cuda": "kron25", "cpu": "kron16"}  # kron25: 4 GB of uncompressed columns
LEAST_SHARE = 0.8
REPEATS = 3
THREADS = (4, 8, 16)
_PIECE = 16 << 20
_LINK_BYTES = 1 << 28


class Bench:
    """The matrix, its files, and the speeds of disk and interconnect, in bytes a second."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.device, self.add, self.graph = run.device, run.add, run.options.graph
        self.has_targets = self.graph == GRAPH["cuda"]
        self.A = graphs.make(self.graph).wait()
        self.paths = {form: folder / f"{form}.srb" for form in FORMS}
        self.disk: dict[str, float] = {}
        self.link = _link(run.device)

    def write(self) -> None:
        """A file of each storage kind."""
        for form, path in self.paths.items():
            made = encoded(self.A, form).wait()
            start = time.perf_counter()
            sr.io.write(path, made)
            size, seconds = path.stat().st_size, time.perf_counter() - start
            self.add(f"writing {self.graph}, {form}", "GB/s", size / seconds / 1e9, note=f"{size / 1e9:.3g} GB")

    def timed(self, call: Callable[[], sr.Matrix], before: Callable[[], None] | None = None) -> tuple[float, ...]:
        """Seconds of each call; every result is compared with the written matrix."""
        taken = []
        for _ in range(REPEATS):
            if before is not None:
                before()
            self.wait()
            start = time.perf_counter()
            found = call().wait()
            self.wait()
            taken.append(time.perf_counter() - start)
            assert found.isequal(self.A), "what was loaded differs from what was written"
            del found
        return tuple(taken)

    def wait(self) -> None:
        """Until the device has finished."""
        if self.device == "cuda":
            import cupy

            cupy.cuda.runtime.deviceSynchronize()


def forget(path: Path) -> None:
    """Remove a file from the page cache, once all of it is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def read(path: Path, threads: int) -> float:
    """Seconds in which a number of threads read a file, each into one buffer that it reuses."""
    size = path.stat().st_size
    starts = iter(range(0, size, _PIECE))

    def work(buffer: np.ndarray[Any, Any]) -> int:
        done = 0
        with path.open("rb", buffering=0) as stream:
            for start in starts:
                at, end = start, min(start + _PIECE, size)
                while at < end:
                    at += os.preadv(stream.fileno(), [buffer[: end - at].data], at)
                done += end - start
        return done

    buffers = np.ones((threads, min(_PIECE, size)), np.uint8)  # memory that the system has allocated already
    with ThreadPoolExecutor(threads) as pool:
        start = time.perf_counter()
        total = sum(pool.map(work, buffers))
        seconds = time.perf_counter() - start
    assert total == size, f"{total} of {size} bytes were read"
    return seconds


def _link(device: str) -> float | None:
    """Bytes a second of copies from page-locked memory; None on the CPU."""
    if device == "cpu":
        return None
    import cupy

    host, there = cupy.cuda.alloc_pinned_memory(_LINK_BYTES), cupy.empty(_LINK_BYTES, np.uint8)
    taken: list[float] = []
    for _ in range(REPEATS + 1):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        there.data.copy_from_host_async(host.ptr, _LINK_BYTES)
        end.record()
        end.synchronize()
        taken.append(cupy.cuda.get_elapsed_time(begin, end) / 1e3)
    return _LINK_BYTES / statistics.median(taken[1:])


def speeds(b: Bench) -> None:
    """The speeds of disk and interconnect, measured first; the fastest number of threads counts."""
    path = b.paths["plain"]
    size = path.stat().st_size
    found: dict[str, dict[int, float]] = {"cold": {}, "warm": {}}
    for threads in THREADS:
        forget(path)
        found["cold"][threads] = size / read(path, threads)
    for threads in THREADS:
        found["warm"][threads] = size / statistics.median(read(path, threads) for _ in range(REPEATS))
    for state, rates in found.items():
        best = max(rates, key=lambda threads: rates[threads])
        b.disk[state] = rates[best]
        note = ", ".join(f"{threads} threads {rate / 1e9:.3g}" for threads, rate in rates.items())
        b.add(f"reading by threads, {state}", "GB/s", rates[best] / 1e9, note=note)
    if b.disk["cold"] > LEAST_SHARE * b.disk["warm"]:
        print(
            "cold is about as fast as warm: the system kept the file in its cache, or the folder is in memory",
            flush=True,
        )
    if b.link is not None:
        b.add("copying over the link", "GB/s", b.link / 1e9)


def opened(path: Path, **how: Any) -> sr.Matrix:
    """The matrix in a file."""
    found = sr.io.open(path, **how)
    assert isinstance(found, sr.Matrix)
    return found


def to_device(b: Bench) -> None:
    """Each storage kind, cold and warm, relative to the slower of disk and interconnect; a time on the CPU."""
    for form, path in b.paths.items():
        size = path.stat().st_size
        opened(path).wait()  # staging memory is allocated once in a process
        gc.collect()  # pages that are still mapped would remain in memory
        for state, prepare in (("cold", forget), ("warm", _warm)):
            taken = b.timed(partial(opened, path), partial(prepare, path))
            seconds = statistics.median(taken)
            what, samples = f"loading {b.graph}, {form}, {state}", tuple(1e3 * one for one in taken)
            if b.link is None:
                b.add(what, "ms", 1e3 * seconds, samples=samples)
                continue
            slower = min(b.disk[state], b.link)
            peers = (
                Peer("disk" if state == "cold" else "page cache", b.disk[state] / 1e9, "GB/s"),
                Peer("link", b.link / 1e9, "GB/s"),
            )
            note = f"{size / seconds / 1e9:.4g} GB/s; {_spread(samples)}"
            b.add(
                f"{what}, share of the slower", "x", size / seconds / slower, at_most=False,
                bound=LEAST_SHARE if b.has_targets else None, peers=peers, note=note, samples=samples,
            )  # fmt: skip


def _warm(path: Path) -> None:
    read(path, THREADS[0])


def elsewhere(b: Bench) -> None:
    """Opened without a copy: pages locked in place, or only mapped."""
    for form in ("plain", "packed"):
        for placement in ("pinned", "host"):
            taken = b.timed(partial(opened, b.paths[form], placement=placement))
            samples = tuple(1e3 * one for one in taken)
            b.add(
                f"opening {b.graph}, {form}, {placement}", "ms", statistics.median(samples), note=_spread(samples),
                samples=samples,
            )  # fmt: skip


def encoding(b: Bench) -> None:
    """From the uncompressed file to compressed rows, in slices."""
    for codec in FORMS[1:]:
        taken = b.timed(partial(opened, b.paths["plain"], compress=codec))
        samples = tuple(1e3 * one for one in taken)
        rate = b.A.nvals / statistics.median(taken) / 1e9
        b.add(
            f"encoding {b.graph} from its plain file, {codec}, warm", "G entries/s", rate, note=_spread(samples),
            samples=samples,
        )  # fmt: skip


def _spread(samples: tuple[float, ...]) -> str:
    return f"min {min(samples):.4g}, max {max(samples):.4g} ms of {len(samples)}"


OPTIONS = {
    "graph": (GRAPH, "whose file is opened"),
    "folder": (None, "of the files, by default that for temporary ones"),
}


def main(run: Run) -> None:
    """All rows: loading is compared with the speeds of disk and interconnect."""
    with tempfile.TemporaryDirectory(dir=run.options.folder) as folder:
        b = Bench(run, Path(folder))
        b.write()
        for row in (speeds, to_device, elsewhere, encoding):
            row(b)
