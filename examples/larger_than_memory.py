"""A graph from a file under a budget of GPU memory: uncompressed and compressed, in every placement, with the same
results.

    python examples/larger_than_memory.py [SCALE]

generates a graph of 2**SCALE vertices (default 12; differences show on a GPU from 24 on), writes it to a file, and
searches it with device memory for a third of its uncompressed size.  The CPU has one memory, so the budget has no
effect there, and "host" streams the graph from the file.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import semiring as sr


def search(name: str, A: sr.Matrix, source: int) -> tuple[np.ndarray, int]:
    """Return the levels from `source` and the number of components; print the storage kind and the time."""
    sr.algorithms.bfs_levels(A, source)  # compiles the kernels
    start = time.perf_counter()
    levels = sr.algorithms.bfs_levels(A, source).wait()
    ms = (time.perf_counter() - start) * 1e3
    labels = sr.algorithms.connected_components(A)
    bits = 8 * A.nbytes / max(A.nvals, 1)
    print(f"{name:<28} {A.format:<4} {A.placement:<6} {bits:5.1f} bits an entry, search {ms:8.2f} ms")
    return levels.to_dense(fill_value=-1), len(np.unique(labels.to_numpy()))


def main(scale: int = 12) -> None:
    """Search one graph in five storage kinds, and compare the results."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.srb"
        made = sr.random.kronecker(scale, seed=1)
        sr.io.write(path, made)
        uncompressed_bytes, source = made.nbytes, int(made.reduce_rowwise("count").to_dense(fill_value=0).argmax())
        del made

        budget = max(uncompressed_bytes // 3, 64_000_000)
        print(f"{uncompressed_bytes:,} bytes uncompressed; {budget:,} bytes of device memory allowed")
        found = {}
        with sr.config.set(device_memory=budget):
            for placement in ("auto", "pinned", "host"):
                A = sr.io.read(path, placement=placement)
                found[f"uncompressed, {placement}"] = search(f"uncompressed, {placement}", A, source)
            for codec in ("packed", "varint"):
                # Encoded in slices from the file: the uncompressed matrix is never in device memory as a whole.
                A = sr.io.read(path, compress=codec, placement="pinned")
                found[codec] = search(f"{codec}, pinned", A, source)

        levels, components = found["uncompressed, auto"]
        for name, (other, count) in found.items():
            assert (other == levels).all(), name
            assert count == components, name
        print(f"{int((levels >= 0).sum()):,} vertices reached, {components:,} components, in every storage kind")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
