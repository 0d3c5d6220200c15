"""``python -m semiring.distributed.process PROGRAM``: one process of a launch, as `semiring launch` starts it.

Before the program runs, the process takes its share of the processors and its GPU, by its number among the processes
of its host, which MPI's launcher sets in the environment.  An exception, or a non-zero exit status, ends all processes.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import runpy
import sys
import threading
import time
import traceback
from collections.abc import Mapping, MutableMapping, Sequence
from types import TracebackType
from typing import Any, NoReturn

from ..exceptions import InvalidValue
from ..worker_thread import processors

# The number of a process among those of its host, and their count: Open MPI; MPICH, Intel MPI and Microsoft MPI;
# MVAPICH; SLURM's srun, whose count is only known if it is the same on all hosts; torchrun.
_LOCAL = (
    ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"),
    ("SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
    ("LOCAL_RANK", "LOCAL_WORLD_SIZE"),
)
# The count of all processes, as launchers of MPI set it.
_BY_MPI = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "JSM_NAMESPACE_SIZE")
# The same, with a variable that torchrun and srun set beside it.
_BY_OTHERS = (("WORLD_SIZE", "RANK"), ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"))
# The variables that limit the threads of numba, OpenMP and the BLAS of NumPy.
THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Seconds that other ranks than 0 leave to it to report first: most errors are the same on all ranks, and one is enough.
_PRECEDENCE_S = 0.3

# The number of this process and their count, once they are known.
_rank: tuple[int, int] | None = None
_hooked = False


def local_rank(environment: MutableMapping[str, str]) -> tuple[int, int] | None:
    """Return the number of this process on its host, and their count, 1 if that is unknown; None without a launcher."""
    for rank, size in _LOCAL:
        if rank in environment:
            with contextlib.suppress(ValueError):
                return int(environment[rank]), max(int(environment.get(size) or 1), 1)
    return None


def by_mpi(environment: Mapping[str, str]) -> bool:
    """Return whether a launcher of MPI has started this process."""
    return any(name in environment for name in _BY_MPI)


def check_size(environment: Mapping[str, str], size: int) -> None:
    """Raise InvalidValue if the launcher has started more processes than have found each other.

    Each would compute everything, and write the same files.
    """
    names = [*_BY_MPI, *(name for name, beside in _BY_OTHERS if beside in environment)]
    for name in names:
        count = environment.get(name, "")
        if count.isdecimal() and int(count) > size:
            raise InvalidValue(
                f"this process is one of {count} ({name}), and has found {size - 1} others: the launcher belongs to "
                "another MPI than mpi4py, or has no interface to it; use `semiring launch -n N`, the launcher of "
                "mpi4py's MPI, torchrun, or sr.distributed.connect(address, rank, size)"
            )


def share(cores: Sequence[int], rank: int, size: int) -> list[int]:
    """Return the cores of one process of `size`; all of them if there are fewer cores than processes."""
    if size > len(cores):
        return list(cores)
    return list(cores[rank * len(cores) // size : (rank + 1) * len(cores) // size])


def threads_of(cores: int, size: int) -> int:
    """Return the threads of one of `size` processes."""
    return max(1, cores // size)


def choose_cores(environment: MutableMapping[str, str]) -> None:
    """Run on this process's share of the processors, and set the variables of `THREADS` that are not set."""
    local = local_rank(environment)
    if local is None:
        return
    cores = processors()
    if hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, share(cores, *local))
    for name in THREADS:
        environment.setdefault(name, str(threads_of(len(cores), local[1])))


def choose_gpu(environment: MutableMapping[str, str] = os.environ, count: int | None = None) -> None:
    """Make the GPU of this process, by its number on its host, the only visible one.

    It must precede the first use of CUDA by this process.  Processes share GPUs where there are fewer.
    """
    local = local_rank(environment)
    if local is None:
        return
    environment.setdefault("NCCL_NVLS_ENABLE", "0")  # multicast over NVLink needs rights that containers lack
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        found = list(map(str, range(_gpus() if count is None else count)))
    else:
        found = [name.strip() for name in visible.split(",") if name.strip()]
    if len(found) > 1:
        environment["CUDA_VISIBLE_DEVICES"] = found[local[0] % len(found)]


