"""The CUDA text of the extreme entry of each group: entries bid for their groups by atomics."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...dtypes import UINT32, UINT64
from ...formats import index_dtype
from ..programs.lifetimes import Place
from ..programs.program import Values
from .program_requests import Requests
from .specialize import constants, typedefs

_NO_BID = np.uint64(2**64 - 1)


class Searches(Requests):
    """Writes searches for extreme entries."""

    optional: ClassVar[frozenset[str]] = Requests.optional | {"locate_groups"}

    def _locate_groups(self, q: Any, made: Any, place: Place) -> None:
        """w(g) = min of u(p) with index[p] = g, p(g) = the first such p; every number is chosen before NaN."""
        u, result = q.u, made.values
        target, values, c = self.set_of(result), self.values_of(result), self.size(result.size)
        positions = self.values_of(made.positions)
        group = self._index_text(q.index)
        valued = isinstance(u.values, Values)
        # A key of 32 bits shares a word with a position.
        pairs = valued and u.dtype.itemsize <= 4 and index_dtype(u.size).itemsize == 4
        space = f"l{len(self.searches)}"
        key = UINT64 if u.dtype.itemsize == 8 else UINT32
        head = f"namespace {space} {{\n{typedefs(KEY=key)}{constants(DESCENDING=bool(q.largest), PAIRS=pairs)}"
        self.searches.append(f'{head}#include "program_search.cuh"\n}}\n')
        best = self.buffer("best", "u64", (c, 1), _NO_BID)
        first = self.buffer("first", "u64", (c, 1), _NO_BID) if valued and not pairs else best
        bid = f"{space}::first_bid({self.value(u, 'i')}, i)" if valued else "u64(i)"
        touched = [*self.operands(u), self._index_home(q.index)], [target, values, positions, best, first]
        self.touch(*touched)
        self._claim(u, result, group, f"{space}::place_bid({best} + j, {bid});", touched)
        if first != best:
            self.barrier()
            self.touch(*touched)
            self.point(self.items(u))
            test = f"{space}::first_bid({self.value(u, 'i')}, i) == {best}[j]"
            self.put(f"{self.each(u)}const i64 j = {group}; if ({test}) {space}::place_bid({first} + j, u64(i)); }});")
        self.barrier()
        self.touch([target, *self.operands(u)], [values, positions, best, first])
        self.point(self.items(result))
        position = f"{space}::place_of({first}[i])" if pairs else f"i64({first}[i])"
        stores = f"{values}[i] = {self.value(u, 'p')}; " if values else ""
        resets = "".join(f"{slots}[i] = {self.held(_NO_BID)}; " for slots in dict.fromkeys((best, first)))
        self.put(f"{self.each(result)}const i64 p = {position}; {stores}{positions}[i] = p; {resets}}});")
