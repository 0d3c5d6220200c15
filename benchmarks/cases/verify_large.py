"""Searches and components on graphs of hundreds of millions of entries, verified by properties.

Searches start at the row with most entries and at random ones.  Every result is verified on the uncompressed
device-resident matrix; other storage kinds must give the same.  The budget applies only to these: the verified matrix
is released before.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import semiring as sr

from .. import checks, graphs, machine
from ..case import Run
from ..forms import FORMS, PLACEMENTS, Proof, page_locked, release
from ..harness import SOURCES


@dataclass(frozen=True)
class Request:
    """The requests for every graph."""

    sources: int = SOURCES
    forms: tuple[str, ...] = ("plain",)
    placements: tuple[str, ...] = ("device",)
    budget: str | None = None

    @property
    def more(self) -> bool:
        """Whether there is any storage kind besides uncompressed in device memory."""
        return self.budget is not None or (self.forms, self.placements) != (("plain",), ("device",))


def _survived(name: str, request: Request, device: str) -> bool:
    """An error on one graph does not stop the next."""
    try:
        return verified(name, request, device)
    except Exception:
        traceback.print_exc()
        print(f"WRONG  {name}", flush=True)
        return False


def verified(name: str, request: Request, device: str) -> bool:
    """Whether every result on a graph is correct, in all requested storage kinds."""
    start = time.perf_counter()
    A = graphs.make(name).wait()
    print(f"{name}: {A.nrows} rows, {A.nvals} entries, made in {time.perf_counter() - start:.1f} s", flush=True)
    proof = Proof()
    if not _proved(name, A, request, proof):
        return False
    if not request.more:
        return True
    made = page_locked(A, request.forms)
    del A
    release(device)
    good = True
    for form in request.forms:
        for placement in request.placements:
            with sr.config.set(device_memory=None if placement == "device" else request.budget):
                good &= _same(f"{name}, {form}, {placement}", made[form], placement, proof)
            release(device)
        del made[form]  # and its cached device memory
        release(device)
    return good


def _proved(name: str, A: sr.Matrix, request: Request, proof: Proof) -> bool:
    """Verify levels and components on the uncompressed matrix by their properties; kept for further storage kinds."""
    indptr, _ = graphs.arrays(A)
    hub = int((indptr[1:] - indptr[:-1]).argmax())
    sources = [hub, *graphs.sources(A, request.sources - 1)]
    good = True
    check = checks.levels(A)
    start = time.perf_counter()
    depths = []
    for source in sources:
        levels = sr.algorithms.bfs_levels(A, source)
        good &= _right(f"{name}: levels from {source}", check, source, levels)
        depths.append(int(levels.reduce("max").value))
        if request.more:
            proof.keep_levels(source, levels)
    print(
        f"{name}: {request.sources} searches, {min(depths)} to {max(depths)} levels deep; "
        f"proved in {time.perf_counter() - start:.1f} s",
        flush=True,
    )
    start = time.perf_counter()
    for method in ("afforest", "fastsv"):
        labels = sr.algorithms.connected_components(A, method=method)
        if method == "afforest":
            check = checks.components(A)
        good &= _right(f"{name}: components by {method}", check, None, labels)
    proof.keep_labels(labels)
    found = int((labels.to_dense() == checks.itself(A)).sum())
    print(f"{name}: {found} components; proved in {time.perf_counter() - start:.1f} s", flush=True)
    return good


def _same(what: str, made: sr.Matrix, placement: str, proof: Proof) -> bool:
    """Whether one storage kind gives the verified results."""
    start = time.perf_counter()
    A = made.to(placement=placement).wait()
    placed = time.perf_counter() - start
    assert A.placement == placement, f"{what}: is {A.placement}"
    good, took = True, {}
    calls: dict[str, tuple[Callable[[Any], sr.Vector], checks.Check, list[Any]]] = {
        "levels": (lambda source: sr.algorithms.bfs_levels(A, source), proof.same_levels, list(proof.levels)),
        "components": (lambda _: sr.algorithms.connected_components(A), proof.same_labels, [None]),
    }
    for name, (call, check, arguments) in calls.items():
        times = []
        for argument in arguments:
            start = time.perf_counter()
            found = call(argument).wait()
            times.append(time.perf_counter() - start)
            good &= _right(f"{what}: {name} from {argument}", check, argument, found)
        took[name] = min(times)
    times_text = ", ".join(f"{name} {1e3 * seconds:.4g} ms" for name, seconds in took.items())
    verdict = "as proved" if good else "WRONG"
    print(f"{what}: {verdict}; placed in {placed:.1f} s; the fastest calls: {times_text}", flush=True)
    return good


def _right(what: str, check: checks.Check, argument: object, result: sr.Vector) -> bool:
    try:
        check(argument, result)
    except AssertionError as wrong:
        print(f"WRONG  {what}: {wrong}", flush=True)
        return False
    return True


OPTIONS = {
    "graphs": (("kron24", "grid5000x5000", "star100000000"), "that are searched"),
    "sources": (SOURCES, "searches on each"),
    "forms": (("plain",), "codecs", FORMS),
    "placements": (("device",), "of the entries", PLACEMENTS),
    "budget": (None, "device memory allowed, such as 5.8 GB; by default all of it"),
}


def main(run: Run) -> int:
    """Verify every graph; 1 if any result is wrong."""
    options = run.options
    request = Request(options.sources, tuple(options.forms), tuple(options.placements), options.budget)
    print(machine.describe(run.device))
    if request.budget:
        print(f"pinned and host with {request.budget} of device memory allowed")
    wrong = [name for name in options.graphs if not _survived(name, request, run.device)]
    return int(bool(wrong))
