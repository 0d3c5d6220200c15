"""Matrix from and to two-dimensional arrays, which a full matrix shares.

`Matrix` binds these functions as its methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..devices import local_device
from ..engines.rows.bits import bits_of
from ..engines.rows.residency import resident
from ..engines.sliced.dense_rows import dense_matrix, is_dense
from ..exceptions import InvalidType, InvalidValue
from ..formats import CSR, BitmapPattern, array_module, dense_values, device_of, is_bitmap
from ..formats.bitmap import bit_count, flags_of_words, words_of_flags
from ..formats.parts import on_device, whole_of
from ..memory.allocation import allocating, require
from ..memory.arrays import as_type, to_device
from ..ops.cast import cast_scalar
from ..ops.extract import row_numbers
from ..record_types import shown
from ..storage.coerce import value_type
from .operand import device_for, exported, scalar
from .values import as_values, dense_dtype, differs

if TYPE_CHECKING:
    from .matrix import Matrix


def from_dense(
    cls: type[Matrix],
    values: Any,
    missing_value: Any = None,
    *,
    dtype: Any = None,
    format: str | None = None,
    copy: bool = True,
    name: str | None = None,
    device: str | None = None,
) -> Matrix:
    """A(i, j) = values[i, j], except where it equals `missing_value`.

    Parameters
    ----------
    values : two-dimensional array of NumPy, CuPy or any library with DLPack (PyTorch, for example), or nested lists
    missing_value : the value that represents a missing entry (NaN matches NaN); None: all are present, and the format
        is ``"full"``
    dtype : type of the values; by default theirs
    format : ``"bitmap"``: a bit for each position marks the entries, and the values keep their positions, which is
        faster to make; None: ``"csr"`` where there is a `missing_value`
    copy : False: share the values if they have the type, are on the device, contiguous by rows, and none is
        missing or the format is ``"bitmap"``.  The array must not be written to afterwards.
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the GPU if the array is there, else the configured one

    Raises
    ------
    InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost O(nrows ncols); O(nrows) for values that are shared.  With a `missing_value` it synchronizes on the GPU.

    Examples
    --------
    >>> Matrix.from_dense([[5, 0], [0, 7]], missing_value=0).to_dicts()
    {0: {0: 5}, 1: {1: 7}}
    >>> Matrix.from_dense(np.ones((2, 3))).format
    'full'
    """
    where = device_for(values, device=device)
    array = as_values(values, dtype, ndim=2 if cls._infers_arrays else None, name="from_dense")
    if array.ndim == 0:
        raise InvalidType(
            f"from_dense: expected an array or a list, got {values!r}; Matrix.from_scalar repeats a value"
        )
    if array.ndim != 2:
        raise InvalidValue(f"from_dense: expected two dimensions, got shape {array.shape}")
    chosen = value_type("from_dense", array, dtype)
    if format not in (None, BitmapPattern.format):
        raise InvalidValue(f"from_dense: a format is None or 'bitmap', got {format!r}")
    if format is None and missing_value is None:
        with allocating("from_dense", where):
            made = dense_matrix(_held(array, chosen, local_device(where), copy), *array.shape)
            return cls._new(on_device(where, made), name=name)
    if format is not None:
        with allocating("from_dense", where):
            same = to_device(array, where)
            words = words_of_flags(
                array_module(where).ones(array.shape, bool) if missing_value is None else differs(same, missing_value)
            )
            nrows, ncols = array.shape
            pattern = BitmapPattern(nrows, ncols, words, bit_count(words))
            made = CSR(pattern, chosen, _held(array, chosen, local_device(where), copy).reshape(-1))
            return cls._new(on_device(where, made), name=name)
    rows, columns = differs(array, missing_value).nonzero()
    return cls.from_coo(rows, columns, array[rows, columns], chosen, shape=array.shape, name=name, device=where)


def _held(array: Any, dtype: Any, device: str, copy: bool) -> Any:
    """Return the array on the device, contiguous by rows; itself if it is that already and no `copy` is requested."""
    same = array if device_of(array) == device else to_device(array, device)
    return as_type(same, dtype, copy=copy and same is array)


def to_dense(self: Matrix, fill_value: Any = None, dtype: Any = None, *, device: str | None = None) -> Any:
    """Return an array of shape (nrows, ncols), the caller's own.

    Parameters
    ----------
    fill_value : the value where nothing is stored; needed unless all positions hold a value
    dtype : type of the array, to which values and `fill_value` are cast; by default the one that holds both
    device : ``"cpu"`` returns NumPy arrays, ``"cuda"`` CuPy arrays; None: those of the matrix's device

    Raises
    ------
    InvalidValue
        If an entry is missing and there is no `fill_value`.
    DomainMismatch, OutOfMemory

    Notes
    -----
    Cost O(nrows ncols).  To read the values of a matrix in the format ``"full"`` without a copy, use DLPack:
    ``numpy.from_dlpack(A)``, or that of CuPy or PyTorch.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1], [0, 2], [5, 6], shape=(2, 3))
    >>> A.to_dense(fill_value=0).tolist()
    [[5, 0, 0], [0, 0, 6]]
    """
    store, fill = whole_of(self.store), scalar(fill_value)
    missing = store.nrows * store.ncols - store.nvals
    if fill is None and missing:
        raise InvalidType(f"to_dense: {missing} of {store.nrows} x {store.ncols} are missing; give fill_value=")
    chosen = dense_dtype(store.dtype, fill, dtype)
    require("to_dense", store.device, store.nrows * store.ncols * chosen.itemsize)
    with allocating("to_dense", store.device):
        if is_dense(store):
            whole = as_type(dense_values(store), chosen, copy=store.iso is None).reshape(store.shape)
            return exported(shown(whole), device)
        if is_bitmap(store):
            return exported(shown(_filled(store, fill, chosen)), device)
        store = resident(store)
        array = array_module(store.device).full(
            store.shape, cast_scalar(0 if fill is None else fill, chosen), dtype=chosen
        )
        array[row_numbers(store), store.indices] = as_type(dense_values(store), chosen)
    return exported(shown(array), device)


def _filled(store: CSR, fill: Any, dtype: Any) -> Any:
    """Return the values of a bitmap matrix, and `fill` at the positions without entries."""
    bits = bits_of(store)
    present = flags_of_words(bits.words, bits.size)
    absent = cast_scalar(0 if fill is None else fill, dtype)
    values = as_type(dense_values(bits), dtype, copy=False)
    if values.dtype.names is not None:  # CuPy's `where` has no records
        values = values.copy()
        values[~present] = absent
        return values.reshape(store.shape)
    return array_module(store.device).where(present, values, absent).reshape(store.shape)


def dlpack(self: Matrix, **options: Any) -> Any:
    """Return the values as a two-dimensional DLPack capsule, without a copy.

    ``numpy.from_dlpack(A)``, ``cupy.from_dlpack(A)`` and ``torch.from_dlpack(A)`` call it.  The array shares the memory
    of this matrix and must not be written to.

    Parameters
    ----------
    **options : as the protocol defines them (``stream``, ``max_version``, ``dl_device``, ``copy``)

    Raises
    ------
    BufferError
        Unless every position holds a value, the format is ``"full"`` and the values are in the memory of the device;
        `to_dense` has no such conditions.
    """
    return _shared(self).__dlpack__(**options)


def dlpack_device(self: Matrix) -> tuple[int, int]:
    """Return (device type, device number), as the DLPack protocol defines them."""
    if self.device == "cpu":
        return 1, 0
    pattern = self.store.pattern
    return 2, int(getattr(pattern, pattern.ARRAYS[0]).device.id)


def _shared(self: Matrix) -> Any:
    """Return the values as a two-dimensional array that shares their memory."""
    store = self.store
    if not is_dense(store) or store.values is None:
        raise BufferError(
            f"only a full matrix with a value for each position shares its memory, this one is {self.format!r} with "
            f"{store.nvals} of {store.nrows} x {store.ncols}; use to_dense(fill_value=...)"
        )
    return store.values.reshape(store.shape)
