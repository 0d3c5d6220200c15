"""The tables of what a grid of processes executes: requests, and versions of functions that read arrays.

`operations` declares both with ``@grid_rule(spec class)`` and ``@version_of(function)``.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ..devices import Executor
from ..engines import recording
from ..engines.registry import EVERY_KIND, Implementation, Rewriting
from ..engines.requests.operands import Spec
from ..exceptions import NotSupported
from .part_stores import PartPattern

if TYPE_CHECKING:
    from .grid import Grid

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
T = TypeVar("T")

# Blocks of the processes of a grid.
GRID = EVERY_KIND._replace(formats=frozenset({PartPattern.format}))


_rules: dict[str, Rewriting] = {}
# The function for grids of one process: of the function of the operation, the spec and the grid.
_single: list[Callable[[Callable[[Any, Grid], Any], Any, Grid], Any]] = []
_versions: dict[Any, Callable[..., Any]] = {}


def grid_rule(
    spec: type[Spec], *, fuses: tuple[str, ...] = (), when: Callable[[Any, Grid], bool] | None = None
) -> Callable[[F], F]:
    """Register a function of (spec, grid) for requests on objects that the processes of a grid hold in parts.

    when: used only where this holds of (spec, grid); the same on all processes, and it may be collective.
    """

    def register(function: F) -> F:
        _rules[spec.name] = Rewriting(function, frozenset(fuses), when)
        return function

    return register


def single(function: F) -> F:
    """Register the function of (operation, spec, grid) that serves grids of one process."""
    _single.append(function)
    return function


def version_of(*functions: Callable[..., Any]) -> Callable[[F], F]:
    """Register what grids call instead of functions that `devices.dispatched` decorates, with the same arguments."""

    def register(function: F) -> F:
        _versions.update(dict.fromkeys(functions, function))
        return function

    return register


@functools.cache
def _load() -> None:
    importlib.import_module(".operations", __package__)


def rules() -> dict[str, Rewriting]:
    """Return the rules by operation."""
    _load()
    return _rules


class GridExecutor(Executor):
    """Executes requests on the objects of a grid."""

    def __init__(self, grid: Grid) -> None:
        self.grid, self.local = grid, grid.local
        self._implementations: dict[str, Implementation] = {}

    def find(self, spec: Any) -> Implementation | None:
        """Return the implementation that executes a request, or None.  Collective where the rule has a condition."""
        rule = rules().get(spec.name)
        if rule is None or (rule.when is not None and not self.grid.collective_call(rule.when, spec, self.grid)):
            return None
        found = self._implementations.get(spec.name)
        if found is None:
            found = self._implementations[spec.name] = self._implementation(spec.name, rule)
        return found

    def _implementation(self, operation: str, rule: Rewriting) -> Implementation:
        function, grid = rule.function, self.grid
        if grid.size == 1:
            function = functools.wraps(function)(functools.partial(_single[0], function))

        @functools.wraps(function)
        def execute(whole: Any) -> Any:
            if not recording.noting():
                return grid.collective_call(function, whole, grid)
            with grid.record_traffic():
                return grid.collective_call(function, whole, grid)

        return Implementation(operation, "distributed", execute, None, rule.fuses, f"{operation} on a grid", GRID)

    def implements(self, spec: Any) -> bool:
        """Return True if there is a rule for requests of a class."""
        return spec.name in rules()

    def unsupported(self, operation: str) -> str:
        """Return why a request has no implementation, and what to do."""
        return (
            f"{operation} is not supported on a grid of processes ({self.grid.device}) for these operands; compute it "
            f"on one process: semiring.distributed.gather"
        )

    def version(self, function: Callable[P, T]) -> Callable[P, T]:
        """Return what grids call instead of a function; NotSupported if there is nothing."""
        _load()
        found = _versions.get(function)
        if found is None:
            raise NotSupported(f"{function.__name__} reads arrays of the whole object; use semiring.distributed.gather")
        return found
