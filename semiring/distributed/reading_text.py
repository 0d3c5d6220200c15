"""Edge lists and Matrix Market files, of which each process parses its share of the bytes."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semiring import Matrix

from ..dtypes import FP64, lookup
from ..exceptions import DuplicateIndex, InvalidFormat, NotSupported
from ..facade.operand import mean_of
from ..io.edge_dialect import BOM
from ..io.edge_layouts import EdgeLayout, edge_layout, is_large_id, is_text_id
from ..io.edge_lists import Ids, check_rows, check_two_sets, in_proportion, labels_of, weights_as
from ..io.edge_names import as_integers, in_two_sets, is_quoted, number_names, warn_if_unrepeated
from ..io.files import PathLike, extension
from ..io.label_sets import set_label_sets
from ..io.matrix_market import CLASSES, entry_columns, mirrored, values_of
from ..io.matrix_market_header import Header, read_header
from ..io.text_scan import line_of_row, scan_table
from ..io.triples import TRUE
from ..io.triples import Triples as FileTriples
from ..labels import number_columns
from ..memory.arrays import to_device
from ..ops.build import duplicate_operator, is_mean
from .grid import Grid
from .routing import Triples, routed
from .text_shares import Share, head_of, share_of

__all__ = ["read_edges", "read_matrix_market"]


def read_edges(
    path: PathLike,
    grid: Grid,
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
) -> Matrix:
    """Read an edge list, with the options of `semiring.io.read_edgelist`.  Collective."""
    name = os.fspath(path)
    check_two_sets(bipartite, symmetric or not directed)
    relabel = relabel or bipartite

    def layout_of(text: NDArray[np.uint8], whole: bool) -> EdgeLayout | None:
        found = edge_layout(
            text, name, kind=extension(path)[0], relabel=relabel, header=header, sep=sep, comment=comment,
            source=source, target=target, weight=weight, weights=weights, base=base, skip_lines=skip_lines,
            nrows=nrows, ncols=ncols, dtype=dtype, whole=whole,
        )  # fmt: skip
        return found if found.enough else None

    layout = _by_first(grid, lambda: head_of(path, layout_of))
    share = share_of(grid, path, layout.start, layout.line, quotes=bool(layout.grammar.separator))
    if layout.grammar.separator:
        grid.run_then_barrier(lambda: _check_quotes(layout, share))
    found = None if layout.named else grid.run_then_barrier(lambda: _numbers(layout, share))
    labels: Ids = None
    if not grid.all_reduce_and(found is not None):
        edges, labels = _named(grid, layout, share, bipartite)
    else:
        assert found is not None
        edges = _numbered(grid, layout, share, *found)
        if relabel:
            edges, labels = _relabeled(grid, edges)
            if bipartite:
                edges, labels = _in_two_sets(grid, edges, labels, (True, True))
    edges = _with_weights(grid, edges, dtype)
    if isinstance(labels, tuple):
        shape = len(labels[0]), len(labels[1])
    elif labels is not None:
        shape = len(labels), len(labels)
    elif layout.nrows is not None and layout.ncols is not None:
        shape = layout.nrows, layout.ncols
    else:
        shape = (_rows_for(grid, edges, layout.base),) * 2
    edges = replace(edges, nrows=shape[0], ncols=shape[1])
    edges = edges if directed and not symmetric else grid.run_then_barrier(edges.symmetrized)
    if dup_op is None and not isinstance(edges.values, np.ndarray):
        dup_op = "any"
    made = _assembled(grid, edges, dup_op)
    names = labels_of(labels)
    made.row_labels, made.column_labels = names if isinstance(names, tuple) else (names, names)
    return made


def read_matrix_market(path: PathLike, grid: Grid, *, dup_op: Any = None) -> Matrix | None:
    """Read a Matrix Market file in coordinate format; None for another one.  Collective."""
    name = os.fspath(path)

    def header_of(text: NDArray[np.uint8], whole: bool) -> Header | None:
        mark = len(BOM) if text[: len(BOM)].tobytes() == BOM else 0
        try:
            found = read_header(text[mark:], name)
            return replace(found, start=found.start + mark)
        except InvalidFormat as error:
            if whole or "found the end of the file" not in str(error):
                raise
            return None

    header = _by_first(grid, lambda: head_of(path, header_of))
    if header.array:
        return None
    share, columns = share_of(grid, path, header.start, header.line), entry_columns(header)
    table = grid.run_then_barrier(lambda: scan_table(share.text, 0, share.line, columns, CLASSES, name=name))
    counts = grid.comm.allgather((table.rows, table.large, table.negative))
    first, total = sum(each[0] for each in counts[: grid.rank]), sum(each[0] for each in counts)

    def line_of(entry: int) -> int:
        return line_of_row(share.text, 0, share.line, entry, columns, CLASSES)

    def entries() -> FileTriples:
        if total < header.count:
            raise InvalidFormat(
                f"{name}:{share.end}: expected {header.count} entries, found the end of the file after {total}"
            )
        if first <= header.count < first + table.rows:
            at = line_of(header.count - first)
            raise InvalidFormat(
                f"{name}:{at}: expected the end of the file after {header.count} entries, found one more"
            )
        whole = replace(table, large=any(each[1] for each in counts), negative=any(each[2] for each in counts))
        values = values_of(whole, header, name, line_of)
        rows, cols = table.ints[0] - 1, table.ints[1] - 1
        return mirrored(FileTriples(header.nrows, header.ncols, rows, cols, values, line_of, name), header)

    return set_label_sets(_assembled(grid, grid.run_then_barrier(entries), dup_op), header.labels)


def _by_first(grid: Grid, function: Any) -> Any:
    """Return on all processes what a function returns on the first one.  Collective."""
    found = grid.run_then_barrier(lambda: function() if grid.rank == 0 else None)
    return grid.comm.bcast(found, 0)


def _check_quotes(layout: EdgeLayout, share: Share) -> None:
    """Raise NotSupported for a share that ends between quotes: a field with a line end is in two of them."""
    if np.count_nonzero(share.text == ord('"')) % 2:
        raise NotSupported(
            f"{layout.name}: lines from {share.line} on: the parts of a file that processes read must have quotes in "
            f"pairs; a line end in quotes is at the border of two parts: read the file on one process"
        )


def _numbers(layout: EdgeLayout, share: Share) -> Any:
    """Return ends and weights of the edges of a share; None where ids are text that are to be numbered."""
    try:
        return layout.scanned(share.text, 0, share.line)
    except InvalidFormat as error:
        if layout.relabel and (is_text_id(error) or is_large_id(error)):
            return None
        raise


def _numbered(grid: Grid, layout: EdgeLayout, share: Share, ends: Any, weights: Any) -> FileTriples:
    """Return the edges of a share; the weights are real numbers if those of any process are.  Collective."""
    real = not grid.all_reduce_and(weights is None or weights.dtype.kind != "f")
    values = TRUE if weights is None else weights.astype(FP64, copy=False) if real else weights

    def line_of(edge: int) -> int:
        return layout.line_of(share.text, 0, share.line, edge)

    first = 0 if layout.relabel else layout.base
    return FileTriples(0, 0, ends[0] - first, ends[1] - first, values, line_of, layout.name)


def _relabeled(grid: Grid, edges: FileTriples) -> tuple[FileTriples, NDArray[np.int64]]:
    """Number the ids of all processes in ascending order.  Collective."""
    found = grid.comm.allgather(np.unique(np.concatenate([edges.rows, edges.cols])))
    ids = np.unique(np.concatenate(found))
    return replace(edges, rows=np.searchsorted(ids, edges.rows), cols=np.searchsorted(ids, edges.cols)), ids


def _in_two_sets(
    grid: Grid, edges: FileTriples, labels: NDArray[Any], quoted: tuple[bool, bool]
) -> tuple[FileTriples, tuple[NDArray[Any], NDArray[Any]]]:
    """Number sources and targets apart.  quoted: which side remains as it is.  Collective."""
    present = [np.concatenate(grid.comm.allgather(np.unique(end))) for end in (edges.rows, edges.cols)]
    sides, rows, cols = in_two_sets(labels, edges.rows, edges.cols, quoted, present)
    return replace(edges, rows=rows, cols=cols), sides


def _named(grid: Grid, layout: EdgeLayout, share: Share, bipartite: bool) -> tuple[FileTriples, Ids]:
    """Return the edges between names of text, numbered in ascending order.  Collective."""

    def line_of(edge: int) -> int:
        return layout.line_of(share.text, 0, share.line, edge)

    def parsed() -> tuple[Any, ...]:
        spans, weights = layout.scanned(share.text, 0, share.line, names=True)
        quoted = tuple(bool(is_quoted(share.text, spans[k : k + 2]).any()) for k in (0, 2))
        return *number_names(share.text, spans, layout.name, line_of), weights, quoted

    own, rows, cols, weights, quoted = grid.run_then_barrier(parsed)
    every = [part for part in grid.comm.allgather(own) if len(part)]
    real = not grid.all_reduce_and(weights is None or weights.dtype.kind != "f")
    values = TRUE if weights is None else weights.astype(FP64, copy=False) if real else weights
    if not every:
        return FileTriples(0, 0, rows, cols, values, line_of, layout.name), (own, own) if bipartite else own
    labels, _ = number_columns(layout.name, {"ids": np.concatenate(every)})
    places = np.searchsorted(labels, own) if len(own) else np.zeros(0, np.int64)
    rows, cols = places[rows], places[cols]
    sides = tuple(not grid.all_reduce_and(not side) for side in quoted)
    if not bipartite and not any(sides):  # integers beyond int64
        labels, rows, cols = as_integers(labels, rows, cols)
    if layout.unsure:
        first = grid.comm.bcast((int(rows[0]), int(cols[0])) if grid.rank == 0 and len(rows) else None, 0)
        if first is not None:
            count = sum(int(np.count_nonzero((part == first[0]) | (part == first[1]))) for part in (rows, cols))
            total = sum(grid.comm.allgather(count))
            if grid.rank == 0:
                warn_if_unrepeated(layout.name, layout.line, total - 2, (labels[first[0]], labels[first[1]]))
    edges = FileTriples(0, 0, rows, cols, values, line_of, layout.name)
    return _in_two_sets(grid, edges, labels, (sides[0], sides[1])) if bipartite else (edges, labels)


def _with_weights(grid: Grid, edges: FileTriples, dtype: Any) -> FileTriples:
    """Return the edges with weights of a type.  Collective."""
    if dtype is None:
        return edges
    chosen, given = lookup(dtype), edges.values
    if not isinstance(given, np.ndarray):
        return replace(edges, values=chosen.type(1))
    return replace(edges, values=grid.run_then_barrier(lambda: weights_as(given, chosen, edges.name, edges.line_of)))


def _rows_for(grid: Grid, edges: FileTriples, base: int) -> int:
    """Return the largest index of all processes + 1; OutOfMemory if the edges are too few for it.  Collective."""
    largest = np.maximum(edges.rows, edges.cols)
    at = int(largest.argmax()) if largest.size else 0
    own = int(largest[at]) + 1 if largest.size else 0
    found = grid.comm.allgather((own, int(largest.size)))
    n: int = max(each[0] for each in found)
    total = sum(each[1] for each in found)

    def check() -> None:
        if own == n and not in_proportion(n, total):
            assert edges.line_of is not None
            check_rows(n, total, base, f"{edges.name}:{edges.line_of(at)}")

    grid.run_then_barrier(check)
    return n


def _assembled(grid: Grid, entries: FileTriples, dup_op: Any) -> Matrix:
    """Return the matrix of the entries that all processes have read.  Collective."""
    if is_mean(dup_op):
        return mean_of(  # type: ignore[no-any-return]
            lambda x, t, dup: _assembled(grid, replace(entries, values=np.asarray(x).astype(t)[()]), dup),
            entries.values,
            None,
        )
    values: Any = entries.values
    iso = None if isinstance(values, np.ndarray) else values
    rows, cols = (to_device(np.asarray(end, np.int64), grid.local) for end in (entries.rows, entries.cols))
    held = Triples(rows, cols, None if iso is not None else to_device(values, grid.local), iso)

    def built() -> Any:
        return routed(
            grid,
            held,
            (entries.nrows, entries.ncols),
            values.dtype,
            dup=duplicate_operator(dup_op, values.dtype),
            iso=iso if dup_op in (None, "any") else None,
        )

    try:
        return Matrix._new(grid.run_then_barrier(built))
    except DuplicateIndex as error:
        raise DuplicateIndex(f"{entries.name}: {error}") from error
