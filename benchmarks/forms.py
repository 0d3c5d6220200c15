"""The storage kinds of a graph, and the results that were verified on the uncompressed device-resident one.

Levels and labels (the least member of a component) are unique: every storage kind must give the verified results.
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
    """Verified results of one graph, in host memory: levels by source, and labels."""

    levels: dict[int, Any] = field(default_factory=dict)
    labels: Any = None

    def keep_levels(self, source: int, proved: sr.Vector) -> None:
        """Record verified levels."""
        self.levels[source] = proved.to_numpy(verify.UNREACHED)

    def keep_labels(self, proved: sr.Vector) -> None:
        """Record labels that are verified to name a member of the component; no member may be less."""
        self.labels = proved.to_numpy()
        assert (self.labels <= np.arange(self.labels.size)).all(), "a label is not the least member"

    def same_levels(self, source: int, found: sr.Vector) -> None:
        """A check against the verified levels.  Its memory does not count against a budget."""
        with sr.config.set(device_memory=None):
            assert np.array_equal(found.to_numpy(verify.UNREACHED), self.levels[source]), f"levels from {source} differ"

    def same_labels(self, _: Any, found: sr.Vector) -> None:
        """A check against the verified labels."""
        with sr.config.set(device_memory=None):
            assert np.array_equal(found.to_numpy(), self.labels), "labels differ"


def encoded(A: sr.Matrix, form: str) -> sr.Matrix:
    """An uncompressed matrix under that codec, in its placement."""
    return A if form == "plain" else A.compress(form)


def page_locked(A: sr.Matrix, forms: Iterable[str]) -> dict[str, sr.Matrix]:
    """An uncompressed matrix under each codec in page-locked memory, by name; device memory has one at a time."""
    return {form: encoded(A, form).to(placement="pinned").wait() for form in forms}


def pattern_arrays(A: sr.Matrix) -> tuple[Any, Any]:
    """(indptr, columns) of an uncompressed matrix, without the copy to device memory of `graphs.arrays`."""
    pattern = A.store.pattern
    return pattern.indptr, pattern.indices


def release(device: str) -> None:
    """Release memory that is no longer used."""
    gc.collect()
    if device == "cuda":
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()
