"""Data frames and a .csv file of names to a Matrix, beside polars, pandas, pyarrow and SciPy.

Ids are drawn from a million: 0 to 999,999 (``integers``), multiples of a large number (``sparse``), names of up to 13
bytes (``text``), or UUIDs as text (``uuid``).  Beside each: SciPy's conversion of a coordinate matrix to CSR for
integers, which needs no numbering; else the library's own numbering and that conversion.
Each reader of the file has a process of its own, whose peak of memory is reported; the first read, of a small file, is
left out.  The targets are for 10 M edges, or the whole file, on two cores.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

from semiring import Matrix

from ..case import Run
from ..report import Peer

pd: Any = import_module("pandas")  # without type stubs
EDGES, VERTICES, REPEATS = 10_000_000, 1_000_000, 3
INTEGERS_MS, TEXT_MS = 1000.0, 6000.0
# Edges of the .csv file, which is of 91 MB, between half a million names; the targets for reading it.
CSV_EDGES, CSV_MS, CSV_MB = 4_200_000, 1500.0, 600.0
_READERS = {
    "semiring": "sr.io.read(path, relabel=True)",
    "polars and from_edgelist": "Matrix.from_edgelist(import_module('polars').read_csv(path), relabel=True)",
    "pandas and from_edgelist": "Matrix.from_edgelist(import_module('pandas').read_csv(path), relabel=True)",
    "pyarrow and from_edgelist": ("Matrix.from_edgelist(import_module('pyarrow.csv').read_csv(path), relabel=True)"),
}
_PROGRAM = """
import json, resource, sys, time
from importlib import import_module
import semiring as sr
from semiring import Matrix
taken, busy = [], []
with sr.use(sys.argv[1]):
    for path in sys.argv[2:]:
        start, began = time.perf_counter(), time.process_time()
        A = READ.wait()
        taken.append(1e3 * (time.perf_counter() - start))
        busy.append(1e3 * (time.process_time() - began))
        nvals = A.nvals
        del A
