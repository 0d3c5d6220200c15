"""How vectors are sent: every form returns the vector, the rule chooses the fewest bytes, and searches send these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, distributed
from semiring.distributed import Grid, vector_messages
from semiring.distributed.threads import ThreadCommunicator, run_ranks
from semiring.distributed.vector_messages import chosen, decoded, encoded, position_bytes
from semiring.formats import Bitmap
from semiring.formats.vectors import Uncounted
from tests import sampling
from tests.distributed.grids import local, ranks_are_threads, run

__all__ = ["ranks_are_threads"]

al = sr.algorithms
FORMS = ("bitmap", "list", "gaps")
ALONE = run_ranks(1, lambda group: group)[0]


# -- forms -----------------------------------------------------------------------------------------------


def vectors(size: int) -> Iterator[Vector]:
    """Entries at the ends, at random, in steps of a filler's length, everywhere; as lists and bitmaps."""
    rng = np.random.default_rng(size)
    everywhere = np.arange(size)
    for at in (
        everywhere[:0],
        everywhere[:1],
        everywhere[-1:],
        everywhere[::255],
        everywhere[1::254],
        everywhere[255::256],
        np.flatnonzero(rng.random(size) < 0.03),
        np.flatnonzero(rng.random(size) < 0.6),
        everywhere[1:],
        everywhere,
    ):
        for values in (True, rng.random(at.size)):
            v = Vector.from_coo(at, values, size=size)
            yield v
            yield v.dup().convert("bitmap")


CASES = tuple((form, size) for form in (*FORMS, None) for size in (1, 31, 256, 65_536, 200_003))
CASE_SAMPLE = [*sampling.draw("forms of segments", CASES, 2), (None, 200_003)]
FORM_SAMPLE = sampling.draw("forms of programs", FORMS, 1)


