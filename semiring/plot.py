"""Plots of matrices and vectors through matplotlib, an optional dependency: ``pip install 'semiring[plot]'``.

    spy(A)                   where the entries are
    hist(v)                  how often values occur
    degree_distribution(A)   how many vertices have each degree
    frontiers(levels)        the sizes of the levels of a search
    draw(A)                  the vertices and edges of a small graph, at the positions of layout(A)

The others count on the device of their argument and copy the counts alone to the host, so graphs of any size and
storage kind can be drawn.  Each draws on the matplotlib axes in ``ax=``, or on those of a new figure, and returns them.
"""

from semiring.bridges import plot as _bridge
from semiring.bridges.plot import *  # noqa: F403  # the names are listed once, in the bridge

__all__ = _bridge.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
