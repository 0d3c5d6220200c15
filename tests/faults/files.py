"""Damaged files of every format: each is read to a valid object or rejected, and nothing else happens.

Children of this process read the mutants, thousands each, within a limited address space, and write one line a mutant
to a pipe before and after it.  A child that dies or hangs costs that mutant alone: it is recorded, and another child
goes on behind it.  Mutant k of a seed is always the same (``--only`` of the child repeats it).

Outcomes: ``ok`` (a valid object: all invariants of its store hold), ``refused`` (a `SemiringError`), ``wrong`` (an
invalid object, or, from a format with checksums that were not corrected, an object other than the written one),
``raw``, ``died``, ``hung``.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.tally import Tally

ROOT = Path(__file__).resolve().parents[2]
# Longer than it takes to compile a kernel that the first reads did not need.
_HANGS_AFTER_S = 60.0
# A child without a cache compiles all kernels of reading.
_STARTS_WITHIN_S = 900.0
READY = "ready"


def trials(count: int, seed: int) -> Tally:
    """`count` mutants, of all formats in turn."""
    tally = Tally("files", seed)
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        while done < count:
            done = _child(tally, seed, done, count, folder)
    return tally


def _child(tally: Tally, seed: int, first: int, count: int, folder: str) -> int:
    """Let one child read the mutants from `first` on; return the first that it has not finished with."""
    command = [sys.executable, "-m", "tests.faults._reading", folder, str(seed), str(first), str(count)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=os.environ)
    assert child.stdout is not None
    assert child.stderr is not None
    os.set_blocking(child.stdout.fileno(), False)
    os.set_blocking(child.stderr.fileno(), False)
    at, rest, noise, began, hung, heard = first, b"", b"", False, False, time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        selector.register(child.stderr, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(timeout=1.0):
                piece = os.read(key.fd, 1 << 16)
                if not piece:
                    selector.unregister(key.fileobj)
                elif key.fileobj is child.stderr:
                    noise = (noise + piece)[-2000:]
                else:
                    heard = time.monotonic()
                    *lines, rest = (rest + piece).split(b"\n")
                    for line in lines:
                        if line == READY.encode():
                            began = True
                            continue
                        number, outcome, what = line.decode().split("\t", 2)
                        assert int(number) == at
                        tally.add(outcome, f"mutant {number}: {what}")
                        at += 1
            if time.monotonic() - heard > (_HANGS_AFTER_S if began else _STARTS_WITHIN_S):
                child.kill()
                child.wait()
                if not began:
                    raise RuntimeError(f"a child has not started within {_STARTS_WITHIN_S:.0f} s")
                hung = True
                break
    code = child.wait()
    child.stdout.close()
    child.stderr.close()
    if not began:
        raise RuntimeError(f"a child has not started: exit code {code}: {noise.decode(errors='replace')}")
    if hung:
        tally.add("hung", f"mutant {at}")
        return at + 1
    if code:
        tally.add("died", f"mutant {at}: exit code {code}: {noise.decode(errors='replace')[-500:]}")
        return at + 1
    if at < count:
        raise RuntimeError(f"the child of mutants {first} to {count} stopped at {at}: {noise.decode(errors='replace')}")
    return at
