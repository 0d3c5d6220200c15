"""The campaign of failed allocations, and real shortage: a limit on the address space of a child process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.faults import allocations
from tests.faults._operations import CASES, Case

SEED = 1


@pytest.mark.costly
def test_every_failed_allocation_is_refused_in_order(engine: str, trial_count: Callable[[int, int, int], int]) -> None:
    """A short run includes the constructors, an exhaustive one every operation, a long one all with other operands."""
    if engine == "reference":
        pytest.skip("the specification checks no sizes")
    tally = allocations.trials(trial_count(60, 4_000, 100_000), SEED, engine)
    print(tally)
    assert tally.failed == 0, str(tally)
    assert tally.outcomes["refused"] > tally.outcomes["ok"]


@pytest.mark.parametrize(
    ("outcome", "run"),
    [
        ("raw", lambda o: np.arange(1000).tolist()),
        ("wrong: operands or targets have changed", lambda o: (o.t.clear(), o.A.to_coo())[1]),
        ("wrong: another result", lambda o: swallowing(o)),
    ],
)
def test_the_campaign_finds_what_is_wrong(engine: str, outcome: str, run: Any, capsys: Any) -> None:
    if engine != "cpu":
        pytest.skip("its operations allocate by NumPy")
    found = list(allocations._each_allocation(Case("broken", run), SEED, engine))
    kinds = {f"{kind}: {trial.partition(': ')[2]}" for kind, trial in found}
    assert any(kind.startswith(outcome) for kind in kinds), kinds


def swallowing(o: Any) -> list[int]:
    try:
        return np.arange(100).tolist()  # type: ignore[no-any-return]
    except MemoryError:
        return []


def test_operations_have_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


# Operations on 2^14 rows with 2^18 entries in a process whose address space may grow by these bytes.  Everything has
# run once before, so that kernels are compiled and threads have started.
CHILD = """
import resource, sys
from pathlib import Path
import numpy as np
import semiring as sr
from semiring import Matrix, Vector, algorithms, io, ops, random
from semiring.exceptions import OutOfMemory

sr.config.quiet = True
room, path = int(sys.argv[1]), Path(sys.argv[2])

def operations(scale):
    n = 1 << scale
    rng = np.random.default_rng(1)
    rows, cols = rng.integers(0, n, (2, 16 * n))
    values = rng.random(16 * n)
    A = Matrix.from_coo(rows, cols, values, shape=(n, n), dup_op="max")
    d = Vector.from_dense(rng.random(n))
    file = path / f"{scale}.npz"
    io.write(file, A)
    return {
        "from_coo": lambda: Matrix.from_coo(rows, cols, values, shape=(n, n), dup_op="max").nvals,
        "transpose": lambda: A.T.dup().nvals,
        "mxm": lambda: (A @ A).nvals,
        "ewise": lambda: (A + A).nvals,
        "apply": lambda: A.apply("ainv").nvals,
        "mxv": lambda: (A @ d).nvals,
        "extract": lambda: A[np.arange(n)[::-1], :].dup().nvals,
        "compress": lambda: A.compress("varint").nvals,
        "components": lambda: algorithms.connected_components(A).nvals,
        "read": lambda: io.read(file).nvals,
        "to_dense": lambda: A.to_dense(0.0).shape,
        "decompress": lambda: Matrix.from_scalar(1.0, n, n).decompress().nvals,
        "rmat": lambda: random.rmat(scale + 3).nrows,
    }

small, large = operations(4), operations(14)
expected = {name: run() for name, run in small.items()}
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + room, used + room))
refused = []
for name, run in large.items():
    try:
        run()
    except OutOfMemory:
        refused.append(name)
for name, run in small.items():
    assert run() == expected[name], name
print(" ".join(refused))
"""


@pytest.mark.costly
@pytest.mark.parametrize("room_mib", [pytest.param(8, marks=pytest.mark.exhaustive), 64])
def test_a_process_at_its_limit(engine: str, room_mib: int, tmp_path: Any) -> None:
    """Nothing but OutOfMemory is raised, nothing hangs or dies, and later small operations return correct results."""
    if engine != "cpu" or not sys.platform.startswith("linux"):
        pytest.skip("a limit on the address space of NumPy's process")
    command = [sys.executable, "-c", CHILD, str(room_mib << 20), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert {"to_dense", "decompress"} <= set(done.stdout.split())
