"""Writers that are killed or interrupted at random moments: the target is the whole old or the whole new file.

A child writes one format over and over, a different matrix each time, and reports each write that has ended; after a
random time it gets SIGKILL, or SIGINT.  Then the target must be exactly one of the files that it may be, and after one
more write of that target nothing may be in the folder but the target.

Outcomes: ``ok``; ``wrong`` (a mixture, a part, or a file left behind); ``died`` (a child that failed without a kill).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import semiring as sr
from semiring import Matrix
from tests.faults.tally import Tally

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("a.srb", "c.srb", "a.npz", "a.mtx", "a.mtx.gz", "a.mtx.bz2", "a.mtx.xz", "a.mtx.zst")
_VERSIONS = 3
# Writes of these sizes take 1 to 50 ms each, of which most is spent inside of libraries.
_NROWS = 3000
_LONGEST_S = 0.15


def versions(name: str) -> list[Matrix]:
    """The matrices that are written in turn, which differ in their values alone."""
    found = []
    with sr.use("cpu"):
        for k in range(_VERSIONS):
            A = sr.random.path(_NROWS).apply("times", right=1.0 + k).new()
            found.append(A.compress("varint") if name.startswith("c.") else A)
    return found


def trials(count: int, seed: int) -> Tally:
    """`count` kills and interrupts, of writers of all formats in turn."""
    tally, random = Tally("kills", seed), Random(seed)
    names = [name for name in NAMES if not name.endswith(".zst") or _has_zstandard()]
    with tempfile.TemporaryDirectory() as top:
        for k in range(count):
            name, how = names[k % len(names)], (signal.SIGKILL, signal.SIGINT)[(k + k // len(names)) % 2]
            folder = Path(top) / str(k)
            folder.mkdir()
            outcome, what = _trial(folder, name, how, random.random() * _LONGEST_S)
            tally.add(outcome, f"{k}: {name}, {how.name}: {what}")
    return tally


def _trial(folder: Path, name: str, how: signal.Signals, wait_s: float) -> tuple[str, str]:
    path, made = folder / name, versions(name)
    whole = set()
    for A in made:
        sr.io.write(path, A)
        whole.add(path.read_bytes())
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.kills", str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=os.environ,
    )  # fmt: skip
    assert child.stdout is not None
    if child.stdout.readline() != b"writing\n":
        _, noise = child.communicate()
        return "died", noise.decode(errors="replace")[-300:]
    time.sleep(wait_s)
    child.send_signal(how)
    _, noise = child.communicate()
    if how == signal.SIGINT and child.returncode != 0:
        return "died", f"exit code {child.returncode}: {noise.decode(errors='replace')[-300:]}"
    if path.read_bytes() not in whole:
        return "wrong", "the target is neither the old nor the new file"
    left = sorted(item.name for item in folder.iterdir() if item != path)
    if how == signal.SIGINT and left:
        return "wrong", f"an interrupted write left {left}"
    sr.io.write(path, made[0])
    left = sorted(item.name for item in folder.iterdir() if item != path)
    if left:
        return "wrong", f"the next write left {left}"
    return "ok", ""


def _has_zstandard() -> bool:
    try:
        import zstandard  # noqa: F401
    except ImportError:
        return False
    return True


def _write_for_ever(path: Path) -> None:
    made = versions(path.name)
    for A in made:
        sr.io.write(path, A)
    sys.stdout.write("writing\n")
    sys.stdout.flush()
    k = 0
    while True:
        sr.io.write(path, made[k % len(made)])
        k += 1


if __name__ == "__main__":
    # One interrupt only: a second one in the clean-up after the first may leave a temporary file, which the next write
    # removes.
    try:
        _write_for_ever(Path(sys.argv[1]))
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
