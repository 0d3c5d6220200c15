"""The architecture, as far as a test can check it: imports point one way, and a file is one idea.

Imports are read from the syntax tree, those inside functions too. Only `if TYPE_CHECKING:` blocks are exempt:
what an annotation names is not a dependency at run time.
"""

from __future__ import annotations

import ast
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import semiring

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "semiring"
MOST_LINES = 1000

# A module imports from its own row and from the rows above it.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("exceptions", "renamed"),
    ("optional", "symbolic", "worker_thread"),
    ("devices", "strategies"),
    ("config",),
    ("kernel_store",),
    ("dtypes", "record_types"),
    ("operators",),
    ("memory",),
    ("formats",),
    ("engines",),
    ("labels",),
    ("ops",),
    ("storage",),
    ("facade",),
    ("loops",),
    ("algorithms",),
    ("io", "random"),
    ("distributed",),
    ("warming",),
    ("bridges",),
    ("csgraph", "plot", "nx_backend", "compat", "cli", "__main__"),
)
RANK = {name: rank for rank, row in enumerate(LAYERS) for name in row}
PUBLIC_RANK = RANK["facade"]  # `from semiring import Matrix`: the root re-exports names of layers up to here

# The modules that may use the executor of a device, or the grid of a store.
USE_EXECUTORS = {"semiring.devices", "semiring.engines.registry"}
# What `algorithms` may use. If one needs more, so do users, and the public API lacks something.
FOR_ALGORITHMS = {"semiring", "semiring.ops", "semiring.exceptions"}
# The errors for their old names.
FOR_ALGORITHMS |= {"semiring.renamed"}
# What `bridges` may use of the core, and the names that the root publishes.
FOR_BRIDGES = {"semiring", *(f"semiring.{name}" for name in ("algorithms", "distributed", "dtypes"))}
FOR_BRIDGES |= {f"semiring.{name}" for name in ("exceptions", "io", "ops")}
PUBLISHED = {f"semiring.{name}" for name in semiring.__all__}
# Private modules that bridges still import, each with the bridges and the reason: this table is to become shorter.
PRIVATE_IN_BRIDGES: dict[str, tuple[tuple[str, ...], str]] = {
    "semiring.algorithms.vertex_labels": (("cli",), "which results of an algorithm are vertices"),
    "semiring.config": (("cli", "networkx"), "checks of environment variables and devices, before each dispatch too"),
    "semiring.distributed.process": (("cli",), "whether this is one process of several, and whose error ends all"),
    "semiring.engines.cpu.compile": (("networkx",), "two compiled loops that no algorithm has"),
    "semiring.engines.registry": (("cli",), "`semiring info ops` lists the implementations"),
    "semiring.engines.rows.residency": (("plot",), "matrices that are counted in parts"),
    "semiring.formats": (("cli", "plot"), "the names of codecs and placements; matrices that are counted in parts"),
    "semiring.kernel_store": (("cli",), "`semiring cache`"),
    "semiring.io.networkx_arrays": (("networkx",), "`semiring.io.from_networkx` reads the same dictionaries"),
    "semiring.memory.arrays": (("csgraph", "plot"), "arrays on either device, and counted copies between them"),
    "semiring.optional": (("cli", "graphblas", "networkx", "plot"), "the error for a missing package"),
}
# Methods of Matrix and Vector that draw import the public path of the plots when they are called.
DRAWING_METHODS = {"semiring.facade.display", "semiring.facade.base"}
# The engines. None imports another, so that each can be compared with the next.
ENGINES = {"reference", "cpu", "cuda"}
# The packages of `engines`, each above those that it imports: requests, what engines share, programs of loops, the
# registry, rows of any storage kind, engines and rules, and rules that use another rule.
ENGINE_ROOMS = {"requests": 0, "shared": 1, "programs": 2, "": 3, "rows": 4, **dict.fromkeys((*ENGINES, "sliced"), 5)}
ENGINE_ROOMS |= {"bitmap": 6, "hypersparse": 6}
# The libraries that execute on a device.
DRIVERS = {"cupy", "cupyx", "cupy_backends", "numba"}
# Stores and operations: `memory` and the engines call the driver for them.
WITHOUT_DRIVERS = {"formats", "ops"}


