"""The table of implementations: the function that executes each operation on each engine.

An engine's modules declare ``@implements(spec class, engine=..., accepts=..., when=..., fuses=..., priority=...)``.
For a spec and the storage kinds of its matrices, the implementations that accept these kinds are tried by descending
priority, and the first whose condition holds is used.  Nothing falls back to another engine: where no implementation
accepts the operands, `NotSupported` is raised.

Format, codec and placement of a matrix are separate capabilities (`Accepts`).  Operands that an engine does not accept
as a whole are processed slice by slice, in the same way for every engine (`engines.sliced`); `find` makes that choice,
and an engine never calls the sliced implementations itself.  Requests on hypersparse matrices are rewritten in the same
way as requests on matrices whose rows and columns are renumbered (`engines.hypersparse`), and requests on bitmap
matrices as requests on vectors (`engines.bitmap`).
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
from ..formats import CODECS, FORMATS, PLACEMENTS, BitmapPattern, HyperPattern, PartPattern, StorageKind
from ..formats.parts import grid_of
from ..memory.allocation import is_shortage, out_of_memory
from . import recording, traced
from .operands import Rows, Spec

F = TypeVar("F", bound=Callable[..., Any])


class Accepts(NamedTuple):
    """The formats, codecs and placements of matrices that an implementation reads; one has the format `needs`."""

    formats: frozenset[str]
    codecs: frozenset[str]
    placements: frozenset[str]
    needs: str = ""

    def admits(self, kind: StorageKind) -> bool:
        """Return True if matrices of this kind can be read."""
        return kind.format in self.formats and kind.codec in self.codecs and kind.placement in self.placements

    def serves(self, kinds: tuple[StorageKind, ...]) -> bool:
        """Return True if matrices of these kinds can be read together."""
        needed = not self.needs or any(kind.format == self.needs for kind in kinds)
        return needed and all(map(self.admits, kinds))

    def shown(self) -> str:
        """Return formats and placements, as `semiring info ops` prints them."""
        if not self.formats:
            return "vectors alone"
        return f"{' '.join(sorted(self.formats))} in {' '.join(p for p in PLACEMENTS if p in self.placements)}"


_CODECS = frozenset({"none", *CODECS})
_READ = frozenset(name for name, kind in FORMATS.items() if kind.READ_BY_ENGINES)
_KERNELS_READ = frozenset({"device", "pinned"})
# In order: uncompressed rows in device memory; or pinned, which kernels can address too; rows of every format that
# engines read; at any placement.  Then full rows in device memory; these with uncompressed rows; either, or pinned.
RESIDENT = Accepts(frozenset({"csr"}), frozenset({"none"}), frozenset({"device"}))
UNCOMPRESSED = Accepts(frozenset({"csr"}), frozenset({"none"}), _KERNELS_READ)
ADDRESSABLE = Accepts(_READ, _CODECS, _KERNELS_READ)
EVERY_KIND = Accepts(_READ, _CODECS, frozenset(PLACEMENTS))
FULL = RESIDENT._replace(formats=frozenset({"full"}))
RESIDENT_WITH_FULL = RESIDENT._replace(formats=frozenset({"csr", "full"}), needs="full")
UNCOMPRESSED_OR_FULL = UNCOMPRESSED._replace(formats=frozenset({"csr", "full"}))
WITH_FULL = UNCOMPRESSED_OR_FULL._replace(needs="full")
# Hypersparse rows, which the layer above the engines renumbers.
HYPERSPARSE = EVERY_KIND._replace(formats=frozenset({HyperPattern.format}))
# Bitmap matrices, which the layer above the engines reads as vectors or rows; in device memory, also beside others.
BITMAP = EVERY_KIND._replace(formats=frozenset({BitmapPattern.format}))
RESIDENT_BITMAP = RESIDENT._replace(formats=frozenset({BitmapPattern.format}))
ROWS_OR_SLOTS = RESIDENT._replace(formats=frozenset({"csr", "full", BitmapPattern.format}))
WITH_BITMAP = ROWS_OR_SLOTS._replace(needs=BitmapPattern.format)
# Blocks of the processes of a grid.
GRID = EVERY_KIND._replace(formats=frozenset({PartPattern.format}))
VECTORS = Accepts(frozenset(), frozenset(), frozenset())  # no matrix: requests on vectors alone
_COPIED = StorageKind("csr", "none", "device")  # the kind of uncompressed copies


@dataclass(frozen=True)
class Implementation:
    """One row of the table: a function, the storage kinds that it accepts, and the parts of the write that it fuses."""

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
        """Module and function, as `explain` prints them."""
        return f"{self.engine}.{getattr(self.function, '__name__', self.operation)}"


class _Implementations(NamedTuple):
    """The implementations for operands of given storage kinds, by descending priority; facts that decide on slicing."""

    rows: tuple[Implementation, ...]
    uncompressed: bool
    on_device: bool
    # The first of `rows`, if it is used for all specs.
    always: Implementation | None


_MODULES = {
    "reference": "semiring.engines.reference",
    "cpu": "semiring.engines.cpu",
    "cuda": "semiring.engines.cuda",
}
_SLICED = "semiring.engines.sliced.operations"
_HYPERSPARSE = "semiring.engines.hypersparse.operations"
_BITMAP = "semiring.engines.bitmap.operations"
_DEFAULT = "semiring.engines.sliced.rewriting"
_DISTRIBUTED = "semiring.distributed.operations"
_table: dict[tuple[str, str], list[Implementation]] = {}
# Cache: the implementations for a spec class, an engine and storage kinds, found by one look-up.
_implementations: dict[tuple[type[Spec], str, tuple[StorageKind, ...]], _Implementations] = {}
# For each operation its sliced implementation, a function of spec and engine, and the parts of the write that it fuses.
_sliced: dict[str, tuple[Callable[[Any, str], Any], frozenset[str]]] = {}
# The same for hypersparse matrices; the function may return None.
_renumbered: dict[str, tuple[Callable[[Any, str], Any], frozenset[str]]] = {}
# The same for bitmap matrices; with the condition on the spec and the engine's name, if there is one, and whether the
# function reads rows, so that slices serve matrices outside the memory of the device.
_on_bits: dict[str, tuple[Callable[[Any, str], Any], frozenset[str], Callable[[Any, str], bool] | None, bool]] = {}
# For each operation, the function of the spec and the grid for objects on a grid of processes, and its condition.
_across: dict[str, tuple[Callable[[Any, Any], Any], frozenset[str], Callable[[Any, Any], bool] | None]] = {}
# The function for grids of one process, if it is loaded: of the function of the operation, the spec and the grid.
_single: list[Callable[[Callable[[Any, Any], Any], Any, Any], Any]] = []
_loaded: set[str] = set()
# Requests that are currently executed slice by slice: operation and matrices.
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
    """Register a function that executes `spec` on `engine`.

    accepts: the storage kinds of matrices that it reads.  when: used only for specs for which this holds.  fuses:
    ``"mask"`` if the result already lacks what ``spec.mask`` does not admit.  priority: where several implementations
    accept the operands, the one of the highest priority whose condition holds is used; the conditions of equal
    priorities must exclude each other.  in_slices: a function of the spec; if slice-by-slice execution is faster, it
    returns the fields to replace in the spec (possibly none), else None; `find` uses it.
    """

    def register(function: F) -> F:
        about = (function.__doc__ or "").strip().split("\n")[0]
        row = Implementation(spec.name, engine, function, when, frozenset(fuses), about, accepts, priority, in_slices)
        _table.setdefault((spec.name, engine), []).append(row)
        _implementations.clear()
        return function

    return register


def slices(spec: type[Spec], *, fuses: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Register a function of (spec, engine) for matrices whose storage kinds the engine does not accept."""

    def register(function: F) -> F:
        _sliced[spec.name] = function, frozenset(fuses)
        return function

    return register


