"""Searches and components on graphs of hundreds of millions of entries, proved by properties.

    python -m benchmarks.verify_large
    python -m benchmarks.verify_large --graphs kron12 grid50x50 star1000 --device cpu

Searches start at the row with most entries and at random ones.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback

import semiring as sr

from . import checks, graphs, machine
from .harness import SOURCES

GRAPHS = ("kron24", "grid5000x5000", "star100000000")


def main() -> int:
    """Verify; ends with 1 if anything is wrong, and goes on to the next graph."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verify_large", description=__doc__.partition("\n")[0])
    parser.add_argument("--graphs", nargs="+", default=GRAPHS, help="default: %(default)s")
    parser.add_argument("--sources", type=int, default=SOURCES, help="searches on each; default %(default)s")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: where new objects live")
    asked = parser.parse_args()
    device = asked.device or ("cuda" if sr.cuda_available() else "cpu")
    print(machine.describe(device))
    with sr.use(device):
        wrong = [name for name in asked.graphs if not _survived(name, asked.sources)]
    return 1 if wrong else 0


def _survived(name: str, count: int) -> bool:
    """Whatever happens on one graph, the next one is tried."""
    try:
        return _graph(name, count)
    except Exception:
        traceback.print_exc()
        print(f"WRONG  {name}", flush=True)
        return False


def _graph(name: str, count: int) -> bool:
    start = time.perf_counter()
    A = graphs.make(name).wait()
    indptr, _ = graphs.arrays(A)
    hub = int((indptr[1:] - indptr[:-1]).argmax())
    sources = [hub, *graphs.sources(A, count - 1)]
    print(f"{name}: {A.nrows} rows, {A.nvals} entries, made in {time.perf_counter() - start:.1f} s", flush=True)
    good = True
    check = checks.levels(A)
    start = time.perf_counter()
    depths = []
    for source in sources:
        levels = sr.algorithms.bfs_levels(A, source)
        good &= _proved(f"{name}: levels from {source}", check, source, levels)
        depths.append(int(levels.reduce("max").value))
    seconds = time.perf_counter() - start
    print(
        f"{name}: {count} searches, {min(depths)} to {max(depths)} levels deep; proved in {seconds:.1f} s", flush=True
    )
    start = time.perf_counter()
    for method in ("afforest", "fastsv"):
        labels = sr.algorithms.connected_components(A, method=method)
        if method == "afforest":
            check = checks.components(A)
        good &= _proved(f"{name}: components by {method}", check, None, labels)
    found = int((labels.to_dense() == checks.itself(A)).sum())
    print(f"{name}: {found} components; proved in {time.perf_counter() - start:.1f} s", flush=True)
    return good


def _proved(what: str, check: checks.Check, argument: object, result: sr.Vector) -> bool:
    try:
        check(argument, result)
    except AssertionError as wrong:
        print(f"WRONG  {what}: {wrong}", flush=True)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
