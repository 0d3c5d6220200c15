"""Operations that are public as functions on Matrix and Vector objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from ..engines.requests.operations import ScalarResult, scalar_value
from ..exceptions import InvalidValue
from ..formats import CSR, VectorStore
from ..memory.allocation import reports_memory
from .link import link as _link
from .link import link_sample as _link_sample
from .link import most_frequent as _most_frequent
from .link import singletons as _singletons


class HasVector(Protocol):
    """A facade object over a vector store."""

    @property
    def store(self) -> VectorStore:
        """The store, computed if it was pending."""

    def with_store(self, store: VectorStore) -> Any:
        """Return a new object of the same kind with another store."""


class HasMatrix(Protocol):
    """A facade object over a matrix store, or a transposed view of one."""

    @property
    def operand(self) -> tuple[CSR, bool]:
        """Return the store, and whether its transpose is the operand."""

    def with_store(self, store: CSR) -> Any:
        """Return a new Matrix with another store."""


V = TypeVar("V", bound=HasVector)
M = TypeVar("M", bound=HasMatrix)


def operand_of(operation: str, a: HasMatrix) -> tuple[CSR, bool]:
    operand = getattr(a, "operand", None)
    if operand is None:
        raise InvalidValue(f"{operation}: expected a Vector and then a Matrix, got {type(a).__name__} second")
    return operand  # type: ignore[no-any-return]


@reports_memory
def singletons(like: V) -> V:
    """f(v) = v: the forest in which every row is its own root, on the device and of the size of `like`.

    Parameters
    ----------
    like : Vector

    Returns
    -------
    Vector of int32, or int64 for sizes from 2**31.

    Notes
    -----
    Cost O(n).  Does not synchronize.

    Examples
    --------
    >>> sr.ops.singletons(Vector(bool, 3)).to_dict()
    {0: 0, 1: 1, 2: 2}
    """
    store = like.store
    return like.with_store(_singletons(store.size, store.device))  # type: ignore[no-any-return]


@reports_memory
def link(
    forest: V,
    a: HasMatrix,
    *,
    first: int = 0,
    last: int | None = None,
    skip: int | Label | None = None,
    sample: int = 0,
) -> V:
    """Hook i and j in the forest for every stored (i, j) at positions [first, last) of the rows that are not skipped.

    The step of Afforest: see `semiring.ops.link` for what a forest is.  The trees of the result are flat: two rows are
    in one set exactly if their entries are equal, and each entry is the smallest row of its set.

    Parameters
    ----------
    forest : Vector of size n, full, int32 (int64 from n = 2**31), from `singletons` or `link`
    a : Matrix, n x n
    first, last
        Which neighbors of each row: by position in the row; ``last=None`` means to its end.
    skip
        Rows whose root is this one are not visited: a row, or a `Label` from `most_frequent`.
    sample
        In place of first, last and skip: visit all entries, up to so many of each row first, as `link_sample` does.
        Where the structure is symmetric, rows that are then in the most frequent tree are not visited any further.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue

    Notes
    -----
    Cost: O(visited entries).  Does not synchronize, unless the entries are streamed; with `sample` the first call on a
    matrix determines whether its structure is symmetric, and caches it.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 2), (3, 4)])
    >>> sr.ops.link(sr.ops.singletons(Vector(bool, 5)), A).to_dict()
    {0: 0, 1: 1, 2: 0, 3: 3, 4: 3}
    >>> sr.ops.link(sr.ops.singletons(Vector(bool, 5)), A, sample=2).to_dict()
    {0: 0, 1: 1, 2: 0, 3: 3, 4: 3}
    """
    matrix, _ = operand_of("link", a)  # a hook has no direction, so the transpose visits the same pairs
    label = skip.result if isinstance(skip, Label) else skip
    made = _link(forest.store, matrix, first=first, last=last, skip=label, sample=sample)
    return forest.with_store(made)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Label:
    """A label of a forest, which may still reside on the GPU.

    Attributes
    ----------
    result : the label as the engine returned it

    Examples
    --------
    >>> label = sr.ops.most_frequent(Vector.from_dense([0, 1, 1, 1], dtype="int32"))
    >>> label.value
    1
    """

    result: ScalarResult

    @property
    def value(self) -> int | None:
        """The label; None for an empty forest.  Synchronizes if it resides on the GPU."""
        found = scalar_value(self.result)
        return None if found is None else int(found)


@reports_memory
def most_frequent(forest: HasVector) -> Label:
    """Return the label that is most frequent in a sample of 1,024 entries: the giant component, which `link` may skip.

    Parameters
    ----------
    forest : Vector of size n, full, from `singletons`, `link` or `link_sample`

    Returns
    -------
    Label

    Raises
    ------
    InvalidValue

    Notes
    -----
    Cost O(1).  Does not synchronize: a label on a GPU stays there, and `link` reads it there.

    Examples
    --------
    >>> sr.ops.most_frequent(Vector.from_dense([0, 1, 1, 1], dtype="int32")).value
    1
    """
    store = forest.store
    if store.format not in ("full", "parts") or store.values is None:
        raise InvalidValue("most_frequent: the forest must be a full vector; make one with ops.singletons")
    return Label(_most_frequent(store))


@reports_memory
def link_sample(forest: V, a: HasMatrix, *, neighbors: int = 2) -> tuple[V, int]:
    """Hook each row to up to `neighbors` of its neighbors, those that are cheapest to find.

    These hooks join most of a giant component before `link` skips it: the first neighbors of each row; or, where they
    are cached, its neighbors with the longest rows.

    Parameters
    ----------
    forest : Vector of size n, full, int32 (int64 from n = 2**31), from `singletons` or `link`
    a : Matrix, n x n
    neighbors : int
        How many for each row; each costs O(n).

    Returns
    -------
    The new forest, and the position from which `link` continues: ``link(forest, a, first=position)`` omits nothing.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue

    Notes
    -----
    Cost O(n neighbors); once O(nvals) where the entries reside in host memory: the first call finds the neighbors
    with the longest rows.  Only that synchronizes.

    Source: Sutton, Ben-Nun, Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling", IPDPS
    2018.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (3, 4)])
    >>> A = A | A.T
    >>> forest, position = sr.ops.link_sample(sr.ops.singletons(Vector(bool, 5)), A)
    >>> sr.ops.link(forest, A, first=position).to_dict()
    {0: 0, 1: 0, 2: 0, 3: 3, 4: 3}
    """
    matrix, _ = operand_of("link_sample", a)
    result = _link_sample(forest.store, matrix, neighbors=neighbors)
    return forest.with_store(result.store), result.visited


__all__ = [
    "Label",
    "link",
    "link_sample",
    "most_frequent",
    "reports_memory",
    "singletons",
]
