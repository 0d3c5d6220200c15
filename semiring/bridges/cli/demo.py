"""``semiring demo``: search and label the roads of New York and a generated social-like graph, and plot the search."""

from __future__ import annotations

import argparse
import contextlib
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any

import semiring as sr
from semiring.bridges.cli import chart, picture
from semiring.bridges.cli.components import component_sizes
from semiring.bridges.cli.frontier import Frontiers, frontiers
from semiring.bridges.cli.graphs import UsageError, add_common, row_of
from semiring.bridges.cli.machine import engine_description
from semiring.bridges.cli.progress import Progress, seconds
from semiring.bridges.cli.report import emit, runs, shown, table
from semiring.bridges.cli.search import Search, search, timed
from semiring.bridges.plot import style
from semiring.config import default_device, engine_for
from semiring.optional import missing

_SCALE = {"cpu": 16, "cuda": 20}
_SEED = 1
_REPEATS = 5
_PICTURE = "frontier.png"


@dataclass(frozen=True)
class Finding:
    """The results for one graph: the search, the component sizes, and the time of labeling."""

    title: str
    A: sr.Matrix
    found: Search
    component_sizes: list[int]
    first_s: float
    ms: float
    plot: Frontiers


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "demo",
        help="search and label a road network and a generated graph",
        description="Search and label the roads of New York and a generated social-like graph, and plot the search.",
    )
    parser.add_argument("--scale", type=int, metavar="S", help="2**S vertices in the social-like graph (16; GPU: 20)")
    parser.add_argument(
        "--source",
        default="max-degree",
        metavar="ROW",
        help="the start vertex of both searches: a row, or max-degree (default)",
    )
    parser.add_argument(
        "--plot", default=_PICTURE, metavar="FILE.png", help=f"default: {_PICTURE} in the current folder"
    )
    parser.add_argument("--no-plot", dest="plot", action="store_const", const=None, help="draw no PNG")
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Load, search, label, print and plot."""
    if engine_for(default_device()) == "reference":
        raise UsageError("the reference engine stores matrices densely; the roads of New York would need 70 GB")
    if args.plot and style.can_draw():
        picture.check(args.plot)
    progress = Progress(args.progress)
    if not args.json:
        print(f"semiring {sr.__version__}: {engine_description()}\n", flush=True)
    graphs = _graphs(_SCALE[default_device()] if args.scale is None else args.scale, progress)
    findings = [_measure(title, A, row_of(A, args.source), progress) for title, A in graphs]
    if args.json:
        emit({"engine": engine_description(), "graphs": [_facts(finding) for finding in findings]}, as_json=True)
    else:
        _print(findings)
    if args.plot:
        _draw(args.plot, findings, quiet=args.json)
    return 0


def _graphs(scale: int, progress: Progress) -> list[tuple[str, sr.Matrix]]:
    with _bundled("NY.gr.xz") as path, progress.step("reading the roads of New York"):
        roads = sr.io.read(path, progress=progress).wait()
    with progress.step(f"making a Kronecker graph of scale {scale}"):
        social = sr.random.kronecker(scale, seed=_SEED, progress=progress).wait()
    return [("Roads of New York", roads), (f"Social-like, Kronecker scale {scale}", social)]


@contextlib.contextmanager
def _bundled(name: str) -> Iterator[str]:
    with as_file(files("semiring") / "data" / name) as path:
        yield str(path)


def _measure(title: str, A: sr.Matrix, source: int, progress: Progress) -> Finding:
    with progress.step(f"searching: {title}"):
        found = search(A, source, repeats=_REPEATS)
    with progress.step(f"labeling components: {title}"):
        labels, first_s = timed(lambda: sr.algorithms.connected_components(A))
        again = [timed(lambda: sr.algorithms.connected_components(A))[1] for _ in range(_REPEATS)]
        sizes = component_sizes(labels).tolist()
    with progress.step(f"counting frontiers: {title}"):
        plot = frontiers(title, A, found)
    return Finding(title, A, found, sizes, first_s, statistics.median(again) * 1e3, plot)


def _facts(finding: Finding) -> dict[str, Any]:
    found, plot = finding.found, finding.plot
    return {
        "graph": finding.title,
        "rows": finding.A.nrows,
        "entries": finding.A.nvals,
        "source": found.source,
        "levels": int(found.vertices.size),
        "reached": found.reached,
        "entries_traversed": found.traversed,
        "bfs_ms": found.ms,
        "bfs_first_call_ms": found.first_s * 1e3,
        "teps": found.teps,
        "components": len(finding.component_sizes),
        "largest_component": max(finding.component_sizes, default=0),
        "components_ms": finding.ms,
        "components_first_call_ms": finding.first_s * 1e3,
        "directions": list(found.directions),
        "vertex_frontier": plot.vertices.tolist(),
        "distinct_neighbors": None if plot.ends is None else plot.ends.tolist(),
        "edge_frontier": plot.edges.tolist(),
    }


def _print(findings: list[Finding]) -> None:
    graphs = [[f.title, f"{f.A.nrows:,}", f"{f.A.nvals:,}"] for f in findings]
    print(table(["graph", "vertices", "entries"], graphs))
    print()
    searches = [
        [f.title, f"{f.found.source:,}", f"{f.found.vertices.size:,}", f"{f.found.reached:,}", f"{f.found.ms:.2f}",
         f"{f.found.teps / 1e6:,.0f}"]
        for f in findings
    ]  # fmt: skip
    print(table(["bfs_levels", "source", "levels", "reached", "ms", "MTEPS"], searches))
    print()
    labels = [
        [f.title, f"{len(f.component_sizes):,}", f"{max(f.component_sizes, default=0):,}", f"{f.ms:.2f}"]
        for f in findings
    ]
    print(table(["connected_components", "components", "largest", "ms"], labels))
    compiled = ", ".join(
        f"{name} {seconds(spent)}"
        for name, spent in (("bfs_levels", findings[0].found.first_s), ("connected_components", findings[0].first_s))
    )
    print(
        f"\nms: median of {_REPEATS} calls; the first call, which compiles or loads kernels, took: {compiled}.\n"
        "TEPS: stored entries of the vertices reached, a second; an undirected edge is two entries.\n"
    )
    print("Push or pull, level by level")
    for f in findings:
        print(f"  {f.title}: {runs(f.found.directions)}")
    print("\nFrontiers, level by level")
    for f in findings:
        print(f"\n{chart.chart(f.plot)}")


def _draw(path: str, findings: list[Finding], *, quiet: bool) -> None:
    if not style.can_draw():
        if not quiet:
            print(f"\nNo PNG: {missing('the plot', 'matplotlib')}")
        return
    picture.draw(path, [finding.plot for finding in findings])
    if not quiet:
        print(f"\nPlot written to {shown(path)}")
