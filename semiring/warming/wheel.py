"""The wheel `semiring-kernels`: packs of kernels that are compiled for a release.

    python -m semiring.warming.wheel FOLDER [FUNCTION...] [--types TYPE...] [--only cpu|cuda]

CPU kernels are compiled by `warm`, for every processor of a level and for this version of Python; CUDA kernels from the
recorded lists (`engines.cuda.kernel_lists`) by NVRTC, which needs no GPU, for the first architecture of each
generation.  Packs of other versions of Python that are in the folder go into the wheel as well.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import semiring as sr
from semiring import kernel_store
from semiring.config import config
from semiring.warming import worker
from semiring.warming.record import TYPES

LEVELS = {"x86_64": "x86-64-v3", "amd64": "x86-64-v3", "aarch64": "generic", "arm64": "generic"}
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")

_PROJECT = """\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "semiring-kernels"
version = "{version}"
description = "Compiled kernels for semiring {version}"
readme = "README.md"
license = "Apache-2.0"
requires-python = ">=3.11"
dependencies = ["semiring=={version}"]

[tool.hatch.build.targets.wheel]
packages = ["semiring_kernels"]
artifacts = ["*.pack"]
"""
_README = """\
Compiled kernels of semiring {version} for the usual types, so that first calls do not wait for a compiler.

It has no code; semiring reads the packs of this package where it is installed:

{packs}

A kernel for another version of semiring, of Python or of numba is not used, and is compiled when it is needed.
"""


def write_cpu(package: Path, names: Sequence[str], types: Sequence[str]) -> Path:
    """Compile the CPU kernels of functions for this version of Python, and write a pack of them."""
    level = LEVELS[platform.machine().lower()]
    pack = package / f"cpu-{sys.implementation.cache_tag}-{level}.pack"
    with tempfile.TemporaryDirectory() as cache, config.set(cache_dir=cache):
        # A processor is chosen when numba is imported.
        environment = {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "SEMIRING_CACHE_DIR": cache}
        command = [sys.executable, "-m", "semiring", "warm", *names, "--device", "cpu", "--types", *types]
        subprocess.run(command, env=os.environ | environment, check=True, stdout=subprocess.DEVNULL)
        kernel_store.write_pack(pack, kernel_store.entries())
    return pack


def write_cuda(package: Path, names: Sequence[str], architecture: str) -> Path:
    """Compile the recorded CUDA kernels of functions for an architecture, and write a pack of them."""
    pack = package / f"{architecture}.pack"
    with tempfile.TemporaryDirectory() as cache, config.set(cache_dir=cache):
        sr.warm(*names, architecture=architecture, progress=lambda *_: None)
        kernel_store.write_pack(pack, kernel_store.entries())
    return pack


def write_project(folder: Path) -> None:
    """Write what makes a wheel of the packs."""
    package = folder / "semiring_kernels"
    packs = [kernel_store.Pack(path) for path in sorted(package.glob("*.pack"))]
    lines = "\n".join(f"- `{pack.path.name}`: {len(pack.keys())} kernels" for pack in packs)
    (package / "__init__.py").write_text('"""Compiled kernels for semiring, in packs."""\n', encoding="utf-8")
    (folder / "pyproject.toml").write_text(_PROJECT.format(version=sr.__version__), encoding="utf-8")
    (folder / "README.md").write_text(_README.format(version=sr.__version__, packs=lines), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the packs and the project, and build its wheel."""
    parser = argparse.ArgumentParser(prog="python -m semiring.warming.wheel", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="of the project, of its packs, and of the wheel in dist/")
    parser.add_argument("functions", nargs="*", default=["all"], help="as those of `semiring warm`; default: all")
    parser.add_argument("--types", nargs="+", default=TYPES, metavar="TYPE", help="of CPU kernels; default: five")
    parser.add_argument("--only", choices=("cpu", "cuda"), help="the kernels of one engine")
    options = parser.parse_args(arguments)
    if unknown := set(options.functions) - {"all", *worker.names()}:
        parser.error(f"no function is called {', '.join(sorted(unknown))}; `semiring warm` accepts the same names")
    if options.only != "cpu":
        from semiring.engines.cuda import kernel_lists

        if not kernel_lists.types():
            parser.error("no kernels are recorded: python -m semiring.warming.record, on a GPU; or give --only cpu")
    package: Path = options.folder / "semiring_kernels"
    package.mkdir(parents=True, exist_ok=True)
    written = []
    if options.only != "cuda":
        written.append(write_cpu(package, options.functions, options.types))
    if options.only != "cpu":
        written += [write_cuda(package, options.functions, architecture) for architecture in ARCHITECTURES]
    write_project(options.folder)
    for pack in written:
        print(f"{pack}: {len(kernel_store.Pack(pack).keys())} kernels, {pack.stat().st_size} bytes", flush=True)
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(options.folder / "dist"), str(options.folder)]
    subprocess.run(build, check=True)


if __name__ == "__main__":
    main()