def is_type_checking(test: ast.expr) -> bool:
    """Return whether a condition is `TYPE_CHECKING` or `typing.TYPE_CHECKING`."""
    return ast.unparse(test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def walk_at_run_time(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every node below `node` that can be executed."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and is_type_checking(child.test):
            for other in child.orelse:
                yield other
                yield from walk_at_run_time(other)
        else:
            yield child
            yield from walk_at_run_time(child)


def imported_modules(source: str, module: str, is_package: bool, modules: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and the full name of each module of the package that `source` imports.

    `from semiring import formats` names the module `semiring.formats`; `from semiring import Matrix`, which
    is no module, names the root.
    """
    package = module if is_package else module.rpartition(".")[0]
    for node in walk_at_run_time(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            ancestors = package.split(".")
            base = ancestors[: len(ancestors) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                full = f"{origin}.{alias.name}"
                yield node.lineno, full if full in modules else origin
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield node.lineno, name.value


def layer_of(module: str) -> str:
    """Return the name in LAYERS of a module; empty for the root."""
    return module.partition(".")[2].partition(".")[0]


def violations(source: str, module: str, is_package: bool, modules: set[str]) -> list[str]:
    """Return one line for each import of `source` that points the wrong way."""
    found = []
    layer = layer_of(module)
    if layer == "bridges":  # `from semiring import config` is the object that the root publishes, not the module
        modules = modules - PUBLISHED
    for line, target in imported_modules(source, module, is_package, modules):
        place = f"{module}:{line} imports {target}"
        if layer in WITHOUT_DRIVERS and (engine_of(target) or target.partition(".")[0] in DRIVERS):
            found.append(f"{place}: {layer} import no engine and no driver")
        if target.partition(".")[0] != "semiring":
            continue
        other = layer_of(target)
        if target == "semiring.plot" and module in DRAWING_METHODS:
            continue
        if (RANK[other] if other else PUBLIC_RANK) > RANK[layer]:
            found.append(f"{place}: {other or 'the public API'} is above {layer}")
        if layer == "algorithms" and other != "algorithms" and target not in FOR_ALGORITHMS:
            found.append(f"{place}: algorithms use the public API only")
        if layer == "bridges" != other and target not in FOR_BRIDGES | allowed_in(module):
            found.append(f"{place}: bridges use the public API only")
        if RANK[layer] > RANK["bridges"] > RANK.get(other, 0):
            found.append(f"{place}: a public path imports its bridge only")
        if layer == other == "engines":
            mine, theirs = engine_of(module), engine_of(target)
            if mine and theirs and mine != theirs:
                found.append(f"{place}: engines do not import one another")
            if ENGINE_ROOMS[room_of(target)] > ENGINE_ROOMS[room_of(module)]:
                found.append(f"{place}: {room_of(target)} is above it")
    return found


def allowed_in(module: str) -> set[str]:
    """Return the private modules that a module of `bridges` may import."""
    bridge = module.split(".")[2] if module.count(".") > 1 else ""
    return {name for name, (bridges, _) in PRIVATE_IN_BRIDGES.items() if bridge in bridges}


def device_names(source: str) -> list[str]:
    """Return one line for each name of a device or an engine among the string constants of `source`."""
    constants = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return [f"line {node.lineno} names {node.value!r}" for node in constants if node.value in ENGINES]


def executor_uses(source: str) -> list[str]:
    """Return one line for each use of the executor of a device, or of the grid of a store."""
    if not re.search(r"\.\s*(executor|grid)\b", source):  # most modules: they need not be parsed
        return []
    attributes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute))
    return [f"line {node.lineno}: {ast.unparse(node)}" for node in attributes if node.attr in {"executor", "grid"}]


def room_names(source: str) -> list[str]:
    """Return one line for each string constant of `source` that names a module of `bridges`, docstrings not counted."""
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    texts = [(node.lineno, node.value) for node in nodes if isinstance(node.value, str)]
    return [f"line {line} names {text!r}" for line, text in texts if re.fullmatch(r"(semiring)?\.bridges[\w.]*", text)]


def engine_of(module: str) -> str:
    """Return which engine a module of `engines` belongs to; empty where all share it."""
    parts = module.split(".")
    return parts[2] if layer_of(module) == "engines" and parts[2:] and parts[2] in ENGINES else ""


def room_of(module: str) -> str:
    """Return the package of `engines` that a module belongs to; empty for those that all share."""
    room = module.split(".")[2] if module.count(".") > 1 else ""
    return room if (PACKAGE / "engines" / room).is_dir() else ""


def python_modules() -> dict[str, Path]:
    """Return the files of the package by full module name."""
    modules = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


MODULES = python_modules()
NAMES = {".".join(module.split(".")[:length]) for module in MODULES for length in range(1, module.count(".") + 2)}


def test_every_module_belongs_to_a_layer() -> None:
    assert MODULES, "the package has gone"
    assert not [module for module in MODULES if module != "semiring" and layer_of(module) not in RANK]


@pytest.mark.parametrize("module", [module for module in MODULES if layer_of(module) in RANK])
def test_imports_point_one_way(module: str) -> None:
    path = MODULES[module]
    source = path.read_text(encoding="utf-8")
    assert violations(source, module, path.name == "__init__.py", NAMES) == []


def test_modules_of_the_facade_import_each_other_in_one_order() -> None:
    """Imports inside functions count: a circle that they hide is one."""
    graph = {}
    for module, path in MODULES.items():
        if layer_of(module) == "facade":
            source = path.read_text(encoding="utf-8")
            graph[module] = {target for _, target in imported_modules(source, module, False, NAMES)} - {module}
    assert list(graphlib.TopologicalSorter(graph).static_order())


def test_the_root_loads_bridges_by_their_public_paths() -> None:
    source = MODULES["semiring"].read_text(encoding="utf-8")
    assert room_names(source) == []
    imported = [target for _, target in imported_modules(source, "semiring", True, NAMES)]
    assert not [target for target in imported if RANK.get(layer_of(target), 0) >= RANK["bridges"]]


def test_exceptions_of_bridges_are_in_use() -> None:
    used = set()
    for module, path in MODULES.items():
        if layer_of(module) == "bridges":
            source, known = path.read_text(encoding="utf-8"), NAMES - PUBLISHED
            found = imported_modules(source, module, path.name == "__init__.py", known)
            used |= {(target, bridge) for _, target in found for bridge in module.split(".")[2:3]}
    listed = {(name, bridge) for name, (bridges, _) in PRIVATE_IN_BRIDGES.items() for bridge in bridges}
    assert not listed - used
    assert MODULES.keys() >= DRAWING_METHODS


@pytest.mark.parametrize("module", [module for module in MODULES if layer_of(module) == "ops"])
def test_operations_name_no_device(module: str) -> None:
    assert device_names(MODULES[module].read_text(encoding="utf-8")) == []


BELOW_GRIDS = [m for m in MODULES if RANK.get(layer_of(m), 99) < RANK["loops"] and layer_of(m) != "plot"]


@pytest.mark.parametrize("module", BELOW_GRIDS)
def test_few_modules_use_executors(module: str) -> None:
    assert module in USE_EXECUTORS or executor_uses(MODULES[module].read_text(encoding="utf-8")) == []


def test_algorithms_hold_no_lock_while_they_compute() -> None:
    """Ranks that are threads run them at the same time, and wait for each other inside operations.

    In Python 3.11 a `functools.cached_property` has a lock, which all objects of its class share; `kept` has none.
    """
    locking = [name for name, path in MODULES.items() if layer_of(name) == "algorithms" and has_lock(path)]
    assert not locking


def has_lock(path: Path) -> bool:
    """Return whether a module uses what waits for other threads."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names}
    return bool(names & {"cached_property", "Lock", "RLock", "Condition"})


def source_files() -> list[Path]:
    """Return every file of code in the project."""
    folders = [ROOT / name for name in ("semiring", "tests", "benchmarks", "examples")]
    return sorted(path for folder in folders for ending in ("*.py", "*.cuh") for path in folder.rglob(ending))


def test_a_file_is_one_idea() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_bytes().splitlines()) for path in source_files()}
    assert not {name: lines for name, lines in lengths.items() if lines > MOST_LINES}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("semiring.engines.shared.direction", "from ..rows import bits"),
        ("semiring.engines.requests.graphs", "from ..registry import run"),
        ("semiring.engines.sliced.permute", "from ..bitmap import vectors"),
        ("semiring.formats.csr", "from semiring.engines import registry"),
        ("semiring.formats.csr", "def f():\n    from ..engines.registry import find"),
        ("semiring.formats.csr", "import semiring.ops.mxv"),
        ("semiring.formats.csr", "from semiring import Matrix"),
        ("semiring.ops.mxv", "from ..facade.matrix import Matrix"),
        ("semiring.ops.mxv", "import importlib\nimportlib.import_module('semiring.cli')"),
        ("semiring.exceptions", "if TYPE_CHECKING:\n    pass\nelse:\n    from . import formats"),
        ("semiring.algorithms.bfs", "from semiring.formats import csr"),
        ("semiring.algorithms.bfs", "from semiring.engines.registry import find"),
        ("semiring.engines.cpu.mxv", "from ..reference import mxv"),
        ("semiring.ops.mxv", "from ..engines.cuda import mxv"),
        ("semiring.ops.mxv", "def f():\n    import cupy"),
        ("semiring.formats.csr", "def f():\n    import cupy.cuda"),
        ("semiring.memory.locked", "from ..formats import CSR"),
        ("semiring.ops.build", "from ..storage.coerce import as_indices"),
        ("semiring.storage.coerce", "from ..facade.matrix import Matrix"),
        ("semiring.io.files", "from semiring.bridges import networkx"),
        ("semiring.facade.matrix", "def spy(self):\n    from ..plot import spy"),
        ("semiring.warming.worker", "from semiring.csgraph import dijkstra"),
        ("semiring.csgraph", "from semiring.engines.registry import find"),
        ("semiring.bridges.csgraph.paths", "from semiring import engines"),
        ("semiring.bridges.csgraph.paths", "from semiring.engines.registry import find"),
        ("semiring.bridges.csgraph.paths", "from semiring.config import default_device"),
        ("semiring.bridges.plot.graph", "from ...ops.mxv import mxv"),
        ("semiring.bridges.plot", "from semiring.csgraph import dijkstra"),
    ],
)
def test_the_check_reports_violations(module: str, source: str) -> None:
    known = {"semiring", "semiring.formats", "semiring.engines", "semiring.engines.registry", "semiring.ops"}
    known |= {"semiring.bridges", "semiring.bridges.networkx", "semiring.config", "semiring.csgraph", "semiring.plot"}
    assert violations(source, module, False, known)


