"""A graph of the size of Friendster compressed, pinned and streamed within 5.8 GB of device memory.

First without a budget: the uncompressed graph in device memory, whose results are verified by their properties; then
compressed there; then, within the budget, from page-locked host memory and streamed.  Levels, least-member labels and
distances are unique, so all others must equal the verified ones; every tree of parents is verified separately.
The baseline is the papers' method: one lane decodes, every level pushes, nothing is skipped.  Paths need weights, which
take as much memory as the columns: they run on a graph of a sixteenth of the size.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np

import semiring as sr
from semiring.config import engine_for
from semiring.engines.registry import run as run_spec
from semiring.engines.requests.draw import DrawWeights
from tests import verify

from .. import checks, social
from ..case import Run
from ..forms import Proof, pattern_arrays, release
from ..graphs import SEED, arrays, sources
from ..harness import Samples, measure, peak_bytes
from ..report import Peer

INTERCONNECT_GB_PER_S = 51.0
# (placement, codec) -> algorithm -> target in milliseconds on an H200.
TARGETS = {("pinned", "packed"): {"bfs_levels": 200.0, "connected_components": 400.0}}
# Target of a streamed search: a multiple of the time that the interconnect needs for the moved bytes, whether the
# engine chooses between copies and reads in place, or copies everything.
STREAMED_FACTOR = 1.3
# One codec after the other, so that the device memory of one does not count against the budget of another.
FORMS = (
    ("packed", ("pinned", "host", "copied")),
    ("varint", ("pinned",)),
    ("plain", ("pinned", "host", "copied")),
)
# The storage kinds of pagerank and sssp.
FEW = (("pinned", "packed"), ("host", "packed"))
ALGORITHMS = ("bfs_levels", "bfs_parents", "connected_components", "pagerank", "sssp")
ITERATIONS = 10
DAMPING = 0.85
RANK_TOLERANCE = 1e-3
SSSP_PART = 16

Call = tuple[Callable[[Any], sr.Vector], checks.Check, Any]


class Bench:
    """The graph, its verified results, and the report of one run."""

    def __init__(self, graph: social.Social, parts: int, count: int, run: Run) -> None:
        self.run, self.device = run, run.device
        self.has_targets = run.on_gpu and graph == social.FRIENDSTER
        start = time.perf_counter()
        self.A = social.matrix(graph, parts).wait()
        self.name = named(graph, self.A)
        indptr, self.columns = arrays(self.A)
        self.indptr = indptr
        print(
            f"{self.name}: {self.A.nrows} rows, {self.A.nvals} entries, longest row "
            f"{int((indptr[1:] - indptr[:-1]).max())}, symmetric {self.A.is_symmetric_structure}; "
            f"made in {time.perf_counter() - start:.1f} s",
            flush=True,
        )
        self.sources = sources(self.A, count)
        self.proof = Proof()
        self.ranks: Any = None
        self.beside: dict[str, Peer] = {}

    def prove(self) -> None:
        """Levels and labels on the uncompressed graph, by their properties."""
        check = checks.levels(self.A)
        for source in self.sources:
            found = sr.algorithms.bfs_levels(self.A, source)
            check(source, found)
            self.proof.keep_levels(source, found)
        labels = sr.algorithms.connected_components(self.A)
        assert int((labels.to_dense() != 0).sum()) == 0, "the graph has one component, whose least member is 0"
        self.proof.keep_labels(labels)
        print(f"{self.name}: {len(self.sources)} searches and the components proved", flush=True)

    def prove_ranks(self) -> None:
        """The last iteration, by sums in double precision; earlier iterations use the same calls."""
        before, found = _ranks(self.A, ITERATIONS - 1), _ranks(self.A, ITERATIONS)
        checks.ranks(self.A, 1, DAMPING, RANK_TOLERANCE, before.to_dense())(None, found)
        self.ranks = found.to_numpy()

    def move(self, plain: sr.Matrix) -> None:
        """Release the matrix in device memory; trees are verified on this one."""
        del self.A
        self.indptr, self.columns = pattern_arrays(plain)

    def tree(self, source: int, found: sr.Vector) -> None:
        """A breadth-first tree by its properties; the check does not count against the budget."""
        with sr.config.set(device_memory=None):
            levels = verify.module_of(self.columns).asarray(self.proof.levels[source])
            parents = found.to_dense(verify.UNREACHED)
            verify.bfs_parents(self.indptr, self.columns, source, parents, levels)

    def same_ranks(self, _: Any, found: sr.Vector) -> None:
        """The results of the uncompressed graph in device memory."""
        checks.close(found.to_numpy(), self.ranks, RANK_TOLERANCE)

    def algorithms(self, A: sr.Matrix, names: list[str]) -> dict[str, Call]:
        """name -> (call, check, arguments)."""
        known: dict[str, Call] = {
            "bfs_levels": (lambda s: sr.algorithms.bfs_levels(A, s), self.proof.same_levels, self.sources),
            "bfs_parents": (lambda s: sr.algorithms.bfs_parents(A, s), self.tree, self.sources[:1]),
            "connected_components": (
                lambda _: sr.algorithms.connected_components(A), self.proof.same_labels, range(5),
            ),
        }  # fmt: skip
        return {name: call for name, call in known.items() if name in names}

    def add(self, what: str, samples: Samples, bound: float | None = None, note: str = "", **more: Any) -> None:
        """Report a time."""
        self.run.timed(what, samples, bound if self.has_targets else None, note, **more)

    def remember(self, name: str, samples: Samples) -> None:
        """The time on the uncompressed graph in device memory, which later rows show as a peer."""
        self.beside[name] = Peer("plain in device memory", samples.median, samples=samples.wall_ms)

    def peers(self, name: str) -> tuple[Peer, ...]:
        """The recorded times."""
        return (self.beside[name],) if name in self.beside else ()


def named(graph: social.Social, A: sr.Matrix) -> str:
    """The name of the graph in a row."""
    return f"social {graph.vertices / 1e6:.3g} M / {A.nvals / 1e9:.3g} G"


def in_device_memory(b: Bench, forms: dict[str, sr.Matrix], names: list[str]) -> None:
    """Uncompressed and compressed, without a budget."""
    for form, A in forms.items():
        bits = f"{8 * A.nbytes / A.nvals:.4g} bits an entry"
        for name, (call, check, arguments) in b.algorithms(A, names).items():
            samples = measure(call, check, arguments, b.device)
            b.add(f"{name}, device, {form}, {b.name}", samples, note=bits, peers=b.peers(name))
            if form == "plain":
                b.remember(name, samples)
    if "pagerank" in names:
        b.prove_ranks()
        ranks(b, "device", "plain", forms["plain"])


def within_budget(b: Bench, placement: str, form: str, A: sr.Matrix, budget: int, names: list[str]) -> None:
    """One storage kind in host memory.  The moved bytes are those that `explain` records."""
    for name, (call, check, arguments) in b.algorithms(A, names).items():
        first = time.perf_counter()
        call(arguments[0]).wait()
        first = 1e3 * (time.perf_counter() - first)
        samples = measure(call, check, arguments, b.device)
        moved = [_moved(call, argument) for argument in arguments]
        floor = sum(moved) / len(moved) / INTERCONNECT_GB_PER_S / 1e6
        peak = peak_bytes(lambda call=call, arguments=arguments: call(arguments[0]), b.device)  # type: ignore[misc]
        entries = A.nbytes - _resident(A)
        bound = TARGETS.get((placement, form), {}).get(name)
        if placement in ("host", "copied") and name == "bfs_levels":
            bound = STREAMED_FACTOR * floor
        note = (
            f"moved {sum(moved) / len(moved) / 1e9:.3g} GB, at {INTERCONNECT_GB_PER_S:g} GB/s {floor:.4g} ms; "
            f"all entries {entries / 1e9:.3g} GB; first call {first:.4g} ms; "
            f"peak beyond the matrix {peak / 1e9:.3g} of {budget / 1e9:.3g} GB"
        )
        b.add(f"{name}, {placement}, {form}, {b.name}", samples, bound, note, peers=b.peers(name))
    if "pagerank" in names and (placement, form) in FEW:
        ranks(b, placement, form, A)


def hold_to_budget(b: Bench, form: str, placements: tuple[str, ...], A: sr.Matrix, names: list[str]) -> None:
    """One codec in every placement; the last streams by copies only."""
    budget = sr.config.device_memory or 0
    for placement in placements:
        if placement == "copied":
            searches = [name for name in names if name == "bfs_levels"]
            with _copies_only(b.device):
                within_budget(b, placement, form, A.to(placement="host"), budget, searches)
        else:
            within_budget(b, placement, form, A.to(placement=placement), budget, names)
        release(b.device)


@contextmanager
def _copies_only(device: str) -> Iterator[None]:
    """Set the cost of reading in place so that it is never chosen."""
    if device == "cpu":
        yield
        return
    from semiring.engines.cuda import tuning

    with mock.patch.object(tuning, "READ_PERCENT", 1):
        yield


def _resident(A: sr.Matrix) -> int:
    pattern = A.store.pattern
    return int(sum(getattr(pattern, name).nbytes for name in pattern.ARRAYS if name != pattern.ENTRIES))


def _moved(call: Callable[[Any], Any], argument: Any) -> int:
    with sr.explain() as log:
        call(argument).wait()
    return sum(int(entry.details.get("host_bytes", 0)) for entry in log)


def _ranks(A: sr.Matrix, iterations: int) -> sr.Vector:
    return sr.algorithms.pagerank(A, DAMPING, 0, iterations, dtype=np.float32).wait()


def ranks(b: Bench, placement: str, form: str, A: sr.Matrix) -> None:
    """Milliseconds an iteration of PageRank, the computation of the degrees included."""
    taken = measure(lambda _: _ranks(A, ITERATIONS), b.same_ranks, range(1), b.device)
    samples = taken.divided(ITERATIONS)
    note = f"{ITERATIONS} iterations"
    b.add(f"pagerank iteration, {placement}, {form}, {b.name}", samples, note=note, peers=b.peers("pagerank"))
    if (placement, form) == ("device", "plain"):
        b.remember("pagerank", samples)


def paths(b: Bench, graph: social.Social, budget: str) -> None:
    """`sssp` on a smaller graph of the same kind: packed, within the budget, and uncompressed in device memory."""
    W = _weighted(graph)
    source, name = sources(W, 1)[0], named(graph, W)
    distances = _proved_distances(b, W, source, name)
    packed = W.compress("packed")
    hosted = {placement: packed.to(placement=placement) for placement, _ in FEW}
    del W, packed
    release(b.device)

    def same(_: int, found: sr.Vector) -> None:
        assert np.array_equal(found.to_numpy(verify.UNREACHED), distances), "distances differ"

    with sr.config.set(device_memory=budget):
        for placement, form in FEW:
            A = hosted.pop(placement)
            samples = measure(lambda s, A=A: sr.algorithms.sssp(A, s), same, [source], b.device)  # type: ignore[misc]
            note = f"entries with weights {(A.nbytes - _resident(A)) / 1e9:.3g} GB"
            b.add(f"sssp, {placement}, {form}, {name}", samples, note=note, peers=b.peers("sssp"))
            del A
            release(b.device)


def _weighted(graph: social.Social) -> sr.Matrix:
    """With weights from 1 to 255, equal in both directions."""
    A = social.matrix(graph)
    indptr, columns = arrays(A)
    weights = run_spec(DrawWeights(A.store.pattern, SEED, 1, 255, 0, 0, A.nrows), engine_for(A.device))
    return sr.Matrix.from_csr(indptr, columns, weights, ncols=A.ncols, copy=False).wait()


def _proved_distances(b: Bench, W: sr.Matrix, source: int, name: str) -> Any:
    proved: list[Any] = []
    check = checks.distances(W)

    def keep(source: int, found: sr.Vector) -> None:
        check(source, found)
        proved.append(found.to_numpy(verify.UNREACHED))

    samples = measure(lambda s: sr.algorithms.sssp(W, s), keep, [source], b.device)
    b.add(f"sssp, device, plain, {name}", samples)
    b.remember("sssp", samples)
    return proved[0]


def papers_form(b: Bench, A: sr.Matrix, offsets: Any) -> None:
    """One lane decodes from page-locked memory; every level pushes; hooking passes until nothing changes."""
    from ..one_lane import ZeroCopy

    form = ZeroCopy(A, offsets)
    source = b.sources[0]
    for name, call, check in (
        ("bfs_levels", lambda _: form.levels(source), lambda _, found: _equal(found, b.proof.levels[source])),
        ("connected_components", lambda _: form.components(), lambda _, found: _equal(found, b.proof.labels)),
    ):
        samples = measure(call, check, range(1), "cuda")
        b.add(f"{name}, pinned, varint, the papers' form, {b.name}", samples)


def _equal(found: Any, expected: Any) -> None:
    assert (found.get() == expected).all(), "the baseline's result differs"


OPTIONS = {
    "vertices": (social.FRIENDSTER.vertices, "of the graph"),
    "draws": (social.FRIENDSTER.draws, "R-MAT edges drawn"),
    "parts": (16, "ranges of rows in which the graph is generated"),
    "sources": (4, "searches on each storage kind"),
    "budget": ("5.8 GB", "device memory allowed"),
    "algorithms": (ALGORITHMS, "those that are measured", ALGORITHMS),
    "skip_baseline": (False, "leave out the papers' method"),
}


def main(run: Run) -> None:
    """Without a budget on the device, then within it in host memory."""
    options = run.options
    graph = replace(social.FRIENDSTER, vertices=options.vertices, draws=options.draws)
    b = Bench(graph, options.parts, options.sources, run)
    b.prove()
    forms = {"plain": b.A, "packed": b.A.compress("packed"), "varint": b.A.compress("varint")}
    in_device_memory(b, forms, options.algorithms)
    offsets = None
    if run.on_gpu and not options.skip_baseline:
        from ..one_lane import row_bytes

        offsets = row_bytes(b.A)
    start = time.perf_counter()
    hosted = {form: A.to(placement="pinned") for form, A in forms.items()}
    print(f"moved to page-locked memory in {time.perf_counter() - start:.1f} s", flush=True)
    del forms
    b.move(hosted["plain"])
    release(run.device)
    for form, placements in FORMS:
        with sr.config.set(device_memory=options.budget):
            hold_to_budget(b, form, placements, hosted[form], options.algorithms)
        if form == "varint" and offsets is not None:
            papers_form(b, hosted[form], offsets)
        del hosted[form]
        release(run.device)
    if "sssp" in options.algorithms:
        small = replace(graph, vertices=max(2, graph.vertices // SSSP_PART), draws=graph.draws // SSSP_PART)
        paths(b, small, options.budget)
