"""The verifiers accept correct results and reject every kind of wrong result."""

from __future__ import annotations

import numpy as np
import pytest

from tests import verify

# 0 - 1 - 2 - 3 and 0 - 4, 4 - 3 as arcs in both directions; 5 - 6 apart; 7 alone.
PAIRS = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 3), (5, 6)]
N = 8
LEVELS = np.array([0, 1, 2, 2, 1, -1, -1, -1])
PARENTS = np.array([0, 0, 1, 4, 0, -1, -1, -1])
LABELS = np.array([0, 0, 0, 0, 0, 5, 5, 7])


@pytest.fixture
def graph() -> tuple[np.ndarray, np.ndarray]:
    entries = sorted(PAIRS + [(b, a) for a, b in PAIRS])
    indptr = np.zeros(N + 1, np.int32)
    for i, _ in entries:
        indptr[i + 1 :] += 1
    return indptr, np.array([j for _, j in entries], np.int32)


def test_arcs_are_read_in_slices(graph) -> None:
    pieces = list(verify.arcs(*graph, entries=5))
    assert [len(j) for _, j in pieces] == [5, 5, 2]
    assert list(zip(*(np.concatenate(part).tolist() for part in zip(*pieces, strict=True)), strict=True)) == sorted(
        PAIRS + [(b, a) for a, b in PAIRS]
    )


def test_correct_results_are_accepted(graph) -> None:
    verify.bfs_levels(*graph, 0, LEVELS)
    verify.bfs_parents(*graph, 0, PARENTS, LEVELS)
    verify.components(*graph, LABELS, 3)
    verify.components(*graph, np.array([3, 3, 3, 3, 3, 6, 6, 7]), 3)


@pytest.mark.parametrize(
    "levels",
    [
        [0, 1, 2, 3, 1, -1, -1, -1],  # a shorter path exists
        [0, 1, 1, 2, 1, -1, -1, -1],  # no arc from the level above
        [0, 1, -1, 2, 1, -1, -1, -1],  # reached, and not marked
        [0, 1, 2, 2, 1, 4, -1, -1],  # not reached, and marked
        [0, 1, 2, 2, 1, 0, -1, -1],  # a second source
        [1, 2, 3, 3, 2, -1, -1, -1],  # the source is not 0
    ],
)
def test_wrong_levels_are_refused(graph, levels: list[int]) -> None:
    with pytest.raises(AssertionError):
        verify.bfs_levels(*graph, 0, np.array(levels))


@pytest.mark.parametrize(
    "parents",
    [
        [0, 0, 1, 0, 0, -1, -1, -1],  # no such arc
        [0, 0, 3, 2, 0, -1, -1, -1],  # not a level above
        [0, 0, -1, 2, 0, -1, -1, -1],  # missing
        [1, 0, 1, 4, 0, -1, -1, -1],  # the source has another parent
    ],
)
def test_wrong_parents_are_refused(graph, parents: list[int]) -> None:
    with pytest.raises(AssertionError):
        verify.bfs_parents(*graph, 0, np.array(parents), LEVELS)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 0, 2, 2, 0, 5, 5, 7],  # split
        [0, 0, 0, 0, 0, 0, 0, 7],  # merged
        [1, 0, 0, 0, 0, 5, 5, 7],  # not a member's own
        [0, 0, 0, 0, 0, 5, 5, 8],  # no such row
    ],
)
def test_wrong_labels_are_refused(graph, labels: list[int]) -> None:
    with pytest.raises((AssertionError, IndexError)):
        verify.components(*graph, np.array(labels), 3)
