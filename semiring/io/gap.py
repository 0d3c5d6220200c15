"""Serialized graphs of the GAP benchmark suite: ``.sg`` (no weights) and ``.wsg`` (32-bit integer weights).

Layout (S. Beamer, K. Asanovic, D. Patterson, "The GAP Benchmark Suite", arXiv:1508.03619, and its reference code): one
byte that is 1 for a directed graph; int64 numbers of edges and of nodes; ``nodes + 1`` int64 offsets; for each
stored arc its int32 target, in a ``.wsg`` followed by its int32 weight. A directed graph has the same arrays of its
transpose after them. Little-endian; an undirected graph stores both arcs of an edge and counts both.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat
from semiring.io.edge_lists import edges_to_matrix
from semiring.io.files import PathLike, Progress, naming_memory_errors, read_bytes
from semiring.io.triples import TRUE, Triples

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["parse_sg", "read_sg"]

_HEAD_BYTES = 17


@naming_memory_errors
def read_sg(path: PathLike, *, weights: bool = False, dup_op: Any = None, progress: Progress | None = None) -> Matrix:
    """Read a ``.sg`` file, or with ``weights=True`` a ``.wsg`` file.

    Parameters
    ----------
    path : str or PathLike
    weights : bool
        Whether it is a ``.wsg`` file.
    dup_op : binary operator, optional
        How to combine the weights of repeated edges.
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    Matrix
        ``n x n``; iso-valued bool true, or int32 weights.

    Raises
    ------
    InvalidFormat
        The arrays do not fit the file or each other; with the byte.
    OutOfMemory
        The file, its arcs or the matrix do not fit in the free memory.

    Notes
    -----
    Cost O(bytes), and the building of the matrix.

    Examples
    --------
    >>> sizes, offsets, targets = [2, 2], [0, 1, 2], [1, 0]  # one undirected edge, stored in both directions
    >>> with open("small.sg", "wb") as file:
    ...     _ = file.write(bytes(1) + np.array(sizes + offsets, "<i8").tobytes() + np.array(targets, "<i4").tobytes())
    >>> sr.io.read_sg("small.sg").to_dicts()
    {0: {1: True}, 1: {0: True}}
    """
    return edges_to_matrix(parse_sg(read_bytes(path, progress), os.fspath(path), weights=weights), dup_op)


def parse_sg(content: NDArray[np.uint8], name: str = "", *, weights: bool = False) -> Triples:
    """Return the arcs of a serialized graph; the transpose of a directed one is checked for its size only."""
    if len(content) < _HEAD_BYTES:
        raise InvalidFormat(f"{name}: byte {len(content)}: expected {_HEAD_BYTES} bytes of header, found the end")
    directed = int(content[0])
    m, n = (int(size) for size in content[1:_HEAD_BYTES].view("<i8"))
    if directed > 1 or m < 0 or not 0 <= n < 2**31:
        raise InvalidFormat(
            f"{name}: byte 0: expected a flag 0 or 1, a number of edges and one of nodes below 2**31, found "
            f"{directed}, {m}, {n}"
        )
    arc_bytes = 8 if weights else 4
    one_way = 8 * (n + 1) + arc_bytes * m
    total = _HEAD_BYTES + one_way * (1 + directed)
    if len(content) != total:
        raise InvalidFormat(
            f"{name}: byte {min(len(content), total)}: expected {total} bytes for {n} nodes and {m} arcs "
            f"{'with' if weights else 'without'} weights, found {len(content)}"
        )
    arcs_at = _HEAD_BYTES + 8 * (n + 1)
    offsets = content[_HEAD_BYTES:arcs_at].view("<i8").astype(np.int64)
    # Compared and not subtracted: a difference of two extreme offsets overflows.
    falling = np.flatnonzero(offsets[1:] < offsets[:-1])
    if offsets[0] != 0 or offsets[-1] != m or falling.size:
        at = int(falling[0]) + 1 if falling.size else 0 if offsets[0] != 0 else n
        raise InvalidFormat(
            f"{name}: byte {_HEAD_BYTES + 8 * at}: expected offsets that rise from 0 to {m}, found {int(offsets[at])}"
        )
    arcs = content[arcs_at : arcs_at + arc_bytes * m].view("<i4").astype(np.int32)
    targets = arcs[::2] if weights else arcs
    wrong = np.flatnonzero((targets < 0) | (targets >= n))
    if wrong.size:
        at = int(wrong[0])
        raise InvalidFormat(
            f"{name}: byte {arcs_at + arc_bytes * at}: expected a node from 0 to {n - 1}, found {int(targets[at])}"
        )
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(offsets))
    return Triples(n, n, rows, targets, np.ascontiguousarray(arcs[1::2]) if weights else TRUE, None, name)
