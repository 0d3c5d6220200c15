"""Compressed rows: their size, the speed of encoding and decoding, and the cost of a search on them.

    python -m benchmarks.compression                    kron24 on a GPU, kron18 on a CPU
    python -m benchmarks.compression --scale 16         a smaller graph, to try the program itself
    python -m benchmarks.compression --web FOLDER       also the web graphs in a folder (``*.graph-txt.gz``)

The baseline of decoding is the method of the papers, one lane of a warp for all numbers of a row.  Exits with 1 if a
target is missed; the targets are for kron24 on an H200.
"""

from __future__ import annotations

import sys
from functools import cached_property
from pathlib import Path
from typing import Any

import semiring as sr
from semiring.formats import CODECS

from . import arguments, checks, graphs
from .harness import RUNS, SOURCES, Contender, Samples, compare, measure
from .report import Peer, Report, Row

SCALE = {"cuda": 24, "cpu": 18}
MOST_BITS = {"varint": 21.0, "packed": 21.0}
MOST_WEB_BITS = 12.0
LEAST_DECODED = {"varint": 60.0, "packed": 120.0}
LEAST_ENCODED = 5.0
LEAST_SEARCH = 0.7


class Bench:
    """The graph in all storage kinds, and the report of one run."""

    def __init__(self, device: str, scale: int, sources: int, web: Path | None, report: Report) -> None:
        self.device = device
        self.has_targets = device == "cuda" and scale == SCALE["cuda"]
        self.report = report
        self.web = web
        self.name = f"kron{scale}"
        self.A = graphs.make(self.name)
        self.sources = graphs.sources(self.A, sources)

    @cached_property
    def packed(self) -> dict[str, sr.Matrix]:
        """The graph under each codec."""
        return {codec: self.A.compress(codec) for codec in CODECS}

    def add(self, what: str, value: float, unit: str, bound: float | None = None, **more: Any) -> None:
        """Report a figure; the target applies only at its scale."""
        self.report.add(Row(what, unit, value, bound if self.has_targets else None, **more))

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
    if b.web is None:
        return
    for path in sorted(b.web.glob("*.graph-txt.gz")):
        G = sr.io.read(path)
        name = path.name.removesuffix(".graph-txt.gz")
        for codec in CODECS:
            bound = MOST_WEB_BITS if codec == "packed" and name.endswith("llp") else None
            bits = 8 * G.compress(codec).nbytes / G.nvals
            plain = Peer("plain", 8 * G.nbytes / G.nvals, "bits")
            b.report.add(Row(f"size of {name}, {codec}", "bits an entry", bits, bound, peers=(plain,)))


def decoding(b: Bench) -> None:
    """A whole matrix decoded to uncompressed columns."""
    for codec, matrix in b.packed.items():
        samples = measure(lambda _, m=matrix: m.decompress().wait(), _same(b.A), range(RUNS), b.device)  # type: ignore[misc]
        beside: tuple[Peer, ...] = ()
        if codec == "varint" and b.device == "cuda":
            from .one_lane import OneLane

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


def main() -> int:
    """Measure as the command line selects."""
    parser = arguments.parser("compression", __doc__, rows=ROWS)
    parser.add_argument("--scale", type=int, help="of the Kronecker graph; default: 24 on a GPU, 18 on a CPU")
    parser.add_argument("--sources", type=int, default=SOURCES, help="how many; default %(default)s")
    parser.add_argument("--web", type=Path, help="a folder of web graphs")
    options = parser.parse_args()
    device = arguments.device_of(options)
    with sr.use(device):
        report = Report("compression", device, options.out)
        bench = Bench(device, options.scale or SCALE[device], options.sources, options.web, report)
        arguments.measure_rows(ROWS, options, bench)
        report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
