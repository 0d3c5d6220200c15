"""What a launch sets up: the launcher that it finds, the shares of cores and GPUs, the permissions, and its errors."""

from __future__ import annotations

import os
import stat
import sys
import sysconfig
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semiring import config
from semiring.distributed import launching, process
from semiring.distributed.serialization import large_sizes, pack, unpack
from semiring.exceptions import CollectiveTimeout, InvalidValue, NotSupported

# -- the launcher ----------------------------------------------------------------------------------------


def executable(folder: Path, name: str) -> str:
    path = folder / name
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The folder of scripts of this Python environment, and the only one of the PATH; mpi4py is there."""
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(here))
    monkeypatch.setenv("PATH", str(elsewhere))
    monkeypatch.setattr(launching, "installed", lambda package: True)
    return here, elsewhere


@pytest.mark.skipif(os.name == "nt", reason="executables have other names")
def test_the_launcher_of_the_environment_precedes_that_of_the_system(folders: tuple[Path, Path]) -> None:
    here, elsewhere = folders
    with pytest.raises(NotSupported, match=r"no mpiexec on the PATH.*semiring\[mpi\]"):
        launching.mpiexec()
    other = executable(elsewhere, "mpirun")
    assert launching.mpiexec() == other
    system = executable(elsewhere, "mpiexec")
    assert launching.mpiexec() == system
    mine = executable(here, "mpiexec")
    assert launching.mpiexec() == mine


def test_errors_before_any_process_starts(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidValue, match="positive, got 0"):
        launching.launch(0, ["program.py"])
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_RANK", "0")
    with pytest.raises(InvalidValue, match="already one of a launch"):
        launching.launch(2, ["program.py"])
    monkeypatch.setattr(launching, "installed", lambda package: False)
    with pytest.raises(NotSupported, match=r"mpi4py: pip install 'semiring\[mpi\]'"):
        launching.mpiexec()


def test_the_command_runs_the_program_in_this_python() -> None:
    words = launching.command(3, ["program.py", "-n", "5"], "/mpi/mpiexec")
    assert words[:4] == ["/mpi/mpiexec", "-n", "3", sys.executable]
    assert words[-3:] == ["program.py", "-n", "5"]


def test_permissions_are_given_where_they_are_needed() -> None:
    made = launching.environment(2, {"OMP_NUM_THREADS": "5"}, root=False, cores=8)
    assert not [name for name in made if "ROOT" in name or "oversubscribe" in made[name]]
    assert (made["NUMBA_NUM_THREADS"], made["OMP_NUM_THREADS"]) == ("4", "5")
    assert made["PRTE_MCA_hwloc_default_binding_policy"] == "none"
    made = launching.environment(9, {}, root=True, cores=8)
    assert made["OMPI_ALLOW_RUN_AS_ROOT"] == made["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] == "1"
    assert made["PRTE_MCA_rmaps_default_mapping_policy"] == ":oversubscribe"
    assert made["NUMBA_NUM_THREADS"] == "1"


def test_hosts_of_the_operator_are_those_of_open_mpi_5() -> None:
    operator = {
        "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
        "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
    }
    made = launching.environment(2, operator, root=False, cores=8)
    assert made["PRTE_MCA_prte_default_hostfile"] == "/etc/mpi/hostfile"
    assert made["PRTE_MCA_plm_ssh_args"] == "-o ConnectionAttempts=10"
    assert "PRTE_MCA_prte_keep_fqdn_hostnames" not in made
    made = launching.environment(2, {**operator, "PRTE_MCA_prte_default_hostfile": "mine"}, root=False, cores=8)
    assert made["PRTE_MCA_prte_default_hostfile"] == "mine"


# -- one process -----------------------------------------------------------------------------------------

LAUNCHERS: list[dict[str, str]] = [
    {"OMPI_COMM_WORLD_LOCAL_RANK": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"},
    {"MPI_LOCALRANKID": "2", "MPI_LOCALNRANKS": "4"},
    {"MV2_COMM_WORLD_LOCAL_RANK": "2", "MV2_COMM_WORLD_LOCAL_SIZE": "4"},
    {"SLURM_LOCALID": "2", "SLURM_NTASKS_PER_NODE": "4"},
]


@pytest.mark.parametrize("environment", LAUNCHERS, ids=lambda e: next(iter(e)))
def test_the_number_of_a_process_on_its_host(environment: dict[str, str]) -> None:
    assert process.local_rank(environment) == (2, 4)
    assert process.local_rank({}) is None
    assert process.local_rank({"SLURM_LOCALID": "1"}) == (1, 1)


@pytest.mark.parametrize("cores", [1, 2, 7, 64])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_cores_are_divided_among_processes(cores: int, size: int) -> None:
    shares = [process.share(range(100, 100 + cores), rank, size) for rank in range(size)]
    if size > cores:
        assert shares == [list(range(100, 100 + cores))] * size
    else:
        assert list(chain.from_iterable(shares)) == list(range(100, 100 + cores))
        assert {len(share) for share in shares} <= {cores // size, cores // size + 1}


def test_each_process_sees_one_gpu() -> None:
    def chosen(rank: int, count: int, visible: str | None = None) -> str | None:
        environment = {"MPI_LOCALRANKID": str(rank), "MPI_LOCALNRANKS": "8"}
        if visible is not None:
            environment["CUDA_VISIBLE_DEVICES"] = visible
        process.choose_gpu(environment, count)
        assert environment["NCCL_NVLS_ENABLE"] == "0"
        return environment.get("CUDA_VISIBLE_DEVICES")

    assert [chosen(rank, 4) for rank in range(6)] == ["0", "1", "2", "3", "0", "1"]
    assert [chosen(rank, 4, "3,5") for rank in range(3)] == ["3", "5", "3"]
    assert chosen(1, 4, "GPU-7f0e, GPU-11aa") == "GPU-11aa"
    # Nothing to choose: none, one, or what the scheduler has chosen for the process.
    assert chosen(1, 0) is chosen(1, 1) is None
    assert (chosen(1, 4, ""), chosen(1, 4, "6")) == ("", "6")
    untouched: dict[str, str] = {}
    process.choose_gpu(untouched, 4)
    assert untouched == {}


# -- messages as bytes -----------------------------------------------------------------------------------

MESSAGES: list[Any] = [
    None,
    5,
    "text" * 1000,
    np.arange(3, dtype=np.int16),
    np.arange(100_000),
    (np.zeros((0, 2)), np.full((300, 400), 2.5).T, [np.arange(9000, dtype=np.uint8)] * 3, np.float32(1)),
    {"records": np.zeros(5000, [("a", "i4"), ("b", "f8")])},
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
def test_a_message_is_restored_from_its_bytes(message: Any) -> None:
    block, arrays = pack(message)
    assert large_sizes(block) == [array.size for array in arrays]
    restored = unpack(bytearray(block), [array.copy() for array in arrays])
    np.testing.assert_equal(restored, message)
    if isinstance(message, np.ndarray):
        assert restored.dtype == message.dtype
        assert restored.flags.writeable
        assert restored.flags.aligned


def test_large_arrays_are_sent_from_where_they_are() -> None:
    array = np.arange(100_000)
    block, (large,) = pack((array, 1))
    assert len(block) < 1000
    assert np.shares_memory(large, array)


# -- the setting -----------------------------------------------------------------------------------------


def test_the_limit_of_a_wait_is_a_number_of_seconds() -> None:
    assert config.collective_timeout == 300
    with config.set(collective_timeout="2.5"):
        assert config.collective_timeout == 2.5
    for wrong in (-1, "soon", True, float("inf"), float("nan"), None):
        with pytest.raises(InvalidValue, match="collective_timeout must be a number of seconds"):
            config.collective_timeout = wrong  # type: ignore[assignment]
    assert issubclass(CollectiveTimeout, TimeoutError)
