"""Groups of MPI processes, through mpi4py."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ..exceptions import NotSupported
from .communicator import Communicator, Traffic


class MpiCommunicator(Communicator):
    """A group of MPI processes.  Arrays are sent without a copy into a pickle (protocol 5)."""

    def __init__(self, comm: Any, traffic: Traffic | None = None) -> None:
        from mpi4py.util.pkl5 import Intracomm

        self._comm = comm if isinstance(comm, Intracomm) else Intracomm(comm)
        self.rank, self.size = int(self._comm.Get_rank()), int(self._comm.Get_size())
        self.traffic = Traffic() if traffic is None else traffic

    def _gather_all(self, message: Any) -> list[Any]:
        return list(self._comm.allgather(message))

    def _exchange(self, messages: Sequence[Any]) -> list[Any]:
        return list(self._comm.alltoall(list(messages)))

    def split(self, color: int, key: int) -> MpiCommunicator:
        """Return the group of the processes that gave this color, ordered by key."""
        return MpiCommunicator(self._comm.Split(color, key), self.traffic)

    def abort(self, message: str) -> None:
        """End all processes, with a message on standard error."""
        print(message, file=sys.stderr, flush=True)
        self._comm.Abort(1)


def world() -> MpiCommunicator:
    """Return the group of all processes that the launcher started; one process without a launcher.

    NotSupported if mpi4py or MPI itself is missing.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise NotSupported(
            f"processes need mpi4py and an MPI library ({error}); pip install 'semiring[mpi]' brings both"
        ) from error
    return MpiCommunicator(MPI.COMM_WORLD)
