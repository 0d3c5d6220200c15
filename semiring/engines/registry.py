"""Which function carries out which operation on which engine.

An engine's modules declare ``@implements(spec class, engine=..., accepts=..., when=..., fuses=..., priority=...)``.
For a spec and the storage kinds of its matrices, the implementations that accept these kinds are tried by descending
priority, and the first whose condition holds is used.  Nothing falls back to another engine: where no implementation
accepts the operands, `NotSupported` is raised.

Format, codec and placement of a matrix are separate capabilities (`Accepts`).  What an engine does not accept as a
whole is carried out slice by slice, for every engine alike (`engines.sliced`); `find` makes that choice, and an engine
never calls the sliced implementations itself.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from ..apart import apart_once
from ..exceptions import NotSupported
from ..formats import CODECS, PLACEMENTS, StorageKind
from ..memory.allocation import is_shortage, out_of_memory
from . import recording
from .operands import Rows, Spec

F = TypeVar("F", bound=Callable[..., Any])


class Accepts(NamedTuple):
    """The formats, codecs and placements of matrices that an implementation reads, each independent of the others."""

    formats: frozenset[str]
    codecs: frozenset[str]
    placements: frozenset[str]

    def admits(self, kind: StorageKind) -> bool:
        """True if matrices of this kind can be read."""
        return kind.format in self.formats and kind.codec in self.codecs and kind.placement in self.placements

    def shown(self) -> str:
        """Formats and placements, as `semiring info ops` prints them."""
        return f"{' '.join(sorted(self.formats))} in {' '.join(p for p in PLACEMENTS if p in self.placements)}"


_CODECS = frozenset({"none", *CODECS})
_KERNELS_READ = frozenset({"device", "pinned"})
# Uncompressed rows that kernels can address; compressed ones too; every storage kind.
UNCOMPRESSED = Accepts(frozenset({"csr"}), frozenset({"none"}), _KERNELS_READ)
ADDRESSABLE = Accepts(frozenset({"csr", "ccsr"}), _CODECS, _KERNELS_READ)
EVERY_KIND = Accepts(frozenset({"csr", "ccsr"}), _CODECS, frozenset(PLACEMENTS))


@dataclass(frozen=True)
class Implementation:
    """One row of the table: a function, what it accepts, and which parts of the write it fuses."""

    operation: str
    engine: str
    function: Callable[[Any], Any]
    when: Callable[[Any], bool] | None
    fuses: frozenset[str]
    about: str
    accepts: Accepts = UNCOMPRESSED
    priority: int = 0
    in_slices: Callable[[Any], dict[str, Any] | None] | None = None

    @property
    def name(self) -> str:
        """Module and function, as `explain` shows it."""
        return f"{self.engine}.{getattr(self.function, '__name__', self.operation)}"


class _Candidates(NamedTuple):
    """The implementations for operands of certain storage kinds, best first; what the kinds say about slices."""

    rows: tuple[Implementation, ...]
    uncompressed: bool
    on_device: bool


_MODULES = {
    "reference": "semiring.engines.reference",
    "cpu": "semiring.engines.cpu",
    "cuda": "semiring.engines.cuda",
}
_SLICED = "semiring.engines.sliced.operations"
_table: dict[tuple[str, str], list[Implementation]] = {}
# What the table says about a spec class, an engine and storage kinds, found by one look-up.
_candidates: dict[tuple[type[Spec], str, tuple[StorageKind, ...]], _Candidates] = {}
# For each operation, what carries it out slice by slice: a function of the spec and the engine's name, and what it
# fuses.
_sliced: dict[str, tuple[Callable[[Any, str], Any], frozenset[str]]] = {}
_loaded: set[str] = set()
# Requests that are being carried out slice by slice: operation and matrices.
_running: ContextVar[frozenset[tuple[str, tuple[int, ...]]]] = ContextVar("semiring_slices", default=frozenset())


def implements(
    spec: type[Spec],
    *,
    engine: str,
    accepts: Accepts = UNCOMPRESSED,
    when: Callable[[Any], bool] | None = None,
    fuses: tuple[str, ...] = (),
    priority: int = 0,
    in_slices: Callable[[Any], dict[str, Any] | None] | None = None,
) -> Callable[[F], F]:
    """Register a function that carries out `spec` on `engine`.

    accepts: the storage kinds of matrices that it reads.  when: used only for specs for which this holds.  fuses:
    ``"mask"`` if the result already lacks what ``spec.mask`` does not admit.  priority: where several implementations
    accept the operands, the one of the highest priority whose condition holds is used; those of one priority must
    exclude each other.  in_slices: for a spec that is faster slice by slice than here, the fields that change on the
    way there (possibly none), else None; `find` decides by it.
    """

    def register(function: F) -> F:
        about = (function.__doc__ or "").strip().split("\n")[0]
        row = Implementation(spec.name, engine, function, when, frozenset(fuses), about, accepts, priority, in_slices)
        _table.setdefault((spec.name, engine), []).append(row)
        _candidates.clear()
        return function

    return register


def slices(spec: type[Spec], *, fuses: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Register a function of (spec, engine) for matrices of storage kinds that the engine does not accept."""

    def register(function: F) -> F:
        _sliced[spec.name] = function, frozenset(fuses)
        return function

    return register