def renumbers(spec: type[Spec], *, fuses: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Register a function of (spec, engine) for requests on hypersparse matrices."""

    def register(function: F) -> F:
        _renumbered[spec.name] = function, frozenset(fuses)
        return function

    return register


def on_bits(
    spec: type[Spec],
    *,
    fuses: tuple[str, ...] = (),
    when: Callable[[Any, str], bool] | None = None,
    by_rows: bool = False,
) -> Callable[[F], F]:
    """Register a function of (spec, engine) for requests on bitmap matrices.

    when: used only for specs and engines for which this holds.  by_rows: it reads uncompressed rows, so slices serve a
    matrix outside the memory of the device.
    """

    def register(function: F) -> F:
        _on_bits[spec.name] = function, frozenset(fuses), when, by_rows
        return function

    return register


def across(
    spec: type[Spec], *, fuses: tuple[str, ...] = (), when: Callable[[Any, Any], bool] | None = None
) -> Callable[[F], F]:
    """Register a function of (spec, grid) for requests on objects that the processes of a grid hold in parts.

    when: used only where this holds of (spec, grid); the same on all processes, and it may be collective.
    """

    def register(function: F) -> F:
        _across[spec.name] = function, frozenset(fuses), when
        _on_grid.cache_clear()
        return function

    return register


def single(function: F) -> F:
    """Register the function of (operation, spec, grid) that serves grids of one process."""
    _single.append(function)
    return function


def accepts(spec: type[Spec], engine: str, kind: StorageKind) -> bool:
    """Return True if an engine reads matrices of this kind in an operation, for some operands."""
    load(engine)
    return any(row.accepts.admits(kind) for row in _table.get((spec.name, engine), ()))


def implemented(spec: type[Spec], engine: str) -> bool:
    """Return True if an engine has an implementation of an operation, for some operands."""
    load(engine)
    return spec.name in _across if " " in engine else (spec.name, engine) in _table


def load(engine: str) -> None:
    """Import an engine; the first call imports its libraries."""
    if " " in engine:
        importlib.import_module(_DISTRIBUTED)
    elif engine not in _loaded:
        # A library whose import is interrupted does not recover.
        apart_once(_MODULES[engine], functools.partial(importlib.import_module, _MODULES[engine]))
        _loaded.add(engine)


def find(spec: Spec, engine: str) -> Implementation | None:
    """Return the implementation that executes `spec` on `engine`, whole or in slices, or None."""
    if traced.users and (recorder := traced.RECORDER.get()) is not None and recorder.records(spec):
        takes = implemented(type(spec), engine) and recorder.takes(spec)
        return Implementation(spec.name, engine, recorder.request, None, frozenset({"mask"}), "") if takes else None
    if " " in engine:
        row = _on_grid(spec.name, engine)
        return None if row is None or (row.when is not None and not row.when(spec)) else row
    kinds = spec.kinds()
    found = _implementations.get((type(spec), engine, kinds))
    if found is None:
        found = _collect(spec, engine, kinds)
    if found.always is not None:
        return found.always
    for row in found.rows:
        if row.when is None or row.when(spec):
            if row.in_slices is None or found.uncompressed:  # slices are uncompressed: no recursion
                return row
            changes = row.in_slices(spec)
            return row if changes is None else _slice_by_slice(spec, engine, changes)
    return None if found.on_device else _slice_by_slice(spec, engine)


def _collect(spec: Spec, engine: str, kinds: tuple[StorageKind, ...]) -> _Implementations:
    load(engine)
    rows = [row for row in _table.get((spec.name, engine), ()) if row.accepts.serves(kinds)]
    rows.sort(key=lambda row: (-row.priority, row.name))
    uncompressed = all(kind.uncompressed for kind in kinds)
    on_device = uncompressed and all(kind.placement == "device" for kind in kinds)
    always = rows[0] if rows and rows[0].when is None and (rows[0].in_slices is None or uncompressed) else None
    found = _Implementations(tuple(rows), uncompressed, on_device, always)
    _implementations[type(spec), engine, kinds] = found
    return found


def _slice_by_slice(spec: Spec, engine: str, changes: dict[str, Any] | None = None) -> Implementation | None:
    formats = {kind.format for kind in spec.kinds()}
    if HyperPattern.format in formats:
        return _hypersparse(spec, engine)
    importlib.import_module(_SLICED)
    if BitmapPattern.format in formats:
        row = _bitmap(spec, engine)
        if row is not None:
            return row
    found = _sliced.get(spec.name)
    if found is None:
        return _uncompressed_first(spec, engine)
    function, fuses = found

    @functools.wraps(function)
    def carried_out(whole: Any) -> Any:
        with _once(whole):
            return function(replace(whole, **changes) if changes else whole, engine)

    return Implementation(spec.name, engine, carried_out, None, fuses, f"{spec.name} slice by slice", EVERY_KIND)


def _hypersparse(spec: Spec, engine: str) -> Implementation | None:
    """Return the implementation for renumbered matrices; by default that for matrices with an offset for each row."""
    module = importlib.import_module(_HYPERSPARSE)
    found = _renumbered.get(spec.name)
    if found is None and not spec.decodable:
        return None
    function, fuses = found or (module.with_all_rows_first, frozenset())

    @functools.wraps(function)
    def carried_out(whole: Any) -> Any:
        try:
            return function(whole, engine)
        except NotSupported:  # an operator reads too much for rows to be renumbered
            if not module.has_few_rows(whole):
                raise
            return module.with_all_rows_first(whole, engine)

    return Implementation(spec.name, engine, carried_out, None, fuses, f"{spec.name} on listed rows", HYPERSPARSE)


def _bitmap(spec: Spec, engine: str) -> Implementation | None:
    """Return the implementation for bitmap matrices, by default that for their rows; None if slices serve the spec."""
    module = importlib.import_module(_BITMAP)
    found = _on_bits.get(spec.name)
    if found is None and not spec.decodable:
        return None
    function, fuses, when, by_rows = found or (module.rows_first, frozenset(), None, True)
    if by_rows and spec.name in _sliced:
        away = any(kind.format == BitmapPattern.format and kind.placement != "device" for kind in spec.kinds())
        if away:
            return None
    if when is not None and not when(spec, engine):
        return None
    return Implementation(spec.name, engine, _for_engine(function, engine), None, fuses, f"{spec.name} on bits", BITMAP)


@functools.cache
def _on_grid(operation: str, device: str) -> Implementation | None:
    """Return the implementation for grids of processes with this name, which is that of the device."""
    load(device)
    found = _across.get(operation)
    if found is None:
        return None
    function, fuses, condition = found
    if _single and grid_of(device).size == 1:
        function = functools.wraps(function)(functools.partial(_single[0], function))
    when = None if condition is None else lambda spec: grid_of(device).joint(condition, spec, grid_of(device))

    @functools.wraps(function)
    def carried_out(whole: Any) -> Any:
        grid = grid_of(device)  # ranks that are threads have grids of the same name
        if not recording.noting():
            return grid.joint(function, whole, grid)
        with grid.account():
            return grid.joint(function, whole, grid)

    return Implementation(operation, "distributed", carried_out, when, fuses, f"{operation} on a grid", GRID)


def _for_engine(function: Callable[[Any, str], Any], engine: str) -> Callable[[Any], Any]:
    """Return the function of a spec alone; it keeps the name, which `explain` prints."""

    @functools.wraps(function)
    def carried_out(whole: Any) -> Any:
        return function(whole, engine)

    return carried_out


def _uncompressed_first(spec: Spec, engine: str) -> Implementation | None:
    """Return the default for operations without a sliced implementation; None if it does not apply.

    Its result is masked if all implementations for the copies fuse the mask.
    """
    rows = [row for row in _table.get((spec.name, engine), ()) if row.accepts.serves((_COPIED,))]
    if not rows or not spec.decodable or all(kind == _COPIED for kind in spec.kinds()):
        return None
    first = importlib.import_module(_DEFAULT).uncompressed_first
    fuses = frozenset.intersection(*(row.fuses for row in rows))
    about = f"{spec.name} on uncompressed copies"
    return Implementation(spec.name, engine, functools.partial(first, engine=engine), None, fuses, about, EVERY_KIND)


@contextmanager
def _once(spec: Spec) -> Iterator[None]:
    """Raise RecursionError where a sliced request leads to the same request for the whole matrix again.

    A sliced request leads to requests for uncompressed slices, so it terminates; this also guards future
    implementations.
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
    """Execute `spec` on `engine`; raises NotSupported if no implementation accepts it."""
    row = find(spec, engine)
    if row is None:
        if " " in engine:
            raise NotSupported(
                f"{spec.name} is not supported on a grid of processes ({engine}) for these operands; compute it on one "
                f"process: semiring.distributed.gather"
            )
        others = ", ".join(sorted(e for (name, e) in _table if name == spec.name and e != engine))
        hint = f"; engines that do: {others} (move the operands with .to())" if others else ""
        raise NotSupported(f"{spec.name} is not supported by the engine {engine!r} for these operands{hint}")
    return call(row, spec)


def call(row: Implementation, spec: Spec) -> Any:
    """Call an implementation; `explain` and a recorder record it."""
    try:
        if recording.users:
            return recording.recorded(row.operation, row.name, row.engine, row.function, spec)
        return row.function(spec)
    except Exception as error:
        if not is_shortage(error):
            raise
        raise out_of_memory(row.operation, "cuda" if row.engine == "cuda" else "cpu", error) from error


def rows(engine: str | None = None) -> list[Implementation]:
    """Return all implementations (of one engine)."""
    return [row for table in _table.values() for row in table if engine is None or row.engine == engine]
