"""The benchmarks measure, reject wrong results, and list every kernel."""

from __future__ import annotations

import importlib
import json
import pkgutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import benchmarks
import semiring as sr
from benchmarks import __main__ as program
from benchmarks import case, checks, graphs, machine, report, social
from benchmarks.cases import (
    compiling,
    direction,
    grids,
    host_time,
    importing,
    larger,
    more,
    small_calls,
    verify_large,
    verify_products,
)
from benchmarks.forms import FORMS, PLACEMENTS
from benchmarks.harness import Contender, compare, measure, peak_bytes
from benchmarks.report import Peer, Report, Row
from semiring import optional
from semiring.engines.shared.direction import Costs, Work

GRAPH = social.Social(vertices=300, draws=2000)


@pytest.fixture
def device(engine: str) -> str:
    return "cuda" if engine == "cuda" else "cpu"


def run(name: str, arguments: list[str], device: str, folder: Path) -> None:
    """The case as called from a shell; its exit code is 0."""
    chosen = [] if hasattr(case.module(name), "DEVICE") else ["--device", device]
    assert program.main([name, *chosen, "--out", str(folder), *arguments]) == 0


def rows_of(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows that a program has reported."""
    (path,) = folder.glob("*.jsonl")
    _, *rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {row["what"]: row for row in rows}


@pytest.mark.oracle
def test_small_calls_beside_suitesparse(tmp_path: Path, engine: str, monkeypatch: Any) -> None:
    pytest.importorskip("graphblas").init("suitesparse", blocking=True)  # as all tests do: a process does it once
    if engine != "cpu":
        pytest.skip("measures the CPU engine")
    monkeypatch.setattr(small_calls, "_TURNS", 2)
    monkeypatch.setattr(small_calls, "_CALLS", 2)
    program.main(["small-calls", "--out", str(tmp_path), "--only", "v"])  # its exit code is a verdict on the times
    rows = rows_of(tmp_path)
    assert {"mxv", "mxv under a mask", "v + w, sparse", "y(m) << A.mxv(x)"} <= rows.keys()
    assert all(row["value"] > 0 for row in rows.values())


@pytest.fixture
def A() -> sr.Matrix:
    return graphs.make("kron6w")


def test_contenders_take_turns_after_an_untimed_call() -> None:
    calls: list[tuple[str, int]] = []

    def contender(name: str) -> Contender:
        def call(argument: int) -> int:
            calls.append((name, argument))
            return argument

        return Contender(call, lambda argument, result: None)

    found = compare({"a": contender("a"), "b": contender("b")}, [7, 8], "cpu")
    assert {name: len(samples.wall_ms) for name, samples in found.items()} == {"a": 2, "b": 2}
    first = [("a", 8), ("a", 8), ("a", 7), ("b", 8), ("b", 8), ("b", 7)]
    assert calls == [*first, ("a", 7), ("a", 8), ("b", 7), ("b", 8)]


def test_a_wrong_result_has_no_time(A: sr.Matrix) -> None:
    source = graphs.sources(A, 1)[0]
    with pytest.raises(AssertionError):
        measure(lambda _: sr.Vector.full(0, A.nrows), checks.levels(A), [source], A.device)


@pytest.mark.costly
def test_right_results_are_accepted(A: sr.Matrix) -> None:
    source = graphs.sources(A, 1)[0]
    checks.levels(A)(source, sr.algorithms.bfs_levels(A, source))
    checks.parents(A)(source, sr.algorithms.bfs_parents(A, source))
    checks.components(A)(None, sr.algorithms.connected_components(A))
    checks.distances(A)(source, sr.algorithms.sssp(A, source))
    checks.ranks(A, 5, 0.85, 1e-10)(None, sr.algorithms.pagerank(A, 0.85, 0, 5))


@pytest.mark.costly
@pytest.mark.parametrize("change", [-1, 1])
def test_wrong_distances_are_refused(A: sr.Matrix, change: int) -> None:
    source = graphs.sources(A, 1)[0]
    distance = sr.algorithms.sssp(A, source)
    indices, values = distance.to_coo()
    far = int(values.argmax())
    values = values.copy()
    values[far] += change
    wrong = sr.Vector.from_coo(indices, values, size=A.nrows)
    with pytest.raises(AssertionError):
        checks.distances(A)(source, wrong)


@pytest.mark.costly
def test_other_algorithms_are_measured(device: str, tmp_path: Path) -> None:
    """Every algorithm on a graph; the page's table by graph has a row for each."""
    run("more", ["--graphs", "kron6", "--sources", "2"], device, tmp_path)
    page = (
        (Path(benchmarks.__path__[0]).parent / "docs" / "performance.md").read_text(encoding="utf-8").replace("`", "")
    )
    for name in more.ALGORITHMS:
        assert rows_of(tmp_path)[f"{name} kron6"]["value"] > 0
        assert f"\n| {name} | " in page


def test_merged_components_are_refused() -> None:
    apart = sr.Matrix.from_edgelist([(0, 1), (1, 0), (2, 3), (3, 2)], nrows=4, ncols=4)
    with pytest.raises(AssertionError):
        checks.components(apart)(None, sr.Vector.full(0, 4, np.int32))


@pytest.mark.parametrize("name", ["grid7x9", "star20", "uniform50x1"])
def test_components_are_counted(name: str) -> None:
    A = graphs.make(name)
    labels = sr.algorithms.connected_components(A).to_numpy()
    assert checks.component_count(*graphs.arrays(A)) == np.unique(labels).size


def test_memory_is_counted(A: sr.Matrix) -> None:
    xp = graphs.module(A)

    def call() -> None:
        first = xp.empty(100_000)
        del first
        xp.empty(50_000)

    assert 800_000 <= peak_bytes(call, A.device) < 900_000


def test_a_report_is_a_table_and_json_lines(tmp_path: Path) -> None:
    report = Report("try", "cpu", tmp_path)
    report.add(Row("fast", "ms", 1.0, 2.0, peers=(Peer("other", 3.0), Peer("older", 4.0, recorded=True))))
    report.add(Row("slow", "x faster", 4.0, 5.0, at_most=False, note="why"))
    assert report.failed
    text, lines = (next(tmp_path.glob(pattern)).read_text() for pattern in ("*-try.txt", "*-try.jsonl"))
    assert "other 3 ms = 3.00 x ours; older 4 ms (recorded)" in text
    facts, *rows = [json.loads(line) for line in lines.splitlines()]
    assert facts["revision"]
    assert [row["passed"] for row in rows] == [True, False]


def test_a_report_of_nothing_has_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report("try", "cpu", tmp_path)
    report.close()
    assert report.failed
    assert "nothing was measured" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_every_case_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == sorted(
        path.stem.replace("_", "-") for path in case.FOLDER.glob("[a-z]*.py")
    )
    assert all(len(line.split()) > 4 for line in lines), "a case has no docstring"


def test_unknown_cases_and_rows_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="did you mean speed"):
        program.main(["sped"])
    with pytest.raises(SystemExit):
        program.main(["speed", "--rows", "serach"])
    assert "choose from" in capsys.readouterr().err


