"""Graphs written as one list of neighbors a line: METIS (.graph) and WebGraph's ASCII format (.graph-txt).

METIS: G. Karypis, "METIS: A Software Package for Partitioning Unstructured Graphs", manual 5.1.0 (2013), section 4.1.1.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat
from semiring.io.edge_lists import edges_to_matrix
from semiring.io.files import PathLike, Progress, naming_memory_errors
from semiring.io.text import header_size, read_text, shortened
from semiring.io.text_scan import Lists, character_classes, next_line, scan_lists
from semiring.io.triples import TRUE, Triples

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["parse_graph_txt", "parse_metis", "read_graph_txt", "read_metis"]

_METIS_CLASSES: Final = character_classes(b"", b"%")
_NO_COMMENT_CLASSES: Final = character_classes(b"", b"")


@naming_memory_errors
def read_metis(path: PathLike, *, dup_op: Any = None, progress: Progress | None = None) -> Matrix:
    """Read a METIS ``.graph`` file, compressed or not.

    The first line is ``n m [fmt [ncon]]``; line ``i`` after it lists the neighbors of vertex ``i``, counted from 1.
    ``fmt`` has three digits: vertex sizes, vertex weights (both are ignored), edge weights.

    Parameters
    ----------
    path : str or PathLike
    dup_op : binary operator, optional
        How to combine the weights of repeated edges.
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    Matrix
        ``n x n``; iso-valued bool true, or with edge weights int64.

    Raises
    ------
    InvalidFormat
        With file and line. Also unless the lists hold ``2 m`` neighbors in total, each edge at both ends, or
        ``m``, as the GAP benchmark suite writes directed graphs.
    OutOfMemory
        The text, its numbers or the matrix do not fit in the free memory.

    Notes
    -----
    Cost O(bytes), and the building of the matrix.

    Examples
    --------
    >>> with open("small.graph", "w") as file:
    ...     for line in ("3 2", "2", "1 3", "2"):
    ...         print(line, file=file)
    >>> sr.io.read_metis("small.graph").to_dicts()
    {0: {1: True}, 1: {0: True, 2: True}, 2: {1: True}}
    """
    return edges_to_matrix(parse_metis(read_text(path, progress), os.fspath(path), progress), dup_op)


def parse_metis(text: NDArray[np.uint8], name: str = "", progress: Progress | None = None) -> Triples:
    """Return the arcs of a METIS text."""
    header = next_line(text, 0, 1, _METIS_CLASSES)
    content, line, start, after = ("", 1, 0, 1) if header is None else header
    words = content.split()
    numeric = all(word.isascii() and word.isdigit() for word in words)
    if (
        not numeric
        or not 2 <= len(words) <= 4
        or (len(words) > 2 and (len(words[2]) > 3 or set(words[2]) - {"0", "1"}))
    ):
        raise InvalidFormat(
            f"{name}:{line}: expected 'n m [fmt [ncon]]' with fmt of digits 0 and 1, found {shortened(content)!r}"
        )
    place = f"{name}:{line}"
    n, m = header_size(words[0], "vertices", place), header_size(words[1], "edges", place)
    sizes, vertex_weights, edge_weights = (digit == "1" for digit in (words[2] if len(words) > 2 else "0").zfill(3))
    ncon = header_size(words[3], "weights a vertex", place, bits=31) if len(words) == 4 else int(vertex_weights)
    if ncon and not vertex_weights:
        raise InvalidFormat(
            f"{name}:{line}: expected a fmt with vertex weights, since ncon is {ncon}; found {words[2]}"
        )

    lists = scan_lists(text, start, after, n, _METIS_CLASSES, name=name, progress=progress)
    width = 2 if edge_weights else 1
    extra = int(sizes) + ncon
    # gapbs' converter announces vertex sizes (fmt 100) and writes none; the number of neighbors shows this.
    if sizes and not ncon and len(lists.numbers) in (width * m, 2 * width * m):
        extra = 0
    lengths = np.diff(lists.offsets)
    _check_lengths(lists, lengths, extra, width, name)
    counts = (lengths - extra) // width
    total = int(counts.sum())
    if total not in (m, 2 * m):
        raise InvalidFormat(
            f"{name}:{line}: expected {2 * m} neighbors in total ({m} edges, each listed at both ends), found {total}"
        )
    where = np.repeat(lists.offsets[:-1] + extra, counts) + width * _ranks_within(counts)
    neighbors = lists.numbers[where]
    rows = np.repeat(np.arange(n, dtype=np.int64), counts)
    wrong = np.flatnonzero((neighbors < 1) | (neighbors > n))
    if wrong.size:
        at = int(wrong[0])
        raise InvalidFormat(
            f"{name}:{lists.lines[rows[at]]}: expected neighbors from 1 to {n}, found {int(neighbors[at])}"
        )
    values = lists.numbers[where + 1] if edge_weights else TRUE
    return Triples(n, n, rows, neighbors - 1, values, lambda arc: int(lists.lines[rows[arc]]), name)


def _check_lengths(lists: Lists, lengths: NDArray[np.int64], extra: int, width: int, name: str) -> None:
    wrong = np.flatnonzero((lengths < extra) | ((lengths - extra) % width != 0))
    if not wrong.size:
        return
    at = int(wrong[0])
    content = "pairs of neighbor and weight" if width == 2 else "neighbors"
    first = f"{extra} vertex numbers and then " if extra else ""
    raise InvalidFormat(f"{name}:{lists.lines[at]}: expected {first}{content}, found {int(lengths[at])} numbers")


def _ranks_within(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0, 1, ..., count - 1 for each count, concatenated."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int64) - np.repeat(ends - counts, counts)


@naming_memory_errors
def read_graph_txt(path: PathLike, *, progress: Progress | None = None) -> Matrix:
    """Read WebGraph's ASCII format: the number of nodes, then for each node a line of its successors, counted from 0.

    Parameters
    ----------
    path : str or PathLike
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    Matrix
        ``n x n``, iso-valued bool true.

    Raises
    ------
    InvalidFormat
        With file and line.
    OutOfMemory
        The text, its numbers or the matrix do not fit in the free memory.

    Notes
    -----
    Cost O(bytes), and the building of the matrix.

    Examples
    --------
    >>> with open("small.graph-txt", "w") as file:
    ...     for line in ("3", "1 2", "", "0"):
    ...         print(line, file=file)
    >>> sr.io.read_graph_txt("small.graph-txt").to_dicts()
    {0: {1: True, 2: True}, 2: {0: True}}
    """
    return edges_to_matrix(parse_graph_txt(read_text(path, progress), os.fspath(path), progress), None)


def parse_graph_txt(text: NDArray[np.uint8], name: str = "", progress: Progress | None = None) -> Triples:
    """Return the arcs of a WebGraph ASCII text."""
    header = next_line(text, 0, 1, _NO_COMMENT_CLASSES)
    content, line, start, after = ("", 1, 0, 1) if header is None else header
    size = content.strip()
    if not (size.isascii() and size.isdigit()):
        raise InvalidFormat(f"{name}:{line}: expected the number of nodes, found {shortened(content)!r}")
    n = header_size(size, "nodes", f"{name}:{line}")
    lists = scan_lists(text, start, after, n, _NO_COMMENT_CLASSES, name=name, progress=progress)
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(lists.offsets))
    wrong = np.flatnonzero(lists.numbers >= n)
    if wrong.size:
        at = int(wrong[0])
        raise InvalidFormat(
            f"{name}:{lists.lines[rows[at]]}: expected successors from 0 to {n - 1}, found {int(lists.numbers[at])}"
        )
    return Triples(n, n, rows, lists.numbers, TRUE, lambda arc: int(lists.lines[rows[arc]]), name)