def _gpus() -> int:
    """Return the number of GPUs, without initializing CUDA in this process."""
    for name in ("libnvidia-ml.so.1", "nvml.dll"):
        with contextlib.suppress(OSError, AttributeError):
            library, count = ctypes.CDLL(name), ctypes.c_uint(0)
            if library.nvmlInit_v2() == 0 and library.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0:
                return count.value
    return 0


def yield_processor() -> None:
    """Let another process run, if one waits for this processor."""
    if hasattr(os, "sched_yield"):
        os.sched_yield()
    else:
        time.sleep(0)


def launched() -> bool:
    """Return whether this process is one of a launch."""
    return _rank is not None


def number() -> int:
    """Return the rank of this process; 0 without a launch."""
    return 0 if _rank is None else _rank[0]


# -- ends ------------------------------------------------------------------------------------------------


def end_all(status: int, *, after_others: bool = False) -> NoReturn:
    """End this process at once, and with it all others; the launcher returns a status that is not zero.

    after_others: another process reports the reason, and ends all before this one does.
    """
    if after_others:
        time.sleep(4 * _PRECEDENCE_S)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if "OMPI_COMM_WORLD_RANK" not in os.environ:
        # Other launchers than Open MPI's may let the others wait for a process that has only ended.
        _abort(status)
    os._exit(status)


def _abort(status: int) -> None:
    with contextlib.suppress(ImportError, RuntimeError):
        from mpi4py import MPI

        if MPI.Is_initialized() and not MPI.Is_finalized() and MPI.COMM_WORLD.Get_size() > 1:
            MPI.COMM_WORLD.Abort(status)


def give_precedence() -> None:
    """Wait a moment on other ranks than 0: if rank 0 fails alike, it reports the error and ends all."""
    if number():
        time.sleep(_PRECEDENCE_S)


def end_all_on_errors(rank: int, size: int) -> None:
    """From now on an exception that no program catches, in any thread, ends all processes after its report."""
    global _rank, _hooked
    _rank = rank, size
    if _hooked:
        return
    _hooked = True
    sys.excepthook = _failed
    threading.excepthook = lambda thread: _failed(thread.exc_type, thread.exc_value, thread.exc_traceback)


def _failed(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    if kind is SystemExit:  # of a thread other than the main one: it ends that thread only
        return
    give_precedence()
    rank, size = _rank or (0, 1)
    lines = traceback.format_exception(kind, error, _of_program(trace))
    print(f"semiring: rank {rank} of {size} failed:\n{''.join(lines)}", end="", file=sys.stderr, flush=True)
    end_all(130 if issubclass(kind, KeyboardInterrupt) else 1)


def _of_program(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames that started the program."""
    at = trace
    while at is not None and (at.tb_frame.f_code.co_filename == __file__ or "runpy" in at.tb_frame.f_code.co_filename):
        at = at.tb_next
    return at or trace


# -- one process of a launch -----------------------------------------------------------------------------


def run(words: Sequence[str]) -> None:
    """Run a program, ``FILE ARGUMENTS`` or ``-m MODULE ARGUMENTS``, as its only purpose."""
    if words[0] == "-m":
        sys.argv = list(words[1:])
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(words)
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")


def main(words: Sequence[str]) -> None:
    """Set the process up, and run the program; a non-zero exit status ends all processes."""
    faulthandler.enable()
    choose_cores(os.environ)
    choose_gpu()
    end_all_on_errors(*_world_rank(os.environ))
    try:
        run(words)
    except SystemExit as stop:
        status: Any = stop.code
        if status is None or status == 0:
            return
        rank, size = _rank or (0, 1)
        if words[:2] != ["-m", "semiring.cli"]:  # the commands have reported their errors
            give_precedence()
            text = "" if isinstance(status, int) else f": {status}"
            code = status if isinstance(status, int) else 1
            print(f"semiring: rank {rank} of {size} has ended with exit status {code}{text}", file=sys.stderr)
        end_all(status if isinstance(status, int) else 1)


def _world_rank(environment: MutableMapping[str, str]) -> tuple[int, int]:
    """Return the rank of this process and their count, as the launcher has set them; (0, 1) if it has not."""
    for rank, size in (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE")):
        if rank in environment and size in environment:
            return int(environment[rank]), int(environment[size])
    return 0, 1


if __name__ == "__main__":
    from semiring.distributed import process  # the module that the rest of the package imports, not this copy of it

    process.main(sys.argv[1:])
