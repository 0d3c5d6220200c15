"""Starts a program as several processes, by the launcher of an installed MPI."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..exceptions import InvalidValue, NotSupported
from ..optional import installed, missing
from ..worker_thread import processors
from .process import THREADS, local_rank, threads_of

# Seconds that the launcher has to end its processes after an interrupt.
_GRACE_S = 10.0
# Variables of Open MPI 4, which the MPI operator of Kubernetes sets, and those of Open MPI 5, which ignores the former.
_OF_OPERATOR = {
    "OMPI_MCA_orte_default_hostfile": "PRTE_MCA_prte_default_hostfile",
    "OMPI_MCA_orte_keep_fqdn_hostnames": "PRTE_MCA_prte_keep_fqdn_hostnames",
    "OMPI_MCA_plm_rsh_args": "PRTE_MCA_plm_ssh_args",
}


def mpiexec() -> str:
    """Return the path of MPI's launcher: that of this Python environment, else the first on the PATH.

    NotSupported if mpi4py or the launcher is missing.
    """
    if not installed("mpi4py"):
        raise missing("a launch of several processes", "mpi4py")
    scripts, data = Path(sysconfig.get_path("scripts")), Path(sysconfig.get_path("data"))
    for name in ("mpiexec", "mpirun"):
        for folder in (scripts, data / "Library" / "bin"):  # the second on Windows
            found = shutil.which(name, path=str(folder))
            if found is not None:
                return found
    for name in ("mpiexec", "mpirun"):
        found = shutil.which(name)
        if found is not None:
            return found
    raise NotSupported(
        "a launch of several processes needs an MPI library, and there is no mpiexec on the PATH; "
        "pip install 'semiring[mpi]' brings one"
    )


def command(count: int, words: Sequence[str], launcher: str) -> list[str]:
    """Return the command that runs a program, ``FILE ARGUMENTS`` or ``-m MODULE ARGUMENTS``, as `count` processes."""
    return [launcher, "-n", str(count), sys.executable, "-m", "semiring.distributed.process", *words]


def environment(count: int, given: Mapping[str, str], *, root: bool, cores: int) -> dict[str, str]:
    """Return the environment of the launcher.

    Processes are not bound to cores by MPI: each takes its share by itself, so that it has more than one thread.  As
    root, and with more processes than cores, Open MPI needs permission.  Other launchers ignore its variables.
    """
    made = dict(given)
    defaults = {
        "PRTE_MCA_hwloc_default_binding_policy": "none",  # Open MPI 5
        "OMPI_MCA_hwloc_base_binding_policy": "none",  # Open MPI 4
    }
    if root:
        defaults |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if count > cores:
        defaults |= {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
        defaults |= {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    defaults |= {name: str(threads_of(cores, count)) for name in THREADS}
    defaults |= {new: given[old] for old, new in _OF_OPERATOR.items() if old in given}
    for name, value in defaults.items():
        made.setdefault(name, value)
    return made


def launch(count: int, words: Sequence[str]) -> int:
    """Run a program as `count` processes, and return the exit status: 0 if all have ended so.

    Parameters
    ----------
    count : int
        How many processes.
    words : sequence of str
        ``FILE ARGUMENTS`` or ``-m MODULE ARGUMENTS``.

    Raises
    ------
    InvalidValue
        If `count` is not positive, or this process is itself one of a launch.
    NotSupported
        If mpi4py or MPI is missing.

    Notes
    -----
    `semiring launch` in the shell.  Each process has its share of the cores and a GPU of its own.

    Examples
    --------
    >>> sr.distributed.launch(4, ["program.py", "--its-own", "arguments"])  # doctest: +SKIP
    0
    """
    if count < 1:
        raise InvalidValue(f"launch: the number of processes must be positive, got {count}")
    if local_rank(os.environ) is not None and "SLURM_LOCALID" not in os.environ:
        raise InvalidValue("launch: this process is already one of a launch")
    # With several hosts, of Slurm or of the operator, the launcher counts their cores, and divides the processes.
    elsewhere = "SLURM_JOB_ID" in os.environ or next(iter(_OF_OPERATOR)) in os.environ
    cores = count if elsewhere else len(processors())
    with_environment = environment(count, os.environ, root=_is_root(), cores=cores)
    if elsewhere:
        for name in THREADS:
            if name not in os.environ:
                del with_environment[name]
    process = subprocess.Popen(command(count, words, mpiexec()), env=with_environment)
    try:
        status = process.wait()
    except KeyboardInterrupt:
        # A terminal has sent the interrupt to the launcher too; another sender may not have.
        with contextlib.suppress(OSError):
            process.send_signal(signal.SIGINT)
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
        raise
    return status if status >= 0 else 128 - status


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
