"""Write a Matrix or Vector on a grid: a file for each part, or one file that all processes write (`io.write`)."""

from __future__ import annotations

import contextlib
import os
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from semiring import Matrix, Vector

from ..engines.requests.operands import Index
from ..engines.rows.residency import listed_or_resident
from ..formats import CSR, FORMATS, Array, Full, HyperPattern, dense_values, index_dtype
from ..formats.hypersparse import hypersparse
from ..io.atomic import atomic_writer
from ..io.files import PathLike, errors_naming
from ..io.label_sets import encode_sets, label_sets
from ..io.srb import Store, checksum, describe, header, place_sections
from ..io.srb import section as section_of
from ..memory.arrays import to_host
from ..ops.convert import index_list
from ..ops.extract import extract_matrix
from ..ops.layout import concat
from .checksums import combined
from .grid import Grid
from .part_files import files_of, made_folder, remove_others, write_index, write_parts
from .partition import local

__all__ = ["write_file", "write_folder"]


def write_folder(path: PathLike, A: Matrix | Vector, grid: Grid) -> None:
    """Write a folder ``NAME.parts``: each process its part as it is, compressed rows too; nothing is sent.

    Cost O(bytes of the part).
    """
    folder = os.fspath(path)
    grid.run_then_barrier(lambda: made_folder(folder, "one of an object in parts") if grid.rank == 0 else None)
    index = write_parts(A, folder, grid).content()
    grid.run_then_barrier(lambda: write_index(folder, {"object": index}) if grid.rank == 0 else None)
    if grid.rank == 0:
        remove_others(folder, files_of(index))


class _Share(NamedTuple):
    """The share of this process in a file: the description, and of each section the first element and the array."""

    about: Store
    sections: list[dict[str, Any]]
    arrays: dict[str, tuple[int, np.ndarray[Any, Any]]]


def _rows_of(grid: Grid, store: CSR) -> _Share:
    """Return the rows of the segment of this process, with all columns.  Collective."""
    rows = listed_or_resident(_together(grid, store))
    few = not grid.all_reduce_and(not isinstance(rows.pattern, HyperPattern))
    rows = hypersparse(rows) if few else rows
    p: Any = rows.pattern
    found = grid.comm.allgather((rows.nvals, int(p.rows.size) if few else rows.nrows))
    entries = [0, *accumulate(each[0] for each in found)]
    lines = [0, *accumulate(each[1] for each in found)]
    nvals, form = entries[-1], "hypersparse" if few else "csr"
    symmetric = store.pattern.facts.get("symmetric")
    facts = {} if symmetric is None else {"symmetric": bool(symmetric)}
    about = Store("matrix", form, store.shape, nvals, store.dtype, store.iso, {}, facts)
    wanted = FORMATS[form].sections(*store.shape, nvals, None, lines[-1])
    base, offsets = entries[grid.rank], to_host(p.offsets if few else p.indptr).astype(np.int64)
    # The last offset is that of the first row of the next process.
    offsets = (offsets if grid.rank == grid.size - 1 else offsets[:-1]) + base
    firsts = {"indptr": lines[grid.rank], "offsets": lines[grid.rank], "rows": lines[grid.rank], "indices": base}
    held = {"indices": to_host(p.indices), "offsets" if few else "indptr": offsets}
    if few:
        held["rows"] = to_host(p.rows).astype(np.int64) + grid.segment(store.nrows)[0]
    return _share(about, {name: (*size, firsts[name], held[name]) for name, size in wanted.items()}, rows, base)


def _pairs_of(grid: Grid, store: Any) -> _Share:
    """Return the entries of the segment of this process.  Collective."""
    segment = local(store)
    filled = grid.all_reduce_and(isinstance(segment, Full) or segment.nvals == segment.size)
    u: Any = segment if filled and isinstance(segment, Full) else index_list(segment)
    counts = grid.comm.allgather(int(u.nvals))
    nvals, base = sum(counts), sum(counts[: grid.rank])
    about = Store("vector", "full" if filled else "index", (store.size,), nvals, store.dtype, store.iso, {})
    wanted = {}
    if not filled:
        indices = to_host(u.indices).astype(np.int64) + grid.segment(store.size)[0]
        wanted["indices"] = (nvals, index_dtype(store.size), base, indices)
    return _share(about, wanted, u, base)


