"""Files, SciPy and NetworkX by python-graphblas's parameters; everything else as :mod:`semiring.io`."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from semiring import io as _own
from semiring.bridges.graphblas.objects import Matrix, Vector, adopted
from semiring.bridges.graphblas.other_arrays import from_awkward, from_pydata_sparse, to_awkward, to_pydata_sparse
from semiring.exceptions import InvalidValue
from semiring.io import from_scipy_sparse as _from_scipy_sparse
from semiring.io import to_scipy_sparse

__all__ = [
    "from_awkward",
    "from_networkx",
    "from_pydata_sparse",
    "from_scipy_sparse",
    "mmread",
    "mmwrite",
    "to_awkward",
    "to_networkx",
    "to_pydata_sparse",
    "to_scipy_sparse",
]

# The programs that python-graphblas can read and write a Matrix Market file with; here there is one.
_ENGINES = ("auto", "scipy", "fmm", "fast_matrix_market")


def from_scipy_sparse(A: Any, *, dup_op: Any = None, name: str | None = None) -> Matrix:
    """As :func:`semiring.io.from_scipy_sparse`, but repeated positions need a `dup_op`.

    Parameters
    ----------
    A : SciPy sparse matrix or array
    dup_op : binary operator that combines entries at the same position
    name : shown by `repr`

    Raises
    ------
    DuplicateIndex
        If a position repeats and there is no `dup_op`.

    Examples
    --------
    >>> import scipy.sparse
    >>> import semiring.compat.graphblas as gb
    >>> gb.io.from_scipy_sparse(scipy.sparse.eye_array(3)).nvals
    3
    """
    if dup_op is None and getattr(A, "format", None) == "coo":
        rows, columns = A.coords
        return Matrix.from_coo(rows, columns, A.data, shape=A.shape, name=name)  # type: ignore[no-any-return]
    return adopted(_from_scipy_sparse(A, dup_op=dup_op, name=name))


def from_networkx(
    G: Any, nodelist: Any = None, dtype: Any = None, weight: str | None = "weight", name: str | None = None
) -> Matrix:
    """As :func:`semiring.io.from_networkx`, with the edge attribute ``"weight"`` by default.

    Parameters
    ----------
    G, nodelist, dtype, weight : as :func:`semiring.io.from_networkx`
    name : shown by `repr`

    Raises
    ------
    networkx.NetworkXError
        For a graph without nodes.

    Examples
    --------
    >>> import networkx as nx
    >>> import semiring.compat.graphblas as gb
    >>> gb.io.from_networkx(nx.path_graph(3)).nvals
    4
    """
    if not len(G):
        from networkx import NetworkXError

        raise NetworkXError("the graph has no nodes")
    return adopted(_own.from_networkx(G, weight, nodelist=nodelist, dtype=dtype), name)


def to_networkx(m: Matrix, edge_attribute: str | None = "weight") -> Any:
    """As :func:`semiring.io.to_networkx`, with the edge attribute by python-graphblas's name.

    Parameters
    ----------
    m : Matrix
    edge_attribute : the edge attribute that receives the value; None for none

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.io.to_networkx(gb.Matrix.from_coo([0, 1], [1, 0], 2.5)).number_of_edges()
    2
    """
    return _own.to_networkx(m, edge_attribute)


def mmread(
    source: str | PathLike[str] | IO[Any],
    engine: str = "auto",
    *,
    dup_op: Any = None,
    name: str | None = None,
    **options: Any,
) -> Matrix:
    """As :func:`semiring.io.mmread`, also from an open file; `engine` and `options` change nothing.

    A skew-symmetric file may have entries on the diagonal, which are stored as they are.

    Parameters
    ----------
    source : path, or a file open for reading
    engine, **options : accepted for programs of python-graphblas; they change nothing
    dup_op : binary operator that combines entries at the same position
    name : shown by `repr`

    Raises
    ------
    InvalidValue
        For an `engine` that python-graphblas does not have.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> gb.io.mmwrite("graph.mtx", gb.Matrix.from_coo([0, 1], [1, 0], 2.5))
    >>> gb.io.mmread("graph.mtx").nvals
    2
    """
    _check(engine)
    if isinstance(source, (str, PathLike)):
        made = _own.mmread(source, dup_op=dup_op, skew_diagonal=True)
    else:
        content = source.read()
        with TemporaryDirectory() as folder:
            path = Path(folder) / "matrix.mtx"
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            made = _own.mmread(path, dup_op=dup_op, skew_diagonal=True)
    return adopted(made, name)


def mmwrite(
    target: str | PathLike[str] | IO[Any],
    matrix: Matrix | Vector,
    engine: str = "auto",
    *,
    comment: str = "",
    **options: Any,
) -> None:
    """As :func:`semiring.io.mmwrite`, also to a file open for bytes; `engine` and `options` change nothing.

    Parameters
    ----------
    target : path, or a file open for writing bytes
    matrix : Matrix or Vector
    engine, **options : accepted for programs of python-graphblas; they change nothing
    comment : lines for the header of the file

    Raises
    ------
    InvalidValue
        For an `engine` that python-graphblas does not have.

    Examples
    --------
    >>> import io
    >>> import semiring.compat.graphblas as gb
    >>> file = io.BytesIO()
    >>> gb.io.mmwrite(file, gb.Matrix.from_coo([0, 1], [1, 0], 2.5))
    >>> file.getvalue().startswith(b"%%MatrixMarket")
    True
    """
    _check(engine)
    if isinstance(target, (str, PathLike)):
        _own.mmwrite(target, matrix, comment=comment)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.mtx"
        _own.mmwrite(path, matrix, comment=comment)
        target.write(path.read_bytes())


def _check(engine: str) -> None:
    if engine not in _ENGINES:
        raise InvalidValue(f"engine must be one of {', '.join(_ENGINES)}; got {engine!r}")
