"""What other libraries find in a Matrix or a Vector: the conversion by `numpy.asarray`, and errors for their names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from ..exceptions import InvalidType
from .holder import Holder, StoreT


class Exchange(Holder[StoreT], Generic[StoreT]):
    """The holder of a store as other libraries meet it."""

    __slots__ = ()

    if TYPE_CHECKING:
        shape: Any
        to_dense: Any

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        kind = type(self).__name__
        store, positions = self.store, math.prod(self.shape)
        if store.device == "cuda":
            raise TypeError(f"the entries of this {kind} are on a GPU: use .to_numpy(fill_value=...), or .to('cpu')")
        if store.nvals != positions:
            raise InvalidType(
                f"a {kind} is not a NumPy array: {store.nvals} of {positions} positions hold a value, and a "
                f"missing one is not zero; use .to_numpy(fill_value=0) or sr.io.to_scipy_sparse(...), or make a Matrix "
                f"of the other operand, by sr.io.from_scipy_sparse or Matrix.from_dense"
            )
        if copy is False:
            raise ValueError(f"np.asarray(..., copy=False): a {kind} is shared by np.from_dlpack, if it is full")
        return np.asarray(self.to_dense(dtype=dtype))

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
        Cost O(nvals).  Synchronises, and copies only the counts from a GPU.

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
            from .hints import no_attribute

            raise no_attribute(type(self), name)
