"""Numbers that have no value yet, in a loop that is traced: the class by which operations recognize them."""

from __future__ import annotations

from typing import Any, NoReturn

from .exceptions import NotSupported


class Symbolic:
    """A number that the program of a loop computes.

    An operation that expects a number calls one of these methods in place of reading a value.  `programs.traced` of
    the engines implements them.
    """

    __slots__ = ()

    def _unsupported(self) -> NoReturn:
        raise NotSupported("a number that a compiled loop computes is not supported here")

    def traced_cast(self, dtype: Any) -> Any:
        """Return the value in a type, as `ops.cast.cast_scalar` does."""
        self._unsupported()

    def traced_dtype(self, beside: Any) -> Any:
        """Return the type in which it is combined with values of a type, as `ops.apply.scalar_dtype` does."""
        self._unsupported()

    def traced_index(self, size: int, axis: str) -> Any:
        """Return it as a position below `size`, as `storage.index.position` does."""
        self._unsupported()

    def traced_get(self, default: Any) -> Any:
        """Return the Python number, or `default` where there is none."""
        self._unsupported()

    def traced_present(self) -> Any:
        """Return it, where there must be a value: the program checks it."""
        self._unsupported()

    def traced_missing(self) -> Any:
        """Return whether there is no value."""
        self._unsupported()
