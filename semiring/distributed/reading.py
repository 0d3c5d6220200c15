"""Read a Matrix or Vector in parts: each process reads what it holds, or its share of the text."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np

from semiring import Matrix, Vector

from ..config import engine_for
from ..engines.requests.operands import Index
from ..exceptions import InvalidValue
from ..formats import CSR
from ..formats.pattern import scalar_facts
from ..io.decompress import compression_of
from ..io.edge_lists import read_edgelist
from ..io.files import PathLike, extension
from ..io.label_sets import label_sets, set_label_sets
from ..io.matrix_market import mmread
from ..io.placement import check_storage, convert, on_the_host
from ..io.read import READERS, check_options
from ..io.read import read as read_whole
from ..io.srb import Store
from ..io.srb_reading import map_store
from ..memory.allocation import allocating
from ..ops.extract import extract_matrix
from .agreement import collective
from .checksums import check_in_shares
from .grid import Grid
from .part_files import INDEX, checked_index, read_index, read_part
from .partition import matrix, slice_vector, vector
from .reading_text import read_edges, read_matrix_market
from .srb_blocks import block_of_file, segment_of_file

__all__ = ["read_in_shares"]


@collective
def read_in_shares(
    path: PathLike,
    grid: Grid,
    *,
    placement: str | None,
    compress: str | None,
    progress: Any,
    verify: bool = True,
    **options: Any,
) -> Any:
    """Read a file, or a folder of parts, onto a grid, with the arguments of `semiring.io.read`.  Collective.

    ================================== =============================================================================
    file                               how
    ================================== =============================================================================
    ``.srb``                           each process maps the file and reads its rows
    ``.parts`` (a folder of `write`)   each process reads what it holds from the parts, on any number of processes
    .el .wel .txt .tsv .csv .edgelist  each process parses its share of the bytes, and sends entries to their places
    .mtx .mmio, coordinate format      likewise
    any other, and compressed text     the first process reads it as a whole and sends the entries
    ================================== =============================================================================

    placement, compress: of the part of each process; by default compressed rows of a ``.srb`` file or of parts stay
    compressed by their codec.  A stated symmetry, and the tiles of compressed rows, are trusted.

    Cost O(bytes / p) and one exchange for text; memory of a process: its share of the text and of the entries, and what
    it holds.  Uncompressed rows of a ``.srb`` file on the CPU stay pages of the file where the block has all columns
    and `verify` is False.
    """
    kind, compression = extension(path)

    def checked() -> Callable[..., Any] | None:
        check_storage(placement, compress)
        if progress is not None:
            raise InvalidValue("progress=: the processes of a grid do not report it")
        if kind in (".srb", ".parts") and not compression:
            if options:
                raise InvalidValue(f"{next(iter(options))}=: expected no option for {kind} files")
            return None
        return _text_reader(path, kind, options)

    in_shares = grid.run_then_barrier(checked)
    if kind in (".srb", ".parts") and not compression:
        return (_read_srb if kind == ".srb" else _read_folder)(path, grid, placement, compress, verify)
    made = None if in_shares is None else in_shares(path, grid)
    made = _read_by_one(path, grid, options) if made is None else made
    if not isinstance(made, Matrix) or (placement in (None, "device") and compress is None):
        return made
    return made.with_store(_placed(grid, made.store, placement, compress))._labeled(made)


def _text_reader(path: PathLike, kind: str, options: dict[str, Any]) -> Callable[..., Any] | None:
    """Return the function that reads a file in shares; None for a format without lines, and for compressed text."""
    reader: Any = READERS.get(kind)
    fixed = getattr(reader, "keywords", {})
    function = {read_edgelist: read_edges, mmread: read_matrix_market}.get(getattr(reader, "func", reader))
    if function is None:
        return None
    check_options(kind, reader, options)
    with open(path, "rb") as stream:
        if compression_of(stream.read(8)):
            return None
    return partial(function, **{**fixed, **options})


def _read_srb(path: PathLike, grid: Grid, placement: str | None, codec: str | None, verify: bool) -> Any:
    file = grid.run_then_barrier(lambda: map_store(path))
    if verify:
        check_in_shares(grid, os.fspath(path), file)
    if file.kind == "vector":
        first, last = grid.segment(file.shape[0])
        segment = grid.run_then_barrier(lambda: segment_of_file(file, first, last, verify=verify))
        return set_label_sets(_vector(grid, file.shape[0], segment, file, placement, codec), file.labels)
    rows, cols = grid.rows(file.shape[0]), grid.cols(file.shape[1])
    block = grid.run_then_barrier(lambda: block_of_file(file, rows, cols, verify=verify))
    made = _matrix(grid, (file.shape[0], file.shape[1]), block, file.iso, file, file.facts, placement, codec)
    return set_label_sets(made, file.labels)


def _read_folder(path: PathLike, grid: Grid, placement: str | None, codec: str | None, verify: bool) -> Any:
    folder = os.fspath(path)
    index = grid.run_then_barrier(lambda: checked_index(read_index(folder).get("object"), os.path.join(folder, INDEX)))
    part, file, labels = grid.run_then_barrier(lambda: read_part(folder, index, grid, verify=verify))
    return set_label_sets(placed_part(grid, index, part, file, placement, codec), labels)


def placed_part(grid: Grid, index: Any, part: Any, file: Store, placement: str | None, codec: str | None) -> Any:
    """Return the object of which this process has read its part, from files of which `file` is one."""
    iso = file.iso if index.iso else None
    if index.kind == "vector":
        return _vector(grid, index.shape[0], part, file if iso is not None else None, placement, codec)
    facts = {} if index.symmetric is None else {"symmetric": index.symmetric}
    return _matrix(grid, index.shape, part, iso, file, facts, placement, codec)


def _matrix(
    grid: Grid,
    shape: tuple[int, int],
    block: CSR,
    iso: np.generic | None,
    file: Store,
    facts: Any,
    placement: str | None,
    codec: str | None,
) -> Matrix:
    kept = file.codec if codec is None else codec
    block = grid.run_then_barrier(lambda: convert("read", block, placement, kept, grid.local))
    store = matrix(grid, shape, block, iso=iso)
    store.pattern.facts.update({key: value for key, value in facts.items() if key == "symmetric"})
    return Matrix._new(store)


def _vector(
    grid: Grid, size: int, segment: Any, file: Store | None, placement: str | None, codec: str | None
) -> Vector:
    if placement not in (None, "device", "auto") or codec is not None:
        raise InvalidValue("read: a Vector resides in the memory of its device, and cannot be compressed")

    def moved() -> Any:
        with allocating("read", grid.local):
            return segment.to(grid.local)

    return Vector._new(vector(grid, size, grid.run_then_barrier(moved), iso=None if file is None else file.iso))


def _read_by_one(path: PathLike, grid: Grid, options: dict[str, Any]) -> Any:
    """Read the whole file on the first process, and send the parts."""

    def whole() -> Any:
        with on_the_host():
            return read_whole(path, **options)

    found = grid.run_then_barrier(lambda: whole() if grid.rank == 0 else None)
    return _distributed(grid, found)


def _distributed(grid: Grid, found: Any) -> Any:
    """Return an object that the first process has as a whole, in parts.  Collective."""
    store: Any = None if found is None else found.store
    about = None
    if store is not None:
        facts = scalar_facts(store.pattern) if isinstance(store, CSR) else {}
        about = tuple(found.shape), store.iso, facts, label_sets(found)
    shape, iso, facts, labels = grid.comm.bcast(about, 0)
    engine = engine_for("cpu")

    def part_of(rank: int) -> Any:
        if len(shape) == 1:
            return slice_vector(store, *grid.segment(shape[0], rank), engine)
        (top, bottom), (left, right) = grid.rows(shape[0], rank), grid.cols(shape[1], rank)
        return extract_matrix(store, Index(shape[0], bottom - top, top), Index(shape[1], right - left, left)).into()

    parts = grid.run_then_barrier(lambda: {} if store is None else {rank: part_of(rank) for rank in range(grid.size)})
    part = grid.comm.exchange(parts, (0,) if grid.rank else ())[0].to(grid.local)
    if len(shape) == 1:
        return set_label_sets(Vector._new(vector(grid, shape[0], part, iso=iso)), labels)
    made: Matrix = Matrix._new(matrix(grid, shape, part, iso=iso))
    made.store.pattern.facts.update(facts)
    return set_label_sets(made, labels)


def _placed(grid: Grid, store: CSR, placement: str | None, codec: str | None) -> CSR:
    block = grid.run_then_barrier(lambda: convert("read", grid.part(store), placement, codec, grid.local))
    return cast(CSR, grid.with_part(store, block))
