"""`warm`: compile the kernels of algorithms before they are called, in several processes.

numba holds a process-wide lock while it compiles, so processes compile in parallel and threads would not.  Each process
compiles kernels that are recorded (`cpu_lists`, `engines.cuda.kernel_lists`), or runs algorithms on small graphs of the
relevant kinds (`worker.matrices`); the kernels are stored in the cache, from which later processes load them.
"""

from __future__ import annotations

import difflib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from .. import algorithms as library
from .. import kernel_store
from ..config import checked_device, config, default_device, engine_for
from ..dtypes import lookup
from ..exceptions import InvalidValue, NotSupported, SemiringError
from ..optional import installed, missing
from ..worker_thread import processors
from . import cpu_lists

__all__ = ["WarmReport", "warm"]

Progress = Callable[[str, float], None]

# The maximum number of processes of one call: each uses some hundred megabytes, on a GPU also of its memory.
_MOST_PROCESSES = {"cpu": 16, "cuda": 4}
# Recorded kernels for which another process is started: each imports the package and the compiler.
_KERNELS_A_PROCESS = 4
# Recorded CPU kernels, the largest ones, that are compiled before the others: each takes seconds.
_LONGEST = 64
# The algorithms that `warm` compiles if none is named.
_USUAL = (
    *("bfs_levels", "bfs_parents", "bfs_trace", "sssp", "connected_components", "pagerank"),
    *("bfs_order", "degree_order", "locality_order", "reverse_cuthill_mckee"),
)
# The folder or the zip file that contains the package.
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class WarmReport:
    """The result of `warm`.

    Attributes
    ----------
    device : str
        For which device.
    kernels : dict
        For each algorithm how many kernels were compiled when it ran; a kernel that several algorithms share counts for
        the one that ran first.
    seconds : float
        From the call to its end.
    processes : int
        How many ran.

    Examples
    --------
    >>> report = sr.warm("bfs_levels", device="cpu")  # doctest: +SKIP
    >>> print(report)  # doctest: +SKIP
    12 kernels compiled for 1 algorithms on cpu, 9.1 s
    """

    device: str
    kernels: dict[str, int]
    seconds: float
    processes: int

    @property
    def compiled(self) -> int:
        """The number of kernels compiled; 0 if all of them were cached."""
        return sum(self.kernels.values())

    def __str__(self) -> str:
        algorithms = "1 algorithm" if len(self.kernels) == 1 else f"{len(self.kernels)} algorithms"
        return f"{self.compiled} kernels compiled for {algorithms} on {self.device}, {self.seconds:.1f} s"


