"""The child of `files`: reads mutants and writes the outcome of each, one line a mutant.

python -m tests.faults._reading FOLDER SEED FIRST COUNT          # mutants FIRST to COUNT - 1
python -m tests.faults._reading FOLDER SEED K ONLY               # mutant K alone: kept in FOLDER, its error shown
"""

from __future__ import annotations

import contextlib
import sys
import traceback
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import semiring as sr
from semiring.exceptions import SemiringError
from tests.faults._mutants import Original, mutant, originals
from tests.faults._sound import check_sound, same
from tests.faults.files import READY

# Address space beyond that of the process after its first reads: larger requests fail.
_SPARE_BYTES = 1 << 30
# Options with which a matrix is read once more.
_FORMS: tuple[dict[str, str], ...] = (
    {}, {}, {}, {}, {"placement": "host"}, {"compress": "varint"}, {"compress": "packed", "placement": "host"},
)  # fmt: skip
# Options with which an edge list is read too.
_EDGE_LISTS = ("el", "wel", "csv", "tsv")
_OPTIONS: tuple[dict[str, Any], ...] = (
    {"relabel": True}, {"directed": False}, {"dup_op": "plus"}, {"base": 1}, {"skip_lines": 1}, {"nrows": 3},
    {"dtype": "int8"}, {"dtype": "uint64"}, {"dtype": "bool"}, {"weights": False}, {"header": True}, {"sep": ";"},
    {"comment": ""}, {"source": 1, "target": 0}, {"relabel": True, "header": False, "dup_op": "mean"},
)  # fmt: skip


class Wrong(Exception):
    """An invalid result."""


def read_mutant(original: Original, content: bytes, reference: Any, path: Path, random: Random) -> str:
    """Write one mutant to `path` and read it; ``"ok"`` or ``"refused"``, or the exception."""
    path.write_bytes(content)
    srb = original.name.endswith(".srb")
    if srb and random.random() < 0.3:  # `open` trusts the sections: they are verified before use
        with contextlib.suppress(SemiringError):
            sr.io.open(path)
    if original.name.partition(".")[2].partition(".")[0] in _EDGE_LISTS:
        with contextlib.suppress(SemiringError):
            check_sound(sr.io.read(path, **random.choice(_OPTIONS)))
    try:
        found = sr.io.open(path, verify=True) if srb and random.random() < 0.3 else sr.io.read(path)
        form = random.choice(_FORMS)
        if form and isinstance(found, sr.Matrix):
            check_sound(sr.io.read(path, **form))
    except SemiringError:
        return "refused"
    check_sound(found)
    unrepaired = content != original.content and original.repair is not None and original.repair(content) != content
    # A file without the header of a compressed file is text under a wrong name, and read as text.
    if unrepaired and content[:2] == original.content[:2] and not same(found, reference):
        raise Wrong("a damage that the checksums show gave another result")
    if content == original.content and not same(found, reference):
        raise Wrong("the file as it was written gave another result")
    return "ok"


def main() -> int:
    folder, seed, first, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    sr.use("cpu")
    sr.config.quiet = True
    # Of a damaged edge list, and of a damaged head in an archive.
    warnings.simplefilter("ignore")
    known = originals()
    references = []
    for original in known:  # also compiles the kernels of reading
        path = folder / original.name
        path.write_bytes(original.content)
        references.append(sr.io.read(path))
        for form in _FORMS if isinstance(references[-1], sr.Matrix) else ():
            sr.io.read(path, **form)
    if last == "ONLY":
        return _repeat(known, references, folder, seed, first)
    _limit_memory()
    print(READY, flush=True)
    for k in range(first, int(last)):
        original, reference, content, random = _case(known, references, seed, k)
        try:
            outcome, what = read_mutant(original, content, reference, folder / original.name, random), ""
        except Wrong as error:
            outcome, what = "wrong", f"{original.name}: {error}"
        except AssertionError as error:
            outcome, what = "wrong", f"{original.name}: {error}"
        except Exception as error:
            outcome, what = "raw", f"{original.name}: {error!r}"
        sys.stdout.write(f"{k}\t{outcome}\t{what[:300]!r}\n")
        sys.stdout.flush()
    return 0


def _case(known: list[Original], references: list[Any], seed: int, k: int) -> tuple[Original, Any, bytes, Random]:
    random = Random(f"{seed} {k}")
    original = known[k % len(known)]
    return original, references[k % len(known)], mutant(original, random), random


def _repeat(known: list[Original], references: list[Any], folder: Path, seed: int, k: int) -> int:
    original, reference, content, random = _case(known, references, seed, k)
    path = folder / original.name
    print(f"mutant {k} is {path}, {len(content)} bytes")
    try:
        print(read_mutant(original, content, reference, path, random))
    except Exception:
        traceback.print_exc()
    return 0


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = held + _SPARE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    np.seterr(all="ignore")


if __name__ == "__main__":
    sys.exit(main())
