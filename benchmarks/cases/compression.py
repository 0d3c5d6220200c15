"""Compressed rows: their size, the speed of encoding and decoding, and searches on them.

The baseline of decoding is the method of the papers, one lane of a warp for all numbers of a row.  The targets are for
kron24 on an H200.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import semiring as sr
from semiring.formats import CODECS

from .. import checks, graphs
from ..case import Run
from ..harness import RUNS, SOURCES, Contender, Samples, compare, measure
from ..report import Peer

SCALE = {"cuda": 24, "cpu": 18}
MOST_BITS = {"varint": 21.0, "packed": 21.0}
MOST_WEB_BITS = 12.0
LEAST_DECODED = {"varint": 60.0, "packed": 120.0}
LEAST_ENCODED = 5.0
LEAST_SEARCH = 0.7


class Bench:
    """The graph in all storage kinds, and the run."""

    def __init__(self, run: Run) -> None:
        self.run, self.device = run, run.device
        self.has_targets = run.on_gpu and run.options.scale == SCALE["cuda"]
        self.name = f"kron{run.options.scale}"
        self.A = graphs.make(self.name)
        self.sources = graphs.sources(self.A, run.options.sources)

    @cached_property
    def packed(self) -> dict[str, sr.Matrix]:
        """The graph under each codec."""
        return {codec: self.A.compress(codec) for codec in CODECS}

    def add(self, what: str, value: float, unit: str, bound: float | None = None, **more: Any) -> None:
        """Report a figure; the target applies only at its scale."""
        self.run.add(what, unit, value, bound if self.has_targets else None, **more)

    def rate(self, samples: Samples) -> float:
        """Billions of entries a second at the median time."""
        return float(self.A.nvals / samples.median / 1e6)


def sizes(b: Bench) -> None:
    """Bits an entry, all arrays included."""
    plain = Peer("plain", 8 * b.A.nbytes / b.A.nvals, "bits")
    for codec, matrix in b.packed.items():
        bits = 8 * matrix.nbytes / b.A.nvals
        announced = b.A.compressed_nbytes(codec)
        assert announced == matrix.nbytes, f"{codec}: {announced} bytes were announced, {matrix.nbytes} found"
        b.add(f"size of {b.name}, {codec}", bits, "bits an entry", MOST_BITS[codec], peers=(plain,))


def web(b: Bench) -> None:
    """Bits an entry of real web graphs in their own orders."""
    if b.run.options.web is None:
        return
    for path in sorted(Path(b.run.options.web).glob("*.graph-txt.gz")):
        G = sr.io.read(path)
        name = path.name.removesuffix(".graph-txt.gz")
        for codec in CODECS:
            bound = MOST_WEB_BITS if codec == "packed" and name.endswith("llp") else None
            bits = 8 * G.compress(codec).nbytes / G.nvals
            plain = Peer("plain", 8 * G.nbytes / G.nvals, "bits")
            b.run.add(f"size of {name}, {codec}", "bits an entry", bits, bound, peers=(plain,))


def decoding(b: Bench) -> None:
    """A whole matrix decoded to uncompressed columns."""
    for codec, matrix in b.packed.items():
        samples = measure(lambda _, m=matrix: m.decompress().wait(), _same(b.A), range(RUNS), b.device)  # type: ignore[misc]
        beside: tuple[Peer, ...] = ()
        if codec == "varint" and b.device == "cuda":
            from ..one_lane import OneLane

            lane = OneLane(matrix)
            theirs = measure(lambda _, lane=lane: lane.decode(), lane.check(b.A), range(RUNS), b.device)  # type: ignore[misc]
            beside = (Peer("one lane a row", b.rate(theirs), "G entries/s"),)
        b.add(
            f"decoding {b.name}, {codec}", b.rate(samples), "G entries/s", LEAST_DECODED[codec], at_most=False,
            peers=beside, note=f"{samples}", samples=samples.wall_ms, device_samples=samples.device_ms,
        )  # fmt: skip


def encoding(b: Bench) -> None:
    """From uncompressed columns."""
    for codec in CODECS:
        samples = measure(lambda _, codec=codec: b.A.compress(codec).wait(), _decodes(b.A), range(RUNS), b.device)  # type: ignore[misc]
        b.add(
            f"encoding {b.name}, {codec}", b.rate(samples), "G entries/s", LEAST_ENCODED, at_most=False,
            note=f"{samples}", samples=samples.wall_ms, device_samples=samples.device_ms,
        )  # fmt: skip


def searches(b: Bench) -> None:
    """`bfs_levels` and components, compressed and uncompressed."""
    levels, labels = checks.levels(b.A), checks.components(b.A)
    forms = {"plain": b.A, **b.packed}
    bfs = compare(
        {name: Contender(lambda s, m=m: sr.algorithms.bfs_levels(m, s), levels) for name, m in forms.items()},  # type: ignore[misc]
        b.sources,
        b.device,
    )
    parts = compare(
        {name: Contender(lambda _, m=m: sr.algorithms.connected_components(m), labels) for name, m in forms.items()},  # type: ignore[misc]
        range(RUNS),
        b.device,
    )
    for what, found in (("bfs_levels", bfs), ("connected_components", parts)):
        for codec in CODECS:
            bound = LEAST_SEARCH if (what, codec) == ("bfs_levels", "packed") else None
            beside = (Peer("plain", found["plain"].median, samples=found["plain"].wall_ms),)
            b.add(
                f"{what} {b.name}, {codec} against plain", found["plain"].median / found[codec].median, "x", bound,
                at_most=False, peers=beside, note=f"{found[codec]}", samples=found[codec].wall_ms,
                device_samples=found[codec].device_ms,
            )  # fmt: skip


def _same(A: sr.Matrix) -> Any:
    def check(_: Any, found: sr.Matrix) -> None:
        assert found.format == "csr", f"the result is {found.format}"
        assert found.isequal(A), "the decoded matrix differs"

    return check


def _decodes(A: sr.Matrix) -> Any:
    return lambda _, found: _same(A)(_, found.decompress())


ROWS = (sizes, web, encoding, decoding, searches)
OPTIONS = {
    "scale": (SCALE, "of the Kronecker graph"),
    "sources": (SOURCES, "of searches"),
    "web": (None, "a folder of web graphs, *.graph-txt.gz"),
}


def main(run: Run) -> None:
    """The rows that are selected."""
    run.rows(ROWS, Bench(run))
