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

from semiring.config import config

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
        self.environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"} | {
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
        """Copy the working tree; the user's compiled kernels serve it too."""
        copy = cls(folder, cores)
        shutil.copytree(root, copy.root, ignore=_LEFT_OUT)
        copy.environment["SEMIRING_SHARED_CACHE"] = str(config.cache_dir)
        return copy

    def again(self, folder: Path, cores: int) -> Copy:
        """Copy this copy, with its compiled modules; its kernels serve both."""
        other = Copy(folder, cores)
        shutil.copytree(self.root, other.root)
        other.environment["SEMIRING_SHARED_CACHE"] = os.pathsep.join(
            filter(None, [str(self.kernels), self.environment.get("SEMIRING_SHARED_CACHE")])
        )
        return other

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