def warm(
    *algorithms: str,
    device: str | None = None,
    types: Sequence[str] | None = None,
    architecture: str | None = None,
    progress: Progress | None = None,
) -> WarmReport:
    """Compile the kernels that algorithms need, before they are called.

    Compiled kernels are stored on disk, and a second call compiles nothing.  Recorded with this version of the package
    are the kernels that calls need on small graphs: symmetric and directed ones, of few and of many entries.  They are
    compiled in several processes.  For types that are not recorded the algorithms run on such graphs.  Kernels for
    other types and for user-defined operators are compiled on first use.

    Parameters
    ----------
    *algorithms : names of functions in `semiring.algorithms`, and of the operations mxv, mxm, ewise_add, ewise_mult,
        transpose, from_coo, kronecker (the generator), reduce_rowwise, select and apply; or ``"all"``, which takes many
        minutes.  None means searches, distances, components, PageRank and orders of the vertices.
    device : ``"cpu"`` or ``"cuda"``, by default that of new objects.
    types : names of the types of values; by default bool (one value for all entries, as from an edge list), int64,
        float64 and float32, for a GPU int32 too.
    architecture : of GPUs, such as ``"sm_90"``, by default that of this machine's GPU.  With it no GPU is needed, as in
        the build of a container's image: CuPy alone.
    progress : called after each algorithm with a description of it and the completed share, from 0 to 1.  By default a
        line on standard error, none if `config.quiet` is set.

    Returns
    -------
    WarmReport

    Raises
    ------
    InvalidValue
        For a function that does not exist (the message gives the closest name), or an architecture.
    DomainMismatch
        For a type that does not exist.
    NotSupported
        For a device that is absent, for the reference engine, which compiles nothing, and where the cache folder
        cannot be written; with `architecture` for types that are not recorded.
    SemiringError
        If a process fails.

    Notes
    -----
    If everything is compiled, the cost is that of starting the processes and running on small graphs.

    Examples
    --------
    >>> import semiring as sr
    >>> report = sr.warm("bfs_levels", device="cpu")  # doctest: +SKIP
    >>> report.compiled  # doctest: +SKIP
    12
    """
    names = _checked_names(algorithms)
    chosen = _checked_types(types)
    if architecture is not None:
        device = _checked_architecture(architecture, device)
    else:
        device = default_device() if device is None else checked_device(device)
    if engine_for(device) == "reference":
        raise NotSupported("warm: the reference engine compiles nothing")
    _check_cache()
    report = _print_line if progress is None and not config.quiet else progress
    if device == "cuda":
        from ..engines.cuda import kernel_lists

        known = kernel_lists.types()
        wanted = chosen or known
        if known and set(wanted) <= set(known):
            return _from_lists(names, wanted, architecture, report)
        if architecture is not None:
            given = ", ".join(wanted)
            raise NotSupported(f"warm: types that are recorded for GPUs: {', '.join(known) or 'none'}; got {given}")
    return _by_running(names, chosen, device, report)


