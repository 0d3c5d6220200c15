"""Argument checks of the algorithms."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence, Set, Sized
from numbers import Real
from typing import Any, Protocol, TypeAlias, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from semiring import Matrix, Vector, unary
from semiring.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    GraphProperty,
    IndexOutOfBound,
    InvalidValue,
    SemiringError,
)

E = TypeVar("E", bound=SemiringError)


class _Column(Protocol):
    """A column of a frame."""

    def to_numpy(self) -> Any: ...


# A vertex: its row number, or where the graph has labels its name.
Vertex: TypeAlias = int | str | bytes | UUID
# Several vertices; of a set, in ascending order of their rows.
Vertices: TypeAlias = Sequence[Vertex] | Set[Vertex] | NDArray[Any] | _Column
# Whether, and as what, values are read: None: every entry counts 1; True: the value; str: that field of a record.
Weight: TypeAlias = bool | str | None
# A value for each vertex, or for some of them: a Vector, or {vertex: value}.
Values: TypeAlias = Vector | Mapping[Any, Any]


def of_vertices(kind: type[E], text: str, *vertices: int, **data: Any) -> E:
    """Return an error whose text has {} for each of some vertices; of a graph with labels it will name them."""
    error = kind(text.format(*vertices), **data)
    error.template = text, vertices
    return error


def square(name: str, A: Matrix) -> int:
    """Return the number of rows of A; DimensionMismatch unless it is square, InvalidValue unless it is a Matrix."""
    if not isinstance(A, Matrix):
        is_matrix(name, A)
    nrows, ncols = A.shape
    if nrows != ncols:
        raise DimensionMismatch(f"{name}: an adjacency matrix is square, got shape {A.shape}")
    return nrows


def is_matrix(name: str, A: Any) -> Matrix:
    """Return A; InvalidValue, with how to make one, unless it is a Matrix."""
    if not isinstance(A, Matrix):
        raise InvalidValue(f"{name}: expected a Matrix, got {_described(A)}; {_remedy(A)}")
    return A


def processor(A: Matrix) -> str:
    """Return what computes with A, or with each part of A on a grid of processes: ``"cpu"`` or ``"cuda"``."""
    return A.device.rpartition(" ")[2]


def undirected(name: str, A: Any, *, values: bool = False) -> int:
    """Return the number of rows of A; GraphProperty unless A(v, u) is stored wherever A(u, v) is.

    values: and has the same value.  O(nvals) the first time that a matrix is used, and each time for values;
    synchronizes.
    """
    n = square(name, A)
    if not A.is_symmetric_structure:
        raise GraphProperty(
            f"{name}: the graph must be undirected, and A stores an edge in one direction only; "
            'store each in both with A.ewise_add(A.T, "any")'
        )
    if values and not A.is_symmetric:
        raise GraphProperty(
            f"{name}: the graph must be undirected, and A(u, v) differs from A(v, u) for some edge; "
            'make one weight of both, such as A.ewise_add(A.T, "max")'
        )
    return n


def read_weight(name: str, A: Any, weight: Weight) -> tuple[Matrix, bool]:
    """Return the matrix whose values are the weights, and whether they are read, of an argument `weight`.

    A: any object, which the checks of the caller refuse unless it is a Matrix.  InvalidValue for other values, and for
    a field that the values of A lack.
    """
    if weight is None or isinstance(weight, (bool, np.bool_)):
        structure_only = not weight and isinstance(A, Matrix) and A.dtype.names is not None  # closures refuse them
        return A.apply("second", right=True) if structure_only else A, bool(weight)
    if not isinstance(weight, str):
        raise InvalidValue(f"{name}: weight is None, True or the name of a field, got {weight!r}")
    if weight not in (is_matrix(name, A).dtype.names or ()):
        raise InvalidValue(f"{name}: weight={weight!r} must be a field of the values, which are {A.dtype}")
    return A.apply(unary.register_anonymous(f"x[{weight!r}]")), True


def weights(
    name: str, A: Matrix, *, least: float | None = None, above: float | None = None, finite: bool = False
) -> None:
    """Raise DomainMismatch for complex weights, and InvalidValue for NaN and for weights out of range.

    least, above: the smallest weight allowed, or a bound that every weight exceeds; None: any number.  finite: whether
    infinite weights are out of range.  O(nvals); synchronizes.
    """
    if A.dtype.kind not in "biuf":
        raise DomainMismatch(f"{name}: weights are real numbers, got a matrix of {A.dtype}")
    if A.nvals == 0:
        return
    if A.dtype.kind == "f" and not (finite and bool(A.apply("isfinite").reduce_scalar("land"))):
        if bool(A.apply("isnan").reduce_scalar("lor")):
            raise InvalidValue(f"{name}: a weight is NaN")
        if finite:
            raise InvalidValue(f"{name}: weights must be finite, and one is infinite")
    if least is None and above is None:
        return
    smallest = A.reduce_scalar("min").value
    if least is not None and smallest < least:
        bound = "must not be negative" if least == 0 else f"must be at least {least:g}"
        raise InvalidValue(f"{name}: weights {bound}, got {smallest}")
    if above is not None and smallest <= above:
        bound = "must be positive" if above == 0 else f"must exceed {above:g}"
        raise InvalidValue(f"{name}: weights {bound}, got {smallest}")


def vector(name: str, parameter: str, v: Any, n: int, device: str = "cpu") -> Vector:
    """Return a Vector of size n, of a mapping of rows to values too; InvalidValue for another object or key.

    device: of the Vector that a mapping becomes.  DimensionMismatch for another size, IndexOutOfBound for other rows.
    """
    if isinstance(v, Mapping):
        at, values = rows(name, f"the keys of {parameter}", list(v), n), list(v.values()) or np.zeros(0)
        try:
            return Vector.from_coo(at, values, size=n, device=device)
        except (DomainMismatch, InvalidValue) as error:
            raise InvalidValue(f"{name}: {parameter}: {error}") from None
    if not isinstance(v, Vector):
        raise InvalidValue(f"{name}: {parameter} must be a Vector or a mapping of vertices, got {_described(v)}")
    if v.size != n:
        raise DimensionMismatch(f"{name}: {parameter} has size {v.size}, and the matrix {n} rows")
    return v


def partition(name: str, parameter: str, labels: Any, n: int, device: str) -> Vector:
    """Return labels of n vertices; InvalidValue unless they are full, integers, and label(label(v)) = label(v).

    Synchronizes.
    """
    v = vector(name, parameter, labels, n, device)
    if v.nvals != n or v.dtype.kind not in "iu":
        raise InvalidValue(f"{name}: {parameter} must be a full Vector of integers, got {v.nvals} of {n} in {v.dtype}")
    if n == 0:
        return v
    least, most = v.reduce("min").value, v.reduce("max").value
    if least < 0 or most >= n:
        raise IndexOutOfBound(
            f"{name}: {parameter} contains {least if least < 0 else most}, and there are {n} vertices"
        )
    if not v[v].isequal(v):
        raise InvalidValue(
            f"{name}: {parameter} must label every label with itself, as connected_components returns them"
        )
    return v


def seed_of(name: str, seed: Any) -> int:
    """Return a seed, an integer that int64 holds; InvalidValue otherwise."""
    number = integer(seed)
    if number is None or not -(2**63) <= number < 2**63:
        raise InvalidValue(f"{name}: seed must be an integer of 64 bits, got {seed!r}")
    return number


def choice(name: str, parameter: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return one of the allowed words; InvalidValue otherwise."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidValue(f"{name}: {parameter} is one of {', '.join(map(repr, allowed))}, got {value!r}")
    return str(value)


def _described(A: Any) -> str:
    return f"a {type(A).__module__.partition('.')[0]} {type(A).__name__}"


def _remedy(A: Any) -> str:
    """Return how to make a Matrix from an object of another library."""
    if hasattr(A, "tocsr"):
        return "make one with sr.io.from_scipy_sparse"
    if hasattr(A, "adjacency"):
        return "make one with sr.io.from_networkx"
    if hasattr(A, "ndim") or isinstance(A, (list, tuple)):
        return "make one with Matrix.from_dense(array, missing_value=0), or with Matrix.from_edgelist for pairs"
    return "make one with Matrix.from_dense, Matrix.from_edgelist, sr.io.from_scipy_sparse or sr.io.from_networkx"


def number(name: str, parameter: str, value: Any, *, high: float | None = None) -> float:
    """Return a real number from 0 to `high`; InvalidValue otherwise, for NaN too."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidValue(f"{name}: {parameter} must be a number, got {value!r}")
    real = float(value)
    if not (real >= 0 and (high is None or real <= high)):
        expected = "must not be negative or NaN" if high is None else f"must be in [0, {high}]"
        raise InvalidValue(f"{name}: {parameter} {expected}, got {value}")
    return real


