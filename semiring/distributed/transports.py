"""The way of arrays between GPUs: from the memory of a peer, by NCCL, or through host memory."""

from __future__ import annotations

from . import nccl, peer
from .communicator import Communicator


def over(inner: Communicator) -> Communicator:
    """Return a communicator that sends arrays on GPUs in the best way that connects all processes.  Collective.

    Copies from the memory of the others, if all are on one host and all have read a word so; else NCCL, if each process
    has a GPU of its own; else the inner communicator, through host memory.
    """
    return peer.PeerCommunicator(inner) if peer.usable(inner) else nccl.over(inner)