def _from_lists(names: list[str], types: list[str], architecture: str | None, report: Progress | None) -> WarmReport:
    """Compile the recorded kernels for an architecture, by default that of the current GPU."""
    from ..engines.cuda import kernel_lists
    from ..engines.cuda.compile import current_architecture

    where = architecture or current_architecture()
    work = _numbered(kernel_lists, names, types)
    count = min(len(work) // _KERNELS_A_PROCESS + 1, len(processors()))
    return _run(names, work, [_Worker("recorded", where) for _ in range(count)], "cuda", where, report)


def _numbered(lists: Any, names: list[str], types: Sequence[str]) -> list[tuple[str, str]]:
    """Return the numbers of the recorded kernels, each with the first function that needs it."""
    first: dict[int, str] = {}
    for name in names:
        for number in lists.numbers(name, types):
            first.setdefault(number, name)
    return [(name, str(number)) for number, name in first.items()]


def _by_running(names: list[str], chosen: list[str], device: str, report: Progress | None) -> WarmReport:
    """Compile kernels in several processes: the recorded ones of the CPU, and by running what is not recorded."""
    from .worker import TYPES

    types = chosen or TYPES
    lists = {name: cpu_lists.types(name) if device == "cpu" else () for name in names}
    calls = [(name, f"{name} {dtype}") for name in names for dtype in types if dtype not in lists[name]]
    kernels = _numbered(cpu_lists, names, types) if device == "cpu" else []
    # The longest first, so that all processes end at the same time; the others function by function.
    kernels.sort(key=lambda kernel: min(int(kernel[1]), _LONGEST))
    count = len(calls) + -(-len(kernels) // _KERNELS_A_PROCESS)
    workers = [_Worker("worker", device) for _ in range(min(count, len(processors()), _MOST_PROCESSES[device]))]
    return _run(names, kernels + calls, workers, device, device, report)


def _run(
    names: list[str],
    work: list[tuple[str, str]],
    workers: list[_Worker],
    device: str,
    where: str,
    report: Progress | None,
) -> WarmReport:
    """Distribute lines, each of an algorithm, over the processes in this order, and count their kernels."""
    started = time.perf_counter()
    idle: SimpleQueue[_Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def compiled(name: str, line: str) -> tuple[str, dict[str, Any]]:
        worker = idle.get()
        result = worker.run(name, line)
        idle.put(worker)
        return name, result

    left, done, seconds = Counter(name for name, _ in work), 0, dict.fromkeys(names, 0.0)
    kernels = dict.fromkeys(names, 0)

    def end(name: str) -> None:
        nonlocal done
        done += 1
        if report is not None:
            what = f"{name}: {kernels[name]} kernels compiled for {where}, {seconds[name]:.1f} s"
            report(what, done / len(names))

    pool = ThreadPoolExecutor(len(workers))
    try:
        jobs = [pool.submit(compiled, name, line) for name, line in work]
        for name in [name for name in names if left[name] == 0]:
            end(name)
        for job in as_completed(jobs):
            name, result = job.result()
            kernels[name] += result["kernels"]
            seconds[name] += result["seconds"]
            left[name] -= 1
            if left[name] == 0:
                end(name)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.end()
    return WarmReport(device, kernels, time.perf_counter() - started, len(workers))


class _Worker:
    """A process of this package that compiles: `worker` or `recorded`."""

    def __init__(self, module: str, *arguments: str) -> None:
        # Open for as long as the process.
        self._messages = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        # This package, whatever the working folder contains; it may be in a zip file.
        paths = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        environment = {"SEMIRING_CACHE_DIR": str(config.cache_dir), "SEMIRING_QUIET": "1", "PYTHONPATH": paths}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", f"semiring.warming.{module}", *arguments],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._messages, text=True,
        )  # fmt: skip

    def run(self, name: str, line: str) -> dict[str, Any]:
        """Send a line of an algorithm to the process and wait for its result; SemiringError if it fails."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self._messages.seek(0)
            last = self._messages.read().strip().rpartition("\n")[2]
            raise SemiringError(f"warm: the process that compiles {name} ended: {last or 'without a message'}")
        result: dict[str, Any] = json.loads(answer)
        if "error" in result:
            raise SemiringError(f"warm: {name} failed: {result['error']}")
        return result

    def end(self) -> None:
        """End the process in any state; it replaces files atomically, so that none is left incomplete."""
        self._process.kill()
        self._process.communicate()
        self._messages.close()


def _checked_names(names: tuple[str, ...]) -> list[str]:
    """Return the names of the functions without repeats; `_USUAL` if none is given, every name for ``"all"``."""
    from .worker import OPERATIONS

    known = [name for name in library.__all__ if inspect.isfunction(getattr(library, name))]
    known += OPERATIONS
    if names == ("all",):
        return known
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"algorithms are: {', '.join(known)}"
            raise InvalidValue(f"warm: there is no algorithm {name!r}; {hint}")
    return list(dict.fromkeys(names or _USUAL))


def _checked_types(types: Sequence[str] | None) -> list[str]:
    """Return the names of the types, each once; none if none is given, which means the usual ones."""
    if types is None:
        return []
    names = [lookup(name).name for name in ([types] if isinstance(types, str) else types)]
    if not names:
        raise InvalidValue("warm: types must name at least one type; None means bool, int64, float64 and float32")
    return list(dict.fromkeys(names))


def _checked_architecture(architecture: str, device: str | None) -> str:
    """Return the device for which an architecture is compiled."""
    if device not in (None, "cuda"):
        raise InvalidValue(f"warm: architecture= is one of GPUs, and device= is {device!r}")
    if re.fullmatch(r"sm_\d{2,3}", architecture) is None or int(architecture[3:]) < 70:
        raise InvalidValue(f"warm: an architecture is sm_70 or a later one; got {architecture!r}")
    if not installed("cupy"):
        raise missing("warm for a GPU", "cupy")
    return "cuda"


def _check_cache() -> None:
    """Raise NotSupported if compiled kernels cannot be stored."""
    if not kernel_store.writable():
        folder = config.cache_dir
        raise NotSupported(f"warm: the folder of compiled kernels cannot be written: {folder}; set config.cache_dir")


def _print_line(what: str, share: float) -> None:
    print(f"semiring: {what} ({share:.0%})", file=sys.stderr, flush=True)