def count(name: str, parameter: str, value: Any) -> int:
    """Return a count, an integer of at least 0; InvalidValue otherwise."""
    number = integer(value)
    if number is None:
        raise InvalidValue(f"{name}: {parameter} must be an integer, got {value!r}")
    if number < 0:
        raise InvalidValue(f"{name}: {parameter} must not be negative, got {value}")
    return number


def integer(value: Any) -> int | None:
    """Return an integer of any type, an array of one without axes too; None for booleans and everything else."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        return None
    try:
        return operator.index(value)
    except TypeError:  # an array has the method, which fails unless it holds one integer
        return None


def row(name: str, source: Any, n: int) -> int:
    """Return a source as a row number; IndexOutOfBound unless 0 <= source < n."""
    if type(source) is int and 0 <= source < n:
        return source
    number = integer(source)
    if number is None:
        raise InvalidValue(f"{name}: a source is a row number, got {source!r}{_unnamed(source)}")
    if not 0 <= number < n:
        raise of_vertices(IndexOutOfBound, f"{name}: source {{}} is out of bounds for a matrix of {n} rows", number)
    return number


def each_row(name: str, sources: Any, n: int) -> list[int]:
    """Return the row numbers of several sources in their order, of a set in ascending order; errors as `row`."""
    found = [row(name, source, n) for source in sources]
    return sorted(found) if isinstance(sources, Set) else found


def rows(name: str, parameter: str, vertices: Any, n: int) -> NDArray[np.int64]:
    """Return row numbers as an array on the host, of one number or a sequence of them; of a set in ascending order.

    InvalidValue for other objects, IndexOutOfBound unless all are from 0 to n - 1.
    """
    given = list(vertices) if isinstance(vertices, Set) else vertices
    try:
        listed = np.atleast_1d(np.asarray(given.get() if hasattr(given, "get") else given))
    except (TypeError, ValueError):  # lists of different lengths, an object that is no array
        listed = np.empty(0, object)
    if listed.size == 0 and isinstance(given, Sized) and not len(given):
        return np.empty(0, np.int64)
    if listed.ndim != 1 or listed.dtype.kind not in "iu":
        unnamed = _unnamed(listed[0]) if listed.ndim == 1 and listed.size else ""
        raise InvalidValue(f"{name}: {parameter} must be row numbers, got {vertices!r}{unnamed}")
    wrong = listed[(listed < 0) | (listed >= n)]
    if wrong.size:
        raise of_vertices(IndexOutOfBound, f"{name}: row {{}} is out of bounds for a matrix of {n} rows", int(wrong[0]))
    return np.sort(listed.astype(np.int64)) if given is not vertices else listed.astype(np.int64)


def _unnamed(vertex: Any) -> str:
    return "; a name needs the labels of the graph, and A.labels is None" if isinstance(vertex, (str, bytes)) else ""


def is_many(source: Any) -> bool:
    """Return whether `source` is a sequence of sources."""
    return (
        type(source) is not int
        and isinstance(source, Sized)
        and not isinstance(source, (str, bytes, Vector, Matrix))
        and getattr(source, "ndim", 1) == 1
    )
