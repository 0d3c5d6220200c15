"""Named strategies of breadth-first searches on a GPU: those of the literature beside the library's own.

A search whose entries are final on arrival (`requests.graphs.Closure`) repeats a level: follow the edges of the
frontier (push), or probe the rows that are not visited (pull).  A strategy determines how a push divides the edges
among threads, when a level is pulled, and how a pull passes its rows to a later push.  All have the same levels;
``docs/papers.md`` compares their times.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["STRATEGIES", "Strategy"]


class Strategy(NamedTuple):
    """The phases of a search.

    push: a name in ``kernels/push_strategies.cuh``.
    alpha, beta: pull if alpha times the edges of the frontier exceed those that no push has followed, until the
        frontier has fewer than 1/beta of the rows.  share: pull if it has more than 1/share of the rows.  None: the
        cost model of `direction`.
    pulls: whether levels are pulled at all.
    lists: whether a pull lists the rows that it finds; else the first push after it does.  None: as tuned.
    source: where it is described.
    """

    push: str
    source: str
    alpha: int = 0
    beta: int = 0
    share: int = 0
    pulls: bool = True
    lists: bool | None = None


_MERRILL = "Merrill, Garland, Grimshaw, Scalable GPU Graph Traversal (PPoPP 2012), section 5"
_MOSCHOU = "Moschou, Parallel Breadth-First Search (2026), section 2"
STRATEGIES: dict[str, Strategy] = {
    "auto": Strategy("balanced", "docs/decisions/0006-closure.md"),
    "dynamic": Strategy("dynamic", _MOSCHOU, pulls=False),
    "chunked": Strategy("chunked", _MOSCHOU, pulls=False),
    "warp": Strategy("warp", _MOSCHOU, share=20, lists=False),
    "adaptive": Strategy("adaptive", "Moschou, Parallel Graph Algorithms (2026), section 2.2", pulls=False),
    "expand_contract": Strategy("balanced", _MERRILL, pulls=False),
    "contract_expand": Strategy("contract_expand", _MERRILL, pulls=False),
    "two_phase": Strategy("two_phase", _MERRILL, pulls=False),
    "hybrid": Strategy("hybrid", _MERRILL, pulls=False),
    "direction_optimizing": Strategy(
        "two_phase",
        "Hiragushi, Takahashi, Efficient Hybrid Breadth-First Search on GPUs (ICA3PP 2013)",
        alpha=48, beta=20, lists=False,
    ),
    "direct_emission": Strategy(
        "warp", "Moschou, High-Performance BFS on Billion-Scale Graphs (2026), section 3", share=26, lists=True
    ),
}  # fmt: skip