def test_the_check_sees_executors() -> None:
    assert executor_uses("def f(a):\n    return a.device.executor.total(1)")
    assert executor_uses("def f(u):\n    return u.grid")
    assert not executor_uses("def f(a):\n    return in_parts(a.device)")


def test_the_check_sees_names_of_bridges() -> None:
    assert room_names("_LAZY = {'plot': ('.bridges.plot', None)}")
    assert room_names("load('semiring.bridges')")
    assert not room_names("_LAZY = {'plot': ('.plot', None)}")


def test_the_check_sees_devices() -> None:
    assert device_names("def f(a):\n    return to_device(a, 'cuda')")
    assert not device_names("def f(a):\n    raise InvalidValue(\"move one with .to('cpu')\")")


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("semiring.formats.csr", "from . import pattern\nfrom .. import dtypes\nimport numpy"),
        ("semiring.formats.csr", "if TYPE_CHECKING:\n    from semiring.facade.matrix import Matrix"),
        ("semiring.ops.mxv", "from semiring.engines.registry import find"),
        ("semiring.facade.vector", "def diag():\n    from .matrix import Matrix"),
        (
            "semiring.algorithms.bfs",
            "import semiring\nfrom semiring import Matrix, ops\nfrom ._source import check",
        ),
        ("semiring.engines.cuda.mxv", "from ..requests.operations import Mxv\nfrom .launch import launch"),
        ("semiring.bridges.cli.demo", "import semiring as sr\nfrom semiring.io import read"),
        ("semiring.bridges.cli.demo", "from semiring import config, ops\nfrom semiring.bridges.plot import style"),
        ("semiring.bridges.plot.graph", "from .style import BLUES\nfrom semiring.exceptions import InvalidValue"),
        ("semiring.csgraph", "from semiring.bridges.csgraph import *"),
        ("semiring.__main__", "from semiring.cli import main"),
        ("semiring.facade.display", "def spy(self):\n    from ..plot import spy"),
    ],
)
def test_the_check_allows(module: str, source: str) -> None:
    known = {"semiring", "semiring.formats", "semiring.formats.pattern", "semiring.dtypes", "semiring.ops"}
    known |= {"semiring.bridges", "semiring.config", "semiring.plot"}
    assert violations(source, module, False, known) == []
