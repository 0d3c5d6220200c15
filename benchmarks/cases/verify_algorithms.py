"""Every algorithm on large graphs, verified by the defining properties of its results.

The proofs are those of `tests/algorithms/proofs` that need no other program.  ``rmat<scale>`` is directed.  A proof is
skipped on graphs of more entries than its bound, or than ``--entries``.
"""

from __future__ import annotations

import time
import traceback

import semiring as sr
from tests.algorithms.proofs import DEFINITION, PROOFS
from tests.algorithms.proofs.case import Case

from .. import graphs, machine
from ..case import Run
from ..forms import release

GRAPHS = ("kron20", "rmat20", "grid100x100x100")


def make(name: str) -> sr.Matrix:
    """The graph of that name."""
    if name.startswith("rmat"):
        return sr.random.rmat(int(name.removeprefix("rmat")), 16, seed=graphs.SEED)
    return graphs.make(name)


def _proved(name: str, family: str, entries: float, chosen: list[str] | None) -> bool:
    """Whether every proof of a family holds; an error in one does not stop the next."""
    case, good = Case(name, make(name)), True
    for proof in PROOFS:
        if proof.family != family or proof.by != DEFINITION or (chosen and proof.name not in chosen):
            continue
        what = f"{name}, {family}: {', '.join(proof.functions)}"
        if case.entries > min(proof.entries, entries):
            print(f"skipped {what}: {case.entries} entries", flush=True)
            continue
        start = time.perf_counter()
        try:
            proof.run(case)
        except Exception:
            traceback.print_exc()
            print(f"WRONG   {what}", flush=True)
            good = False
        else:
            print(f"proved  {what} in {time.perf_counter() - start:.1f} s", flush=True)
    return good


FAMILIES = tuple(sorted({proof.family for proof in PROOFS}))
OPTIONS = {
    "graphs": (GRAPHS, "on which they run"),
    "families": (FAMILIES, "of algorithms", FAMILIES),
    "proofs": ((), "names of single proofs"),
    "entries": (float("inf"), "skip proofs on larger graphs"),
}


def main(run: Run) -> int:
    """Run every proof on every graph; 1 if any result is wrong."""
    print(machine.describe(run.device))
    good = True
    for name in run.options.graphs:
        for family in run.options.families:
            good &= _proved(name, family, run.options.entries, run.options.proofs)
            release(run.device)
    return int(not good)
