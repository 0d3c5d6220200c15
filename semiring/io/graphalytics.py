"""LDBC Graphalytics: the edges of a graph in ``NAME.e``, and its vertices in ``NAME.v``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.io.edge_lists import edges_to_matrix, parse_edgelist
from semiring.io.files import PathLike, Progress, extension, naming_memory_errors
from semiring.io.text import read_text
from semiring.io.text_scan import INTEGER, SKIP, Column, character_classes, next_line, scan_table
from semiring.io.triples import Triples
from semiring.labels import Labels

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["load_graphalytics", "read_graphalytics"]


@naming_memory_errors
def read_graphalytics(
    path: PathLike, *, directed: bool = True, dtype: Any = None, progress: Progress | None = None
) -> tuple[Matrix, NDArray[np.int64]]:
    """Read an LDBC Graphalytics graph: ``NAME.e`` and, beside it, the vertices in ``NAME.v`` if that file exists.

    Parameters
    ----------
    path : str or PathLike
        The edge file; compressed or not, like the vertex file.
    directed : bool
        As in the graph's ``.properties`` file; an undirected graph lists each edge once.
    dtype : optional
        The type of the weights, as in `read_edgelist`.
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    (Matrix, ids)
        Vertices are numbered by ascending id; ``ids[i]`` is the id of row and column ``i``, also in ``.labels``.

    Raises
    ------
    InvalidFormat
        A malformed line, or an edge whose end is not in the vertex file; with file and line.

    Notes
    -----
    Cost O(bytes), a sort of the ids, and the building of the matrix.

    Examples
    --------
    >>> with open("small.e", "w") as file:
    ...     for line in ("10 20", "20 30"):
    ...         print(line, file=file)
    >>> A, ids = sr.io.read_graphalytics("small.e")
    >>> A.to_dicts(), ids.tolist()
    ({0: {1: True}, 1: {2: True}}, [10, 20, 30])
    """
    triples, ids = load_graphalytics(path, directed=directed, dtype=dtype, progress=progress)
    A = edges_to_matrix(triples, None)
    A.labels = Labels.of_distinct(ids)
    return A, ids


def load_graphalytics(
    path: PathLike, *, directed: bool = True, dtype: Any = None, progress: Progress | None = None
) -> tuple[Triples, NDArray[np.int64]]:
    """Read the entries of `read_graphalytics` as arrays."""
    compression = extension(path)[1]
    stem = os.fspath(path)[: len(os.fspath(path)) - len(compression)]
    beside = Path(stem).with_suffix(".v")
    vertices = None
    for vertex_file in (Path(f"{beside}{compression}"), beside):
        if vertex_file.exists():
            vertices = _vertex_ids(read_text(vertex_file), os.fspath(vertex_file))
            break
    triples, ids = parse_edgelist(
        read_text(path, progress), os.fspath(path), relabel=True, directed=directed, dtype=dtype,
        vertices=vertices, progress=progress,
    )  # fmt: skip
    assert isinstance(ids, np.ndarray)  # of one set
    return triples, ids


def _vertex_ids(text: NDArray[np.uint8], name: str) -> NDArray[np.int64]:
    """Return the first column of a vertex file; properties may follow."""
    classes = character_classes(b",", b"#")
    first = next_line(text, 0, 1, classes)
    width = 1 if first is None else len(first[0].replace(",", " ").split())
    columns = (
        Column("id", INTEGER, -(2**63), 2**63 - 1),
        *(Column("property", SKIP) for _ in range(width - 1)),
    )
    ids: NDArray[np.int64] = scan_table(text, 0, 1, columns, classes, name=name).ints[0]
    return ids
