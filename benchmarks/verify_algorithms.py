r"""Every algorithm on large graphs, verified by the defining properties of its results.

    python -m benchmarks.verify_algorithms --graphs kron20 grid100x100x100 rmat20 --device cuda
    python -m benchmarks.verify_algorithms --graphs kron12 --families paths sets

The proofs are those of `tests/algorithms/proofs` that need no other program.  ``rmat<scale>`` is directed.  A proof is
skipped on graphs of more entries than its bound, or than ``--entries``.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback

import semiring as sr
from tests.algorithms.proofs import DEFINITION, PROOFS
from tests.algorithms.proofs.case import Case

from . import graphs, machine
from .forms import release

GRAPHS = ("kron20", "rmat20", "grid100x100x100")


def main() -> int:
    """Run every proof on every graph; exits with 1 if any result is wrong."""
    families = sorted({proof.family for proof in PROOFS})
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.verify_algorithms", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--graphs", nargs="+", default=GRAPHS, help="default: %(default)s")
    parser.add_argument("--families", nargs="+", choices=families, default=families, help="default: all")
    parser.add_argument("--proofs", nargs="+", help="names of single proofs; default: all")
    parser.add_argument("--entries", type=float, default=float("inf"), help="skip proofs on larger graphs")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: the device of new objects")
    given = parser.parse_args()
    device = given.device or ("cuda" if sr.cuda_available() else "cpu")
    print(machine.describe(device))
    good = True
    with sr.use(device):
        for name in given.graphs:
            for family in given.families:
                good &= _proved(name, family, given.entries, given.proofs)
                release(device)
    return 0 if good else 1


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


if __name__ == "__main__":
    sys.exit(main())
