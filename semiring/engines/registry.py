"""Which function answers which question on which engine.

An engine's modules declare ``@implements(spec class, engine=..., when=..., absorbs=..., takes=...)``; the first
that matches, in order of declaration, answers.  Nothing falls back to another engine: what no implementation
takes raises `NotSupported`.

Matrices come in three forms: ``"plain"`` rows that kernels can address (in device memory, or pinned),
``"compressed"`` rows that they can address, and ``"host"``, rows of either kind from which slices are streamed.  An
implementation says which it takes.  What an engine takes in no form but plain is answered slice by slice, for every
engine alike (`engines.sliced`).
"""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..apart import apart_once
from ..exceptions import NotSupported
from ..formats import CSR, Bitmap, CompressedPattern, Full, IndexList, Pattern
from ..memory.allocation import is_shortage, out_of_memory
from .spec import Index, Mask, Rows, Spec

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Implementation:
    """One row of the table: a function, when it serves, and which parts of the write it does itself."""

    operation: str
    engine: str
    function: Callable[[Any], Any]
    when: Callable[[Any], bool] | None
    absorbs: frozenset[str]
    about: str
    takes: frozenset[str] = frozenset({"plain"})
    in_slices: Callable[[Any], dict[str, Any] | None] | None = None

    @property
    def name(self) -> str:
        """Module and function, as `explain` shows it."""
        return f"{self.engine}.{getattr(self.function, '__name__', self.operation)}"


@dataclass
class Call:
    """One answered question, as `explain` records it."""

    operation: str
    kernel: str
    ms: float
    details: dict[str, Any] = field(default_factory=dict)


_MODULES = {
    "reference": "semiring.engines.reference",
    "cpu": "semiring.engines.cpu",
    "cuda": "semiring.engines.cuda",
}
FORMS = frozenset({"plain", "compressed", "host"})
_SLICED = "semiring.engines.sliced.answers"
_table: dict[tuple[str, str], list[Implementation]] = {}
# For each operation, what answers it slice by slice: a function of the question and the engine's name, and what it
# absorbs.
_sliced: dict[str, tuple[Callable[[Any, str], Any], frozenset[str]]] = {}
_loaded: set[str] = set()
_log: ContextVar[list[Call] | None] = ContextVar("semiring_explain", default=None)
# Requests that are being answered slice by slice: operation and matrices.
_running: ContextVar[frozenset[tuple[str, tuple[int, ...]]]] = ContextVar("semiring_slices", default=frozenset())
_current: ContextVar[Call | None] = ContextVar("semiring_call", default=None)


def implements(
    spec: type[Spec],
    *,
    engine: str,
    when: Callable[[Any], bool] | None = None,
    absorbs: tuple[str, ...] = (),
    takes: tuple[str, ...] = ("plain",),
    in_slices: Callable[[Any], dict[str, Any] | None] | None = None,
) -> Callable[[F], F]:
    """Register a function as the answer to `spec` on `engine`.

    when: serves only specs for which this holds.  absorbs: ``"mask"`` if the result already leaves out what
    ``spec.mask`` does not admit.  takes: the forms of matrices that it reads (see the module).  in_slices: for a spec
    that is faster slice by slice than here, the fields that change on the way there (maybe none), else None; `find`
    decides by it, for an engine never calls the slices itself.
    """

    def register(function: F) -> F:
        about = (function.__doc__ or "").strip().split("\n")[0]
        row = Implementation(spec.name, engine, function, when, frozenset(absorbs), about, frozenset(takes), in_slices)
        _table.setdefault((spec.name, engine), []).append(row)
        return function

    return register


