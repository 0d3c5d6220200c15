"""The exceptions of this package.

Each class is a :class:`SemiringError`, so one ``except`` catches all of them, and also the built-in
exception that Python users already catch for that kind of mistake (``ValueError`` for a wrong shape,
``IndexError`` for an index past the end, and so on). The message names the function or argument, what was
expected and what was found. Data that a program may need (the last iterate, a vertex on a cycle) are attributes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = [
    "CollectiveTimeout",
    "ConvergenceFailure",
    "DeviceMismatch",
    "DimensionMismatch",
    "DomainMismatch",
    "DuplicateIndex",
    "EmptyObject",
    "GraphProperty",
    "GraphblasException",
    "GuessedLayout",
    "IgnoredColumns",
    "IndexOutOfBound",
    "IntegerOverflow",
    "InvalidExpression",
    "InvalidFormat",
    "InvalidMask",
    "InvalidOperator",
    "InvalidType",
    "InvalidValue",
    "LostLabels",
    "LostWeights",
    "NameTaken",
    "NegativeCycle",
    "NotAMonoid",
    "NotNumbers",
    "NotSupported",
    "OutOfMemory",
    "OutputNotEmpty",
    "RankMismatch",
    "SemiringError",
    "SparseIds",
    "UdfParseError",
    "UnknownOperator",
    "UnsupportedType",
]


def near_names(name: str, known: Iterable[str], n: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return at most n of the known names that are like `name`, the nearest first."""
    from difflib import get_close_matches  # not needed before there is an error

    return get_close_matches(name, list(known), n, cutoff)


class SemiringError(Exception):
    """Base class of all errors of this package.

    Examples
    --------
    >>> try:
    ...     Vector(int, 3) + Vector(int, 4)
    ... except sr.SemiringError as error:
    ...     print(type(error).__name__, isinstance(error, ValueError))
    DimensionMismatch True
    """

    # A message of an algorithm with {} for each vertex that it names, and their row numbers.
    template: tuple[str, tuple[int, ...]] | None = None


# python-graphblas's name.
GraphblasException = SemiringError


class DimensionMismatch(SemiringError, ValueError):
    """Shapes disagree; the message names the operation, all shapes, and ``.T`` if the transpose fits."""


class RankMismatch(DimensionMismatch, TypeError):
    """A Vector is where a Matrix is needed, or the other way round."""


class DomainMismatch(SemiringError, TypeError):
    """An operator or an object does not support a dtype; the message lists the supported ones."""


class UnsupportedType(DomainMismatch, KeyError):
    """``plus[dtype]``: the operator is not defined on this type; also a KeyError, as of any look-up in brackets."""

    __str__ = Exception.__str__  # that of KeyError quotes the message


class IndexOutOfBound(SemiringError, IndexError):
    """An index is not below the size of its axis."""


class DuplicateIndex(SemiringError, ValueError):
    """Two entries have the same position and there is no ``dup_op`` to combine them.

    ``place`` is (row, column) or (index,); None where the raiser does not determine it.
    """

    def __init__(self, message: str = "", *, place: tuple[int, ...] | None = None) -> None:
        super().__init__(message)
        self.place = place


class InvalidValue(SemiringError, ValueError):
    """An argument has an invalid value."""


class IntegerOverflow(InvalidValue, OverflowError):
    """An integer does not fit in 64 bits."""


class NameTaken(InvalidValue, AttributeError):
    """A name to register belongs to another operator, or to another attribute of the module."""


class NotNumbers(DomainMismatch, ValueError):
    """Values are not numbers of a supported type."""


class InvalidType(InvalidValue, TypeError):
    """An argument is of a type that the operation does not accept."""


class EmptyObject(SemiringError, ValueError):
    """An operation needs a value of an object that has none."""


class OutputNotEmpty(SemiringError, ValueError):
    """``build`` was called on an object that already has entries."""


class InvalidMask(SemiringError, TypeError):
    """A mask is neither boolean nor written with ``.S`` (structure) or ``.V`` (values)."""


