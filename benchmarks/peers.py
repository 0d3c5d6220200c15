"""Other programs that do the same work: called if they can be installed, else quoted from an earlier measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import semiring as sr
from semiring.bridges.bench.peers import (
    graphblas,
    graphblas_available,
    graphblas_matrix,
    graphblas_search,
    scipy_search,
)

__all__ = [
    "RECORDED", "cusparse_product", "graphblas", "graphblas_available", "graphblas_matrix", "graphblas_product",
    "graphblas_search", "scipy_search",
]  # fmt: skip

# (program, ms) on an NVIDIA H200 (132 SMs, CUDA 13.0 driver): medians of 16 sources for searches, of 5 to 9 runs
# otherwise.  GPU programs by their own loop timer, without allocation and transfer; cuGraph 26.10 as called from
# Python.  Graphs: kron as here; uniform of 2 M vertices and 128 M entries; grid of 5000 x 5000.
RECORDED: dict[tuple[str, str], tuple[tuple[str, float], ...]] = {
    ("bfs_levels", "kron20"): (("gardenia", 0.47), ("cuGraph", 1.97)),
    ("bfs_levels", "kron22"): (("cuGraph", 2.29), ("gardenia", 1.07)),
    ("bfs_levels", "kron24"): (("GraphBLAST, kernels only", 3.7), ("cuGraph", 3.8)),
    ("bfs_levels", "uniform2000000x32"): (("gardenia", 0.83), ("cuGraph", 2.6)),
    ("bfs_levels", "grid5000x5000"): (("Indigo2", 142.0), ("cuGraph", 1540.0)),
    ("connected_components", "kron20"): (("ECL-CC", 0.98), ("cuGraph", 18.0)),
    ("connected_components", "kron22"): (("ECL-CC", 2.16), ("cuGraph", 20.0)),
    ("connected_components", "kron24"): (("ECL-CC", 8.0), ("cuGraph", 42.0)),
    ("connected_components", "uniform2000000x32"): (("ECL-CC", 2.0), ("cuGraph", 33.0)),
    ("connected_components", "grid5000x5000"): (("ECL-CC", 2.5), ("cuGraph", 66.0)),
    ("pagerank iteration", "kron20"): (("cuGraph", 0.345),),
    ("pagerank iteration", "kron22"): (("cuGraph", 1.04),),
    ("pagerank iteration", "kron24"): (("cuGraph", 3.8),),
    ("pagerank iteration", "uniform2000000x32"): (("cuGraph", 1.10),),
    ("pagerank iteration", "grid5000x5000"): (("cuGraph", 0.58),),
    ("sssp", "kron20"): (("GraphBLAST", 5.6),),
    ("sssp", "kron22"): (("GraphBLAST", 15.0),),
    ("sssp", "kron24"): (("cuGraph", 92.0),),
    ("sssp", "uniform2000000x32"): (("Indigo2", 17.0),),
    ("mxv plus_times float32", "kron20"): (("cuSPARSE", 0.22),),
    ("mxv plus_times float32", "kron22"): (("cuSPARSE", 0.91),),
    ("mxv plus_times float32", "kron24"): (("cuSPARSE", 4.9),),
}


def graphblas_product(A: sr.Matrix, x: Any) -> Callable[[int], Any]:
    """python-graphblas's product of the same arrays."""
    gb = graphblas()
    matrix, vector = graphblas_matrix(A, A.to_csr()[2]), gb.Vector.from_dense(x)
    return lambda _: matrix.mxv(vector, gb.semiring.plus_times).new()


def cusparse_product(A: sr.Matrix, x: Any) -> Callable[[int], Any]:
    """cuSPARSE's product through CuPy, sharing the matrix's buffers and `x`; its output is allocated beforehand."""
    import cupy
    from cupyx import cusparse
    from cupyx.scipy.sparse import csr_matrix

    indptr, indices, values = A.to_csr(index_dtype=None)
    matrix = csr_matrix((values, indices, indptr), shape=A.shape, copy=False)
    matrix.has_canonical_format = True
    out = cupy.empty(A.nrows, values.dtype)
    return lambda _: cusparse.spmv(matrix, x, y=out)
