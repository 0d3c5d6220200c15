"""A graph of the size of Friendster in less memory than it needs: zero-copy and streamed, with a small budget.

    python -m benchmarks.larger
    python -m benchmarks.larger --vertices 100000 --draws 3000000 --budget 64MB     to try the program itself

First without a budget: the plain graph in device memory, whose results are proved by their properties; then compressed
there; then, with nothing allowed beyond the budget, from page-locked host memory and streamed.  Levels and
least-member labels are unique, so the others must equal what was proved.  The baseline is the papers' form: one lane
decodes, every level pushes, nothing is skipped.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import semiring as sr
from tests import verify

from . import checks, social
from .graphs import arrays, sources
from .harness import Samples, measure, peak_bytes
from .report import RESULTS, Report, Row

LINK_GB_PER_S = 51.0
# (placement, codec) -> algorithm -> milliseconds promised on an H200.
PROMISES = {("pinned", "packed"): {"bfs_levels": 200.0, "connected_components": 400.0}}
STREAMED_FACTOR = 1.3
FORMS = (
    ("pinned", "packed"),
    ("pinned", "varint"),
    ("pinned", "plain"),
    ("host", "packed"),
    ("host", "plain"),
)


class Bench:
    """The graph, what was proved about it, and the report of one run."""

    def __init__(self, graph: social.Social, parts: int, count: int, report: Report) -> None:
        self.report = report
        self.promised = graph == social.FRIENDSTER
        start = time.perf_counter()
        self.A = social.matrix(graph, parts).wait()
        self.name = f"social {graph.vertices / 1e6:.3g} M / {self.A.nvals / 1e9:.3g} G"
        indptr, _ = arrays(self.A)
        degrees = indptr[1:] - indptr[:-1]
        print(
            f"{self.name}: {self.A.nrows} rows, {self.A.nvals} entries, longest row {int(degrees.max())}, symmetric "
            f"{self.A.is_symmetric_structure}; made in {time.perf_counter() - start:.1f} s",
            flush=True,
        )
        self.sources = sources(self.A, count)
        self.levels: dict[int, Any] = {}
        self.labels: Any = None

    def prove(self) -> None:
        """Levels and labels on the plain graph, by their properties."""
        check = checks.levels(self.A)
        for source in self.sources:
            found = sr.algorithms.bfs_levels(self.A, source)
            check(source, found)
            self.levels[source] = found.to_dense(verify.UNREACHED).get()
        labels = sr.algorithms.connected_components(self.A)
        assert int((labels.to_dense() != 0).sum()) == 0, "the graph has one component, whose least member is 0"
        self.labels = labels.to_dense().get()
        print(f"{self.name}: {len(self.sources)} searches and the components proved", flush=True)

    def same_levels(self, source: int, found: sr.Vector) -> None:
        """Those that were proved."""
        assert (found.to_dense(verify.UNREACHED).get() == self.levels[source]).all(), f"levels from {source} differ"

    def same_labels(self, _: Any, found: sr.Vector) -> None:
        """Those that were proved."""
        assert (found.to_dense().get() == self.labels).all(), "labels differ"

    def algorithms(self, A: sr.Matrix) -> dict[str, tuple[Callable[[Any], Any], Any, Any]]:
        """name -> (call, check, arguments)."""
        return {
            "bfs_levels": (lambda s: sr.algorithms.bfs_levels(A, s), self.same_levels, self.sources),
            "connected_components": (lambda _: sr.algorithms.connected_components(A), self.same_labels, range(5)),
        }

    def add(self, what: str, samples: Samples, bound: float | None, **more: Any) -> None:
        """Report a time."""
        note = "; ".join(part for part in (samples.spread, more.pop("note", "")) if part)
        self.report.add(
            Row(
                f"{what} {self.name}", "ms", samples.median, bound if self.promised else None, note=note,
                samples=samples.wall_ms, device_samples=samples.device_ms, **more,
            )
        )  # fmt: skip


def in_device_memory(b: Bench, forms: dict[str, sr.Matrix]) -> None:
    """Plain beside compressed, without a budget."""
    for form, A in forms.items():
        for name, (call, check, arguments) in b.algorithms(A).items():
            bits = f"{8 * A.nbytes / A.nvals:.4g} bits an entry"
            b.add(f"{name}, device, {form},", measure(call, check, arguments, "cuda"), None, note=bits)


def within_budget(b: Bench, placement: str, form: str, A: sr.Matrix, budget: int) -> None:
    """One form in host memory.  Moved bytes are those that the calls tell under `explain`."""
    for name, (call, check, arguments) in b.algorithms(A).items():
        first = time.perf_counter()
        call(arguments[0]).wait()
        first = 1e3 * (time.perf_counter() - first)
        samples = measure(call, check, arguments, "cuda")
        moved = [_moved(call, argument) for argument in arguments]
        floor = sum(moved) / len(moved) / LINK_GB_PER_S / 1e6
        peak = peak_bytes(lambda call=call, arguments=arguments: call(arguments[0]), "cuda")  # type: ignore[misc]
        bound = PROMISES.get((placement, form), {}).get(name)
        if placement == "host":
            bound = STREAMED_FACTOR * floor if floor > 1 else None
        note = (
            f"moved {sum(moved) / len(moved) / 1e9:.3g} GB, at {LINK_GB_PER_S:g} GB/s {floor:.4g} ms; "
            f"all entries {(A.nbytes - _resident(A)) / 1e9:.3g} GB; first call {first:.4g} ms; "
            f"peak beyond the matrix {peak / 1e9:.3g} of {budget / 1e9:.3g} GB"
        )
        b.add(f"{name}, {placement}, {form},", samples, bound, note=note)


def _resident(A: sr.Matrix) -> int:
    pattern = A.store.pattern
    return int(sum(getattr(pattern, name).nbytes for name in ("indptr", "base", "at") if hasattr(pattern, name)))


def _moved(call: Callable[[Any], Any], argument: Any) -> int:
    with sr.explain() as log:
        call(argument).wait()
    return sum(int(entry.details.get("host_bytes", 0)) for entry in log)


def papers_form(b: Bench, A: sr.Matrix, offsets: Any) -> None:
    """One lane decodes from page-locked memory; every level pushes; hooking passes until nothing changes."""
    from .one_lane import ZeroCopy

    form = ZeroCopy(A, offsets)
    source = b.sources[0]
    for name, call, check in (
        ("bfs_levels", lambda _: form.levels(source), lambda _, found: _equal(found, b.levels[source])),
        ("connected_components", lambda _: form.components(), lambda _, found: _equal(found, b.labels)),
    ):
        samples = measure(call, check, range(1), "cuda")
        b.add(f"{name}, pinned, varint, the papers' form,", samples, None)


def _equal(found: Any, expected: Any) -> None:
    assert (found.get() == expected).all(), "the baseline's result differs"


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.larger", description=__doc__.partition("\n")[0])
    parser.add_argument("--vertices", type=int, default=social.FRIENDSTER.vertices)
    parser.add_argument("--draws", type=int, default=social.FRIENDSTER.draws, help="R-MAT edges drawn")
    parser.add_argument("--parts", type=int, default=16, help="ranges of rows that the graph is made in")
    parser.add_argument("--sources", type=int, default=4, help="searches on each form; default %(default)s")
    parser.add_argument("--budget", default="5.8 GB", help="device memory allowed; default %(default)s")
    parser.add_argument("--skip-baseline", action="store_true", help="leave out the papers' form")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the result files go")
    asked = parser.parse_args()
    import cupy

    graph = replace(social.FRIENDSTER, vertices=asked.vertices, draws=asked.draws)
    with sr.use("cuda"):
        report = Report("larger", "cuda", asked.out)
        b = Bench(graph, asked.parts, asked.sources, report)
        b.prove()
        forms = {"plain": b.A, "packed": b.A.compress("packed"), "varint": b.A.compress("varint")}
        in_device_memory(b, forms)
        offsets = None
        if not asked.skip_baseline:
            from .one_lane import row_bytes

            offsets = row_bytes(b.A)
        start = time.perf_counter()
        hosted = {form: A.to(placement="pinned") for form, A in forms.items()}
        print(f"moved to page-locked memory in {time.perf_counter() - start:.1f} s", flush=True)
        del forms, b.A
        gc.collect()
        cupy.get_default_memory_pool().free_all_blocks()
        with sr.config.set(device_memory=asked.budget):
            budget = sr.config.device_memory
            for placement, form in FORMS:
                A = hosted[form] if placement == "pinned" else hosted[form].to(placement=placement)
                within_budget(b, placement, form, A, budget)
                del A
                gc.collect()
        if offsets is not None:
            papers_form(b, hosted["varint"], offsets)
        report.close()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
