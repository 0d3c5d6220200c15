"""Select CUDA IPC, NCCL or host staging for the arrays on GPUs."""

from __future__ import annotations

from . import nccl, peer
from .communicator import Communicator


def select_transport(inner: Communicator) -> Communicator:
    """Return a communicator that sends arrays on GPUs in the best way that connects all processes.  Collective.

    Copies from the memory of the others, if all are on one host and all have read a word so; else NCCL, if each process
    has a GPU of its own; else the inner communicator, through host memory.
    """
    return peer.PeerCommunicator(inner) if peer.usable(inner) else nccl.connect(inner)
