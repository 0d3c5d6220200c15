"""Runs programs as several processes, as users do: `semiring launch`."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

# On the reference engine nothing compiles: what is tested here is between the processes.
ENGINE = {"SEMIRING_DEVICE": "reference"}


def launch(folder: Path, count: int, program: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a program as `count` processes, with settings of the library in the environment."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    return command("launch", "-n", str(count), str(path), **settings)


def command(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the library."""
    return subprocess.run(
        [sys.executable, "-m", "semiring.cli", *words],
        env={**os.environ, **ENGINE, **settings},
        capture_output=True,
        text=True,
        timeout=240,
    )
