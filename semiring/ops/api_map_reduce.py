"""The public sum of what processes compute apart, each with the whole of a matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..devices import dispatched
from ..formats import CSR
from ..memory.allocation import reports_memory
from .api import M, operand_of

__all__ = ["map_reduce"]

R = TypeVar("R")


@reports_memory
def map_reduce(
    function: Callable[[M, Sequence[Any]], R],
    a: M,
    items: Sequence[Any],
    *,
    monoid: Any = "plus",
    values: bool = True,
) -> R:
    """t = (+)_p  f(A, items_p): the sum of what a function returns for parts of a sequence.

    On a grid of processes on which each may hold A as a whole, process p computes ``function(A, items_p)`` with it and
    its part of the items, and nothing is sent but A, once, and the results.  Elsewhere it is ``function(A, items)``.

    Parameters
    ----------
    function : of a Matrix and a part of the items
        It returns a Vector or a Matrix of one shape and type whatever the part is, on the device of the Matrix, and
        makes all other objects there too.  It calls nothing that involves other processes.
    a : Matrix (or its ``.T``)
    items : sequence, the same on every process
    monoid : by object or name, which adds up the results
    values : bool
        False: the function reads no values of A; on a grid it may get the structure alone, with ones.

    Returns
    -------
    Vector or Matrix on the device of A.

    Raises
    ------
    DeviceMismatch
        On a grid, if the result of the function is not on the device of its Matrix.
    DomainMismatch
        If the monoid has no such type.
    Any error of the function
        On all processes if it is raised on one.

    Notes
    -----
    Cost: that of the function for the items of a process; on a grid memory for A on every process
    (``config.replicated_share``), and the bytes of a result, once.  With fewer items than processes it is
    ``function(A, items)`` too.  Sums of floats are rounded differently by grids of other sizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (0, 2)])
    >>> def reached(A, sources):
    ...     return sr.ops.closure_many(sources, A).levels.reduce_columnwise("count").dup()
    >>> sr.ops.map_reduce(reached, A, [0, 1, 2]).to_dict()
    {0: 1, 1: 2, 2: 3}
    >>> def program(grid):
    ...     found = sr.ops.map_reduce(reached, A.to(grid.device), [0, 1, 2], values=False)
    ...     return found.to("cpu").to_dict()
    >>> sr.distributed.run(2, program)[0]
    {0: 1, 1: 2, 2: 3}
    """
    store, turned = operand_of("map_reduce", a)
    return total(store, turned, function, a, items, monoid, values)


@dispatched()
def total(
    store: CSR,
    turned: bool,
    function: Callable[[M, Sequence[Any]], R],
    a: M,
    items: Sequence[Any],
    monoid: Any,
    values: bool,
) -> R:
    """Return the sum of what the function returns for parts of the items; `store`, transposed or not, is that of a."""
    return function(a, items)
