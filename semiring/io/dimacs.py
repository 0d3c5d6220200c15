"""DIMACS graph files (.gr): arcs with lengths (9th DIMACS challenge) and PACE's undirected edges.

``p sp n m`` is followed by m lines ``a u v length``; ``p tw n m`` by m lines ``u v``, each an undirected edge listed
once. Vertices are numbered from 1; lines that begin with ``c`` are comments.
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
from semiring.io.text_scan import (
    INTEGER,
    LETTER,
    Column,
    character_classes,
    line_of_row,
    next_line,
    scan_table,
)
from semiring.io.triples import TRUE, Triples

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["parse_dimacs", "read_dimacs"]

_CLASSES: Final = character_classes(b"", b"c")


@naming_memory_errors
def read_dimacs(path: PathLike, *, dup_op: Any = None, progress: Progress | None = None) -> Matrix:
    """Read a DIMACS ``.gr`` file, compressed or not.

    Parameters
    ----------
    path : str or PathLike
    dup_op : binary operator, optional
        How to combine arcs that occur twice.
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    Matrix
        ``n x n``. Of ``p sp``: ``A(u, v) = length``, int64. Of ``p tw``: iso-valued bool true, symmetric.

    Raises
    ------
    InvalidFormat
        With file and line.
    DuplicateIndex
        An arc occurs twice and there is no ``dup_op`` (``"min"`` keeps the shortest).
    OutOfMemory
        The text, its arcs or the matrix do not fit in the free memory.

    Notes
    -----
    Cost O(bytes), and the building of the matrix.

    Examples
    --------
    >>> with open("roads.gr", "w") as file:
    ...     for line in ("p sp 3 2", "a 1 2 40", "a 2 3 25"):
    ...         print(line, file=file)
    >>> sr.io.read_dimacs("roads.gr").to_dicts()
    {0: {1: 40}, 1: {2: 25}}
    """
    return edges_to_matrix(parse_dimacs(read_text(path, progress), os.fspath(path), progress), dup_op)


def parse_dimacs(text: NDArray[np.uint8], name: str = "", progress: Progress | None = None) -> Triples:
    """Return the arcs of a DIMACS text."""
    header = next_line(text, 0, 1, _CLASSES)
    content, line, start, after = ("", 1, 0, 1) if header is None else header
    words = content.split()
    sized = len(words) == 4 and all(word.isascii() and word.isdigit() for word in words[2:])
    if not sized or words[0] != "p" or words[1] not in ("sp", "tw"):
        raise InvalidFormat(
            f"{name}:{line}: expected 'p sp VERTICES ARCS' or 'p tw VERTICES EDGES', found {shortened(content)!r}"
        )
    n = header_size(words[2], "vertices", f"{name}:{line}")
    m = header_size(words[3], "edges", f"{name}:{line}", bits=62)
    weighted = words[1] == "sp"
    columns: tuple[Column, ...] = (Column("source", INTEGER, 1, n), Column("target", INTEGER, 1, n))
    if weighted:
        length = Column("length", INTEGER, -(2**63), 2**63 - 1)
        columns = (Column("letter", LETTER, ord("a")), *columns, length)
    table = scan_table(text, start, after, columns, _CLASSES, name=name, expected_rows=m, progress=progress)
    values = table.ints[2] if weighted else TRUE
    triples = Triples(
        n, n, table.ints[0] - 1, table.ints[1] - 1, values,
        lambda entry: line_of_row(text, start, after, entry, columns, _CLASSES), name,
    )  # fmt: skip
    return triples if weighted else triples.symmetrized()
