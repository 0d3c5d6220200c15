"""The rows of a measurement: JSON lines for programs and a table for readers, two files that are written together."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import semiring as sr
from semiring.bridges.bench import machine
from semiring.bridges.bench.measuring import Samples
from semiring.bridges.cli.report import shown, table
from semiring.exceptions import NotSupported

_HEAD: Final = ("ms", "min", "max", "runs", "events ms", "M/s", "of ceiling", "peers: times as fast")
_FILES: Final = (".jsonl", ".txt")


@dataclass(frozen=True)
class Peer:
    """The figure of another program for the same work.

    recorded: measured earlier, not in this run.
    """

    name: str
    value: float
    unit: str = "ms"
    recorded: bool = False
    samples: tuple[float, ...] = ()

    def text(self, ours: float | None, unit: str) -> str:
        """Return its figure, and the ratio to ours if both have one unit."""
        ratio = f" = {self.value / ours:.2f} x ours" if ours and unit == self.unit else ""
        return f"{self.name} {self.value:.4g} {self.unit}{' (recorded)' if self.recorded else ''}{ratio}"


@dataclass(frozen=True)
class Row:
    """One figure: its unit, its target, and the peers beside it.

    bound: the target; None without one.  at_most: whether the figure must be at most the bound, or at least.
    relative: the least sample over that of a reference program in the same run, where runs are to be compared by it and
    not by the figure, because other load on the machine affects both.
    """

    what: str
    unit: str
    value: float | None
    bound: float | None = None
    at_most: bool = True
    peers: tuple[Peer, ...] = ()
    note: str = ""
    samples: tuple[float, ...] = ()
    device_samples: tuple[float, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    relative: float | None = None

    @property
    def passed(self) -> bool | None:
        """Return whether the bound is met; None without a bound."""
        if self.bound is None:
            return None
        if self.value is None:
            return False
        return self.value <= self.bound if self.at_most else self.value >= self.bound

    def cells(self) -> tuple[str, ...]:
        """Return the row of the table of `benchmarks.report`."""
        target = "" if self.bound is None else f"{'<=' if self.at_most else '>='} {self.bound:g}"
        verdict = {None: "", True: "pass", False: "FAIL"}[self.passed]
        measured = "none" if self.value is None else f"{self.value:.4g} {self.unit}"
        beside = "; ".join(peer.text(self.value, self.unit) for peer in self.peers)
        return (self.what, measured, target, verdict, beside)


def timed(what: str, samples: Samples, bound: float | None = None, note: str = "", **more: Any) -> Row:
    """Return a row of milliseconds: the median, with the spread in its note."""
    spread_and_note = "; ".join(part for part in (samples.spread, note) if part)
    return Row(
        what,
        "ms",
        samples.median,
        bound,
        note=spread_and_note,
        samples=samples.wall_ms,
        device_samples=samples.device_ms,
        **more,
    )


def as_table(rows: Sequence[Row]) -> str:
    """Return rows as a table for readers.

    events ms: the median between CUDA events.  M/s: millions of edges (or edges and vertices) a second.  of ceiling:
    the least bytes of the kernel over its median, as a share of the measured bytes a second.
    """
    cells = []
    for row in rows:
        events = Samples(row.samples, row.device_samples).device_median
        rate, share = row.facts.get("rate"), row.facts.get("share")
        # Other programs are called on the first arguments: the ratio is that of the same calls.
        same = [statistics.median(row.samples[: len(peer.samples)]) for peer in row.peers]
        ratios = [f"{peer.name} {peer.value / ms:.3g}" for peer, ms in zip(row.peers, same, strict=True)]
        figures = (row.value, min(row.samples), max(row.samples))
        cells.append([
            row.what,
            *(f"{figure:.4g}" for figure in figures if figure is not None),
            str(len(row.samples)),
            "-" if events is None else f"{events:.4g}",
            "-" if rate is None else f"{rate / 1e6:,.4g}",
            "-" if share is None else f"{share:.2%}",
            ", ".join(ratios) or "-",
        ])  # fmt: skip
    return table(["kernel", *_HEAD], cells)


def files_of(path: str, device: str, suite: str) -> tuple[Path, Path]:
    """Return the two files of a result: ``.jsonl`` and ``.txt``; in a folder they are named by machine and suite.

    Raises
    ------
    NotSupported
        For another extension.
    """
    if Path(path).is_dir():
        stem = Path(path) / f"{machine.slug(device)}-bench-{suite}"
        return stem.with_name(f"{stem.name}.jsonl"), stem.with_name(f"{stem.name}.txt")
    if sr.io.extension(path) not in [(ending, "") for ending in _FILES]:
        raise NotSupported(f"--output {shown(path)}: expected a folder, or one of the extensions {' '.join(_FILES)}")
    return Path(path).with_suffix(".jsonl"), Path(path).with_suffix(".txt")


def write(files: tuple[Path, Path], known: Mapping[str, Any], rows: Sequence[Row], text: str) -> None:
    """Write the facts of the machine and the rows as JSON lines, and the text; on an error neither file changes."""
    lines = [json.dumps(known), *(json.dumps(asdict(row) | {"passed": row.passed}) for row in rows)]
    with sr.io.atomic_writer(files[0]) as data, sr.io.atomic_writer(files[1]) as report:
        data.write(("\n".join(lines) + "\n").encode())
        report.write(text.encode())
