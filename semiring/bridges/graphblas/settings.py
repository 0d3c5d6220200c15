"""The settings of python-graphblas, none of which changes a result here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from semiring.exceptions import InvalidValue


class Settings(dict[str, bool]):
    """``autocompute`` and ``mapnumpy`` by name.

    autocompute: accepted, and always on: a result is computed when it is first used.
    mapnumpy: accepted, and always on: operators of the name of a NumPy function are the GraphBLAS operators that equal
        it.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.config["autocompute"]
    True
    """

    def set(self, **changes: Any) -> Any:
        """Check the names of settings; a context manager that does nothing else.

        Parameters
        ----------
        **changes : settings by name, with their new values, which are not read

        Raises
        ------
        InvalidValue
            For any other setting.

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> with gb.config.set(autocompute=False) as settings:
        ...     settings["autocompute"]
        True
        """
        if unknown := changes.keys() - self.keys():
            raise InvalidValue(f"python-graphblas has no setting {min(unknown)!r} here; it has {', '.join(self)}")
        return _unchanged(self)


@contextmanager
def _unchanged(settings: Settings) -> Iterator[Settings]:
    yield settings


config = Settings(autocompute=True, mapnumpy=True)
