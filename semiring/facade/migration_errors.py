"""The errors for names and arguments of other libraries, and for old names: what this library has instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..exceptions import near_names
from ..renamed import NAMES, SINCE

__all__ = ["Named", "constructor_of", "no_attribute"]

# What reduces all entries, by the operator that says how.
_REDUCED = {"sum": "plus", "prod": "times", "any": "lor", "all": "land"}
_REDUCED |= {name: name for name in ("min", "max", "mean", "argmin", "argmax")}
# The name that NumPy, SciPy, NetworkX, PyTorch, pandas, or an earlier GraphBLAS library has -> what to write here.
_BOTH = {
    "toarray todense to_array numpy": ".to_numpy(fill_value=0)",
    "tolist to_list": ".to_numpy(fill_value=0).tolist()",
    "data": ".to_coo(), which ends with the values",
    "copy clone": ".dup()",
    "astype": ".dup(dtype)",
    "cpu": '.to("cpu")',
    "cuda gpu": '.to("cuda")',
    "nonzero": ".to_coo(), or .select('valuene', 0) for the entries that are not zero",
    "count_nonzero count": ".nvals",
    "dot matmul": "A @ B, or a method with a semiring: A.mxm(B, op), A.mxv(v, op), v.vxm(A, op), v.inner(w, op)",
    "multiply": ".ewise_mult(other), which is *",
    "add": ".ewise_add(other), which is +",
    "concatenate append": "semiring.concat, semiring.hstack, semiring.vstack",
    "hstack column_stack": "semiring.hstack",
    "vstack": "semiring.vstack",
    "block": "semiring.block",
    "where": ".select(op, thunk), or C(mask) << x",
    "clip": '.apply("max", low).apply("min", high)',
    "cumsum": '.scan("plus")',
    "cumprod": '.scan("times")',
    "allclose": ".isclose(other)",
    "array_equal": ".isequal(other)",
    "zeros_like empty_like": "Matrix(A.dtype, A.nrows, A.ncols) or Vector(v.dtype, v.size), which have no entries",
    "ones_like full_like": "C(A.S) << 1 for the same entries, or C << 1 for all positions",
    "plot draw": ".spy() and .draw() of a Matrix, .hist() of a Vector, and semiring.plot",
}
_MATRIX = {
    **{name: f'.reduce_scalar("{op}")' for name, op in _REDUCED.items()},
    "tocsr tocsc tocoo asformat to_scipy to_scipy_sparse": "semiring.io.to_scipy_sparse(A)",
    "to_networkx": "semiring.io.to_networkx(A)",
    "from_networkx from_graph": "semiring.io.from_networkx(G)",
    "from_scipy from_scipy_sparse from_sparse": "semiring.io.from_scipy_sparse(S)",
    "from_cupy_sparse from_cupyx": "semiring.io.from_cupy_sparse(X)",
    "from_numpy from_array from_arrays from_list from_lists from_torch from_tensor from_cupy from_dlpack": (
        "Matrix.from_dense(array, missing_value)"
    ),
    "from_pandas from_polars from_arrow from_edges": "Matrix.from_edgelist(edges)",
    "from_igraph": "semiring.io.from_igraph(G)",
    "to_igraph": "semiring.io.to_igraph(A)",
    "from_values from_triples from_tuples": "Matrix.from_coo(rows, columns, values, shape=)",
    "from_dict": "Matrix.from_dicts(dicts, shape=)",
    "from_file from_mtx read load open mmread": "semiring.io.read(path)",
    "zeros empty sparse": "Matrix(dtype, nrows, ncols), which has no entries",
    "ones full": "Matrix.from_scalar(1, nrows, ncols)",
    "eye": "Matrix.identity(n)",
    "random rand rmat": "semiring.random",
    "save write": "semiring.io.write(path, A)",
    "indices indptr": ".to_csr()",
    "values": ".to_coo(), which ends with the values",
    "mm": ".mxm(B, op)",
    "mv": ".mxv(v, op)",
    "vxm": "v.vxm(A, op), a method of the Vector",
    "inner": "A.mxm(B.T, op) for the inner products of all rows",
    "size": ".nvals for the entries, .shape for the positions",
    "num_rows n_rows rows number_of_nodes num_nodes order": ".nrows",
    "num_cols n_cols columns cols": ".ncols",
    "num_edges number_of_edges size_of_edges nedges": ".nvals",
    "diagonal": ".diag()",
    "H": ".T",
    **{name: f'.select("{name}")' for name in ("tril", "triu", "offdiag")},
    "reduce_rows row_sum rowsum sum_rows reduce_row": '.reduce_rowwise("plus")',
    "reduce_columns reduce_cols col_sum colsum sum_columns reduce_column": '.reduce_columnwise("plus")',
    "neighbors neighbours adj": "A[i].to_coo()[0]",
    "degree": '.reduce_rowwise("count")',
    "idxmin": ".minloc()",
    "idxmax": ".maxloc()",
}
_VECTOR = {
    **{name: f'.reduce("{op}")' for name, op in _REDUCED.items()},
    "to_scipy to_scipy_sparse": "semiring.io.to_scipy_sparse(v)",
    "from_numpy from_array from_list from_torch from_tensor from_cupy from_dlpack": (
        "Vector.from_dense(array, missing_value)"
    ),
    "from_scipy from_scipy_sparse": "semiring.io.from_scipy_sparse(S)[0], of a matrix of one row",
    "from_values from_tuples": "Vector.from_coo(indices, values, size=)",
    "from_dicts": "Vector.from_dict(entries, size=)",
    "zeros": "Vector.full(0, size), or Vector(dtype, size), which has no entries",
    "empty sparse": "Vector(dtype, size), which has no entries",
    "ones": "Vector.full(1, size)",
    "arange": "Vector.from_dense(np.arange(size))",
    "indices values": ".to_coo()",
    "groupby group_by bincount scatter scatter_add segment_sum": ".reduce_by(labels, op, size=)",
    "scatter_min segment_min": ".minloc_by(labels, size=)",
    "scatter_max segment_max": ".maxloc_by(labels, size=)",
    "mxv": "A.mxv(v, op), a method of the Matrix",
    "mxm": "A.mxv(v, op), or v.vxm(A, op)",
    "nrows": ".size",
    "distance parent": "semiring.algorithms.shortest_path_tree(A, source), whose result has both",
    "T": "nothing: v.vxm(A) takes it as a row, A.mxv(v) as a column",
}
_HINTS = {
    kind: {name: hint for names, hint in {**_BOTH, **table}.items() for name in names.split()}
    | {old: f".{new}, its name since {SINCE}" for old, new in NAMES[kind].items()}
    for kind, table in (("Matrix", _MATRIX), ("Vector", _VECTOR))
}


class Named(type):
    """The class of Matrix and Vector: a name that they lack raises an error with what the library has instead.

    Python calls `__getattr__` only where a name is not found, so that others cost nothing.
    """

    if not TYPE_CHECKING:  # a type checker reports the attributes that do not exist

        def __getattr__(cls, name: str) -> Any:
            raise no_attribute(cls, name, "type object ", "")


def no_attribute(cls: type[Any], name: str, before: str = "", after: str = " object") -> AttributeError:
    """Return the error for an attribute that an object of a class lacks; it names what the library has instead.

    before, after: the words around the name of the class, as Python has them.
    """
    text = f"{before}{cls.__name__!r}{after} has no attribute {name!r}"
    hint = "" if name.startswith("_") else _hint(cls, name)
    return AttributeError(f"{text}{hint}", name=name)


def _hint(cls: type[Any], name: str) -> str:
    instead = instead_of(cls, name)
    if instead is not None:
        return f"; use {instead}"
    public = [own for own in dir(cls) if not own.startswith("_")]
    close = near_names(name, public, n=3)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def instead_of(cls: type[Any], name: str) -> str | None:
    """Return what the library has for a name that other libraries have; None where nothing is listed."""
    kind = next((base.__name__ for base in cls.__mro__ if base.__name__ in _HINTS), "")
    return _HINTS.get(kind, {}).get(name)


def constructor_of(value: Any, kind: str = "") -> str:
    """Return the call that makes an object of this library of a value of another one; empty where there is none.

    kind: ``"Matrix"``, ``"Vector"``, or empty for the one that the value has the dimensions of.
    """
    module = type(value).__module__.partition(".")[0]
    if hasattr(value, "tocsr"):
        return "sr.io.from_cupy_sparse" if module == "cupyx" else "sr.io.from_scipy_sparse"
    if module == "networkx" or hasattr(value, "adjacency"):
        return "sr.io.from_networkx"
    if hasattr(value, "columns"):
        return "Matrix.from_edgelist"
    array = isinstance(value, (list, tuple)) or hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__")
    if not array and not hasattr(value, "__cuda_array_interface__"):
        return ""
    dimensions = {1: "Vector", 2: "Matrix"}.get(getattr(value, "ndim", 0), "")
    chosen = dimensions or kind
    return f"{chosen}.from_dense" if chosen else "Vector.from_dense or Matrix.from_dense"
