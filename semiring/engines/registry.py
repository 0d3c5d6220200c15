"""The table of implementations: the function that executes each operation on each engine.

An engine's modules declare ``@implements(spec class, engine=..., accepts=..., when=..., fuses=..., priority=...)``.
For a spec and the storage kinds of its matrices, the implementations that accept these kinds are tried by descending
priority, and the first whose condition holds is used.  Nothing falls back to another engine: where no implementation
accepts the operands, `NotSupported` is raised.

Format, codec and placement of a matrix are separate capabilities (`Accepts`).  Where an engine does not accept the
operands, the request is rewritten by the first rule of `PIPELINE` that serves it, in the same way for every engine, and
no engine calls these rules itself: requests on hypersparse matrices become requests on matrices whose rows and columns
are renumbered (`engines.hypersparse`), those on bitmap matrices requests on vectors (`engines.bitmap`), and others are
processed slice by slice (`engines.sliced`).  Requests on a `Device` go to its executor.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, NamedTuple, TypeVar, cast

from ..devices import Device
from ..exceptions import NotSupported
from ..formats import CODECS, FORMATS, PLACEMENTS, BitmapPattern, HyperPattern, StorageKind
from ..memory.allocation import is_shortage, out_of_memory
from ..memory.arrays import CudaFunctions
from ..worker_thread import apart_once
from . import recording
from .programs import traced
from .requests.operands import Spec

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
# Bitmap matrices in device memory, also beside others.
RESIDENT_BITMAP = RESIDENT._replace(formats=frozenset({BitmapPattern.format}))
ROWS_OR_SLOTS = RESIDENT._replace(formats=frozenset({"csr", "full", BitmapPattern.format}))
WITH_BITMAP = ROWS_OR_SLOTS._replace(needs=BitmapPattern.format)
VECTORS = Accepts(frozenset(), frozenset(), frozenset())  # no matrix: requests on vectors alone


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
_table: dict[tuple[str, str], list[Implementation]] = {}
# Cache: the implementations for a spec class, an engine and storage kinds, found by one look-up.
_implementations: dict[tuple[type[Spec], str, tuple[StorageKind, ...]], _Implementations] = {}
_loaded: set[str] = set()


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


class Rewriting(NamedTuple):
    """The function that serves an operation, of the spec and the engine (or the grid); what it fuses; when; a title."""

    function: Callable[[Any, Any], Any]
    fuses: frozenset[str] = frozenset()
    when: Callable[[Any, Any], bool] | None = None
    title: str = ""


class Rule:
    """Rewrites requests on matrices that an engine does not accept into requests that it accepts.

    Called with a spec class it registers, as a decorator, the function of (spec, engine) for this operation.  when:
    used only for specs and engines for which this holds.  `package` has these functions, `default`, which serves
    operations without one, and `execute`, which calls one.  format: of which a matrix of the spec has to be.
    """

    def __init__(self, title: str, package: str, format: str | None = None) -> None:
        self.title, self.package, self.format = title, package, format
        self.accepts = EVERY_KIND if format is None else EVERY_KIND._replace(formats=frozenset({format}))
        self._rows: dict[str, Rewriting] = {}

    def __call__(
        self,
        spec: type[Spec],
        *,
        fuses: tuple[str, ...] = (),
        when: Callable[[Any, str], bool] | None = None,
    ) -> Callable[[F], F]:
        """Register the function for an operation."""

        def register(function: F) -> F:
            self._rows[spec.name] = Rewriting(function, frozenset(fuses), when)
            return function

        return register

    def rows(self) -> dict[str, Rewriting]:
        """Return what is registered, by operation."""
        importlib.import_module(f"semiring.engines.{self.package}.operations")
        return self._rows

    def find(self, spec: Spec, engine: str, changes: dict[str, Any]) -> Implementation | None:
        """Return the implementation for a spec with other values of some fields; None where the rule does not serve."""
        row = self.rows().get(spec.name)
        package = importlib.import_module(f"semiring.engines.{self.package}.rewriting")
        if row is None:
            row = package.default(spec, engine)
        if row is None or (row.when is not None and not row.when(spec, engine)):
            return None
        function = row.function

        @functools.wraps(function)
        def execute(whole: Any) -> Any:
            return package.execute(function, replace(whole, **changes) if changes else whole, engine)

        return Implementation(
            spec.name, engine, execute, None, row.fuses, f"{spec.name} {row.title or self.title}", self.accepts
        )


# The rules in order: the first that concerns the formats of a spec and serves it is used.
hypersparse_rule = Rule("on listed rows", "hypersparse", HyperPattern.format)
bitmap_rule = Rule("on bits", "bitmap", BitmapPattern.format)
slicing_rule = Rule("slice by slice", "sliced")
PIPELINE = (hypersparse_rule, bitmap_rule, slicing_rule)


def accepts(spec: type[Spec], engine: str, kind: StorageKind) -> bool:
    """Return True if an engine reads matrices of this kind in an operation, for some operands."""
    load(engine)
    return any(row.accepts.admits(kind) for row in _table.get((spec.name, engine), ()))


def accepting(spec: type[Spec], engine: str, kind: StorageKind) -> list[Implementation]:
    """Return the implementations of an operation that read matrices that are all of this kind."""
    return [row for row in _table.get((spec.name, engine), ()) if row.accepts.serves((kind,))]


def implemented(spec: type[Spec], engine: str) -> bool:
    """Return True if an engine has an implementation of an operation, for some operands."""
    if type(engine) is Device:
        return engine.executor.implements(spec)
    load(engine)
    return (spec.name, engine) in _table


def load(engine: str) -> None:
    """Import an engine; the first call imports its libraries."""
    if engine not in _loaded:
        # A library whose import is interrupted does not recover.
        apart_once(_MODULES[engine], functools.partial(importlib.import_module, _MODULES[engine]))
        _loaded.add(engine)


def _cuda_functions() -> ModuleType:
    load("cuda")
    return importlib.import_module(f"{_MODULES['cuda']}.arrays")


CudaFunctions.load = _cuda_functions


def find(spec: Spec, engine: str) -> Implementation | None:
    """Return the implementation that executes `spec` on `engine`, whole or in slices, or None."""
    if traced.users and (recorder := traced.RECORDER.get()) is not None and recorder.records(spec):
        takes = implemented(type(spec), engine) and recorder.takes(spec)
        return Implementation(spec.name, engine, recorder.request, None, frozenset({"mask"}), "") if takes else None
    if type(engine) is Device:
        return cast("Implementation | None", engine.executor.find(spec))
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
            return row if changes is None else _rewritten(spec, engine, changes)
    return None if found.on_device else _rewritten(spec, engine, {})


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


def _rewritten(spec: Spec, engine: str, changes: dict[str, Any]) -> Implementation | None:
    """Return the implementation of the first rule that serves a spec, with other values of some fields."""
    formats = {kind.format for kind in spec.kinds()}
    for rule in PIPELINE:
        if rule.format is None or rule.format in formats:
            found = rule.find(spec, engine, changes)
            if found is not None or rule is hypersparse_rule:  # slices need an offset for each row
                return found
    return None


def run(spec: Spec, engine: str) -> Any:
    """Execute `spec` on `engine`; raises NotSupported if no implementation accepts it."""
    row = find(spec, engine)
    if row is None:
        if type(engine) is Device:
            raise NotSupported(engine.executor.unsupported(spec.name))
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
        if is_shortage(error):
            raise out_of_memory(row.operation, "cuda" if row.engine == "cuda" else "cpu", error) from error
        raise


def rows(engine: str | None = None) -> list[Implementation]:
    """Return all implementations (of one engine)."""
    return [row for table in _table.values() for row in table if engine is None or row.engine == engine]


def import_modules(package: str, path: Iterable[str]) -> None:
    """Import the modules of a package and of its subpackages, in the order of their names."""
    for _ in modules(package, path):
        pass


def modules(package: str, path: Iterable[str]) -> Iterator[ModuleType]:
    """Import the modules of a package and of its subpackages, in the order of their names, and yield each."""
    import pkgutil

    for module in pkgutil.walk_packages(path, f"{package}."):
        yield importlib.import_module(module.name)
