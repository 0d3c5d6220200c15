"""Try an installed wheel: ``python -I smoke.py`` by the Python of an environment that has the wheel and nothing else.

It executes every module, the first program of the README, algorithms on every engine without a GPU, the commands, and
every call that needs an optional package.
"""

from __future__ import annotations

import importlib
import importlib.resources
import json
import pkgutil
import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import semiring as sr
from semiring import Matrix, Vector, optional

# They import a package that need not be there: the engine of CuPy, and the backend of NetworkX.
OPTIONAL_MODULES = re.compile(r"semiring\.(engines\.cuda|nx_backend|bridges\.networkx)\b|.*__main__$")


def installed() -> None:
    """The package that is imported is the installed one, and has its data."""
    folder = Path(sr.__file__).resolve().parent
    assert folder.is_relative_to(Path(sys.prefix).resolve()), f"semiring is imported from {folder}"
    assert (folder / "py.typed").is_file()
    assert len(list((folder / "engines" / "cuda" / "kernels").glob("*.cuh"))) > 100
    assert (folder / "engines" / "cuda" / "kernel_lists.xz").is_file()
    assert (folder / "warming" / "cpu_lists.xz").is_file()
    assert (importlib.resources.files("semiring") / "data" / "NY.gr.xz").is_file()


def modules() -> int:
    """Import every module that needs no optional package; return their number."""
    names = [found.name for found in pkgutil.walk_packages(sr.__path__, "semiring.", onerror=lambda name: None)]
    names = [name for name in names if not OPTIONAL_MODULES.match(name)]
    for name in names:
        importlib.import_module(name)
    return len(names)


def readme() -> None:
    """The first program of the README, a product over a semiring, and an operator of one's own."""
    A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (3, 4)], nrows=5, ncols=5)
    for engine in ("cpu", "reference"):
        with sr.use(engine):
            assert sr.algorithms.bfs_levels(A.dup(), 0).to_dict() == {0: 0, 1: 1, 2: 2}
            assert sr.algorithms.connected_components(A.dup()).to_dict() == {0: 0, 1: 0, 2: 0, 3: 3, 4: 3}
    B = Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], [7, 2, 1, 9], nrows=4, ncols=4)
    C = B.mxm(B, "min_plus")
    assert (C.nvals, C.get(0, 3)) == (1, 8)
    absdiff = sr.binary.register_new("absdiff", lambda x, y: abs(x - y))
    total = sr.semiring.register_new("plus_absdiff", sr.monoid.plus, absdiff)
    assert B.mxv(Vector.full(3, 4), total).to_dict() == {0: 5, 1: 2, 2: 6}
    rank = sr.algorithms.pagerank(sr.random.kronecker(8, seed=1)).to_numpy(fill_value=0)
    assert np.isclose(rank.sum(), 1)


def commands(folder: Path) -> None:
    """The command, also as a module, on a file that it writes."""
    script = Path(sys.executable).with_name("semiring")
    for command in ([str(script)], [sys.executable, "-I", "-m", "semiring"]):
        assert _output(*command, "--version") == f"semiring {sr.__version__}\n"
    graph = str(folder / "graph.srb")
    _output(str(script), "generate", "kronecker", "8", graph)
    found = json.loads(_output(str(script), "bfs", graph, "--json"))
    assert found["rows"] == 256
    assert found["reached"] > 100
    demo = json.loads(_output(str(script), "demo", "--scale", "8", "--no-plot", "--json"))
    roads = demo["graphs"][0]
    assert (roads["rows"], roads["components"], roads["reached"]) == (264346, 1, 264346)


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=540).stdout


def missing_packages(folder: Path) -> int:
    """Call what needs the packages that are not installed; return how many of the errors name the extra."""
    count = 0
    by_package = runpy.run_path(str(Path(__file__).with_name("optional_calls.py")))["calls"](folder)
    for package, calls in by_package.items():
        for call in [] if optional.installed(package) else calls:
            try:
                call()
            except sr.exceptions.NotSupported as error:
                named = f"pip install 'semiring[{optional.EXTRAS[package][1]}]'" in str(error)
            else:
                named = False
            assert named, f"a call that needs {package} does not name its extra"
            count += 1
    return count


def main() -> None:
    """Run every part, and print one line."""
    installed()
    imported = modules()
    readme()
    with tempfile.TemporaryDirectory() as name:
        commands(Path(name))
        refused = missing_packages(Path(name))
    libraries = ", ".join(f"{name} {importlib.import_module(name).__version__}" for name in ("numpy", "scipy", "numba"))
    print(f"{imported} modules, {refused} calls without their package; {libraries}")


if __name__ == "__main__":
    main()
