"""Graphs as SciPy and CuPy hold them, as Matrices; results as theirs; and which function computes what.

A graph on the GPU (a CuPy array, or a matrix of `cupyx.scipy.sparse`) is computed there, and its results stay there.
A graph in host memory is computed by SciPy or on the CPU engine, whichever takes less time: `in_place_of` compares its
number of entries with a measured bound, and functions whose time depends on more call `is_for_scipy`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph
from scipy.sparse import csr_array, issparse, sparray, spmatrix
from scipy.sparse import csr_matrix as scipy_csr_matrix

from semiring import Matrix
from semiring.exceptions import NotSupported
from semiring.memory.arrays import Array, array_module, to_device, to_host

P = ParamSpec("P")
R = TypeVar("R")

# The value in arrays of predecessors and sources where there is none.
NONE = -9999
# What this package converts; SciPy converts lists, and the matrices of other packages.
_HELD = (np.ndarray, sparray, spmatrix)
# Entries, and entries a vertex, of graphs of which the directions are compared.
_LARGE, _DENSE = 20_000, 8
# SciPy's functions, before anything is put in their place.
csgraph_from_dense = scipy_csgraph.csgraph_from_dense
csgraph_from_masked = scipy_csgraph.csgraph_from_masked


class Policy:
    """What computes a graph in host memory.

    by_time: SciPy where it takes less time.  False: never, where a function of this package exists; for tests.
    """

    by_time = True


def is_for_scipy(graph: Any, condition: bool) -> bool:
    """Whether SciPy computes a graph: one in host memory, under a condition under which it takes less time."""
    return condition and Policy.by_time and not is_on_gpu(graph)


def is_on_gpu(graph: Any) -> bool:
    """Whether a graph is a CuPy array, or a sparse matrix of them."""
    return type(graph).__module__.partition(".")[0] in ("cupy", "cupyx")


def in_place_of(
    theirs: Callable[..., Any], least: float, formats: tuple[str, ...] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function of a graph, its first argument, that SciPy has too.

    least: the fewest entries of a graph in host memory that the decorated function computes; infinity for none, because
    SciPy's takes less time at every size.  formats: the formats that SciPy accepts, ``"array"`` for a dense one, if not
    all: SciPy raises its own error for a graph in host memory of another format, or whose values are not numbers.
    """

    def decorate(ours: Callable[P, R]) -> Callable[P, R]:
        first = next(iter(inspect.signature(ours).parameters))

        @functools.wraps(ours)
        def either(*arguments: P.args, **named: P.kwargs) -> R:
            graph: Any = arguments[0] if arguments else named.get(first)
            if not is_on_gpu(graph) and (not _accepted(graph, formats) or (graph.size < least and Policy.by_time)):
                return theirs(*arguments, **named)  # type: ignore[no-any-return]
            return ours(*arguments, **named)

        return either

    return decorate


def _accepted(graph: Any, formats: tuple[str, ...]) -> bool:
    """Whether a graph in host memory is one that this package converts."""
    if not isinstance(graph, _HELD) or graph.dtype.kind not in "biufc":
        return False
    return not formats or getattr(graph, "format", "array") in formats


