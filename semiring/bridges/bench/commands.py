"""The suites of `semiring bench`: a run, its report on standard output, its files and its plot."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from semiring.bridges.bench import GAP_GRAPHS, ceilings, gap, graph500, graphalytics, machine, peers, plots, rows, suite
from semiring.bridges.cli.graphs import UsageError
from semiring.bridges.cli.progress import Progress
from semiring.bridges.cli.report import emit, table


def run(args: argparse.Namespace) -> int:
    """Run the suite of the command line; return the exit code."""
    return {"graph500": _graph500, "gap": _gap, "graphalytics": _graphalytics, "ceilings": _ceilings}[args.suite](args)


def _graph500(args: argparse.Namespace) -> int:
    run, files = _begin(args)
    found = []
    for scale in args.scales:
        before = len(run.rows)
        graph500.graph500(run, scale, args.edgefactor, args.roots)
        found += [(scale, row) for row in run.rows[before:]]
    return _end(args, run, files, found)


def _gap(args: argparse.Namespace) -> int:
    if args.files is not None and args.scales is not None and args.graphs is None:
        raise UsageError("--scale is the scale of generated graphs: pass --graphs too, or --files alone")
    run, files = _begin(args)
    graphs = args.graphs or (() if args.files else GAP_GRAPHS)
    found = []
    for kind in graphs:
        for scale in args.scales or [14]:
            with run.progress.step(f"making {kind}{scale}"):
                A = gap.generated(kind, scale, args.seed)
            before = len(run.rows)
            gap.gap(run, f"{kind}{scale}", A, args.kernels, args.trials)
            found += [(scale, row) for row in run.rows[before:]]
    for name, A in gap.files(args.files, run) if args.files else ():
        gap.gap(run, name, A, args.kernels, args.trials)
    return _end(args, run, files, found)


def _graphalytics(args: argparse.Namespace) -> int:
    if args.files is not None and args.scale is not None:
        raise UsageError("--scale is the scale of a generated graph, --files are data sets: pass one of them")
    run, files = _begin(args)
    data = [graphalytics.generated(args.scale or 12, run)] if args.files is None else graphalytics.datasets(args.files)
    for one in data:
        graphalytics.graphalytics(run, one, args.runs)
    return _end(args, run, files, [])


def _ceilings(args: argparse.Namespace) -> int:
    args.seed, args.peers, args.plot = 1, False, None
    run, files = _begin(args)
    with run.progress.step("measuring ceilings"):
        run.rows = ceilings.measure(run.device)
    cells = [[row.what, f"{row.value:.4g}", row.unit, row.note] for row in run.rows]
    return _end(args, run, files, [], table(["ceiling", "measured", "unit", ""], cells))


def _begin(args: argparse.Namespace) -> tuple[suite.Run, Any]:
    """Return the run of the command and its files, after the checks that need no measurement."""
    device = suite.default_device()
    files = None if args.output is None else rows.files_of(args.output, device, args.suite)
    if getattr(args, "plot", None) is not None:
        plots.check(args.plot)
        if args.scales is None or len(args.scales) < 2:
            raise UsageError("--plot draws time against scale: pass --scales A-B too")
    absent = peers.missing() if args.peers else []
    if absent:
        print(f"semiring: not installed, not compared: {', '.join(absent)}", file=sys.stderr)
    return suite.Run(device, Progress(args.progress), args.seed, args.peers), files


def _end(
    args: argparse.Namespace, run: suite.Run, files: Any, by_scale: list[tuple[int, rows.Row]], made: str | None = None
) -> int:
    """Print the rows, and write the requested files."""
    known = machine.facts(run.device)
    text = [machine.describe(known), *run.text, made or rows.as_table(run.rows)]
    if made is None and any("share" in row.facts for row in run.rows):
        text.append(f"of ceiling: the least bytes over the median, as a share of {run.bytes_a_second / 1e9:.4g} GB/s")
    lines = plots.series(by_scale)
    if len({scale for scale, _ in by_scale}) > 1:
        slopes = [[name.strip(), f"{plots.slope(points):.2f}"] for name, points in lines.items()]
        text.append(table(["time = a 2**(slope scale)", "slope"], slopes))
    printed = "\n\n".join(text) + "\n"
    if args.json:
        listed = [
            {
                "kernel": row.what,
                "unit": row.unit,
                "value": row.value,
                "samples": list(row.samples),
                "peers": {peer.name: peer.value for peer in row.peers},
                "facts": row.facts,
            }
            for row in run.rows
        ]
        emit({"machine": known, "rows": listed}, as_json=True)
    else:
        print(printed, end="")
    if files is not None:
        rows.write(files, known, run.rows, printed)
        print(f"semiring: written: {files[0]}, {files[1]}", file=sys.stderr)
    if getattr(args, "plot", None) is not None:
        plots.draw(args.plot, lines, args.suite)
    return 0
