"""Convert a Matrix: compress or reorder its rows, transpose it, change its shape or a diagonal.

`Matrix` binds these functions as its methods.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np

from ..engines.residency import resident
from ..exceptions import DimensionMismatch
from ..formats import CompressedPattern
from ..memory.arrays import to_host
from ..ops import reshape
from ..ops.permute import permute as permute_store
from ..ops.transpose import transpose as transpose_store
from ..storage import compression
from ..storage.coerce import extent, permutation, sizes
from .operand import is_empty, is_scalar, scalar
from .vector import Vector, index_value
from .writing import Writing

if TYPE_CHECKING:
    from .matrix import Matrix

M = TypeVar("M", bound="Matrix")


def compress(self: M, codec: str = "packed") -> M:
    """B(i, j) = self(i, j), with compressed rows: gaps between columns in place of the columns.

    Parameters
    ----------
    codec : ``"packed"``, one width of bits for each 128 entries, which GPUs decode fastest; or ``"varint"``, bytes
        of 7 bits (LEB128), the code that publications on compressed graphs use

    Returns
    -------
    Matrix, at the same `placement`, sharing its values; itself if it has this codec already.

    Raises
    ------
    InvalidValue
        If there is no such codec.
    OutOfMemory
        If the compressed rows do not fit in addition to this matrix.

    Notes
    -----
    Every operation accepts compressed matrices; one that keeps the structure (apply, cast, permute) keeps the codec
    too, any other result is uncompressed.  Cost O(nvals).  Entries outside the memory of the device are encoded slice
    by slice, and never reside there as a whole: a GPU reads them twice, first to compute the size.  Synchronises.

    Source: the layout is described in `semiring.formats.ccsr`; packed tiles patch a bit width as PFOR does
    (Zukowski, Héman, Nes, Boncz, "Super-Scalar RAM-CPU Cache Compression", ICDE 2006).
    """
    made = compression.compress(self.store, codec)
    return self if made is self.store else self._new(made, name=self.name)


def decompress(self: M) -> M:
    """B(i, j) = self(i, j), with uncompressed rows, at the same placement, sharing its values; itself if uncompressed.

    Raises
    ------
    OutOfMemory
        If uncompressed rows do not fit there.

    Notes
    -----
    Cost O(nvals).  Synchronises if the entries reside in host memory, which is decoded slice by slice.
    """
    made = compression.decompress(self.store)
    return self if made is self.store else self._new(made, name=self.name)


def compressed_nbytes(self: Matrix, codec: str = "packed") -> int:
    """Return the ``nbytes`` that ``compress(codec)`` would have: all arrays, values included; exact.

    Parameters
    ----------
    codec : ``"packed"`` or ``"varint"``

    Raises
    ------
    InvalidValue
        If there is no such codec.

    Notes
    -----
    Cost O(nvals): one pass over the entries, which writes nothing; O(1) for a matrix of this codec.  Synchronises.
    """
    return compression.measure(self.store, codec)


def permute(self: M, p: Any, q: Any = None) -> M:
    """B(i, j) = self(p(i), q(j)): row i of the result is row p(i) of this matrix.

    So p lists the old numbers in their new order, as `semiring.algorithms.ordering` returns it; for a graph, vertex
    p(k) becomes vertex k.  The other direction is its inverse, `ordering.inverse(p)`.

    Parameters
    ----------
    p : permutation of range(nrows), as a full Vector, an array or a list of integers
    q : permutation of range(ncols); by default p, for a square matrix

    Returns
    -------
    Matrix, in the memory of the device; compressed by the same codec if this one is compressed, else uncompressed.

    Raises
    ------
    DimensionMismatch
        If the matrix is not square and q is missing.
    InvalidValue
        If p or q is not a permutation: names the first position that is out of range, or a number that occurs twice
        and one that is missing.
    DeviceMismatch
    OutOfMemory
        If the uncompressed result does not fit in the memory of the device.
    NotSupported
        On more columns than keys of 64 bits can sort.

    Notes
    -----
    Cost O(nvals log degree), one pass over the entries.  The cached transpose is not passed on; the fact
    that the structure is symmetric is, if q is p.  On the GPU the checks synchronise.
    """
    nrows, ncols = self.shape
    if q is None and nrows != ncols:
        raise DimensionMismatch(f"permute: a matrix of shape {(nrows, ncols)} needs q too, an order of its columns")
    rows = cols = permutation("p", index_value(p), nrows, self.device)
    if q is not None and (q is not p or nrows != ncols):
        cols = permutation("q", index_value(q), ncols, self.device)
    return self._new(None, permute_store(self.store, rows, cols))


def diag(self: Matrix, k: int = 0) -> Vector:
    """w(p) = A(p, p + k): the k-th diagonal as a Vector (k > 0: above the main one; empty outside the matrix).

    Cost O(nvals).
    """
    return Vector._new(reshape.diagonal_vector(self.store, operator.index(k)))


def setdiag(self: Matrix, values: Any, k: int = 0) -> None:
    """A(p, p + k) = values(p): replace the k-th diagonal by these entries.

    Parameters
    ----------
    values : Vector or list as long as the diagonal, or a scalar for all of it; an empty Scalar deletes it
    k : which diagonal; above the main one for k > 0

    Raises
    ------
    DimensionMismatch, InvalidValue, DeviceMismatch

    Notes
    -----
    Cost O(nvals).
    """
    if is_empty(values):
        source: Any = Vector(self.dtype, reshape.diagonal_length(self.store, operator.index(k)), device=self.device)
    elif is_scalar(values):
        source = scalar(values)
    else:
        source = values if isinstance(values, Vector) else Vector.from_dense(values, device=self.device)
    entries = source.store if isinstance(source, Vector) else source
    self._become(reshape.with_diagonal(self.store, entries, operator.index(k)))


def resize(
    self: Matrix, nrows: int | None = None, ncols: int | None = None, *, shape: tuple[int, int] | None = None
) -> None:
    """Change the shape to nrows x ncols (or `shape`); entries outside it are dropped.

    Raises
    ------
    InvalidValue
        For a size that is missing, negative or not an integer.

    Notes
    -----
    Cost O(nvals) if it shrinks, else O(nrows).
    """
    nrows, ncols = sizes("resize", shape, nrows=nrows, ncols=ncols)
    self._become(reshape.resize_matrix(self.store, extent("nrows", nrows), extent("ncols", ncols)))


def transpose(self: M, **writing: Unpack[Writing]) -> M:
    """C(j, i) = self(i, j), as a new Matrix.

    Parameters
    ----------
    **writing : mask, accum, replace, out

    Raises
    ------
    DimensionMismatch, InvalidMask, DeviceMismatch

    Notes
    -----
    Cost O(nvals) once; the transpose is cached with the entries.
    """
    return self._deliver(transpose_store(self.store), writing)  # type: ignore[no-any-return]


def pickled(self: Matrix) -> Any:
    """Return what `pickle` stores: uncompressed rows on the host, with the codec and the placement."""
    held, store = self.store, resident(self.store)
    values = store.iso if store.values is None else to_host(store.values)
    arrays = to_host(store.indptr), to_host(store.indices), values
    codec = held.pattern.codec if isinstance(held.pattern, CompressedPattern) else None
    return _restore, (type(self), *arrays, store.dtype.str, store.ncols, self.name, codec, held.placement)


def _restore(
    cls: type[Any],
    indptr: Any,
    indices: Any,
    values: Any,
    dtype: str,
    ncols: int,
    name: str | None,
    codec: Any,
    placement: str = "device",  # pickles of version 0.1 have none
) -> Any:
    made = cls.from_csr(indptr, indices, values, np.dtype(dtype), ncols=ncols, name=name, placement=placement)
    return made if codec is None else made.compress(codec)