class UnknownOperator(SemiringError, AttributeError, ValueError):
    """No operator has this name; ``close`` holds similar names.

    It is an ``AttributeError`` because operator modules raise it for a missing name (``binary.pluss``), and a
    ``ValueError`` because operations raise it for a wrong argument (``A.mxm(B, "min_pluss")``).

    Examples
    --------
    >>> try:
    ...     sr.binary.pluss
    ... except sr.exceptions.UnknownOperator as error:
    ...     print(error.close)
    ('plus',)
    """

    def __init__(self, message: str = "", *, close: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.close = close


class InvalidOperator(UnknownOperator, TypeError):
    """An object is not an operator, or one of another kind than the operation needs."""


class UdfParseError(SemiringError, TypeError):
    """A user-defined operator cannot be turned into an expression; the message quotes its source line."""


class InvalidExpression(UnknownOperator, UdfParseError):
    """A text is not an operator's name, and as an expression it has an error; the message quotes its place."""


class InvalidFormat(InvalidValue):
    """A file or a set of arrays is malformed; the message names the place, what was expected and what was found."""


class OutOfMemory(SemiringError, MemoryError):
    """An allocation failed, or was not attempted because it would fail.

    Attributes
    ----------
    asked_bytes, free_bytes : int or None
        The requested bytes, and the free bytes at the moment of the failure, where known.
    held_bytes : int or None
        On a GPU, the bytes in the memory pool at that moment: all arrays of the process, and cached blocks.
    needed_bytes : int or None
        The approximate total of the operation, where it can be computed.
    """

    def __init__(
        self,
        message: str = "",
        *,
        asked_bytes: int | None = None,
        free_bytes: int | None = None,
        held_bytes: int | None = None,
        needed_bytes: int | None = None,
    ) -> None:
        super().__init__(message)
        self.asked_bytes = asked_bytes
        self.free_bytes = free_bytes
        self.held_bytes = held_bytes
        self.needed_bytes = needed_bytes


class DeviceMismatch(SemiringError, ValueError):
    """Operands reside on different devices; data is never moved implicitly."""


class NotSupported(SemiringError, NotImplementedError):
    """The operation does not exist for these operands; the message names an alternative."""


class CollectiveTimeout(SemiringError, TimeoutError):
    """Another process, for which this one waits, has made no progress for the setting `collective_timeout`."""


class NotAMonoid(InvalidOperator, NotSupported):
    """A reduction by a binary operator of which no monoid is known, so that it has no identity."""


class ConvergenceFailure(SemiringError, RuntimeError):
    """An iteration reached its limit before its tolerance.

    Attributes
    ----------
    result : object
        The last iterate.
    iterations : int or None
        The number of iterations.
    residual : float or None
        The error measure after the last one.
    row : int or None
        The row, where each row of a matrix is iterated by itself (`ops.closure`).

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 1)])
    >>> try:
    ...     sr.algorithms.pagerank(A, max_iter=2)
    ... except sr.exceptions.ConvergenceFailure as failure:
    ...     print(failure.iterations, failure.result.size)
    2 3
    """

    def __init__(
        self,
        message: str = "",
        *,
        result: Any = None,
        iterations: int | None = None,
        residual: float | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(message)
        self.result = result
        self.iterations = iterations
        self.residual = residual
        self.row = row


class NegativeCycle(SemiringError, ValueError):
    """Shortest paths are not defined: ``cycle`` lists the vertices of a cycle of negative weight, in order.

    ``vertex`` is the smallest of them.  Either is None where the raiser does not determine it.
    """

    def __init__(self, message: str = "", *, vertex: int | None = None, cycle: tuple[int, ...] | None = None) -> None:
        super().__init__(message)
        self.vertex = vertex
        self.cycle = cycle


class GraphProperty(InvalidValue):
    """An algorithm needs a property that the graph lacks (symmetry, no cycle); the message names a remedy."""


class GuessedLayout(UserWarning):
    """A warning: how the lines of an edge list are read was guessed; the message names the option that decides it.

    Whether the first line holds the names of columns (``header=``), what separates columns (``sep=``), and whether a
    line is a comment (``comment=``).
    """


class IgnoredColumns(UserWarning):
    """A warning: the lines of an edge list have columns after the weight, which are ignored.

    ``warnings.filterwarnings("ignore", category=semiring.exceptions.IgnoredColumns)`` silences it.
    """


class LostLabels(UserWarning):
    """A warning: labels, or their attributes, are not in a file whose format cannot hold them."""


class LostWeights(UserWarning):
    """A warning: values other than 1 are not in a file whose format holds edges alone.

    ``weights=False`` states that this is intended.
    """


class SparseIds(UserWarning):
    """A warning: few of the vertices of an edge list have an edge, because its ids are names and not row numbers.

    ``relabel=True`` numbers the ids that occur.
    """


def __dir__() -> list[str]:
    return sorted(__all__)