def test_every_kernel_is_listed() -> None:
    names = importlib.import_module("benchmarks.sanitize.__main__").entries()
    assert "closure_level.cuh:closure_grid" in names
    assert not [name for name in names if "__" in name]


def test_a_social_graph_is_the_same_in_any_number_of_parts() -> None:
    whole = social.matrix(GRAPH)
    assert whole.isequal(social.matrix(GRAPH, parts=4))
    assert whole.is_symmetric_structure
    indptr, indices = graphs.arrays(whole)
    assert checks.component_count(indptr, indices) == 1
    assert whole.select("diag").nvals == 0
    assert int((indptr[1:] - indptr[:-1]).max()) > 4 * whole.nvals // whole.nrows


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "arguments", "rows"),
    [
        ("compression", ["--scale", "8", "--sources", "2"], ["size of kron8, packed", "decoding kron8, varint"]),
        ("loading", ["--graph", "kron7"], ["reading by threads, warm", "opening kron7, packed, pinned"]),
        ("ordering", ["--graphs", "grid6x7", "--sources", "2"], ["grid6x7 rcm packed bfs_levels"]),
    ],
    ids=["compression", "loading", "ordering"],
)
def test_a_program_runs_on_a_small_graph(
    name: str, arguments: list[str], rows: list[str], device: str, tmp_path: Path
) -> None:
    run(name, arguments, device, tmp_path)
    found = rows_of(tmp_path)
    for row in rows:
        assert row in found, f"there is no row {row!r}"


