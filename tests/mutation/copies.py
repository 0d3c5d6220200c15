"""Copies of the working tree in which processes run mutants side by side, each with its own cache of CPU kernels."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from .drawing import Mutant

# Hidden folders hold environments and caches; the others are outputs.
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "_build", "node_modules")


class Copy:
    """A copy of the working tree in `folder`, and the environment of its tests."""

    def __init__(self, folder: Path, cores: int) -> None:
        """Use `folder`; tests run on `cores` threads."""
        self.root = folder / "tree"
        self.kernels = folder / "cache"
        self.log = folder / "log.txt"
        dropped = ("NUMBA_CACHE_DIR", "PYTEST_ADDOPTS")
        self.environment = {name: value for name, value in os.environ.items() if name not in dropped} | {
            "PYTHONPATH": str(self.root),
            "SEMIRING_CACHE_DIR": str(self.kernels),
            "SEMIRING_TEST_DATA": str(folder),  # no shared graphs, wherever the copy is
            "CUDA_VISIBLE_DEVICES": "",
            "COLUMNS": "400",  # pytest cuts the reason of a failure at the width of the terminal
            "NUMBA_NUM_THREADS": str(cores),
            "OMP_NUM_THREADS": "1",  # SuiteSparse
            "OPENBLAS_NUM_THREADS": "1",
        }

    @classmethod
    def of_tree(cls, root: Path, folder: Path, cores: int) -> Copy:
        """Copy the working tree, and the kernels that the user's cache has for it."""
        from semiring.engines.cpu import compile as cpu

        copy = cls(folder, cores)
        shutil.copytree(root, copy.root, ignore=_LEFT_OUT)
        if cpu._folder is not None and not os.environ.get("NUMBA_CACHE_DIR"):
            copy._take_kernels(root, Path(cpu._folder).parent)
        return copy

    def again(self, folder: Path, cores: int) -> Copy:
        """Copy this copy, with its compiled modules and kernels."""
        other = Copy(folder, cores)
        shutil.copytree(self.root, other.root)
        other._take_kernels(self.root, self.kernels / "cpu")
        return other

    def _take_kernels(self, root: Path, folder: Path) -> None:
        """Copy the kernels of the tree at `root`; numba's names of folders contain a digest of the source's path.

        Sources keep their modification time in a copy, by which numba decides whether a kernel is up to date.
        """
        from numba.core.caching import UserProvidedCacheLocator

        name = UserProvidedCacheLocator.get_suitable_cache_subpath
        for package in sorted((root / "semiring").rglob("__init__.py")):
            relative = package.relative_to(root)
            for source in folder.glob(f"*/{name(str(package))}"):
                target = self.kernels / "cpu" / source.parent.name / name(str(self.root / relative))
                shutil.copytree(source, target)

    @contextlib.contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Apply a mutant; restore the file, with its modification time, at the end."""
        path = self.root / mutant.module
        before, times = path.read_bytes(), path.stat()
        path.write_text(mutant.apply(before.decode("utf-8")), encoding="utf-8")
        try:
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def run(self, options: list[str], limit: float, stop: threading.Event) -> int | None:
        """Return the exit code of pytest, or None if it was killed after `limit` seconds or because of `stop`."""
        command = [sys.executable, "-m", "pytest", "--engine=cpu", "--seed=0", "--hypothesis-profile=unshrunk"]
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                [*command, "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:benchmark", *options],
                cwd=self.root,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # with its own children in one group, which ends as a whole
            )
            try:
                waited = 0.0
                while waited < limit and not stop.is_set():
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        return process.wait(0.2)
                    waited += 0.2
                return None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