def slices(spec: type[Spec], *, absorbs: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Register a function of (question, engine) as the answer for matrices in forms that the engine does not take."""

    def register(function: F) -> F:
        _sliced[spec.name] = function, frozenset(absorbs)
        return function

    return register


def form_of(matrix: Any) -> str | None:
    """``"plain"``, ``"compressed"`` or ``"host"`` for a matrix store or a pattern; None for anything else."""
    pattern = matrix.pattern if isinstance(matrix, CSR) else matrix
    if not isinstance(pattern, (Pattern, CompressedPattern)):
        return None
    if pattern.placement == "host":
        return "host"
    return "plain" if isinstance(pattern, Pattern) else "compressed"


def forms(spec: Spec) -> frozenset[str]:
    """The forms of all matrices in a question; of a derived orientation only if it is there."""
    return frozenset(form for form in map(form_of, _operands(spec)) if form is not None)


def _operands(spec: Spec) -> Iterator[Any]:
    for value in vars(spec).values():
        if isinstance(value, Rows):
            value = value.get() if value.ready else None
        elif isinstance(value, Mask):
            value = value.store
        yield value


def _far(operand: Any) -> bool:
    """True for a matrix whose entries do not lie in the device's memory."""
    return getattr(operand, "placement", "device") != "device"


def load(engine: str) -> None:
    """Import an engine (the first use of it pays for its libraries)."""
    if engine not in _loaded:
        # Libraries that an interrupt leaves half-imported do not recover.
        apart_once(_MODULES[engine], functools.partial(importlib.import_module, _MODULES[engine]))
        _loaded.add(engine)


def find(spec: Spec, engine: str) -> Implementation | None:
    """The implementation that answers `spec` on `engine`, or None."""
    load(engine)
    needed = forms(spec)
    for row in _table.get((spec.name, engine), ()):
        if needed <= row.takes and (row.when is None or row.when(spec)):
            # Plain slices never come back here, whatever an implementation prefers.
            changes = None if row.in_slices is None or needed <= {"plain"} else row.in_slices(spec)
            return row if changes is None else _slice_by_slice(spec, engine, changes)
    if needed <= {"plain"} and not any(map(_far, _operands(spec))):
        return None
    return _slice_by_slice(spec, engine)


def _slice_by_slice(spec: Spec, engine: str, changes: dict[str, Any] | None = None) -> Implementation | None:
    importlib.import_module(_SLICED)
    found = _sliced.get(spec.name)
    if found is None:
        return None
    function, absorbs = found

    @functools.wraps(function)
    def answer(question: Any) -> Any:
        with _once(question):
            return function(replace(question, **changes) if changes else question, engine)

    return Implementation(spec.name, engine, answer, None, absorbs, f"{spec.name} slice by slice", FORMS)


@contextmanager
def _once(spec: Spec) -> Iterator[None]:
    """RecursionError where the slices of a matrix lead to the same request for the whole matrix again.

    A request slice by slice is answered by requests for plain slices, so it ends; this holds for what is added, too.
    """
    patterns = [getattr(operand, "pattern", operand) for operand in _operands(spec) if form_of(operand) is not None]
    request = spec.name, tuple(id(pattern) for pattern in patterns if form_of(pattern) != "plain")
    running = _running.get()
    if request[1] and request in running:
        raise RecursionError(f"{spec.name}: the slices of a matrix requested the whole matrix again")
    token = _running.set(running | {request})
    try:
        yield
    finally:
        _running.reset(token)


def run(spec: Spec, engine: str) -> Any:
    """Answer `spec` on `engine`; raises NotSupported where nothing there does."""
    row = find(spec, engine)
    if row is None:
        others = sorted(e for (name, e) in _table if name == spec.name and e != engine)
        hint = f"; engines that do: {', '.join(others)} (move the operands with .to())" if others else ""
        raise NotSupported(f"{spec.name} is not supported by the engine {engine!r} for these operands{hint}")
    return call(row, spec)


def call(row: Implementation, spec: Spec) -> Any:
    """Call an implementation, recording it where `explain` listens."""
    try:
        return _call(row, spec)
    except Exception as error:
        if not is_shortage(error):
            raise
        raise out_of_memory(row.operation, "cuda" if row.engine == "cuda" else "cpu", error) from error


def _call(row: Implementation, spec: Spec) -> Any:
    log = _log.get()
    if log is None:
        return row.function(spec)
    record = Call(row.operation, row.name, 0.0)
    token = _current.set(record)
    try:
        wait = _waiter(row.engine)
        wait()
        start = time.perf_counter()
        result = row.function(spec)
        wait()
        record.ms = (time.perf_counter() - start) * 1e3
        record.details = {**_facts(spec, result), **record.details}
    finally:
        _current.reset(token)
    log.append(record)
    return result


def _facts(spec: Spec, result: Any) -> dict[str, Any]:
    """What every call tells: format of the result, bytes of operands and result (each array once), direction.

    The direction is what the call was asked for; an implementation that chooses notes what it chose.  ``"-"`` where
    there is nothing to choose, and no format where the answer is no store.
    """
    stores = [getattr(result, "store", result)]  # a closure's answer holds its store
    for value in vars(spec).values():
        if isinstance(value, Rows):
            value = value.get() if value.ready else None  # what was not derived was not read either
        stores.append(getattr(value, "store", value))  # a mask holds one too
    arrays = {id(array): int(array.nbytes) for store in stores for array in _arrays(store)}
    facts = {"format": getattr(stores[0], "format", "-"), "bytes": sum(arrays.values())}
    return {**facts, "direction": getattr(spec, "direction", "-")}


def _arrays(value: Any) -> list[Any]:
    """The arrays of a store, a pattern or an index; an array that a question holds itself."""
    if hasattr(value, "pattern"):
        return [*_arrays(value.pattern), *_arrays(value.values)]
    if isinstance(value, (Pattern, CompressedPattern, IndexList, Bitmap, Full, Index)):
        names = ("indptr", "indices", "base", "at", "stream", "words", "values", "array")
        named = (getattr(value, name, None) for name in names)
        return [array for array in named if array is not None]
    return [value] if hasattr(value, "nbytes") and getattr(value, "ndim", None) else []


def note(**details: Any) -> None:
    """Add details (direction, bytes, kernel) to the call being recorded, if any."""
    record = _current.get()
    if record is not None:
        record.details.update(details)


def noting() -> bool:
    """True while `explain` listens: an implementation may then gather facts that cost a copy."""
    return _current.get() is not None


@contextmanager
def listen() -> Iterator[list[Call]]:
    """Collect the calls made inside the block."""
    log: list[Call] = []
    token = _log.set(log)
    try:
        yield log
    finally:
        _log.reset(token)


def _waiter(engine: str) -> Callable[[], None]:
    if engine != "cuda":
        return lambda: None
    cupy = importlib.import_module("cupy")

    def wait() -> None:
        cupy.cuda.get_current_stream().synchronize()  # synchronises: only under explain, to time the call

    return wait


def rows(engine: str | None = None) -> list[Implementation]:
    """All implementations (of one engine), for `semiring info ops`."""
    return [row for table in _table.values() for row in table if engine is None or row.engine == engine]
