"""Vector: a sparse vector of one type, on the CPU or the GPU."""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack, overload

from ..engines.requests.operands import Index
from ..exceptions import InvalidMask, InvalidType
from ..formats.vectors import empty_vector
from ..ops import check
from ..ops.assign import assign_vector
from ..ops.convert import convert
from ..ops.extract import extract_vector
from ..ops.write import Write
from ..record_types import plain_or
from ..storage.coerce import extent, sizes
from ..storage.index import position, positions
from ..symbolic import Symbolic
from . import concatenation, display, entries, reductions, rowwise, vector_arrays, vector_operations
from .axis_labels import known, located, taken
from .base import Sparse
from .chain import link, linked
from .elementwise import Infix
from .operand import Dense, Integer, Several, as_records, device_for, dimensions, is_empty, is_scalar, scalar
from .scalar import Scalar
from .writing import MaskView, Writing

if TYPE_CHECKING:
    from .matrix import Matrix


class Vector(Infix):
    """A vector of `size` positions, of which some hold a value.

    Parameters
    ----------
    dtype : type of the values (NumPy dtype, Python type or name)
    size (or shape) : number of positions; 0 by default
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the configured one

    Raises
    ------
    DomainMismatch
        If the first argument is not a type.
    InvalidValue
        For a size that is negative or not an integer.

    Notes
    -----
    Missing is not zero: only stored entries exist.  Stored as an index list, a bitmap or full, as chosen
    by the operation that made it; `convert` changes the format.

    Examples
    --------
    >>> v = Vector(int, 4)
    >>> v[2] = 5
    >>> v.size, v.nvals, v.to_dict()
    (4, 1, {2: 5})
    """

    __slots__ = ()
    ndim: ClassVar[int] = 1

    def __init__(
        self,
        dtype: Any = float,
        size: int | None = None,
        *,
        shape: tuple[int] | None = None,
        name: str | None = None,
        device: str | None = None,
    ) -> None:
        chosen = vector_arrays.constructed("Vector", dtype, "size")
        if size is None or shape is not None:
            (size,) = sizes("Vector", shape, size=size)
        count = 0 if size is None else extent("size", size)
        self._hold(empty_vector(count, chosen, device_for(device=device)), name)

    # -- from and to arrays: functions of `vector_arrays` --------------------------------------------------

    from_coo = classmethod(vector_arrays.from_coo)
    from_dense = classmethod(vector_arrays.from_dense)
    full = classmethod(vector_arrays.full)
    from_scalar = full
    from_dict = classmethod(vector_arrays.from_dict)
    from_pairs = classmethod(vector_arrays.from_pairs)
    build = vector_arrays.build
    to_coo = vector_arrays.to_coo
    to_dense = vector_arrays.to_dense
    to_dict = vector_arrays.to_dict
    __dlpack__ = vector_arrays.dlpack
    __dlpack_device__ = vector_arrays.dlpack_device
    items = entries.vector_items
    to_pandas = entries.to_pandas
    to_polars = entries.to_polars
    to_arrow = entries.to_arrow
    __reduce__ = vector_arrays.pickled

    # -- operations: functions of `vector_operations`, and of modules that Matrix shares -------------------

    vxm = vector_operations.vxm
    inner = vector_operations.inner
    outer = vector_operations.outer
    reduce = vector_operations.reduce
    diag = vector_operations.diag
    resize = vector_operations.resize
    reposition = concatenation.reposition_vector
    reshape = concatenation.reshape_vector
    scan = rowwise.scan_vector
    sort = rowwise.sort_vector
    selectk = rowwise.selectk_vector
    reduce_by = reductions.reduce_by
    minloc_by = reductions.minloc_by
    maxloc_by = reductions.maxloc_by

    # -- looking -----------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of positions.

        Examples
        --------
        >>> Vector(int, 4).size
        4
        """
        store = self._store
        return check.shape_of(self._described)[0] if store is None else store.size

    @property
    def shape(self) -> tuple[int]:
        """(size,).

        Examples
        --------
        >>> Vector(int, 4).shape
        (4,)
        """
        return (self.size,)

    def __len__(self) -> int:
        return self.size

    def get(self, index: int, default: Any = None) -> Any:
        """w(index), or `default` where nothing is stored.

        Parameters
        ----------
        index : integer, of which a negative one counts from the end; or a label
        default : returned where nothing is stored

        Returns
        -------
        A Python number, or `default`.

        Raises
        ------
        IndexOutOfBound
            For an index past the end.
        InvalidValue, InvalidType
            For a name that no vertex has, and for what is neither an integer nor a name.

        Notes
        -----
        Cost O(1), or O(log nvals) for an index list.  Synchronizes on the GPU.

        Examples
        --------
        >>> v = Vector.from_coo([0, 2], [5, 6], size=3)
        >>> v.get(0), v.get(-1), v.get(1, default=0)
        (5, 6, 0)
        """
        return plain_or(self._element(self._at(self._located(index)))(), default)

    def __contains__(self, index: int) -> bool:
        value: Any = self._element(self._at(self._located(index)))()
        return not value.traced_missing() if isinstance(value, Symbolic) else value is not None

    def _at(self, index: Any) -> tuple[int]:
        return (position(scalar(index), self.size, "a vector"),)

    def convert(self, to: str) -> Self:
        """Store the same entries in another format; returns this vector.

        Parameters
        ----------
        to : ``"index"``, ``"bitmap"``, or ``"full"`` (only where all positions hold a value)

        Raises
        ------
        InvalidValue

        Notes
        -----
        Cost O(size).  Synchronizes on the GPU.

        Examples
        --------
        >>> v = Vector.from_coo([0, 2], [5, 6], size=3)
        >>> v.convert("bitmap").format, v.convert("index").format
        ('bitmap', 'index')
        """
        self._store = convert(self.store, to)  # no entry changes, so a part of another object may be converted too
        return self

    # -- parts -------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, key: Integer) -> Scalar: ...
    @overload
    def __getitem__(self, key: Several | Vector | MaskView) -> Self: ...
    def __getitem__(self, key: Any) -> Any:
        """w[i]: a Scalar.  w[I]: a Vector, w(I[p]).  w[M]: a Vector of the size of w.

        The result is a value; left of ``<<`` it is the target, so that ``w[I] << x`` and ``w[I](mask) << x`` write
        into w.

        Parameters
        ----------
        key : integer, slice, list or array of integers, boolean array, or full Vector of integers; or a mask
            (``m.S``), whose positions are kept; a name or several where there are labels (``v["ann"]``)

        Raises
        ------
        IndexOutOfBound, InvalidValue, DimensionMismatch, DeviceMismatch

        Notes
        -----
        ``w[i] = x``, ``w[i](accum) << x`` and ``del w[i]`` cost O(1): they are collected and applied when w as a whole
        is next used.

        Examples
        --------
        >>> w = Vector.from_coo([0, 2], [5, 6], size=4)
        >>> w[2].value, w[1:].to_dict(), w[[2, 2, 0]].to_dict()
        (6, {1: 6}, {0: 6, 1: 6, 2: 5})
        >>> w[1:3] = 0
        >>> w.to_dict()
        {0: 5, 1: 0, 2: 0}
        """
        key = self._located(key)
        if is_scalar(key):
            at = self._at(key)
            return self._scalar_class._pending(self.dtype, self._element(at), (self, at[0]))
        plan = self._masked(key) if isinstance(key, MaskView) else extract_vector(self.store, self._index(key))
        made = self._new(None, plan)
        made._origin = (self, key)
        return made if self._labels is None else self._name_part(made, key)

    def _located(self, key: Any) -> Any:
        """Return an index with positions for names."""
        return key if self._labels is None else located(self._labels[0], key, "a vector")

    def _name_part(self, made: Any, key: Any) -> Any:
        """Set the labels of a part; returns the part."""
        assert self._labels is not None
        labels, values = self._labels
        made._labels = known((labels if isinstance(key, MaskView) else taken(labels, self._index(key)), values))
        return made

    def extract(self, index: Any, **writing: Unpack[Writing]) -> Vector:
        """w(I), by name.

        Parameters
        ----------
        index : slice, integers, boolean array, or full Vector of integers
        **writing : mask, accum, replace, out

        Raises
        ------
        IndexOutOfBound, InvalidValue, DomainMismatch, DeviceMismatch

        Notes
        -----
        Cost O(nvals + number of indices).

        Examples
        --------
        >>> Vector.from_coo([0, 2], [5, 6], size=4).extract([2, 3, 0]).to_dict()
        {0: 6, 2: 5}
        """
        index = self._located(index)
        made = self._deliver(extract_vector(self.store, self._index(index)), writing)
        return made if self._labels is None else self._name_part(made, index)  # type: ignore[no-any-return]

    def __delitem__(self, key: Any) -> None:
        key = self._located(key)
        if is_scalar(key):
            self._delete_element(self._at(key))
            return
        if isinstance(key, MaskView):
            self._become(self._masked(~key).into())
            return
        index = self._index(key)
        self._become(assign_vector(self.store, index, empty_vector(index.count, self._described.dtype, self.device)))

    def _index(self, key: Any) -> Index:
        if key is None:
            return Index(self.store.size, self.store.size)
        if not isinstance(key, slice) and is_scalar(key):
            key = [position(scalar(key), self.size, "a vector")]
        return positions(index_value(key), self.size, "a vector", self.device)

    def _assign_region(self, key: Any, value: Any, write: Write, *, sub: bool) -> None:
        value = as_records(value, self._described.dtype)
        key = self._located(key)
        if write.mask is None and is_scalar(key) and is_scalar(value):
            self._write_element(self._at(key), value, write.accum)
            return
        if isinstance(key, MaskView):
            self._assign_masked(key, value, write)
            return
        index = self._index(key)
        if not isinstance(key, slice) and key is not None and is_scalar(key):
            check_element("v[i]", value, write, sub)
        if isinstance(value, (int, float, complex)):
            source: Any = value
        elif isinstance(value, Vector):
            source = value.store
        elif is_empty(value):
            source = empty_vector(index.count, self._described.dtype, self.device)
        elif is_scalar(value):
            source = scalar(value)
        elif dimensions(value) == 1:
            source = Vector.from_dense(value, device=self.device).store
        else:
            raise InvalidType(
                f"cannot assign a {type(value).__name__} to a Vector; expected a Vector or a scalar (an empty Scalar, "
                f"or del, deletes)"
            )
        self._write(lambda store, w: assign_vector(store, index, source, write=w, sub=sub), write)

    # -- operations --------------------------------------------------------------------------------------

    @overload
    def __matmul__(self, other: Vector) -> Scalar: ...
    @overload
    def __matmul__(self, other: Matrix) -> Vector: ...
    @overload
    def __matmul__(self, other: Dense) -> Any: ...
    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, Sparse):
            return self._beside(other, operator.matmul)
        if not isinstance(other, Vector):
            return linked(type(self), "product", self, other, vector_operations.linked_vxm, "plus_times")
        join = partial(vector_operations.linked_inner, self._scalar_class)
        made, chain = link("product", self, other, join, "plus_times")
        made._chain = chain
        return made

    def __repr__(self) -> str:
        return display.vector(self)

    def _repr_html_(self) -> str:
        return display.html(self)


Sparse._vector_class = Vector


def index_value(key: Any) -> Any:
    """Return an index as the operations accept it: the store of a Vector, anything else unchanged."""
    return key.store if isinstance(key, Vector) else key


def check_element(place: str, value: Any, write: Write, sub: bool) -> None:
    """Raise InvalidType or InvalidMask where what is written to one element is no scalar, or has a mask of its own."""
    if sub and write.mask is not None:
        raise InvalidMask(f"{place} is one element, which has no mask of its own: write C(mask)[...] << x")
    if not is_scalar(value):
        raise InvalidType(f"{place} is one element; expected a scalar, got {type(value).__name__}")
