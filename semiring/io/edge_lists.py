"""Edge lists: one edge a line, ``source target [weight ...]``.

The readers accept SNAP's text files, ``.el`` and ``.wel`` of the GAP benchmark suite, and comma- and tab-separated
files. Columns are separated by white space, or by one character (`edge_dialect`).
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semiring.dtypes import BOOL, FP32, FP64, lookup
from semiring.exceptions import InvalidFormat, InvalidValue, OutOfMemory, SparseIds
from semiring.io.edge_dialect import is_delimited
from semiring.io.edge_layouts import EdgeLayout, edge_layout, is_large_id, is_text_id
from semiring.io.edge_names import as_integers, in_two_sets, is_quoted, number_names, warn_if_unrepeated
from semiring.io.files import PathLike, Progress, extension, naming_memory_errors
from semiring.io.text import read_text
from semiring.io.triples import TRUE, Triples
from semiring.labels import Labels, number_columns
from semiring.memory.allocation import require

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["Ids", "check_two_sets", "edges_to_matrix", "labels_of", "parse_edgelist", "read_edgelist"]

# The distinct ids of vertices, of sources and of targets where these are two sets; None where ids are rows.
Ids: TypeAlias = NDArray[Any] | tuple[NDArray[Any], NDArray[Any]] | None

# Of so many rows at least, more than so many for each vertex with an edge are reported: its ids are names.
_FEW_ROWS: Final = 1_000
_ROWS_A_VERTEX: Final = 4

# Graphs rarely have more vertices than this an edge; small files may use any ids.
_ROWS_AN_EDGE: Final = 64
_SPARE_EDGES: Final = 1_000_000
# The row offsets, and the arrays of building and a first search.
_BYTES_A_ROW: Final = 16
# An error for any free memory: so many rows for so few edges are not intended.
_MANY_ROWS: Final = 2**31


@naming_memory_errors
def read_edgelist(
    path: PathLike,
    *,
    relabel: bool = False,
    bipartite: bool = False,
    header: bool | None = None,
    sep: str | None = None,
    comment: str | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    weights: bool | None = None,
    symmetric: bool = False,
    directed: bool = True,
    base: int = 0,
    skip_lines: int = 0,
    nrows: int | None = None,
    ncols: int | None = None,
    dtype: Any = None,
    dup_op: Any = None,
    progress: Progress | None = None,
) -> Matrix:
    """Read a text file of edges as ``A(source, target) = weight``.

    Parameters
    ----------
    path : str or PathLike
        Compressed or not. Lines end in LF, CR LF or CR. UTF-8, or UTF-16 with a byte-order mark.
    relabel : bool
        The ids are names: number the distinct ones 0, 1, ... in ascending order, in ``.labels`` of the result. They are
        integers if all are written without quotes as integers are printed (``7``, ``-5``; not ``07`` or ``+7``), else
        all are text. Otherwise ids are indices.
    bipartite : bool
        Sources and targets, such as users and items, are two sets of names, which are numbered apart: the result has
        ``.row_labels`` and ``.column_labels``, and one of them may be of integers and the other of text.
    header : bool, optional
        Whether the first line holds the names of columns. None: it does if neither of its ends is an integer, and (1)
        its ends are usual names of ends, as ``source,target``; or (2) its weight is no number, and a column beside
        the ends has numbers in all of the next 100 lines and text in the first; or (3) a column of ends has integers
        in all these lines, the names differ and neither occurs in them. Also, with the warning `GuessedLayout`, if
        (4) both names are usual for columns, as ``user_id,friend``, no end in these lines is such a name, and neither
        occurs in them. A file of text ids is read with that warning too, if no end of its first line occurs again.
    sep : str, optional
        The character between columns; ``" "``: any white space. None: of comma, semicolon, tab and ``|`` (in
        other files than ``.csv`` and ``.tsv``: tab, comma, semicolon, white space) the one that divides the first
        100 lines into the same number of columns, the largest one; where two do, with the warning `GuessedLayout`.
        Fields may be in double quotes (RFC 4180), except between white space.
    comment : str, optional
        Lines that begin with one of these characters are skipped. None: ``"#%"``; in ``.csv`` and ``.tsv`` files none,
        except lines at the top whose ``#`` or ``%`` a blank follows or that have another number of columns. A comment
        that could be an edge is a guess, with the warning `GuessedLayout`.
    source, target, weight : str or int, optional
        Columns, by the names in the header or by number from 0. By default the first, the second, and the third if
        there is one; with `source` and `target` alone the edges have no weights.
    weights : bool, optional
        Whether the third column is the weight. By default it is, where there is one; further columns are ignored with
        the warning `IgnoredColumns`. False: only the first two columns are read, without a warning.
    symmetric : bool
        Store each edge also from target to source.
    directed : bool
        False is the same as ``symmetric=True``.
    base : int
        The id of row and column 0; not used with ``relabel``.
    skip_lines : int
        The number of lines to skip at the beginning.
    nrows, ncols : int, optional
        The shape; by default square, with one row more than the largest id. Pass it where trailing vertices may
        have no edge.
    dtype : optional
        The type of the weights; by default int64 where all are integers, else float64. Without weights, the type of
        the value 1 that all entries share; by default bool. An empty weight is NaN.
    dup_op : binary operator, ``"mean"`` or ``"last"``, optional
        How to combine the weights of repeated edges, as in `Matrix.from_coo`. Repeated edges without weights are one
        entry.
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    Matrix

    Raises
    ------
    InvalidFormat
        A line does not hold an edge; the message contains file and line, what was expected and what was found.
    DuplicateIndex
        A weighted edge occurs twice and there is no ``dup_op``.
    InvalidValue
        An option has no such value, or names a column that the file does not have.
    OutOfMemory
        The text, its edges or the matrix do not fit in the free memory. Also where the largest id is out of proportion
        to the number of edges: such ids are names, for ``relabel``. Not where ``nrows`` is given.

    Warns
    -----
    GuessedLayout
        Header, separator or comments could be others; the message names the option.
    IgnoredColumns
        The lines have columns after the weight.
    SparseIds
        More than three quarters of the vertices have no edge, because ids are sparse: they are names, for ``relabel``.

    Notes
    -----
    O(bytes) and the building of the matrix; with ``relabel`` also a sort of the distinct ids, which hash tables find.
    A decimal comma is read where a comma does not separate columns.  The text stays in memory while it is read, beside
    8 bytes for each number and for each id that is text.

    Examples
    --------
    >>> with open("roads.csv", "w") as file:
    ...     for line in ("from,to,km", "0,1,3.5", "1,2,2.0"):
    ...         print(line, file=file)
    >>> sr.io.read_edgelist("roads.csv").to_dicts()
    {0: {1: 3.5}, 1: {2: 2.0}}
    >>> with open("names.csv", "w") as file:
    ...     print("bob,ann", file=file)
    >>> sr.io.read_edgelist("names.csv", relabel=True).labels
    Labels(['ann', 'bob'], 2 in all)
    >>> with open("bought.csv", "w") as file:
    ...     print("user,item", "bob,7", "ann,5", "bob,5", sep=chr(10), file=file)
    >>> B = sr.io.read_edgelist("bought.csv", bipartite=True, header=True)
    >>> B.shape, list(B.row_labels), list(B.column_labels)
    ((2, 2), ['ann', 'bob'], [5, 7])
    """
    kind = extension(path)[0]
    text = read_text(path, progress, quotes=is_delimited(kind))
    check_two_sets(bipartite, symmetric or not directed)
    triples, ids = parse_edgelist(
        text, os.fspath(path), kind=kind, relabel=relabel, bipartite=bipartite, header=header, sep=sep,
        comment=comment, source=source, target=target, weight=weight, weights=weights,
        directed=directed and not symmetric, base=base, skip_lines=skip_lines, nrows=nrows, ncols=ncols, dtype=dtype,
        progress=progress,
    )  # fmt: skip
    if dup_op is not None or not isinstance(triples.values, np.ndarray):
        triples = replace(triples, line_of=None)  # no error needs the text
    del text
    return edges_to_matrix(replace(triples, labels=labels_of(ids)), dup_op)


def check_two_sets(bipartite: bool, symmetric: bool) -> None:
    """Raise InvalidValue for edges in both directions between two sets."""
    if bipartite and symmetric:
        raise InvalidValue("symmetric=True needs one set of vertices, and with bipartite=True there are two")


def labels_of(ids: Ids) -> Labels | tuple[Labels, Labels] | None:
    """Return the labels of distinct ids."""
    if isinstance(ids, tuple):
        return Labels.of_distinct(ids[0]), Labels.of_distinct(ids[1])
    return None if ids is None else Labels.of_distinct(ids)


def edges_to_matrix(triples: Triples, dup_op: Any) -> Matrix:
    """Return the matrix of edges; repeated edges without weights are one entry."""
    if dup_op is None and not isinstance(triples.values, np.ndarray):
        dup_op = "any"
    return triples.to_matrix(dup_op)


def parse_edgelist(
    text: NDArray[np.uint8],
    name: str = "",
    *,
    kind: str = "",
    relabel: bool = False,
    bipartite: bool = False,
    header: bool | None = None,
    sep: str | None = None,
    comment: str | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    weights: bool | None = None,
    directed: bool = True,
    base: int = 0,
    skip_lines: int = 0,
    nrows: int | None = None,
    ncols: int | None = None,
    dtype: Any = None,
    vertices: NDArray[np.int64] | None = None,
    progress: Progress | None = None,
) -> tuple[Triples, Ids]:
    """Parse the edges of a text, and with `relabel` the distinct ids (of ``vertices``, where given).

    With `bipartite` there are two arrays of ids, of sources and of targets.

    kind: the extension of the file; the others are options of `read_edgelist`.
    """
    relabel = relabel or bipartite
    layout = edge_layout(
        text, name, kind=kind, relabel=relabel, header=header, sep=sep, comment=comment, source=source, target=target,
        weight=weight, weights=weights, base=base, skip_lines=skip_lines, nrows=nrows, ncols=ncols, dtype=dtype,
        vertices=vertices is not None,
    )  # fmt: skip
    start, line, base, nrows, ncols = layout.start, layout.line, layout.base, layout.nrows, layout.ncols

    def line_of(edge: int) -> int:
        return layout.line_of(text, start, line, edge)

    numbers, large = None, False
    if not layout.named:
        try:
            numbers = layout.scanned(text, start, line, progress)
        except InvalidFormat as error:
            large = is_large_id(error)
            if not layout.strict or not (large or is_text_id(error)):
                raise
    ids: Ids = None
    if numbers is None:
        spans, given = layout.scanned(text, start, line, progress, names=True)
        ids, sources, targets = number_names(text, spans, name, line_of)
        if layout.unsure:
            _warn_if_unrepeated(layout, ids, sources, targets)
        if bipartite:
            quoted = is_quoted(text, spans[:2]).any(), is_quoted(text, spans[2:]).any()
            ids, sources, targets = in_two_sets(ids, sources, targets, quoted)
        elif large and not is_quoted(text, spans).any():
            ids, sources, targets = as_integers(ids, sources, targets)
        del spans
    else:
        (sources, targets), given = numbers
        if bipartite:
            first, (sources,) = number_columns(name, {"source": sources})
            second, (targets,) = number_columns(name, {"target": targets})
            ids = first, second
        elif relabel and vertices is None:
            ids, (sources, targets) = number_columns(name, {"source": sources, "target": targets})
        elif vertices is not None:
            ids = np.unique(vertices)
            sources = _ranks(sources, ids, name, line_of)
            targets = _ranks(targets, ids, name, line_of)
        elif base:
            sources, targets = sources - base, targets - base
    values: NDArray[Any] | np.generic
    if given is None:
        values = TRUE if dtype is None else lookup(dtype).type(1)
    else:
        values = given if dtype is None else weights_as(given, lookup(dtype), name, line_of)
    if isinstance(ids, tuple):
        nrows, ncols = len(ids[0]), len(ids[1])
    elif ids is not None:
        nrows = ncols = len(ids)
    if nrows is None or ncols is None:
        nrows = ncols = _size_of(sources, targets, base, name, line_of)
    triples = Triples(nrows, ncols, sources, targets, values, line_of, name)
    return (triples if directed else triples.symmetrized()), ids


def _warn_if_unrepeated(layout: EdgeLayout, ids: NDArray[Any], sources: NDArray[Any], targets: NDArray[Any]) -> None:
    ends = sources[0], targets[0]
    count = sum(int(np.count_nonzero((column == ends[0]) | (column == ends[1]))) for column in (sources, targets))
    warn_if_unrepeated(layout.name, layout.line, count - 2, (ids[ends[0]], ids[ends[1]]))


def _size_of(sources: NDArray[np.int64], targets: NDArray[np.int64], base: int, name: str, line_of: Any) -> int:
    """Return one more than the largest index; OutOfMemory where it is out of proportion to the number of edges."""
    if not len(sources):
        return 0
    at = int(np.maximum(sources, targets).argmax())
    n = 1 + int(max(sources[at], targets[at]))
    if in_proportion(n, len(sources)):
        _warn_of_sparse_ids(sources, targets, n, name)
    else:
        check_rows(n, len(sources), base, f"{name}:{line_of(at)}")
    return n


def in_proportion(n: int, edges: int) -> bool:
    """Return whether a graph of so many edges may have n vertices without a check of the memory."""
    return n <= _ROWS_AN_EDGE * (edges + _SPARE_EDGES)


def check_rows(n: int, edges: int, base: int, place: str) -> None:
    """Raise OutOfMemory if the free memory does not hold n rows; place: file and line of the largest id."""
    hint = (
        f"the id {n - 1 + base} needs a matrix of {n:,} rows, and the file has {edges:,} edges: "
        f"relabel=True numbers the ids that occur; nrows={n} requests such a matrix"
    )
    if n > _MANY_ROWS:
        raise OutOfMemory(f"{place}: {hint}", asked_bytes=_BYTES_A_ROW * n)
    require(place, "cpu", _BYTES_A_ROW * n, hint=hint)


def _warn_of_sparse_ids(sources: NDArray[np.int64], targets: NDArray[np.int64], n: int, name: str) -> None:
    """Warn where few of the rows have an edge."""
    if n < _FEW_ROWS:
        return
    present = np.zeros(n, bool)
    present[sources] = present[targets] = True
    count = int(np.count_nonzero(present))
    if _ROWS_A_VERTEX * count < n:
        warnings.warn(
            f"{name}: {n:,} rows for {count:,} vertices with edges; relabel=True numbers the ids that occur",
            SparseIds,
            stacklevel=2,
        )


def _ranks(ids: NDArray[np.int64], ordered: NDArray[np.int64], name: str, line_of: Any) -> NDArray[np.int64]:
    ranks = np.searchsorted(ordered, ids)
    found = ordered[np.minimum(ranks, max(len(ordered) - 1, 0))] == ids if len(ordered) else np.zeros(len(ids), bool)
    missing = np.flatnonzero(~found)
    if missing.size:
        at = int(missing[0])
        raise InvalidFormat(f"{name}:{line_of(at)}: expected an id that the vertex file lists, found {int(ids[at])}")
    return ranks.astype(np.int64, copy=False)


def weights_as(given: NDArray[Any], dtype: np.dtype[Any], name: str, line_of: Any) -> NDArray[Any]:
    """Convert weights to `dtype`; InvalidFormat for a weight that the type does not hold."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = given.astype(dtype)
        if dtype in (FP32, FP64):
            wrong = np.isinf(values) & np.isfinite(given)
        elif dtype == BOOL:
            wrong = (given != 0) & (given != 1)
        else:
            limits = np.iinfo(dtype)
            if given.dtype == FP64:
                # The upper limit plus one is a power of two, hence exact; the limit itself is not for 64 bits.
                inside = (given >= float(limits.min)) & (given < float(limits.max + 1)) & (given == np.floor(given))
            else:
                inside = (given >= limits.min) & (given <= limits.max)
            wrong = ~inside
    at = np.flatnonzero(wrong)
    if at.size:
        first = int(at[0])
        raise InvalidFormat(f"{name}:{line_of(first)}: expected a weight of type {dtype.name}, found {given[first]!s}")
    return values
