"""KONECT: edges in ``out.NAME``, whose first line states whether they are directed, bipartite and weighted.

Source: Kunegis, "KONECT: The Koblenz Network Collection", WWW 2013 Companion.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semiring.exceptions import IgnoredColumns, InvalidFormat
from semiring.io.edge_lists import edges_to_matrix, parse_edgelist
from semiring.io.files import PathLike, Progress, naming_memory_errors
from semiring.io.text import read_text
from semiring.io.text_scan import character_classes, next_line
from semiring.io.triples import Triples

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["read_konect"]

_FORMATS: Final = ("sym", "asym", "bip")
_UNWEIGHTED: Final = ("unweighted", "positive")
_WEIGHTED: Final = ("posweighted", "signed", "multisigned", "weighted", "multiweighted", "dynamic", "multiposweighted")
_WEIGHTS: Final = (*_UNWEIGHTED, *_WEIGHTED)


@naming_memory_errors
def read_konect(path: PathLike, *, dup_op: Any = None, progress: Progress | None = None) -> Matrix:
    """Read the edges of a KONECT network, ``out.NAME``, compressed or not.

    Parameters
    ----------
    path : str or PathLike
        The file ``out.NAME`` of the unpacked archive.
    dup_op : binary operator, optional
        How to combine repeated edges with weights.  Without weights they are one entry, unless the network counts them
        (``positive``): then the value is their number.
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    Matrix
        Of ``sym`` symmetric, of ``asym`` square, of ``bip`` (left vertices) x (right vertices).  Vertices count from 0
        here and from 1 in the file.

    Raises
    ------
    InvalidFormat
        With file and line; also if the first line does not state the format.
    DuplicateIndex
        A weighted edge occurs twice and there is no ``dup_op``.

    Warns
    -----
    IgnoredColumns
        Edges have times, which are not read.

    Notes
    -----
    Cost O(bytes), and the building of the matrix.

    Examples
    --------
    >>> with open("out.example", "w") as file:
    ...     for line in ("% sym unweighted", "1 2", "2 3"):
    ...         print(line, file=file)
    >>> sr.io.read("out.example").to_dicts()
    {0: {1: True}, 1: {0: True, 2: True}, 2: {1: True}}
    """
    name = os.fspath(path)
    text = read_text(path, progress)
    header = next_line(text, 0, 1, character_classes(b"", b""))
    words = [] if header is None else header[0].lstrip("%").split()
    if header is None or not header[0].startswith("%") or len(words) != 2 or words[0] not in _FORMATS:
        found = "" if header is None else header[0][:60]
        raise InvalidFormat(f"{name}:1: expected '% sym|asym|bip WEIGHTS', found {found!r}")
    if words[1] not in _WEIGHTS:
        raise InvalidFormat(f"{name}:1: expected weights of {' '.join(_WEIGHTS)}, found {words[1]!r}")
    bipartite, counted = words[0] == "bip", words[1] == "positive"
    weighted = None if words[1] not in _UNWEIGHTED else False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IgnoredColumns)  # those after the weight are times
        if bipartite:
            triples = _bipartite(text, name, weighted, progress)
        else:
            triples, _ = parse_edgelist(
                text, name, base=1, weights=weighted, directed=words[0] == "asym", progress=progress
            )
    if counted:
        triples = Triples(
            triples.nrows, triples.ncols, triples.rows, triples.cols, np.ones(len(triples.rows), np.int64),
            triples.line_of, triples.name,
        )  # fmt: skip
        return triples.to_matrix("plus")
    return edges_to_matrix(triples, dup_op)


def _bipartite(text: Any, name: str, weighted: bool | None, progress: Progress | None) -> Triples:
    """Return the edges between two sets of vertices, each numbered from 1."""
    square, _ = parse_edgelist(text, name, base=1, weights=weighted, progress=progress)
    nrows = int(square.rows.max()) + 1 if len(square.rows) else 0
    ncols = int(square.cols.max()) + 1 if len(square.cols) else 0
    return Triples(nrows, ncols, square.rows, square.cols, square.values, square.line_of, square.name)
