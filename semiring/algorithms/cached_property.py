"""Properties that are computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class kept(Generic[T]):
    """A property computed at its first read, and then an attribute of the object.

    Without a lock: that of `functools.cached_property` (Python 3.11) is one for all objects of a class, so ranks that
    are threads of one process would wait for each other inside a collective operation.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type[Any]) -> T:
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
