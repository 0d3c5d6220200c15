"""GraphBLAS operations: check, find an implementation, run, write.

The modules contain functions on stores; most return a `Plan`, which the facade executes together with the output,
mask and accumulator of the write.  The public functions here, beyond the methods of Matrix and Vector, accept Matrix
and Vector objects: `closure` (a whole traversal in one call), `closure_with_parents` (and the tree of its paths),
`closure_many` (from many sources at once), `acyclic_closure` (every row once, after its predecessors), `link`,
`link_sample`, `most_frequent`, `singletons` (union-find over rows), `vote` (the group with the most weight in each
row), `peel` (the levels of rows that are removed in turn), `treefix` (sums along the paths of a forest), `span` (a
spanning forest in the order of values), `flow` (a maximum flow from supplies to demands), and `map_reduce` (the sum of
what processes compute apart).  `reports_memory` decorates an algorithm whose failed allocations are to raise
`OutOfMemory`, `small_as_whole` one of many small steps.
"""

from typing import NoReturn

from ..renamed import raise_no_attribute
from . import api, api_closures, api_graphs, api_map_reduce, api_vote, whole_graphs
from .api import *  # noqa: F403  # the public names are listed once, in `public`
from .api_closures import *  # noqa: F403
from .api_graphs import *  # noqa: F403
from .api_map_reduce import *  # noqa: F403
from .api_vote import *  # noqa: F403
from .whole_graphs import *  # noqa: F403

__all__ = [
    *api.__all__,
    *api_map_reduce.__all__,
    *api_closures.__all__,
    *api_graphs.__all__,
    *api_vote.__all__,
    *whole_graphs.__all__,
]


def __getattr__(name: str) -> NoReturn:
    raise_no_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