def _share(about: Store, wanted: dict[str, Any], held: Any, base: int) -> _Share:
    if about.iso is None:
        wanted["values"] = (about.nvals, about.dtype, base, to_host(dense_values(held)))
    sections = [section_of(name, dtype, size) for name, (size, dtype, _, _) in wanted.items()]
    arrays = {
        name: (first, np.ascontiguousarray(array, np.dtype(dtype).newbyteorder("<")))
        for name, (_, dtype, first, array) in wanted.items()
    }
    return _Share(about, sections, arrays)


def _together(grid: Grid, store: CSR) -> CSR:
    """Return the rows of the segment of this process, of which those beside it hold the other columns.  Collective."""
    block = local(store)
    width, (top, _) = grid.shape[1], grid.rows(store.nrows)
    if width == 1:
        return block
    every, first = Index(block.ncols, block.ncols), grid.rank - grid.coords[1]
    segments = [grid.segment(store.nrows, rank) for rank in range(first, first + width)]
    parts = [extract_matrix(block, Index(block.nrows, b - a, a - top), every).into() for a, b in segments]
    group = grid.row_comm
    found = group.exchange(dict(enumerate(parts)), [rank for rank in range(width) if rank != group.rank])
    return concat([[found[rank] for rank in range(width)]]).into()


def write_file(path: PathLike, A: Matrix | Vector, grid: Grid) -> None:
    """Write a ``.srb`` file: each process its bytes, the first one the header, with the checksums of all, and labels.

    Memory: uncompressed rows of one part, twice.  On a grid of several columns, parts of rows are sent along its rows
    first.
    """
    store: Any = A.store
    sets = label_sets(A)
    share = _rows_of(grid, store) if isinstance(store, CSR) else _pairs_of(grid, store)
    label_about, label_arrays = grid.run_then_barrier(lambda: encode_sets("write", sets))
    sections = [*share.sections, *(section_of(name, array.dtype, array.size) for name, array in label_arrays.items())]
    description = describe(share.about, sections, label_about)
    place_sections(description)
    for name, array in label_arrays.items():
        share.arrays[name] = 0, array if grid.rank == 0 else array[:0]

    def share_written() -> dict[str, tuple[int, int]]:
        with errors_naming(path, [made]):
            return _write_share(made, sections, share.arrays)

    with contextlib.ExitStack() as stack:
        stream: Any = grid.run_then_barrier(
            lambda: stack.enter_context(atomic_writer(path)) if grid.rank == 0 else None
        )
        made = grid.comm.bcast(stream.name if grid.rank == 0 else None, 0)
        written = grid.run_then_barrier(share_written)
        found = grid.comm.allgather(written)

        def finished() -> None:
            for about in sections:
                for shares in found:
                    about["crc32"] = combined(about["crc32"], *shares[about["name"]])
            head, total = header(description)
            stream.truncate(total)
            stream.seek(0)
            stream.write(head)
            stack.pop_all().close()  # renames the file

        grid.run_then_barrier(finished if grid.rank == 0 else lambda: None)


def _write_share(name: str, sections: list[dict[str, Any]], arrays: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Write the arrays of this process; return checksum and bytes of each."""
    written = {}
    with open(name, "r+b") as stream:
        for about in sections:
            first, array = arrays[about["name"]]
            stream.seek(about["offset"] + first * array.dtype.itemsize)
            content: Array = array.view(np.uint8)
            stream.write(content.data)
            written[about["name"]] = checksum(content), int(content.size)
        stream.flush()
        os.fsync(stream.fileno())
    return written
