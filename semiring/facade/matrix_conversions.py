"""Convert a Matrix: compress or decompress its rows, change its shape or a diagonal.

`Matrix` binds these functions as its methods.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..config import default_device
from ..devices import whole_of
from ..engines.rows.bits import bits_of
from ..engines.rows.residency import listed_or_resident
from ..exceptions import DimensionMismatch
from ..formats import CSR, BitmapPattern, HyperPattern
from ..formats.bitmap import bit_count, cleared
from ..memory.arrays import to_device, to_host
from ..ops import reshape
from ..storage import compression
from ..storage.coerce import extent, sizes
from ..storage.memory_plan import moved
from . import matrix_arrays
from .operand import is_empty, is_scalar, labeled, pickled_type, scalar
from .vector import Vector
from .writing import MaskView, as_mask

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
    by slice, and never reside there as a whole: a GPU reads them twice, first to compute the size.  Synchronizes.

    Source: the layout is described in `semiring.formats.codecs`; packed tiles patch a bit width as PFOR does
    (Zukowski, Héman, Nes, Boncz, "Super-Scalar RAM-CPU Cache Compression", ICDE 2006).

    Examples
    --------
    >>> A = sr.random.kronecker(10, seed=1)
    >>> B = A.compress("varint")
    >>> B.format, B.codec, B.isequal(A), B.nbytes < A.nbytes
    ('ccsr', 'varint', True, True)
    """
    made = compression.compress(self.store, codec)
    return self if made is self.store else self._new(made, name=self.name)._labeled_as(self)


def convert(self: M, to: str) -> M:
    """Store the same entries in another format; returns this matrix.

    Parameters
    ----------
    to : ``"csr"``, rows with their columns and an offset for each row; ``"full"``, rows without columns, if each row
        holds every column or none; ``"bitmap"``, a bit and a value for each position; or ``"hypersparse"``, a list of
        the rows that have entries, with their columns

    Raises
    ------
    InvalidValue
        If there is no such format, or a row has some of the columns.
    OutOfMemory

    Notes
    -----
    Values are shared, except to and from ``"bitmap"``.  Cost O(nrows) to ``"full"`` and ``"hypersparse"``, and
    O(nrows ncols) to ``"bitmap"``; to ``"csr"`` O(nvals), or O(nrows) from ``"hypersparse"``.  Synchronizes.  For
    ``"ccsr"`` use `compress`.

    A bitmap makes element-wise operations and access to single elements fast where a large share of the positions has
    entries; products read it as rows.  The results of operations on it have the format too as long as at least a share
    of ``config.bitmap_switch`` of their positions has entries.

    A matrix of at least 2^20 rows of which a share of at most ``config.hyper_switch`` has entries is made hypersparse:
    when it is built, and as the result of an operation on a hypersparse matrix or of one that changes the shape.
    Every operation accepts the format; its time and memory do not depend on the shape, except where it reads or makes a
    vector with an entry for each row.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 2], [1, 0], [5, 6], shape=(3, 2))
    >>> A.convert("hypersparse").format, A.convert("csr").format
    ('hypersparse', 'csr')
    """
    self._store = compression.convert(self.store, to)  # no entry changes, so a part of another object may be converted
    return self


def decompress(self: M) -> M:
    """B(i, j) = self(i, j), with uncompressed rows, at the same placement, sharing its values; itself if uncompressed.

    Raises
    ------
    OutOfMemory
        If uncompressed rows do not fit there.

    Notes
    -----
    Cost O(nvals).  Synchronizes if the entries reside in host memory, which is decoded slice by slice.

    Examples
    --------
    >>> A = Matrix.identity(3).compress()
    >>> A.format, A.decompress().format
    ('ccsr', 'csr')
    """
    made = compression.decompress(self.store)
    return self if made is self.store else self._new(made, name=self.name)._labeled_as(self)


def compressed_nbytes(self: Matrix, codec: str = "packed") -> int:
    """Return the ``nbytes`` that ``compress(codec)`` would have: all arrays, values included; exact.

    Parameters
    ----------
    codec : as in `compress`

    Raises
    ------
    InvalidValue
        If there is no such codec.

    Notes
    -----
    Cost O(nvals): one pass over the entries, which writes nothing; O(1) for a matrix of this codec.  Synchronizes.

    Examples
    --------
    >>> A = sr.random.kronecker(10, seed=1)
    >>> A.compressed_nbytes("varint") == A.compress("varint").nbytes
    True
    """
    return compression.measure(self.store, codec)


def diag(self: Matrix, k: int = 0, dtype: Any = None, *, name: str | None = None) -> Vector:
    """w(p) = A(p, p + k): the k-th diagonal.

    Parameters
    ----------
    k : which diagonal; above the main one for k > 0, below for k < 0; empty outside the matrix
    dtype : type of the values; by default theirs
    name : shown by `repr`

    Raises
    ------
    TypeError
        For a k that is not an integer.
    DomainMismatch

    Notes
    -----
    Cost O(nvals).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 0], [0, 1, 1], [5, 6, 7])
    >>> A.diag().to_dict(), A.diag(1).to_dict()
    ({0: 5, 1: 6}, {0: 7})
    """
    made: Vector = self._vector_class._new(reshape.diagonal_vector(self.store, operator.index(k)), name=name)
    if not k and self.labels is not None:
        made.labels = self.labels
    return made if dtype is None else made.dup(dtype, name=name)