@pytest.mark.parametrize(
    ("form", "size"), [pytest.param(*case, marks=sampling.marks(case, CASE_SAMPLE)) for case in CASES]
)
def test_every_form_returns_the_vector(form: Any, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if form is not None:
        monkeypatch.setattr(vector_messages, "chosen", lambda *_, **__: form)
    for v in vectors(size):
        sent = encoded(v.store, ALONE)
        made = decoded(sent, size, v.dtype, local())
        assert v.with_store(made).isequal(v, check_dtype=True)
        if sent is None:
            assert v.nvals == 0
            continue
        assert form in (None, sent.form)
        values = 0 if v.is_iso else 8 * v.nvals
        assert sent.nbytes <= position_bytes(sent.form, size, v.nvals) + values
        if sent.form != "gaps":
            assert sent.nbytes == position_bytes(sent.form, size, v.nvals) + values
        else:
            positions = v.to_coo()[0]
            assert sent.nbytes == v.nvals + (np.diff(positions, prepend=0) // 255).sum() + values


def test_a_bitmap_arrives_as_one_and_a_full_vector_is_not_copied() -> None:
    half = Vector.from_dense(np.arange(100) % 2, missing_value=0)
    assert isinstance(decoded(encoded(half.store, ALONE), 100, half.dtype, local()), Bitmap)
    full = Vector.from_dense(np.arange(100.0))
    sent = encoded(full.store, ALONE)
    assert sent is not None
    assert sent.values is full.store.values


def test_the_rule_takes_the_fewest_bytes_unless_gaps_save_little() -> None:
    rng = np.random.default_rng(7)
    seen = set()
    for _ in range(2000):
        size = int(rng.integers(1, 1 << int(rng.integers(1, 31))))
        count = int(min(size, max(1, size * 2.0 ** -rng.uniform(0, 16))))
        itemsize = int(rng.choice([0, 0, 1, 4, 8]))
        form = chosen(size, count, itemsize, compress=True)
        values = count * itemsize
        costs = {name: position_bytes(name, size, count) + values for name in FORMS}
        seen.add(form)
        next_best = min(costs["bitmap"], costs["list"])
        worth = next_best - costs["gaps"] >= max(512, next_best / 4)
        if form == "full":
            assert count == size
        else:
            assert worth if form == "gaps" else costs[form] == next_best and not worth
            uncompressed = chosen(size, count, itemsize, compress=False)
            assert uncompressed != "gaps"
            assert costs[uncompressed] == next_best
    assert seen == {"full", *FORMS}


def test_the_thresholds_of_the_documentation() -> None:
    size = 1 << 20
    assert [chosen(size, size // d, 0, compress=True) for d in (1, 2, 11, 12, 100, 127, 135, 10_000)] == [
        "full",
        "bitmap",
        "bitmap",
        "gaps",
        "gaps",
        "gaps",
        "list",
        "list",
    ]
    assert [chosen(size, size // d, 8, compress=True) for d in (15, 17, 100)] == ["bitmap", "list", "list"]


# -- programs --------------------------------------------------------------------------------------------

PROGRAMS: dict[str, Callable[[Matrix], Any]] = {
    "levels": lambda A: al.bfs_levels(A, 2),
    "distances": lambda A: al.sssp(A, 2),
    "reachable": lambda A: sr.ops.closure(Vector.from_coo([2], True, size=A.nrows, device=A.device), A, "any_pair"),
    "ranks": lambda A: al.pagerank(A),
    "a few": lambda A: (
        Vector.from_coo([1, 4, 30], [0.5, 2.0, 1.5], size=A.nrows, device=A.device).vxm(A, "plus_times").new()
    ),
    "none": lambda A: Vector(float, A.nrows, device=A.device).vxm(A, "plus_times").new(),
}


@pytest.mark.costly
@pytest.mark.parametrize("form", [pytest.param(form, marks=sampling.marks(form, FORM_SAMPLE)) for form in FORMS])
def test_results_are_the_same_in_every_form(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    A = Matrix.from_coo(*rng.integers(0, 103, (2, 300)), rng.random(300), shape=(103, 103), dup_op="plus")
    expected = {name: program(A) for name, program in PROGRAMS.items()}
    monkeypatch.setattr(vector_messages, "chosen", lambda *_, **__: form)

    def program(grid: Grid) -> list[str]:
        B = A.to(grid.device)
        return [
            name
            for name, run in PROGRAMS.items()
            if not distributed.gather(run(B)).isclose(expected[name], rel_tol=1e-9, check_dtype=True)
        ]

    assert run((3, 2), program)[0] == []


def sent_for(present: np.ndarray[Any, Any]) -> int:
    """The bytes of a segment whose entries share one value, computed from its positions."""
    size, at = present.size, np.flatnonzero(present)
    if at.size in (0, size):
        return 0
    best = min(4 * -(-size // 32), 2 * at.size)
    worth = best - (at.size + size // 255) >= max(vector_messages._LEAST, best / 4)
    return int(at.size + (np.diff(at, prepend=0) // 255).sum()) if worth else best


def levels_bytes(dense: np.ndarray[Any, Any], levels: np.ndarray[Any, Any], grid: Grid, steps: list[Any]) -> list[int]:
    """What a process sends in each level of a search of a symmetric matrix: of the frontier, of sums, and a number.

    A push has the frontier in the rows of the block, a pull in its columns.  Each sends sums once for each position.
    """
    n, (height, width), rank = levels.size, grid.shape, grid.rank
    first, last = grid.segment(n)
    rows, cols = grid.rows(n), grid.cols(n)
    beside = [k for k in range(grid.size) if k // width == rank // width]
    above = [k for k in range(grid.size) if k % width == rank % width]
    held = {k: (k % width * height <= rank < (k % width + 1) * height) for k in range(grid.size)}
    found, sent_before = [], {True: np.zeros(n, bool), False: np.zeros(n, bool)}
    for level, step in enumerate(steps):
        frontier, push = levels == level, step.details["direction"] == "push"
        total = 8 * (grid.size - 1).bit_length() * (2 if "edges" in step.details else 1)
        to = len(beside) - 1 if push else sum(held[k] for k in held if k != rank)
        total += to * sent_for(frontier[first:last])
        (top, bottom), (low, high) = (rows, cols) if push else (cols, rows)
        before = sent_before[push]
        product = dense[top:bottom][frontier[top:bottom]].any(axis=0) & ~before
        owners = [k for k in range(grid.size) if low <= grid.segment(n, k)[0] and grid.segment(n, k)[1] <= high]
        if len(owners) > 1:
            before |= product
            for k in owners:
                begin, end = grid.segment(n, k)
                total += sent_for(product[begin:end]) if k != rank else 0
        found.append(total)
    assert len(above) == height
    return found


@pytest.mark.parametrize(
    "shape",
    [(2, 1), (3, 2), pytest.param((2, 2), marks=pytest.mark.exhaustive)],
    ids=lambda shape: f"{shape[0]}x{shape[1]}",
)
@pytest.mark.parametrize(("degree", "least"), [pytest.param(2, 512, marks=pytest.mark.exhaustive), (16, 0)])
def test_a_search_sends_the_bytes_of_the_formula(
    shape: tuple[int, int], degree: int, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_messages, "_LEAST", least)
    A = sr.random.kronecker(10, degree, seed=1)
    source = int(A.to_coo()[0][0])
    dense = A.to("cpu").to_dense(fill_value=0) != 0
    levels = al.bfs_levels(A, source).to("cpu").to_dense(fill_value=-1)

    def program(grid: Grid) -> tuple[list[int], list[int], set[str]]:
        B = A.to(grid.device)
        al.bfs_levels(B, source)  # finds the longest row
        with sr.explain() as log:
            made = al.bfs_levels(B, source)
        assert distributed.gather(made).isequal(al.bfs_levels(A, source), check_dtype=True)
        steps = [call for call in log if call.operation == "step"]
        assert len(steps) == levels.max() + 1
        sent = [call.details["sent_bytes"] for call in steps]
        forms = {form for call in log for form in call.details.get("forms", "").split()}
        return sent, levels_bytes(dense, levels, grid, steps), forms

    found = run(shape, program)
    for sent, expected, _ in found:
        assert sent == expected
    assert set().union(*(forms for *_, forms in found)) >= {"bitmap", "gaps" if least == 0 else "list"}


def test_values_that_a_product_does_not_read_or_that_follow_are_not_sent() -> None:
    A = sr.random.kronecker(8, 8, seed=1)
    few = np.flatnonzero(np.arange(256) % 3)

    def program(grid: Grid) -> list[int]:
        B = A.to(grid.device)
        u = Vector.from_coo(few, few * 0.5, size=256).to(grid.device)
        ones = Vector.from_coo(few, 1.0, size=256).to(grid.device)
        sent = []
        for v, semiring in ((u, "any_pair"), (u, "plus_pair"), (ones, "min_first"), (u, "min_first")):
            with sr.explain() as log:
                v.vxm(B, semiring).new()
            sent.append(next(call for call in log if call.kernel == "distributed.mxv").details["sent_bytes"])
        return sent

    structure, counted, known, read = run((2, 1), program)[0]
    assert structure == counted == known == 4 * 4
    assert read == 4 * 4 + 8 * int((few < 128).sum())


DIRECT: dict[str, Callable[[], Matrix]] = {
    "kronecker": lambda: sr.random.kronecker(12, 8, seed=1),
    "path": lambda: sr.random.path(2500),
    "directed": lambda: sr.random.rmat(11, 4, seed=2),
}


@pytest.mark.costly
@pytest.mark.parametrize("shape", [(2, 1), (1, 2), (2, 2)], ids=lambda shape: f"{shape[0]}x{shape[1]}")
@pytest.mark.parametrize("graph", DIRECT)
def test_searches_by_bits_as_between_gpus(graph: str, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Bitmaps with one value stay bitmaps, without a count; all levels and distances are those of one process."""
    monkeypatch.setattr(ThreadCommunicator, "direct", True)
    A = DIRECT[graph]()
    source = int(A.to("cpu").to_coo()[0][0])
    seeds = Vector.from_coo([source], [True], size=A.nrows)
    levels, reached = al.bfs_levels(A, source, max_depth=40), al.bfs_levels(A, [source], nearest=True, max_depth=3)

    def program(grid: Grid) -> set[str]:
        B = A.to(grid.device)
        with sr.explain() as log:
            assert distributed.gather(al.bfs_levels(B, source, max_depth=40)).isequal(levels, check_dtype=True)
        assert distributed.gather(al.bfs_levels(B, [source], nearest=True, max_depth=3)).isequal(
            reached, check_dtype=True
        )
        if graph != "path":
            found = sr.ops.closure(seeds.to(grid.device), B, "any_pair")
            assert distributed.gather(found).isequal(sr.ops.closure(seeds, A, "any_pair"), check_dtype=True)
            parents = distributed.gather(al.bfs_parents(B, source)).to("cpu")
            all_levels = al.bfs_levels(A, source).to("cpu").to_dense(-1)
            rows, above = parents.to_coo()
            others = rows != source
            assert np.array_equal(all_levels[above[others]] + 1, all_levels[rows[others]])
            assert rows.size == (all_levels >= 0).sum()
        return {form for call in log for form in call.details.get("forms", "").split()}

    forms = set().union(*run(shape, program))
    assert ("bitmap" in forms) or graph == "path"  # whose levels are lists of one row on a CPU


def test_bits_are_counted_when_the_number_is_read() -> None:
    words = np.array([0b1011, 0xFFFFFFFF], np.uint32)
    read, passed = Uncounted(words), Uncounted(words)
    assert not read.known
    assert (read.get(), read.known, read.source) == (35, True, None)
    assert int(passed.source[0]) == 35  # what a kernel reads
    assert (passed.get(), passed.known) == (35, True)