def load(engine: str) -> None:
    """Import an engine; its first use pays for the import of its libraries."""
    if engine not in _loaded:
        # Libraries that an interrupt leaves half-imported do not recover.
        apart_once(_MODULES[engine], functools.partial(importlib.import_module, _MODULES[engine]))
        _loaded.add(engine)


def find(spec: Spec, engine: str) -> Implementation | None:
    """The implementation that carries out `spec` on `engine`, whole or in slices, or None."""
    kinds = spec.kinds()
    found = _candidates.get((type(spec), engine, kinds))
    if found is None:
        found = _collect(spec, engine, kinds)
    for row in found.rows:
        if row.when is None or row.when(spec):
            if row.in_slices is None or found.uncompressed:  # a slice is uncompressed: it never comes back here
                return row
            changes = row.in_slices(spec)
            return row if changes is None else _slice_by_slice(spec, engine, changes)
    return None if found.on_device else _slice_by_slice(spec, engine)


def _collect(spec: Spec, engine: str, kinds: tuple[StorageKind, ...]) -> _Candidates:
    load(engine)
    rows = [row for row in _table.get((spec.name, engine), ()) if all(map(row.accepts.admits, kinds))]
    rows.sort(key=lambda row: (-row.priority, row.name))
    uncompressed = all(kind.uncompressed for kind in kinds)
    on_device = uncompressed and all(kind.placement == "device" for kind in kinds)
    found = _candidates[type(spec), engine, kinds] = _Candidates(tuple(rows), uncompressed, on_device)
    return found


def _slice_by_slice(spec: Spec, engine: str, changes: dict[str, Any] | None = None) -> Implementation | None:
    importlib.import_module(_SLICED)
    found = _sliced.get(spec.name)
    if found is None:
        return None
    function, fuses = found

    @functools.wraps(function)
    def carried_out(whole: Any) -> Any:
        with _once(whole):
            return function(replace(whole, **changes) if changes else whole, engine)

    return Implementation(spec.name, engine, carried_out, None, fuses, f"{spec.name} slice by slice", EVERY_KIND)


@contextmanager
def _once(spec: Spec) -> Iterator[None]:
    """RecursionError where the slices of a matrix lead to the same request for the whole matrix again.

    A request slice by slice leads to requests for uncompressed slices, so it ends; this guards what is added, too.
    """
    fields = vars(spec)
    operands = [fields[name] for name in spec.matrices if fields[name] is not None]
    operands = [(item.get() if item.ready else None) if isinstance(item, Rows) else item for item in operands]
    operands = [getattr(item, "store", item) for item in operands]
    patterns = [getattr(item, "pattern", item) for item in operands if getattr(item, "kind", None) is not None]
    request = spec.name, tuple(id(pattern) for pattern in patterns if not pattern.kind.uncompressed)
    running = _running.get()
    if request[1] and request in running:
        raise RecursionError(f"{spec.name}: the slices of a matrix requested the whole matrix again")
    token = _running.set(running | {request})
    try:
        yield
    finally:
        _running.reset(token)


def run(spec: Spec, engine: str) -> Any:
    """Carry out `spec` on `engine`; raises NotSupported where no implementation accepts it."""
    row = find(spec, engine)
    if row is None:
        others = sorted(e for (name, e) in _table if name == spec.name and e != engine)
        hint = f"; engines that do: {', '.join(others)} (move the operands with .to())" if others else ""
        raise NotSupported(f"{spec.name} is not supported by the engine {engine!r} for these operands{hint}")
    return call(row, spec)


def call(row: Implementation, spec: Spec) -> Any:
    """Call an implementation; `explain` records it."""
    try:
        if recording.active():
            return recording.recorded(row.operation, row.name, row.engine, row.function, spec)
        return row.function(spec)
    except Exception as error:
        if not is_shortage(error):
            raise
        raise out_of_memory(row.operation, "cuda" if row.engine == "cuda" else "cpu", error) from error


def rows(engine: str | None = None) -> list[Implementation]:
    """All implementations (of one engine), for `semiring info ops`."""
    return [row for table in _table.values() for row in table if engine is None or row.engine == engine]
