"""Text files of JuliaGraphs (.jlg): a header with the sizes, and one edge a line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat
from semiring.io.edge_lists import edges_to_matrix
from semiring.io.files import PathLike, Progress, naming_memory_errors
from semiring.io.text import header_size, read_text, shortened
from semiring.io.text_scan import INTEGER, Column, character_classes, line_of_row, next_line, scan_table
from semiring.io.triples import TRUE, Triples

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["parse_jlg", "read_jlg"]


@naming_memory_errors
def read_jlg(path: PathLike, *, progress: Progress | None = None) -> Matrix:
    """Read a JuliaGraphs file: ``n,m,u|d,name`` and then m lines ``u,v``, counted from 1.

    Parameters
    ----------
    path : str or PathLike
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    Matrix
        ``n x n``, iso-valued bool true; an undirected graph (``u``) is symmetric.

    Raises
    ------
    InvalidFormat
        With file and line.
    OutOfMemory
        The text, its edges or the matrix do not fit in the free memory.

    Notes
    -----
    Cost O(bytes), and the building of the matrix.

    Examples
    --------
    >>> with open("small.jlg", "w") as file:
    ...     for line in ("3,2,u,path", "1,2", "2,3"):
    ...         print(line, file=file)
    >>> sr.io.read_jlg("small.jlg").to_dicts()
    {0: {1: True}, 1: {0: True, 2: True}, 2: {1: True}}
    """
    return edges_to_matrix(parse_jlg(read_text(path, progress), os.fspath(path), progress), None)


def parse_jlg(text: NDArray[np.uint8], name: str = "", progress: Progress | None = None) -> Triples:
    """Return the edges of a JuliaGraphs text."""
    classes = character_classes(b",", b"")
    header = next_line(text, 0, 1, classes)
    content, line, start, after = ("", 1, 0, 1) if header is None else header
    words = [word.strip() for word in content.split(",")]
    sized = len(words) >= 3 and all(word.isascii() and word.isdigit() for word in words[:2])
    if not sized or words[2] not in ("u", "d"):
        raise InvalidFormat(f"{name}:{line}: expected vertices,edges,u or d,name; found {shortened(content)!r}")
    n = header_size(words[0], "vertices", f"{name}:{line}")
    m = header_size(words[1], "edges", f"{name}:{line}", bits=62)
    columns = (Column("source", INTEGER, 1, n), Column("target", INTEGER, 1, n))
    table = scan_table(text, start, after, columns, classes, name=name, expected_rows=m, progress=progress)
    triples = Triples(
        n, n, table.ints[0] - 1, table.ints[1] - 1, TRUE,
        lambda edge: line_of_row(text, start, after, edge, columns, classes), name,
    )  # fmt: skip
    return triples if words[2] == "d" else triples.symmetrized()
