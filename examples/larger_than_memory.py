"""A graph from a file under a budget of GPU memory: plain and compressed, in every placement, with the same answers.

    python examples/larger_than_memory.py [SCALE]

makes a graph of 2**SCALE vertices (default 12; 24 and more show differences on a GPU), writes it to a file, and
searches it with device memory for a third of its plain form.  On the CPU, where all memory is one, the budget means
nothing, and "host" streams the graph from the file.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import semiring as sr


def search(name: str, A: sr.Matrix, source: int) -> tuple[np.ndarray, int]:
    """Return the levels from `source` and the number of components; print how the matrix is held and the time taken."""
    sr.algorithms.bfs_levels(A, source)  # compiles what is not compiled yet
    start = time.perf_counter()
    levels = sr.algorithms.bfs_levels(A, source).wait()
    ms = (time.perf_counter() - start) * 1e3
    labels = sr.algorithms.connected_components(A)
    bits = 8 * A.nbytes / max(A.nvals, 1)
    print(f"{name:<28} {A.format:<4} {A.placement:<6} {bits:5.1f} bits an entry, search {ms:8.2f} ms")
    return levels.to_dense(fill_value=-1), len(np.unique(labels.to_numpy()))


def main(scale: int = 12) -> None:
    """Search one graph in five ways, and compare the answers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.srb"
        made = sr.random.kronecker(scale, seed=1)
        sr.io.write(path, made)
        plain_bytes, source = made.nbytes, int(made.reduce_rowwise("count").to_dense(fill_value=0).argmax())
        del made

        budget = max(plain_bytes // 3, 64_000_000)
        print(f"{plain_bytes:,} bytes plain; {budget:,} bytes of device memory allowed")
        found = {}
        with sr.config.set(device_memory=budget):
            for placement in ("auto", "pinned", "host"):
                A = sr.io.read(path, placement=placement)
                found[f"plain, {placement}"] = search(f"plain, {placement}", A, source)
            for codec in ("packed", "varint"):
                # Encoded slice by slice from the file: the plain form is never in device memory as a whole.
                A = sr.io.read(path, compress=codec, placement="pinned")
                found[codec] = search(f"{codec}, pinned", A, source)

        levels, components = found["plain, auto"]
        for name, (other, count) in found.items():
            assert (other == levels).all(), name
            assert count == components, name
        print(f"{int((levels >= 0).sum()):,} vertices reached, {components:,} components, whichever way")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
