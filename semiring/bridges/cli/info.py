"""``semiring info``: the installation; ``info FILE``: the content of a file; ``info ops``: the table of kernels."""

from __future__ import annotations

import argparse
import platform
from typing import Any

import numpy as np

import semiring as sr
from semiring import kernel_store
from semiring.bridges.cli import kernels
from semiring.bridges.cli.graphs import add_common, add_graph, load, out_degrees, storage_facts
from semiring.bridges.cli.machine import engine_description, gpu, library, processor, unavailable_reason
from semiring.bridges.cli.progress import Progress
from semiring.bridges.cli.report import emit, shown, size, table
from semiring.config import config, default_device, engine_for

_ENGINES = ("cuda", "cpu", "reference")
_LIBRARIES = ("numpy", "scipy", "numba", "cupy-cuda12x", "cupy-cuda13x", "matplotlib", "networkx", "zstandard")


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "info",
        help="the installation, a file, or the table of kernels",
        description="Show the installation; with FILE its content; with ops the table of kernels.",
    )
    add_graph(parser, nargs="?", what="the word ops (a file of that name: ./ops), or a file: ")
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the requested table."""
    progress = Progress(args.progress)
    if args.file is None:
        _installation(args.json, progress)
    elif args.file == "ops":
        _operations(args.json, progress)
    else:
        _file(args, progress)
    return 0


def _installation(as_json: bool, progress: Progress) -> None:
    with progress.step("loading engines"):
        reasons = {engine: unavailable_reason(engine) for engine in _ENGINES}
    libraries = {name: library(name) for name in _LIBRARIES}
    chosen = engine_for(default_device())
    facts: dict[str, Any] = {
        "semiring": sr.__version__,
        "python": platform.python_version(),
        "computes_on": engine_description() if reasons[chosen] is None else f"nothing: {reasons[chosen]}",
        "cuda": gpu() if reasons["cuda"] is None else f"not available: {reasons['cuda']}",
        "cpu": processor() if reasons["cpu"] is None else f"not available: {reasons['cpu']}",
    }
    kept = kernel_store.facts()
    facts |= {"kernel_cache": str(kept.folder), "kernel_cache_kernels": kept.kernels, "kernel_cache_files": kept.files}
    facts |= {"kernel_cache_bytes": kept.bytes if as_json else size(kept.bytes), "kernels_in_packs": kept.packed}
    facts |= {"quiet": config.quiet}
    if as_json:
        facts["libraries"] = libraries
    else:
        facts["libraries"] = ", ".join(f"{name} {version}" for name, version in libraries.items() if version)
    emit(facts, as_json=as_json)


def _operations(as_json: bool, progress: Progress) -> None:
    """Print the implementations of each operation and engine in the order of selection."""
    with progress.step("loading engines"):
        reasons = {engine: unavailable_reason(engine) for engine in _ENGINES}
    engines = (*_ENGINES, "any")
    rows = [row for engine in engines for row in kernels.rows(engine)]
    rows.sort(key=lambda row: (row.operation, engines.index(row.engine)))
    if as_json:
        listed = [
            {
                "operation": row.operation,
                "engine": row.engine,
                "implementation": row.name,
                "when": row.when or None,
                "fuses": row.fuses,
                "accepts": row.accepts,
                "about": row.about,
            }
            for row in rows
        ]
        emit({"operations": listed, "not_available": {e: r for e, r in reasons.items() if r}}, as_json=True)
        return
    cells = []
    before = ""
    for row in rows:
        name = "" if row.operation == before else row.operation
        before = row.operation
        cells.append([name, row.engine, row.name, row.when, row.accepts, ", ".join(row.fuses), row.about])
    print(table(["operation", "engine", "implementation", "when", "accepts", "fuses", "what it does"], cells, left=7))
    print("\nwhen: the condition on the spec q (its fields: semiring.engines.requests); else the next row is tried.")
    print("accepts: formats and placements of matrices; engine any: slice by slice, where no row accepts the operands.")
    for engine, reason in reasons.items():
        if reason:
            print(f"\n{engine}: not available here: {reason}")


def _file(args: argparse.Namespace, progress: Progress) -> None:
    A = load(args, progress)
    facts: dict[str, Any] = {
        "file": shown(args.file),
        "kind": type(A).__name__,
        "shape": list(A.shape),
        "entries": A.nvals,
        "dtype": str(A.dtype),
        "one_value": None if A.iso_value is None else A.iso_value.item(),
        "format": A.format,
        **storage_facts(A),
        "bytes": A.nbytes if args.json else size(A.nbytes),
        "device": A.device,
    }
    if isinstance(A, sr.Matrix):
        with progress.step("computing properties of its structure"):
            facts |= _structure(A)
    emit(facts, as_json=args.json)


def _structure(A: sr.Matrix) -> dict[str, Any]:
    degrees = out_degrees(A)
    square = A.nrows == A.ncols
    return {
        "symmetric": A.is_symmetric_structure if square else None,
        "diagonal_entries": A.diag().nvals if min(A.shape) else 0,
        "row_entries_min": int(degrees.min()) if degrees.size else None,
        "row_entries_median": float(np.median(degrees)) if degrees.size else None,
        "row_entries_mean": float(degrees.mean()) if degrees.size else None,
        "row_entries_max": int(degrees.max()) if degrees.size else None,
        "empty_rows": int((degrees == 0).sum()),
    }
