"""Public calls that need an optional package, by the package.

`tests.packaging.smoke` executes this file in environments without these packages, so it imports nothing else of the
tests.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import semiring as sr
import semiring.compat.graphblas as graphblas
from semiring import Matrix, Vector


class ArrowStream:
    """A table with the Arrow stream interface and no other."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return nothing: pyarrow, which would read it, is missing."""
        return None


def calls(folder: Path) -> dict[str, list[Callable[[], Any]]]:
    """Return the calls by the package that each needs; `folder` receives the files that they read."""
    A = Matrix.from_coo([0, 1], [1, 0], [2, 3], nrows=2, ncols=2, device="cpu")
    v = Vector.from_coo([1], [5], size=2, device="cpu")
    for name in ("graph.graphml", "graph.gml", "graph.parquet", "graph.mtx.zst"):
        (folder / name).write_bytes(b"\x28\xb5\x2f\xfd")  # how a frame of Zstandard begins
    read = {name: lambda name=name: sr.io.read(folder / name) for name in ("graph.graphml", "graph.gml")}
    return {
        "awkward": [lambda: graphblas.io.to_awkward(A)],
        "cupy": [lambda: sr.io.to_cupy_sparse(A.dup(dtype=float))],
        "igraph": [lambda: sr.io.to_igraph(A)],
        "matplotlib": [A.spy, v.hist, lambda: sr.plot.degree_distribution(A)],
        "mpi4py": [lambda: sr.distributed.launch(2, ["program.py"])],
        "networkx": [lambda: sr.io.to_networkx(A), *read.values()],
        "pandas": [A.to_pandas, v.to_pandas],
        "polars": [A.to_polars, v.to_polars],
        "pyarrow": [
            A.to_arrow,
            v.to_arrow,
            lambda: sr.io.read(folder / "graph.parquet"),
            lambda: sr.io.write(folder / "new.parquet", A),
            lambda: Matrix.from_edgelist(ArrowStream()),
        ],
        "torch_geometric": [lambda: sr.io.to_torch_geometric(A)],
        "sparse": [lambda: graphblas.io.to_pydata_sparse(A), lambda: graphblas.io.from_pydata_sparse(A)],
        "zstandard": [lambda: sr.io.read(folder / "graph.mtx.zst")],
    }
