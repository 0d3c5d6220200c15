"""Proofs of the algorithms on any graph: by the defining property of a result, or by another program.

A proof is a function of a `Case` that calls algorithms and raises AssertionError if a result is wrong.  `proves` lists
it for the functions that it proves, with the size up to which it is used.  `tests/algorithms/test_proofs.py` runs all
of them on all graphs with known results; ``benchmarks verify-algorithms`` runs those by property on large graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .case import Case

DEFINITION = "property"


class Proof(NamedTuple):
    """How the results of some functions are proved.

    by: ``"property"``, or the program that computes the same.  entries: the largest graph, in stored entries.
    """

    family: str
    functions: tuple[str, ...]
    by: str
    entries: float
    run: Callable[[Case], None]

    @property
    def name(self) -> str:
        """The name of the function that proves."""
        return self.run.__name__


PROOFS: list[Proof] = []


def proves(
    *functions: str, by: str = DEFINITION, entries: float = float("inf")
) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    """List a proof of these functions."""

    def listed(run: Callable[[Case], None]) -> Callable[[Case], None]:
        PROOFS.append(Proof(run.__module__.rpartition(".")[2], functions, by, entries, run))
        return run

    return listed


from . import centrality, cohesion, communities, components, measures, ordering, paths, sets, similarity  # noqa: E402, F401