@pytest.mark.costly
def test_an_import_is_timed_in_new_processes(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(importing, "_MOST_MS", 60_000)  # a busy machine is slow, which is no failure here
    run("importing", ["--runs", "2"], "cpu", tmp_path)
    row = rows_of(tmp_path)["import semiring, beyond NumPy"]
    assert len(row["samples"]) == 2
    assert min(row["samples"]) > 0


def test_the_texts_of_kernels_are_measured(tmp_path: Path, monkeypatch: Any) -> None:
    pytest.importorskip("cupy", reason="CuPy brings NVRTC")
    monkeypatch.setattr(compiling, "_FILES", ("mxv_pull.cuh",))
    monkeypatch.setattr(compiling, "RUNS", 1)
    run("compiling", ["--rows", "texts"], "cpu", tmp_path)
    lines = [int(row["note"].partition(" ")[0]) for name, row in rows_of(tmp_path).items() if "mxv_pull" in name]
    assert len(lines) == 2
    assert lines[0] < lines[1], "uncompressed columns need no decoder"


@pytest.mark.wide
def test_a_graph_runs_in_host_memory(device: str, tmp_path: Path) -> None:
    # Other algorithms would be compiled for this test alone, where that takes seconds.
    algorithms = ["bfs_parents"] if device == "cpu" else list(larger.ALGORITHMS)
    small = ["--vertices", "300", "--draws", "2000", "--sources", "1", "--budget", "4 GB", "--skip-baseline"]
    run("larger", [*small, "--algorithms", *algorithms], device, tmp_path)
    found = {" ".join(what.split()[:3]) for what in rows_of(tmp_path)}
    placed = {(place, form) for form, places in larger.FORMS for place in places if place != "copied"}
    assert {f"bfs_parents, {place}, {form}," for place, form in placed} <= found


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "forms", "placements"),
    [
        ("kron6", FORMS[:1], PLACEMENTS[:1]),  # others compile searches of their own
        *(
            pytest.param(name, FORMS, PLACEMENTS, marks=pytest.mark.wide, id=f"{name} in every kind")
            for name in ("kron6", "star300", "grid5x9")
        ),
    ],
)
def test_storage_kinds_are_verified(
    name: str, forms: Any, placements: Any, device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    request = verify_large.Request(3, forms, placements, "4 GB")
    assert verify_large.verified(name, request, device)
    said = capsys.readouterr().out
    assert said.count(": as proved;") == len(forms) * len(placements)


@pytest.mark.wide
def test_a_storage_kind_that_differs_is_rejected(device: str, monkeypatch: Any) -> None:
    path = sr.Matrix.from_edgelist([(0, 1), (1, 0)], nrows=42, ncols=42)
    monkeypatch.setattr(verify_large, "page_locked", lambda A, forms: dict.fromkeys(forms, path))
    assert not verify_large.verified("grid6x7", verify_large.Request(2, FORMS[:1], PLACEMENTS[:2]), device)


def test_a_run_names_what_became_worse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(report.last_results, "__defaults__", (tmp_path,))
    rows = [("time", 1.0, True), ("ratio", 8.0, False), ("steady", 2.0, True), ("new", None, True)]
    older = tmp_path / f"{machine.slug('cpu')}-try.jsonl"
    lines = [{"what": what, "unit": "ms", "value": value, "at_most": at_most} for what, value, at_most in rows]
    older.write_text("\n".join(json.dumps(line) for line in [{"date": ""}, *lines]))
    run_now = Report("try", "cpu", tmp_path)
    run_now.add(Row("time", "ms", 1.2))
    run_now.add(Row("ratio", "ms", 4.0, at_most=False))
    run_now.add(Row("steady", "ms", 2.19))
    run_now.add(Row("new", "ms", 5.0))
    run_now.add(Row("unknown", "ms", 5.0))
    run_now.close()
    printed = capsys.readouterr().out
    assert f"against {older.name}: 2 of 3 rows are more than 10% worse" in printed
    assert "WORSE  time: 1.2 ms, was 1 (20% worse)" in printed
    assert "WORSE  ratio: 4 ms, was 8 (100% worse)" in printed
    assert "steady: " not in printed
    assert report.worse(Row("time", "us", 9.0), lines[0]) is None


def test_rows_with_a_reference_program_are_compared_by_the_least(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report.last_results, "__defaults__", (tmp_path,))
    older = tmp_path / f"{machine.slug('cpu')}-try.jsonl"
    rows = [("busy", 9.0, 2.0), ("slow", 9.0, 2.0), ("new", 9.0, None)]
    lines = [{"what": what, "unit": "us", "value": value, "relative": relative} for what, value, relative in rows]
    older.write_text("\n".join(json.dumps(line) for line in [{"date": ""}, *lines]))
    run_now = Report("try", "cpu", tmp_path)
    run_now.add(Row("busy", "us", 18.0, relative=2.1))
    run_now.add(Row("slow", "us", 9.0, relative=3.0))
    run_now.add(Row("new", "us", 18.0, relative=4.0))
    run_now.close()
    printed = capsys.readouterr().out
    assert f"against {older.name}: 1 of 2 rows are more than 10% worse" in printed
    assert "WORSE  slow: best 3 x the reference program, was 2 (50% worse)" in printed


def test_host_time_measures_and_profiles(tmp_path: Path, capsys: Any) -> None:
    run("host-time", ["--calls", "apply", "--profile", "apply"], "cpu", tmp_path)
    bare, row = rows_of(tmp_path).values()
    assert (bare["what"], row["what"]) == ("bare NumPy program", "apply")
    assert 0 < row["value"] < 1e5
    assert bare["relative"] == 1.0
    assert row["relative"] > 0
    assert "best: host" in bare["note"]
    assert "function calls" in capsys.readouterr().out


def test_every_program_can_be_imported() -> None:
    """Programs import each other's functions, and most of them are run on a GPU only."""
    names = [module.name for module in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")]
    assert len(names) > 40
    absent: list[str] = []
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in optional.EXTRAS:
                raise
            absent.append(f"{name} needs {package}")
    if absent:
        pytest.skip("; ".join(absent))


def test_calls_take_turns() -> None:
    calls: list[str] = []
    cases = {name: host_time.Case(partial(calls.append, name), waits=name == "b") for name in ("a", "b")}
    times = host_time.Clock("cpu").take_turns(cases)
    turn = len(calls) // len(times["a"].host)
    assert calls[:turn] == ["a"] * (turn // 2) + ["b"] * (turn // 2)
    assert times["a"].figures is times["a"].host
    assert times["b"].figures is times["b"].called
    assert times["a"].kernels == []


@pytest.mark.costly
def test_costs_of_directions_are_measured(tmp_path: Path) -> None:
    run("direction", ["--graphs", "kron11", "--sources", "1", "--runs", "2"], "cpu", tmp_path)
    found = rows_of(tmp_path)
    assert found["a probe, all graphs"]["value"] > 0
    assert set(found["a probe, kron11"]["facts"]) == {"EDGE_COST", "FRONTIER_ROW_COST", "ROW_COST", "WORD_COST"}
    assert {"levels, the table", "levels, WORD_COST halved", "vxm, the table"} <= set(found)
    assert all(row["value"] >= 1 for what, row in found.items() if what.startswith(("levels", "vxm")))


def test_costs_are_fitted_and_judged() -> None:
    costs, levels = Costs(3, 1, 20, 2, 8), []
    for rows, edges, open_rows, words in [(10, 9000, 500, 20), (900, 5000, 300, 90), (50, 70000, 4000, 400)]:
        work = Work(90000, open_rows, 50000, True, words, open_rows, words)
        inputs = direction.Inputs(rows, edges, work)
        units = [terms for terms, _ in direction.Level(inputs, 0, 0).terms()]
        times = [2000 * sum(cost * unit for cost, unit in zip(costs, terms, strict=False)) for terms in units]
        levels.append(direction.Level(inputs, *times))
    fitted, probe_ns, error = direction.fit(levels)
    np.testing.assert_allclose(fitted, costs, rtol=1e-6)
    assert probe_ns == pytest.approx(2000)
    assert error < 1e-6
    assert direction.slowdown(levels, costs) == 1
    assert direction.slowdown(levels, Costs(0, 1, 0, 2, 8)) > 1


@pytest.mark.costly
def test_large_products_are_verified(device: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    given = ["verify-products", "--device", device, "--entries", "1e5", "--methods", "auto"]
    assert program.main(given) == 0
    monkeypatch.setattr(verify_products.Fan, "product", lambda fan, method: fan.A.mxm(fan.B, "plus_first"))
    assert program.main(given) == 1
    assert "the sums of rows differ" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [(lambda C: C.select("valuegt", 5), "entries in place of"), (lambda C: C.apply("ainv"), "the sums of rows differ")],
)
@pytest.mark.costly
def test_wrong_products_are_refused(device: str, change: Any, message: str) -> None:
    with sr.use(device):
        fan = verify_products.Fan(10_000)
        with pytest.raises(verify_products.Wrong, match=message):
            fan.check(change(fan.product("auto")))


@pytest.mark.costly
@pytest.mark.parametrize("name", list(grids.PROGRAMS))
def test_programs_on_grids_are_verified(name: str, device: str, monkeypatch: Any) -> None:
    program = grids.PROGRAMS[name]
    times = sr.distributed.run(2, lambda grid: grids.measured(program, 8, grid, 2, both=True), device=device)
    assert [len(one.wall_ms) for rank in times for one in rank] == [2, 2] * 2

    def spoiled(A: sr.Matrix, sources: list[int]) -> Any:
        return program.run(A, sources).apply("plus", right=1).new()

    wrong = replace(program, run=spoiled)
    with pytest.raises(AssertionError):
        sr.distributed.run(2, lambda grid: grids.measured(wrong, 8, grid, 1, both=False), device=device)