print(json.dumps([nvals, taken[1:], busy[1:], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
KINDS = ("integers", "sparse", "text", "uuid")
FRAMES: dict[str, Callable[[pa.Table], Any]] = {
    "polars": pl.from_arrow,
    "Arrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "pandas objects": lambda table: table.to_pandas().astype({"source": object, "target": object}),
}


def drawn(kind: str, edges: int) -> pa.Table:
    """Return a table of edges between vertices that are drawn uniformly, with a weight for each."""
    rng = np.random.default_rng(1)
    n = max(edges * VERTICES // EDGES, 2)
    ends = rng.integers(0, n, (2, edges))
    if kind in ("integers", "sparse"):
        columns = [pa.array(part * (1 if kind == "integers" else 1_000_003)) for part in ends]
    else:
        names = [f"vertex {v}" if kind == "text" else str(uuid.UUID(bytes=rng.bytes(16))) for v in rng.permutation(n)]
        columns = [pa.array(names).take(pa.array(part)) for part in ends]
    return pa.table({"source": columns[0], "target": columns[1], "weight": rng.random(edges)})


def _csr(rows: Any, cols: Any, weights: Any) -> Any:
    n = int(max(rows.max(), cols.max())) + 1
    return sp.coo_array((weights, (rows, cols)), shape=(n, n)).tocsr()


def _by_polars(frame: Any) -> Any:
    both = pl.concat([frame["source"].alias("label"), frame["target"].alias("label")])
    codes = both.cast(pl.String).cast(pl.Enum(both.cast(pl.String).unique().sort())).to_physical().to_numpy()
    return _csr(codes[: len(frame)], codes[len(frame) :], frame["weight"].to_numpy())


def _by_pandas(frame: Any) -> Any:
    codes, _ = pd.factorize(pd.concat([frame["source"], frame["target"]], ignore_index=True), sort=True)
    return _csr(codes[: len(frame)], codes[len(frame) :], frame["weight"].to_numpy())


def peers(library: str, kind: str, frame: Any) -> tuple[Peer, ...]:
    """Return what others need for the same matrix, once."""
    name: str
    call: Callable[[], Any]
    if kind == "integers":
        given = [np.asarray(frame[name]) for name in ("source", "target", "weight")]
        name, call = "SciPy", lambda: _csr(*given)
    elif library.startswith("pandas"):
        name, call = "pandas.factorize and SciPy", lambda: _by_pandas(frame)
    elif library == "polars" and kind != "sparse":
        name, call = "polars and SciPy", lambda: _by_polars(frame)
    else:
        return ()
    start = time.perf_counter()
    call()
    return (Peer(name, 1e3 * (time.perf_counter() - start), "ms"),)


def measure(run: Run, library: str, kind: str, table: pa.Table) -> None:
    """Time one frame; the first call, which compiles, is left out."""
    frame, taken = FRAMES[library](table), []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        A = Matrix.from_edgelist(frame, relabel=kind != "integers", dup_op="plus").wait()
        taken.append(1e3 * (time.perf_counter() - start))
    assert abs(A.reduce_scalar("plus").get(0) - np.asarray(table["weight"]).sum()) < 1e-3
    bound = (INTEGERS_MS if kind in ("integers", "sparse") else TEXT_MS) if run.options.edges == EDGES else None
    taken, beside = taken[1:], () if run.options.no_peers else peers(library, kind, frame)
    note = f"min {min(taken):.4g} of {REPEATS}"
    what = f"{library}, {kind}"
    run.add(what, "ms", statistics.median(taken), bound, samples=tuple(taken), peers=beside, note=note)


def _read_apart(reader: str, device: str, paths: list[str]) -> tuple[int, list[float], list[float], float]:
    """Return the entries, the milliseconds and processor milliseconds of all reads but the first, and megabytes."""
    command = [sys.executable, "-c", _PROGRAM.replace("READ", _READERS[reader]), device, *paths]
    nvals, taken, busy, peak = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return nvals, taken, busy, peak


def measure_csv(run: Run, edges: int) -> None:
    """Time the readers of a file of names, and what memory their processes take."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = (str(Path(folder) / f"{name}.csv") for name in ("small", "large"))
        rng = np.random.default_rng(1)
        # Enough for the loops of many labels to be loaded.
        for path, count in ((small, min(edges, 200_000)), (large, edges)):
            names = np.array([f"user{v:05d}" for v in range(max(edges // 9, 2))])
            ends = rng.integers(0, len(names), (2, count))
            pl.DataFrame({"source": names[ends[0]], "target": names[ends[1]]}).write_csv(path)
        found: dict[str, tuple[int, list[float], list[float], float]] = {}
        for name in ("semiring",) if run.options.no_peers else _READERS:
            _read_apart(name, run.device, [small])  # compiles
            found[name] = _read_apart(name, run.device, [small, *[large] * REPEATS])
        assert len({each[0] for each in found.values()}) == 1
        size = Path(large).stat().st_size / 1e6
        _, taken, busy, peak = found.pop("semiring")
        full = edges == CSV_EDGES
        beside = tuple(Peer(name, statistics.median(times)) for name, (_, times, _, _) in found.items())
        what, bound, note = (
            f"names in .csv, {size:.0f} MB",
            CSV_MS if full else None,
            f"min {min(taken):.4g} of {REPEATS}",
        )
        run.add(what, "ms", statistics.median(taken), bound, samples=tuple(taken), note=note, peers=beside)
        beside = tuple(Peer(name, statistics.median(times)) for name, (_, _, times, _) in found.items())
        what = "the same, processor time of all threads"
        run.add(what, "ms", statistics.median(busy), samples=tuple(busy), peers=beside)
        beside = tuple(Peer(name, most, "MB") for name, (_, _, _, most) in found.items())
        run.add("the same, peak of the process", "MB", peak, CSV_MB if full else None, peers=beside)


OPTIONS = {
    "edges": (EDGES, "of a frame"),
    "kinds": (KINDS, "of ids", KINDS),
    "libraries": (tuple(FRAMES), "of frames", tuple(FRAMES)),
    "csv": (False, "a file of names instead, 4.2 M edges and 91 MB"),
    "no_peers": (False, "this library alone"),
}


def main(run: Run) -> None:
    """The frames that are selected, each kind in files of its own; or the file."""
    options = run.options
    if options.csv:
        run.result = "frames-csv"
        measure_csv(run, CSV_EDGES if options.edges == EDGES else options.edges)
        return
    some = [*(() if options.kinds == KINDS else options.kinds)]
    some += [name.replace(" ", "-").lower() for name in options.libraries if options.libraries != tuple(FRAMES)]
    run.result = "-".join(["frames", *some])
    for kind in options.kinds:
        table = drawn(kind, options.edges)
        for library in options.libraries:
            if library != "pandas objects" or kind in ("text", "uuid"):
                measure(run, library, kind, table)