def setdiag(self: Matrix, values: Any, k: int = 0, *, mask: Any = None, accum: Any = None) -> None:
    """A(p, p + k) = values(p): replace the k-th diagonal d by these entries, d<mask> accum= values.

    Parameters
    ----------
    values : Vector or list as long as the diagonal, or a scalar for all of it; an empty Scalar deletes it
    k : which diagonal; above the main one for k > 0
    mask : over the positions of the diagonal, or of a Matrix of this shape; entries that it does not admit stay
    accum : binary operator that combines the stored entries with `values`

    Raises
    ------
    DimensionMismatch, InvalidValue, InvalidMask, UnknownOperator, DeviceMismatch

    Notes
    -----
    Cost O(nvals).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1], [0, 0], [5, 6], shape=(2, 2))
    >>> A.setdiag([1, 2], accum="plus")
    >>> A.to_dicts()
    {0: {0: 6}, 1: {0: 6, 1: 2}}
    """
    k = operator.index(k)
    if is_empty(values):
        source: Any = Vector(self.dtype, reshape.diagonal_length(self.store, k), device=self.device)
    elif is_scalar(values):
        source = scalar(values)
    else:
        source = values if isinstance(values, Vector) else Vector.from_dense(values, device=self.device)
    if mask is not None or accum is not None:
        diagonal = self.diag(k)
        diagonal(mask=_diagonal_mask(self, mask, k), accum=accum) << source
        source = diagonal
    entries = source.store if isinstance(source, Vector) else source
    self._become(reshape.with_diagonal(self.store, entries, k))


def _diagonal_mask(self: Matrix, mask: Any, k: int) -> Any:
    """Return a mask of the k-th diagonal: `mask`, or the diagonal of a Matrix mask."""
    if mask is None or not isinstance((whole := as_mask(mask)).store, CSR):
        return mask
    if whole.store.shape != self.shape:
        raise DimensionMismatch(f"setdiag: the mask has shape {whole.store.shape}, the matrix {self.shape}")
    return MaskView(replace(whole, store=reshape.diagonal_vector(whole.store, k)))


def resize(
    self: Matrix, nrows: int | None = None, ncols: int | None = None, *, shape: tuple[int, int] | None = None
) -> None:
    """Change the shape to nrows x ncols (or `shape`); entries outside it are dropped.

    Parameters
    ----------
    nrows, ncols (or shape) : the new number of rows and of columns

    Raises
    ------
    InvalidValue
        For a size that is missing, negative or not an integer.

    Notes
    -----
    Cost O(nvals) if it shrinks, else O(nrows).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1], [0, 2], [5, 6], shape=(2, 3))
    >>> A.resize(4, 2)
    >>> A.shape, A.to_dicts()
    ((4, 2), {0: {0: 5}})
    """
    nrows, ncols = sizes("resize", shape, nrows=nrows, ncols=ncols)
    self._become(reshape.resize_matrix(self.store, extent("nrows", nrows), extent("ncols", ncols)))


def pickled(self: Matrix) -> Any:
    """Return what `pickle` stores: uncompressed rows on the host, all or the listed ones, with codec and placement.

    Of a bitmap matrix: bits and values, with 0 where there is no entry.
    """
    held = whole_of(self.store)
    if isinstance(held.pattern, BitmapPattern):
        slots = held.iso if held.values is None else to_host(cleared(bits_of(held)))
        return labeled(
            self,
            _restore_bitmap,
            (
                type(self),
                to_host(held.pattern.words),
                slots,
                held.shape,
                pickled_type(held.dtype),
                self.name,
                held.placement,
            ),
        )
    store = listed_or_resident(held)
    values = store.iso if store.values is None else to_host(store.values)
    if isinstance(held.pattern, HyperPattern):
        listed = tuple(to_host(getattr(store.pattern, part)) for part in HyperPattern.ARRAYS)
        about = pickled_type(store.dtype), store.shape, self.name, held.placement
        return labeled(self, matrix_arrays.restored, (type(self), listed, values, *about))
    arrays = to_host(store.indptr), to_host(store.indices), values
    described = pickled_type(store.dtype), store.ncols, self.name, held.pattern.codec, held.placement
    return labeled(self, _restore, (type(self), *arrays, *described))


def _restore_bitmap(
    cls: type[Any], words: Any, values: Any, shape: tuple[int, int], dtype: str, name: str | None, placement: Any
) -> Any:
    device = default_device()
    near = to_device(words, device)
    iso = isinstance(values, np.generic)
    held = None if iso else to_device(values, device)
    made = CSR(BitmapPattern(*shape, near, bit_count(near)), np.dtype(dtype), held, values if iso else None)
    return cls._new(moved(made, placement, None), name=name)


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
    made = cls.from_csr(
        indptr, indices, values, np.dtype(dtype), ncols=ncols, copy=False, name=name, placement=placement
    )
    return made if codec is None else made.compress(codec)
