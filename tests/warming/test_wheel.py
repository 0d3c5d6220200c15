"""The packs of `semiring-kernels`: a process that finds them compiles nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import semiring as sr
from semiring import kernel_store
from semiring.config import config
from semiring.warming import wheel

_CALL = """
import semiring as sr
from semiring.engines.shared import compilations
A = sr.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
with sr.use("cpu"):
    print(A.T.new().wait().to_coo()[2].tolist(), compilations.count())
"""


@pytest.mark.costly
def test_cpu_kernels_of_the_package_serve_a_new_process(tmp_path: Path) -> None:
    package = tmp_path / "semiring_kernels"
    package.mkdir()
    pack = wheel.write_cpu(package, ["from_coo", "transpose"], ["float64"])
    wheel.write_project(tmp_path)
    assert len(kernel_store.Pack(pack).keys()) >= 2
    written = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    assert (written["version"], written["dependencies"]) == (sr.__version__, [f"semiring=={sr.__version__}"])
    assert pack.name in (tmp_path / "README.md").read_text()
    environment = os.environ | {"SEMIRING_CACHE_DIR": str(tmp_path / "empty"), "SEMIRING_QUIET": "0"}
    paths = [str(tmp_path), str(Path(sr.__file__).parents[1]), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    done = subprocess.run([sys.executable, "-c", _CALL], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[3.0, 1.0, 2.0] 0\n", "")


@pytest.mark.nvrtc
def test_cuda_kernels_are_compiled_from_the_lists(tmp_path: Path) -> None:
    pytest.importorskip("cupy", reason="the modules of the CUDA engine import CuPy")
    from semiring.engines.cuda import compile, kernel_lists

    texts = kernel_lists.numbers("transpose", kernel_lists.types())
    with config.set(quiet=True):
        pack = wheel.write_cuda(tmp_path, ["transpose"], "sm_80")
    assert len(kernel_store.Pack(pack).keys()) == len(texts) > 1
    file, prologue, entry = kernel_lists.text(texts[0])
    with config.set(cache_dir=tmp_path / "empty", shared_cache=[tmp_path]):
        assert compile._stored(file, prologue, "sm_86", entry) == compile.compile_text(file, prologue, "sm_80", entry)
        assert compile._stored(file, prologue, "sm_90", entry) is None


def test_every_processor_has_a_level_that_the_engine_looks_for() -> None:
    from semiring.engines.cpu.compile import _LEVELS

    assert set(wheel.LEVELS.values()) == set(_LEVELS)
