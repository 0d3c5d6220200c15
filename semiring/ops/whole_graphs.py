"""Algorithms of many small steps on grids: of a graph with few entries every process computes the whole."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..devices import dispatched

if TYPE_CHECKING:
    from ..facade.matrix import Matrix

__all__ = ["small_as_whole"]

F = TypeVar("F", bound=Callable[..., Any])


def small_as_whole(function: F) -> F:
    """Decorate an algorithm of many small steps: of a graph with few entries on a grid each process computes the whole.

    Its steps would be collectives, which take longer than the work.  Without a grid the function is unchanged.

    Parameters
    ----------
    function : a function whose first argument is a Matrix
        The same on all processes for equal arguments, of which the others are not on the grid.  Matrices and Vectors of
        its result, and those in tuples and dataclasses, are put on the grid; floats are those of the first process.

    Returns
    -------
    The function, which computes graphs of up to 2^20 vertices and entries so.  Collective.

    Notes
    -----
    Memory on each process: that of the whole matrix.

    Examples
    --------
    >>> @sr.ops.small_as_whole
    ... def hops(A, n):
    ...     v = Vector.from_coo([0], True, size=A.nrows, device=A.device)
    ...     for _ in range(n):
    ...         v = v.vxm(A, "any_pair").dup()
    ...     return v
    >>> A = sr.random.path(9, device="cpu")
    >>> sr.distributed.run(2, lambda grid: hops(A.to(grid.device), 5).to("cpu").nvals)
    [3, 3]
    """

    @functools.wraps(function)
    def run(A: Matrix, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(A, "device"):  # the algorithm raises an error
            return function(A, *args, **kwargs)
        return of_whole(A, lambda A: function(A, *args, **kwargs))

    return cast(F, run)


@dispatched()
def of_whole(A: Matrix, function: Callable[[Matrix], Any]) -> Any:
    """Return ``function(A)``; of a small graph on a grid every process computes it from the whole, alike."""
    return function(A)