def on_the_host(theirs: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate the signature of a function that SciPy computes, also for a graph on the GPU, which is copied."""

    def decorate(ours: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(ours)
        def copying(*arguments: P.args, **named: P.kwargs) -> R:
            if not any(map(is_on_gpu, (*arguments, *named.values()))):
                return theirs(*arguments, **named)  # type: ignore[no-any-return]
            near = [downloaded(one) for one in arguments]
            return uploaded(theirs(*near, **{name: downloaded(one) for name, one in named.items()}))  # type: ignore[no-any-return]

        return copying

    return decorate


def not_on_gpu(theirs: Callable[..., Any], reason: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate the signature of a function that SciPy computes; NotSupported for a graph on the GPU."""

    def decorate(ours: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(ours)
        def refusing(*arguments: P.args, **named: P.kwargs) -> R:
            if any(map(is_on_gpu, (*arguments, *named.values()))):
                raise NotSupported(f"{ours.__name__}: {reason}")
            return theirs(*arguments, **named)  # type: ignore[no-any-return]

        return refusing

    return decorate


def downloaded(thing: Any) -> Any:
    """Return a CuPy array or sparse matrix in host memory, anything else unchanged.  Synchronizes."""
    if not is_on_gpu(thing):
        return thing
    if not hasattr(thing, "tocsr"):
        return to_host(thing)
    csr = thing.tocsr()
    return csr_array(tuple(map(to_host, (csr.data, csr.indices, csr.indptr))), shape=csr.shape)


def uploaded(result: Any) -> Any:
    """Return the arrays and sparse matrices of a result of SciPy on the GPU, numbers unchanged."""
    if isinstance(result, tuple):
        return tuple(map(uploaded, result))
    if isinstance(result, np.ndarray):
        return to_device(result, "cuda")
    if issparse(result):
        from cupyx.scipy.sparse import csr_matrix

        parts = tuple(to_device(part, "cuda") for part in (result.data, result.indices, result.indptr))
        return csr_matrix(parts, shape=result.shape)
    return result


def module_of(graph: Any) -> Any:
    """NumPy or CuPy, whichever holds the graph."""
    return array_module("cuda" if is_on_gpu(graph) else "cpu")


def to_csr(graph: Any, *, directed: bool = True) -> Any:
    """Return a graph as a square CSR matrix of SciPy or CuPy, with its own type of values.

    Zeros, infinities and NaN of a dense array are no edges, as `csgraph_from_dense` defines; all entries of a sparse
    matrix are.  An undirected graph may be returned transposed.

    Raises ValueError unless the graph is square.
    """
    if is_on_gpu(graph):
        csr = _csr_on_gpu(graph, directed)
    elif issparse(graph):
        # An undirected graph by columns is its transpose by rows, without a conversion.
        csr = (graph.T if not directed and graph.format == "csc" else graph).tocsr()
    elif np.ma.isMaskedArray(graph):
        csr = csgraph_from_masked(graph)
    else:
        csr = csgraph_from_dense(graph)
    if csr.ndim != 2:
        raise ValueError("compressed-sparse graph must be 2-D")
    if csr.shape[0] != csr.shape[1]:
        raise ValueError("compressed-sparse graph must be shape (N, N)")
    return csr


def _csr_on_gpu(graph: Any, directed: bool) -> Any:
    if hasattr(graph, "tocsr"):
        return (graph.T if not directed and graph.format == "csc" else graph).tocsr()
    return dense_to_csr(graph, ~np.isfinite(graph) | (graph == 0))


def dense_to_csr(graph: Array, is_null: Array) -> Any:
    """Return an array as a CSR matrix of float64, without the entries that are null.  Synchronizes."""
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise ValueError("graph should be a square array" if graph.ndim == 2 else "graph should have two dimensions")
    xp, n, given = module_of(graph), graph.shape[0], graph
    graph = xp.asarray(graph)  # no np.matrix
    places = xp.flatnonzero(~is_null)  # synchronizes
    rows, columns = xp.divmod(places, n) if n else (places, places)
    offsets = xp.zeros(n + 1, np.int32)
    offsets[1:] = xp.cumsum(xp.bincount(rows, minlength=n))
    data = graph.reshape(-1)[places].astype(np.float64, copy=False)
    return _csr_class(given)((data, columns.astype(np.int32), offsets), shape=graph.shape)


def _csr_class(graph: Any) -> Any:
    """Return the class of sparse matrices of an array."""
    if is_on_gpu(graph):
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix
    return scipy_csr_matrix if isinstance(graph, np.matrix) else csr_array


def sparse_like(csr: Any, data: Array, indices: Array, indptr: Array) -> Any:
    """Return a CSR matrix of the class and shape of another one."""
    return csr.__class__((data, indices, indptr), shape=csr.shape)


def weighted(csr: Any, *, directed: bool = True) -> Matrix:
    """Return a graph as a Matrix of float64: the least of repeated entries, and of both directions if undirected.

    It shares the arrays of a matrix of float64 with sorted rows.
    """
    return _both(_matrix(csr, csr.data.astype(np.float64, copy=False), "min"), directed)


def pattern(csr: Any, *, directed: bool = True) -> Matrix:
    """Return the structure of a graph as a Matrix, whose values are not read."""
    return _both(_matrix(csr, None, "any"), directed)


def _matrix(csr: Any, values: Array | None, dup_op: str) -> Matrix:
    device = "cuda" if is_on_gpu(csr) else "cpu"
    return Matrix.from_csr(csr.indptr, csr.indices, values, shape=csr.shape, dup_op=dup_op, copy=False, device=device)


def _both(A: Matrix, directed: bool) -> Matrix:
    if directed or (A.is_symmetric_structure and (A.is_iso or A.isequal(A.T))):
        return A
    return A.ewise_add(A.T, "min" if A.dtype.kind == "f" else "any")


def by_rows(graph: Any, directed: bool) -> bool:
    """Whether the rows of a graph in host memory list all edges: it is directed, or has each edge in both directions.

    Directions are compared only where that takes less time than SciPy takes to transpose the graph.
    """
    if directed or not (Policy.by_time and issparse(graph) and graph.format == "csr"):
        return directed
    n = graph.shape[0]
    is_large = graph.shape == (n, n) and graph.nnz >= max(_LARGE, _DENSE * n)
    return is_large and pattern(graph).is_symmetric_structure


def entry_rows(A: Matrix) -> Array:
    """Return the row of each entry, as int32."""
    offsets, _, _ = A.to_csr(index_dtype=None)
    if A.device == "cpu":
        return np.repeat(np.arange(A.nrows, dtype=np.int32), np.diff(offsets))
    rows: Array = A.to_coo(index_dtype=np.int32)[0]
    return rows
