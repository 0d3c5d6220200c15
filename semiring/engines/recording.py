"""The records of `explain`, one for each call: kernel, time, formats, bytes, and details that implementations note."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..formats import AnyPattern, VectorStore
from .requests.operands import Index, Rows, Spec


@dataclass
class Call:
    """One call of an implementation, as `explain` records it; depth: how many recorded calls contain it."""

    operation: str
    kernel: str
    ms: float
    details: dict[str, Any] = field(default_factory=dict)
    depth: int = 0


# The records while `listen` is in use, else None.
LOG: ContextVar[list[Call] | None] = ContextVar("semiring_explain", default=None)
_current: ContextVar[Call | None] = ContextVar("semiring_call", default=None)


class Listener(Protocol):
    """What records operations as formulas: `facade.recorder`.  It calls `run` and returns what that returns."""

    def write(self, plan: Any, out: Any, write: Any, run: Callable[[], Any], *, alone: bool) -> Any:
        """The result of a plan is written to an output; alone: it is computed for its own sake, not as a step."""

    def request(self, spec: Spec, run: Callable[[], Any]) -> Any:
        """An engine executes a request."""

    def region(self, c: Any, indices: tuple[Index, ...], source: Any, write: Any, run: Callable[[], Any]) -> Any:
        """A region is assigned."""

    def elements(self, c: Any, count: int, run: Callable[[], Any]) -> Any:
        """Writes to single elements are applied."""


# The listener while a recorder is in use, else None.
FORMULAS: ContextVar[Listener | None] = ContextVar("semiring_formulas", default=None)
# How many logs and recorders are in use, in all threads: while there is none, an operation reads no context variable.
users = 0
_lock = threading.Lock()


def count_users(change: int) -> None:
    """Add to `users`: 1 when a log or a recorder begins, -1 when it ends."""
    global users
    with _lock:
        users += change


def listener() -> Listener | None:
    """Return the recorder that is in use, if any."""
    return FORMULAS.get() if users else None


def recorded(operation: str, kernel: str, engine: str, function: Callable[[Any], Any], spec: Spec) -> Any:
    """Return ``function(spec)`` and record the call in the log and as a formula, if these are in use."""
    current = FORMULAS.get()

    def run() -> Any:
        return function(spec) if LOG.get() is None else _timed(operation, kernel, engine, function, spec)

    return run() if current is None else current.request(spec, run)


def _timed(operation: str, kernel: str, engine: str, function: Callable[[Any], Any], spec: Spec) -> Any:
    """Return ``function(spec)`` and record the call with its time and facts.  Synchronizes."""
    with timed(operation, kernel, engine) as record:
        result = function(spec)
    record.details = {**_facts(spec, result), **record.details}
    return result


@contextmanager
def timed(operation: str, kernel: str, engine: str, **details: Any) -> Iterator[Call]:
    """Record the block as one call, unless it raises.  Only while there is a log.  Synchronizes."""
    log, containing = LOG.get(), _current.get()
    assert log is not None
    record = Call(operation, kernel, 0.0, details, 0 if containing is None else containing.depth + 1)
    token = _current.set(record)
    try:
        wait = waiter(engine)
        wait()
        start = time.perf_counter()
        yield record
        wait()
        record.ms = (time.perf_counter() - start) * 1e3
    finally:
        _current.reset(token)
    log.append(record)


def _facts(spec: Spec, result: Any) -> dict[str, Any]:
    """Return the facts of every call: format of the result, bytes of operands and result (each array once), direction.

    The direction is the requested one; an implementation that chooses the direction notes its choice.  It is ``"-"``
    for operations without directions; the format is absent where the result is not a store.
    """
    stores = [getattr(result, "store", result)]  # the result of a closure holds its store
    for value in vars(spec).values():
        if isinstance(value, Rows):
            value = value.get() if value.ready else None  # an orientation that was not derived was not read
        stores.append(getattr(value, "store", value))  # a mask also holds its store
    arrays = {id(array): int(array.nbytes) for store in stores for array in _arrays(store)}
    facts = {"format": getattr(stores[0], "format", "-"), "bytes": sum(arrays.values())}
    return {**facts, "direction": getattr(spec, "direction", "-")}


def _arrays(value: Any) -> list[Any]:
    """Return the arrays of a store, a pattern or an index; a list of the array itself if a spec holds an array.

    Of an object on a grid of processes they are those of the part of this process.
    """
    if hasattr(value, "part"):
        return _arrays(value.part)
    if hasattr(value, "pattern"):
        return [*_arrays(value.pattern), *_arrays(value.values)]
    if isinstance(value, AnyPattern):
        return [getattr(value, name) for name in value.ARRAYS]
    if isinstance(value, (VectorStore, Index)):
        names = ("indices", "words", "values", "array")
        named = (getattr(value, name, None) for name in names)
        return [array for array in named if array is not None]
    return [value] if hasattr(value, "nbytes") and getattr(value, "ndim", None) else []


def note(**details: Any) -> None:
    """Add details (direction, bytes, kernel) to the record of the current call, if any."""
    if users and (record := _current.get()) is not None:
        record.details.update(details)


def current() -> Call | None:
    """Return the record of the current call, if any."""
    return _current.get()


def noting() -> bool:
    """Return True while a call is recorded: an implementation may then gather facts that cost a copy."""
    return _current.get() is not None


@contextmanager
def listen() -> Iterator[list[Call]]:
    """Record the calls made inside the block."""
    log: list[Call] = []
    token = LOG.set(log)
    count_users(1)
    try:
        yield log
    finally:
        count_users(-1)
        LOG.reset(token)


def waiter(engine: str) -> Callable[[], None]:
    """Return what waits for the work that an engine has queued."""
    if engine != "cuda":
        return lambda: None
    cupy = importlib.import_module("cupy")

    def wait() -> None:
        cupy.cuda.get_current_stream().synchronize()  # synchronizes: only under explain, to time the call

    return wait
