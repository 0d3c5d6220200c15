"""Blocks and segments of ``.srb`` files: of a mapped file only the pages of the rows in hand are read."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from semiring import Matrix

from ..config import engine_for
from ..engines import registry
from ..engines.requests.operands import Index
from ..engines.requests.storage import Slices
from ..formats import CSR, Bitmap, Full, IndexList, Pattern, VectorStore, index_dtype
from ..formats.vectors import SingleEntry
from ..io.placement import mapped_matrix, on_the_host
from ..io.srb import Store
from ..io.srb_mapped import vector_of
from ..ops.convert import index_list
from ..ops.extract import extract_matrix
from ..ops.layout import concat
from ..storage.compression import convert
from .partition import slice_vector

__all__ = ["Bounds", "block_of_file", "segment_of_file"]

Bounds = tuple[int, int]

# Entries of compressed rows that are decoded at a time.
_DECODED = 1 << 26


def block_of_file(file: Store, rows: Bounds, cols: Bounds, *, verify: bool) -> CSR:
    """Return rows and columns of the matrix of a file, on the CPU.

    Uncompressed rows with all columns stay pages of the file.  Compressed and full rows are decoded, in chunks.
    verify: check every index of uncompressed rows.
    """
    whole = mapped_matrix(file)
    columns = Index(whole.ncols, cols[1] - cols[0], cols[0])
    if isinstance(whole.pattern, Pattern):
        found = _rows(whole, *rows)
        if verify:
            given: Any = found.iso if found.values is None else found.values
            found = Matrix.from_csr(
                found.indptr, found.indices, given, found.dtype, ncols=found.ncols, copy=False, device="cpu"
            ).store
        every = Index(found.nrows, found.nrows)
        return found if columns.is_all else extract_matrix(found, every, columns).into()
    if file.format in ("ccsr", "full"):
        found = _decoded(whole, rows, columns)
        return convert(found, "full") if file.format == "full" else found
    return extract_matrix(whole, Index(whole.nrows, rows[1] - rows[0], rows[0]), columns).into()


def segment_of_file(file: Store, first: int, last: int, *, verify: bool) -> VectorStore:
    """Return the positions from `first` to `last` of the vector of a file, on the CPU."""
    with on_the_host():
        u: Any = vector_of(file, verify=verify).store
    if isinstance(u, IndexList) and not isinstance(u, SingleEntry):
        low, high = (int(p) for p in np.searchsorted(u.indices, [first, last]))
        indices = (u.indices[low:high] - u.indices.dtype.type(first)).astype(index_dtype(last - first), copy=False)
        return IndexList(last - first, u.dtype, indices, None if u.values is None else u.values[low:high], u.iso)
    if isinstance(u, Full):
        return Full(last - first, u.dtype, None if u.values is None else u.values[first:last], u.iso, "cpu")
    if isinstance(u, Bitmap) and first % 32:
        return slice_vector(index_list(u), first, last, engine_for("cpu"))
    return slice_vector(u, first, last, engine_for("cpu"))


def _rows(a: CSR, first: int, last: int) -> CSR:
    """Return consecutive uncompressed rows, as views of the columns and values."""
    begin, end = int(a.indptr[first]), int(a.indptr[last])
    offsets = (a.indptr[first : last + 1] - a.indptr.dtype.type(begin)).astype(index_dtype(end - begin), copy=False)
    values = None if a.values is None else a.values[begin:end]
    return CSR(Pattern(last - first, a.ncols, offsets, a.indices[begin:end]), a.dtype, values, a.iso)


def _decoded(a: CSR, rows: Bounds, cols: Index) -> CSR:
    """Return rows that are decoded chunk by chunk; of each chunk only the columns in hand are kept."""
    offsets = a.indptr[rows[0] : rows[1] + 1]
    total = int(offsets[-1]) - int(offsets[0])
    marks: Any = np.searchsorted(offsets, int(offsets[0]) + np.arange(_DECODED, total, _DECODED)) if total else []
    bounds = sorted({rows[0], *(rows[0] + int(mark) for mark in marks), rows[1]})
    if len(bounds) == 1:  # no row
        return extract_matrix(a, Index(a.nrows, 0), cols).into()
    parts = []
    for low, high in itertools.pairwise(bounds):
        (part,) = registry.run(Slices(a, (low, high), (0,)), engine_for("cpu"))
        parts.append(extract_matrix(part, Index(part.nrows, part.nrows), cols).into())
    return parts[0] if len(parts) == 1 else concat([[part] for part in parts]).into()
