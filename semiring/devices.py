"""Devices with an executor of their own, and the functions that an executor replaces.

A device is ``"cpu"`` or ``"cuda"``, the memory of this process, where an engine computes; or a `Device`, such as that
of a grid of processes (`semiring.distributed`), whose objects are divided.  The executor of such a device executes
requests on them (`engines.registry`), and calls of functions that read arrays of this process, which are decorated with
`dispatched`.  Nothing else depends on executors.
"""

from __future__ import annotations

import functools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


class Executor(ABC):
    """Executes requests on objects that are divided into parts; `local` is the device of the parts."""

    local: str

    @abstractmethod
    def find(self, spec: Any) -> Any:
        """Return the implementation that executes a request, or None."""

    @abstractmethod
    def implements(self, spec: Any) -> bool:
        """Return True if there is an implementation for requests of a class, for some operands."""

    @abstractmethod
    def unsupported(self, operation: str) -> str:
        """Return why a request has no implementation, and what to do."""

    @abstractmethod
    def version(self, function: Callable[P, T]) -> Callable[P, T]:
        """Return what to call instead of a function that is decorated with `dispatched`; NotSupported if nothing."""


class Device(str):
    """The name of a device, such as ``"2x2 cpu"``, with the executor of requests on its objects."""

    __slots__ = ("executor",)
    executor: Executor

    def __new__(cls, name: str, executor: Executor) -> Device:
        """Return the device with this name and this executor."""
        made = super().__new__(cls, name)
        made.executor = executor
        return made

    def __copy__(self) -> Device:
        return self

    def __deepcopy__(self, memo: Any) -> Device:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)  # another process has other executors


class _Known(threading.local):
    """Devices by name: those of one thread, beside those of all threads."""

    shared: ClassVar[dict[str, Device]] = {}

    def __init__(self) -> None:
        self.own: dict[str, Device] = {}


_known = _Known()


def register(device: Device, *, thread: bool = False) -> None:
    """Make a device known by its name; thread: to this thread alone, which is one of several ranks of a process."""
    (_known.own if thread else _Known.shared)[device] = device


def named(name: str) -> Device | None:
    """Return the device of an executor with this name, or None: that of this thread, else the `Device` itself."""
    return _known.own.get(name) or (name if type(name) is Device else _Known.shared.get(name))


def in_parts(device: str, other: str = "cpu") -> bool:
    """Return True if objects on one of the devices are divided into parts."""
    return type(device) is Device or type(other) is Device


def local_device(device: str) -> str:
    """Return the device of the arrays, ``"cpu"`` or ``"cuda"``: of a `Device` that of the parts."""
    return device.executor.local if type(device) is Device else device


def dispatched(by: int = 0) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let executors replace a function that reads arrays of this process.

    by: the argument, given by position, which is a device or has one.  That device selects the executor.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def dispatch(*args: P.args, **kwargs: P.kwargs) -> T:
            given: Any = args[by]
            device = given if isinstance(given, str) else given.device
            if type(device) is Device:
                return device.executor.version(cast(Callable[P, T], dispatch))(*args, **kwargs)
            return function(*args, **kwargs)

        return dispatch

    return decorate


@dispatched()
def on_device(device: str, store: Any) -> Any:
    """Return a store that was made in the memory of this process as one on `device`, which may hold it in parts."""
    return store


@dispatched()
def whole_of(store: Any) -> Any:
    """Return a store as one that this process reads: itself, or of parts the whole, which is collective."""
    return store


def moved(store: Any, device: str) -> Any:
    """Return a store on another device, where one of the two holds objects in parts.  Collective."""
    return on_device(device, whole_of(store).to(local_device(device)))
