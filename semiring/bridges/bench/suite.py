"""What suites share: the measured row of a kernel, graphs, sources, and the report of a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np

import semiring as sr
from semiring.bridges.bench import peers
from semiring.bridges.bench.ceilings import copied_bytes
from semiring.bridges.bench.measuring import Contender, Samples
from semiring.bridges.bench.rows import Peer, Row
from semiring.bridges.cli.progress import Progress

_LARGEST_WEIGHT: Final = 255


@dataclass(frozen=True)
class Kernel:
    """A call of a suite: its name, the call and its verifier, and a number of its result that other programs share.

    edges: how many it traverses for an argument, for the rate.  least: the least bytes.
    """

    name: str
    contender: Contender
    number: Callable[[Any], Any]
    arguments: Sequence[Any]
    edges: Callable[[Any], float] | None = None
    least: float | None = None


@dataclass
class Run:
    """One run of a suite on a device: its rows, in the order measured, and lines for readers above the table."""

    device: str
    progress: Progress
    seed: int = 1
    with_peers: bool = False
    rows: list[Row] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    @cached_property
    def bytes_a_second(self) -> float:
        """Return the ceiling of streamed bytes, measured once."""
        with self.progress.step("measuring the ceiling of bytes"):
            return 1e9 * (copied_bytes(self.device).value or 0)

    @cached_property
    def generator(self) -> np.random.Generator:
        """Return the random numbers of the run."""
        return np.random.default_rng(self.seed)

    def programs(self, A: sr.Matrix) -> dict[str, peers.Calls]:
        """Return the calls of other programs on a graph; empty unless they were requested."""
        if not self.with_peers:
            return {}
        with self.progress.step("making the graphs of other programs"):
            return peers.programs(A)

    def measure(self, graph: str, kernel: Kernel, others: Mapping[str, peers.Calls], **facts: Any) -> None:
        """Time and verify a kernel on a graph, beside other programs, and add its row."""
        what = f"{kernel.name} {graph}"
        with self.progress.step(what):
            found, beside, differ = peers.beside(
                kernel.name, kernel.contender, kernel.number, others, kernel.arguments, self.device
            )
        if differ:
            print(f"semiring: {what}: other results, not compared: {', '.join(differ)}", file=sys.stderr)
        edges = [] if kernel.edges is None else [kernel.edges(argument) for argument in kernel.arguments]
        self.add(what, found, edges, kernel.least, beside, **facts)

    def add(
        self,
        what: str,
        found: Samples,
        edges: Sequence[float] = (),
        least: float | None = None,
        beside: Mapping[str, Samples] | None = None,
        **facts: Any,
    ) -> None:
        """Add the row of measured times: the rate is that of all calls, edges over time."""
        if edges:
            facts["rate"] = 1e3 * sum(edges) / sum(found.wall_ms)
        if least is not None:
            facts |= {"least_bytes": least, "share": least / (1e-3 * found.median * self.bytes_a_second)}
        others = tuple(Peer(name, one.median, samples=one.wall_ms) for name, one in (beside or {}).items())
        self.rows.append(
            Row(
                what, "ms", found.median, peers=others, note=found.spread, samples=found.wall_ms,
                device_samples=found.device_ms, facts=facts,
            )
        )  # fmt: skip


def default_device() -> str:
    """Return the device of new objects."""
    return str(sr.Vector(bool, 1).device)


def sources(A: sr.Matrix, count: int, generator: np.random.Generator) -> list[int]:
    """Return random rows that are not empty, distinct if there are enough; the same on every device."""
    indptr = A.to_csr(index_dtype=None, device="cpu")[0]
    occupied = np.flatnonzero(np.diff(np.asarray(indptr)))
    if not occupied.size:
        return []
    return [int(row) for row in generator.choice(occupied, size=count, replace=occupied.size < count)]


def with_weights(A: sr.Matrix) -> sr.Matrix:
    """Return the pattern with weights from 1 to 255, random functions of both ends and equal in both directions."""
    rows, columns, _ = A.to_coo()
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)  # of CuPy's arrays too
    mixed = low.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + high.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    weights = (mixed >> np.uint64(33)) % np.uint64(_LARGEST_WEIGHT) + np.uint64(1)
    return sr.Matrix.from_coo(rows, columns, weights.astype(np.int32), shape=A.shape)
