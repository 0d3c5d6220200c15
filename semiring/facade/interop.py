"""What other libraries find in a Matrix or a Vector, and what an operation finds in their arrays.

`numpy.asarray`, NumPy's functions, errors for their names; arrays and sparse matrices as operands.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from ..exceptions import InvalidType, RankMismatch
from ..storage.coerce import as_array, on_gpu
from .operand import expected, is_array
from .storage_slot import Holder, StoreT


class Exchange(Holder[StoreT], Generic[StoreT]):
    """The holder of a store as other libraries meet it."""

    __slots__ = ()

    if TYPE_CHECKING:
        shape: Any
        to_dense: Any

    if not TYPE_CHECKING:  # with it, type checkers take np.sqrt(v) and x + v for arrays

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
            kind = type(self).__name__
            store, positions = self.store, math.prod(self.shape)
            if store.device == "cuda" or store.nvals != positions:
                held = f"{store.nvals} of {positions} positions hold a value, and a missing one is not zero"
                raise InvalidType(
                    f"a {kind} is not a NumPy array: {'its entries are on a GPU' if store.device == 'cuda' else held}; "
                    f"use .to_numpy(fill_value=0) or sr.io.to_scipy_sparse(...), or make a Matrix of the other "
                    f"operand, by sr.io.from_scipy_sparse or Matrix.from_dense"
                )
            if copy is False:
                raise ValueError(f"np.asarray(..., copy=False): a {kind} is shared by np.from_dlpack, if it is full")
            return np.asarray(self.to_dense(dtype=dtype))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from .numpy_functions import array_ufunc

        return array_ufunc(self, ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        from .numpy_functions import array_function

        return array_function(self, function, args, options)

    def _converted(self, value: Any) -> Any:
        """Return an array, or a sparse matrix of another library, as a Vector or a Matrix; None for anything else.

        A dense array becomes a full object: its zeros are values.  Host memory is copied to the device of this object;
        an array on a GPU stays there.
        """
        if not is_array(value):
            return None
        if hasattr(value, "tocsr"):
            if value.ndim == 1:
                entries, where = value.tocoo(), self.device
                indices = entries.coords[0]
                return self._vector_class.from_coo(
                    indices, entries.data, size=value.shape[0], dup_op="plus", device=where
                )
            rows = value.tocsr()
            where = "cuda" if on_gpu(rows.data) else self.device
            return self._matrix_class.from_csr(
                rows.indptr,
                rows.indices,
                rows.data,
                ncols=rows.shape[1],
                dup_op="plus",
                copy=rows is value,
                device=where,
            )
        array = as_array("operand", value)
        kind = {1: self._vector_class, 2: self._matrix_class}.get(array.ndim)
        if kind is None:
            raise InvalidType(f"an array of {array.ndim} dimensions is neither a Vector nor a Matrix")
        return kind.from_dense(array, device="cuda" if on_gpu(array) else self.device)

    def _operand(self, operation: str, value: Any, ndim: int) -> Any:
        """Return an operand of so many dimensions: itself, or made of an array; InvalidType for anything else."""
        made = value if isinstance(value, Exchange) else self._converted(value)
        if made is not None and made.ndim == ndim:
            return made
        kind = "Vector" if ndim == 1 else "Matrix"
        if made is None or made is value:
            raise expected(operation, kind, value)
        raise RankMismatch(f"{operation or kind}: expected a {kind}, got an array of {made.ndim} dimensions")

    def hist(self, bins: int = 50, *, log: bool = False, title: str | None = None, ax: Any = None) -> Any:
        """Draw how often values occur among the entries, through matplotlib: `semiring.plot.hist`.

        Parameters
        ----------
        bins, log, title, ax : as in `semiring.plot.hist`

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        NotSupported
            If matplotlib is not installed.
        InvalidValue

        Notes
        -----
        Cost O(nvals).  Synchronizes, and copies only the counts from a GPU.

        Examples
        --------
        >>> axes = Vector.from_dense([1, 2, 2]).hist()
        >>> [int(bar.get_height()) for bar in axes.patches]
        [1, 2]
        """
        from ..plot import hist

        return hist(self, bins, log=log, title=title, ax=ax)  # type: ignore[arg-type]

    if not TYPE_CHECKING:  # a type checker reports the attributes that do not exist

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            if any(name in vars(cls) for cls in type(self).__mro__):
                return object.__getattribute__(self, name)  # a property that raised an AttributeError raises it again
            from .migration_errors import no_attribute

            raise no_attribute(type(self), name)
