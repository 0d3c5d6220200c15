"""The forms that a graph can take, and what was proved about it on the plain one in device memory.

Levels and labels (the least member of a component) are unique: what was proved on one form must come from all others.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import semiring as sr
from tests import verify

FORMS = ("plain", "varint", "packed")
PLACEMENTS = ("device", "pinned", "host")


@dataclass
class Proof:
    """Proved results of one graph, in host memory: levels by source, and labels."""

    levels: dict[int, Any] = field(default_factory=dict)
    labels: Any = None

    def keep_levels(self, source: int, proved: sr.Vector) -> None:
        """Levels that were proved."""
        self.levels[source] = proved.to_numpy(verify.UNREACHED)

    def keep_labels(self, proved: sr.Vector) -> None:
        """Labels that were proved to name a member each; of its component, none may be less."""
        self.labels = proved.to_numpy()
        assert (self.labels <= np.arange(self.labels.size)).all(), "a label is not the least member"

    def same_levels(self, source: int, found: sr.Vector) -> None:
        """A check: those that were proved.  What comparing takes does not count against a budget."""
        with sr.config.set(device_memory=None):
            assert np.array_equal(found.to_numpy(verify.UNREACHED), self.levels[source]), f"levels from {source} differ"

    def same_labels(self, _: Any, found: sr.Vector) -> None:
        """A check: those that were proved."""
        with sr.config.set(device_memory=None):
            assert np.array_equal(found.to_numpy(), self.labels), "labels differ"


def encoded(A: sr.Matrix, form: str) -> sr.Matrix:
    """A plain matrix in that form, where it lies."""
    return A if form == "plain" else A.compress(form)


def page_locked(A: sr.Matrix, forms: Iterable[str]) -> dict[str, sr.Matrix]:
    """Each form of a plain matrix in page-locked memory, by name; in device memory one stands beside it at a time."""
    return {form: encoded(A, form).to(placement="pinned").wait() for form in forms}


def pattern_arrays(A: sr.Matrix) -> tuple[Any, Any]:
    """(indptr, columns) of a plain matrix, where they lie; `graphs.arrays` would copy them into device memory."""
    pattern = A.store.pattern
    return pattern.indptr, pattern.indices


def release(device: str) -> None:
    """Give back the memory of what is no longer used."""
    gc.collect()
    if device == "cuda":
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()
