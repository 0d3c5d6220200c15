"""How much of the work of a product each process of a grid has, counted from the entries of a Kronecker graph.

    python -m benchmarks.balance [--scale 16] [--processes 2,4,8]

Processes multiply the rows of their pieces, which are divided by number.  The work of a row is the number of entries
that the product reads for it: for A A the lengths of the rows of its columns; for triangles the same of L and U.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import semiring as sr

from .graphs import SEED
from .machine import facts

Counts = dict[str, np.ndarray[Any, Any]]


def work(scale: int) -> Counts:
    """Return the work of each row of A A, and of U U' under the mask L, of which processes have shares or ranges."""
    A = sr.random.kronecker(scale, 16, seed=SEED).select("offdiag").new()
    rows, cols, _ = A.to_coo()
    n = A.nrows
    degrees = np.bincount(rows, minlength=n)
    place = np.empty(n, np.int64)
    place[np.argsort(degrees, kind="stable")] = np.arange(n)
    upper = place[rows] < place[cols]
    lengths = np.bincount(rows[upper], minlength=n)
    in_place = np.bincount(rows[~upper], weights=lengths[cols[~upper]], minlength=n)
    by_degree = np.empty(n)
    by_degree[place] = in_place
    return {
        "A A": np.bincount(rows, weights=degrees[cols], minlength=n),
        "triangles, ranges of the order": by_degree,
        "triangles, shares of the order": by_degree[np.argsort(39 * np.arange(n) % 64, kind="stable")],
        "triangles, vertices in place": in_place,
    }


def main() -> None:
    """Print the shares of the processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--processes", default="2,4,8")
    args = parser.parse_args()
    print(facts("cpu"))
    print(f"Kronecker graph of scale {args.scale}: shares of the entries that products read, in %")
    for name, counts in work(args.scale).items():
        for processes in map(int, args.processes.split(",")):
            parts = [part.sum() / counts.sum() for part in np.array_split(counts, processes)]
            print(f"{name:36}{processes:3}  " + " ".join(f"{100 * part:5.1f}" for part in parts))


if __name__ == "__main__":
    main()
