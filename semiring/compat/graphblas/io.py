"""Files, SciPy and NetworkX by python-graphblas's parameters; everything else as :mod:`semiring.io`."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from semiring import io as _own
from semiring.compat.graphblas.objects import Matrix, Vector, adopted
from semiring.exceptions import InvalidValue
from semiring.io import from_scipy_sparse as _from_scipy_sparse
from semiring.io import to_scipy_sparse

__all__ = ["from_networkx", "from_scipy_sparse", "mmread", "mmwrite", "to_networkx", "to_scipy_sparse"]

# The programs that python-graphblas can read and write a Matrix Market file with; here there is one.
_ENGINES = ("auto", "scipy", "fmm", "fast_matrix_market")


def from_scipy_sparse(A: Any, *, dup_op: Any = None, name: str | None = None) -> Matrix:
    """As :func:`semiring.io.from_scipy_sparse`, but repeated positions need a `dup_op`.

    Raises
    ------
    DuplicateIndex
        If a position repeats and there is no `dup_op`.
    """
    if dup_op is None and getattr(A, "format", None) == "coo":
        rows, columns = A.coords
        return Matrix.from_coo(rows, columns, A.data, shape=A.shape, name=name)  # type: ignore[no-any-return]
    return adopted(_from_scipy_sparse(A, dup_op=dup_op, name=name))


def from_networkx(
    G: Any, nodelist: Any = None, dtype: Any = None, weight: str | None = "weight", name: str | None = None
) -> Matrix:
    """As :func:`semiring.io.from_networkx`, with the edge attribute ``"weight"`` by default.

    Raises
    ------
    networkx.NetworkXError
        For a graph without nodes.
    """
    if not len(G):
        from networkx import NetworkXError

        raise NetworkXError("the graph has no nodes")
    return adopted(_own.from_networkx(G, weight, nodelist=nodelist, dtype=dtype), name)


def to_networkx(m: Matrix, edge_attribute: str | None = "weight") -> Any:
    """As :func:`semiring.io.to_networkx`, with the edge attribute by python-graphblas's name."""
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

    Raises
    ------
    InvalidValue
        For an `engine` that python-graphblas does not have.
    """
    _check(engine)
    if isinstance(source, (str, PathLike)):
        made = _own.mmread(source, dup_op=dup_op)
    else:
        content = source.read()
        with TemporaryDirectory() as folder:
            path = Path(folder) / "matrix.mtx"
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            made = _own.mmread(path, dup_op=dup_op)
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

    Raises
    ------
    InvalidValue
        For an `engine` that python-graphblas does not have.
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
