"""The public paths of the bridges: the objects of the bridge by name, in `dir`, in pickles and in modules below."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import tomllib
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import semiring as sr
import semiring.compat.graphblas as gb

PATHS = {
    "semiring.cli": "semiring.bridges.cli",
    "semiring.compat.graphblas": "semiring.bridges.graphblas",
    "semiring.csgraph": "semiring.bridges.csgraph",
    "semiring.nx_backend": "semiring.bridges.networkx",
    "semiring.plot": "semiring.bridges.plot",
}


@pytest.mark.parametrize("path", PATHS)
def test_a_path_has_the_names_of_its_bridge(path: str) -> None:
    if path == "semiring.nx_backend":
        pytest.importorskip("networkx")
    public, bridge = importlib.import_module(path), importlib.import_module(PATHS[path])
    assert public.__doc__
    assert sorted(public.__all__) == sorted(bridge.__all__)
    assert set(public.__all__) <= set(dir(public))
    assert all(getattr(public, name) is getattr(bridge, name) for name in public.__all__)


def test_modules_of_graphblas_are_those_of_the_bridge() -> None:
    """`import_module` finds them, although there is no file of that name: type checkers read a ``.pyi`` file."""
    for name in ("binary", "dtypes", "exceptions", "io", "op", "unary.numpy"):
        found = importlib.import_module(f"semiring.compat.graphblas.{name}")
        assert found is attrgetter(name)(gb)
    for path in (Path(sr.__file__).parent / "compat" / "graphblas").glob("*.pyi"):
        assert path.read_text(encoding="utf-8") == f"from semiring.bridges.graphblas.{path.stem} import *\n"
        assert getattr(gb, path.stem).__name__ == f"semiring.bridges.graphblas.{path.stem}"


def test_objects_are_pickled() -> None:
    v = gb.Vector.from_coo([0, 2], [1.0, 2.0], size=3)
    for x in (v, gb.dtypes.INT64, sr.csgraph.dijkstra, sr.plot.spy):
        found = pickle.loads(pickle.dumps(x))
        assert found.isequal(v) if isinstance(x, gb.Vector) else found == x
    flow = sr.csgraph.maximum_flow(gb.io.to_scipy_sparse(gb.Matrix.from_coo([0], [1], np.int32(3), nrows=2)), 0, 1)
    assert pickle.loads(pickle.dumps(flow)).flow_value == 3


def test_the_root_loads_no_bridge() -> None:
    code = "import sys, semiring; print([name for name in sys.modules if name.startswith('semiring.bridges')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_entry_points_are_public_paths() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = [project["scripts"], *project["entry-points"].values()]
    modules = {target.partition(":")[0] for names in points for target in names.values()}
    assert modules <= {*PATHS, "_nx_semiring"}
