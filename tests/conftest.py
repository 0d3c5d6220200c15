"""Fixtures of all tests: an engine, the shared graphs, and a configuration that every test must restore.

    pytest                      the CPU engine
    pytest --engine=cuda        the same tests on a GPU
    pytest --engine=reference   the same tests on the specification itself
    pytest --ranks 3x1          the same tests on a grid of processes, also under `semiring launch` (`tests.ranks`)
    pytest --seed N             the sample that another run printed
    pytest --costly 1/N         one in N of the costly tests (1/1: all), and all files of families of algorithms
    pytest --exhaustive         every operator, type and test configuration, more drawn calls, more fault trials
    pytest --exhaustive --part 3/120    the third of 120 parts of what --exhaustive adds or repeats at length
    pytest --long-faults tests/faults   the fault campaigns in full (hours)

The tour (test_tour.py) runs first, then the semantics (operators, ops), then the rest.

A run without --exhaustive takes a sample of the largest cross products and, on the CPU, of the tests that compile many
kernels (`tests.sampling`).  A new seed determines it; the header shows the seed, and so does the summary of a run that
fails.  Drawn calls are the same in every run;
``--hypothesis-profile=random --hypothesis-seed=N`` draws others.
"""

from __future__ import annotations

import argparse
import functools
import gc
import os
import secrets
import signal
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from semiring.config import Config, config, cuda_available, use
from tests import poison, ranks, sampling

ROOT = Path(__file__).resolve().parent.parent
ENGINES = ("cpu", "reference", "cuda")

_COMMON = {
    "deadline": None,  # the first call of an operator compiles it
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("fixed", derandomize=True, database=None, max_examples=20, **_COMMON)
settings.register_profile("exhaustive", derandomize=True, database=None, max_examples=600, **_COMMON)
# For mutation runs: whether a drawn call fails matters, and not the smallest that does.  And on grids, where the search
# for the smallest depends on the lines that a process runs.
_UNSHRUNK = [Phase.explicit, Phase.generate]
settings.register_profile("unshrunk", derandomize=True, database=None, max_examples=40, phases=_UNSHRUNK, **_COMMON)
settings.register_profile("random", max_examples=200, **_COMMON)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("semiring")
    group.addoption("--engine", choices=ENGINES, default="cpu", help="the engine under test (default: cpu)")
    group.addoption("--seed", type=seed, metavar="N", help="of the sample (default: a new one, 0 for --exhaustive)")
    group.addoption("--exhaustive", action="store_true", help="every operator and type, more drawn calls")
    group.addoption("--part", type=part, metavar="K/N", help="with --exhaustive: the K-th of N parts of that tier")
    group.addoption("--costly", type=one_in, metavar="1/N", help="of several folders: one in N of the costly tests")
    group.addoption("--ranks", type=ranks.shape, metavar="RxC", help="run the tests on a grid of processes")
    group.addoption("--poison", type=poison.byte, metavar="BYTE", help="with --engine=cuda: fill new memory of the GPU")
    group.addoption("--long-faults", action="store_true", help="run the fault campaigns of tests/faults in full")


def seed(text: str) -> int:
    """The seed in ``--seed N``, 32 bits."""
    if not (text.isdigit() and int(text) < 2**32):
        raise argparse.ArgumentTypeError(f"a seed is an integer from 0 to 2**32 - 1; got {text!r}")
    return int(text)


def part(text: str) -> tuple[int, int]:
    """K and N of ``K/N``."""
    k, _, n = text.partition("/")
    if not (k.isdigit() and n.isdigit() and 1 <= int(k) <= int(n)):
        raise argparse.ArgumentTypeError(f"a part is K/N with 1 <= K <= N, as 3/24; got {text!r}")
    return int(k), int(n)


def one_in(text: str) -> int:
    """N of ``1/N``."""
    one, _, n = text.partition("/")
    if not (one == "1" and n.isdigit() and int(n) > 0):
        raise argparse.ArgumentTypeError(f"a share is 1/N with N >= 1, as 1/4; got {text!r}")
    return int(n)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "exhaustive: runs under --exhaustive alone")
    config.addinivalue_line("markers", "wide: runs under --exhaustive and on engines other than the CPU's")
    config.addinivalue_line(
        "markers", "costly: takes seconds, most to compile; a run of all tests on the CPU takes one in 288 of these"
    )
    config.addinivalue_line("markers", "one_process(reason): what a grid does not have; --ranks skips it")
    if config.getoption("--part") and not config.getoption("--exhaustive"):
        raise pytest.UsageError("--part divides the exhaustive tier: give --exhaustive too")
    if config.getoption("--engine") == "cuda" and not cuda_available():
        raise pytest.UsageError("--engine=cuda: CuPy is missing or finds no GPU; nothing can be tested")
    if config.getoption("--poison") is not None:
        if config.getoption("--engine") != "cuda":
            raise pytest.UsageError("--poison fills memory of a GPU: give --engine=cuda too")
        poison.fill_all(config.getoption("--poison"))
    if config.getoption("--seed") is None:
        # A worker of pytest-xdist has the seed of the controller.
        drawn = 0 if config.getoption("--exhaustive") else secrets.randbits(32)
        config.option.seed = getattr(config, "workerinput", {}).get("seed", drawn)
    grid = ranks.start(config.getoption("--ranks"), config.getoption("--engine"))
    if grid is not None:
        config.option.seed = grid.comm.bcast(config.option.seed, 0)
    sampling.seed = config.getoption("--seed")
    sampling.exhaustive = config.getoption("--exhaustive")
    sampling.engine = config.getoption("--engine")
    if sampling.engine == "cpu":
        # With Python's thresholds the search for cycles takes a tenth of a run: most objects, those of tests, modules
        # and the compiler, live to the end.
        gc.set_threshold(50_000, 20, 20)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts background jobs so.  Tests interrupt themselves and processes that they start.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not config.getoption("--hypothesis-profile", None):
        usual = "fixed" if grid is None else "unshrunk"
        settings.load_profile("exhaustive" if config.getoption("--exhaustive") else usual)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    ranks.silence(session.config)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run the test on a grid of processes, if one was given."""
    shape = pyfuncitem.config.getoption("--ranks")
    return None if shape is None else ranks.run(pyfuncitem, shape)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the seed to a worker of pytest-xdist, so that all collect the same tests."""
    node.workerinput["seed"] = sampling.seed


def pytest_report_header(config: pytest.Config) -> str:
    exhaustive = ", exhaustive" if config.getoption("--exhaustive") else ""
    if config.getoption("--part"):
        exhaustive += " (part {} of {})".format(*config.getoption("--part"))
    drawing = config.getoption("--hypothesis-seed", None)
    drawn = f"seed {drawing}" if drawing else "the same in every run" if settings().derandomize else "at random"
    sample = f"sample: --seed {sampling.seed}"
    return f"engine: {config.getoption('--engine')}{exhaustive}; {sample}; drawn calls: {drawn}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if any(terminalreporter.stats.get(outcome) for outcome in ("failed", "error")):
        terminalreporter.write_line(f"This run's sample is repeated by --seed {sampling.seed}.")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of one family of algorithms that are not in the sample, without importing them."""
    left_out = share_of_costly(config) == sampling.COSTLY and collection_path in files_of_families().difference(
        sampled_files()
    )
    return True if left_out else None


@functools.cache
def files_of_families() -> frozenset[Path]:
    """The files that test one family of algorithms: those in the folders of tests/algorithms."""
    return frozenset(ROOT.glob("tests/algorithms/*/test_*.py"))


@functools.cache
def sampled_files() -> frozenset[Path]:
    """The sample of `files_of_families` that this run takes."""
    names = sorted(file.relative_to(ROOT).as_posix() for file in files_of_families())
    return frozenset(ROOT / name for name in sampling.files_of_families(names))


def several_folders(config: pytest.Config) -> bool:
    """Whether the run is of more than one folder in tests; whoever names one folder runs all of its tests."""
    named = {folder(config.invocation_params.dir / argument.partition("::")[0]) for argument in config.args}
    return None in named or len(named) > 1


def share_of_costly(config: pytest.Config) -> int:
    """N, where a run takes one in N of the costly tests; a run of one folder takes all."""
    return config.getoption("--costly") or (sampling.COSTLY if several_folders(config) else 1)


def folder(path: Path) -> str | None:
    """The folder or file in tests that contains a path; None if the path contains more than one."""
    path = Path(os.path.abspath(path))
    return path.relative_to(ROOT / "tests").parts[0] if ROOT / "tests" in path.parents else None


@functools.cache
def marks_left_out(config: pytest.Config) -> frozenset[str]:
    """The marks of tests that this run leaves out."""
    usual = not config.getoption("--exhaustive")
    out = {
        "gpu": not cuda_available(),
        "exhaustive": usual,
        "wide": usual and config.getoption("--engine") == "cpu",
    }
    return frozenset(name for name in out if out[name])


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make no tests of parameters that the run leaves out: two thirds of all tests would be deselected."""
    out, parametrize = marks_left_out(metafunc.config), metafunc.parametrize
    function_is_out = any(metafunc.definition.get_closest_marker(name) for name in out)

    def parametrize_for_run(names: Any, values: Iterable[Any], *rest: Any, **options: Any) -> None:
        values = list(values)
        if options.get("ids") is None or callable(options["ids"]):
            kept = [value for value in values if out.isdisjoint(mark.name for mark in getattr(value, "marks", ()))]
            # A test without parameters would be skipped, which is reported: one is deselected.
            values = kept if kept and not function_is_out else values[:1]
        parametrize(names, values, *rest, **options)

    metafunc.parametrize = parametrize_for_run  # type: ignore[method-assign]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that need a GPU where there is none, and rows outside the sample; order the rest."""
    usual = not config.getoption("--exhaustive")
    # Long tests of the exhaustive tier first: at the end a worker without tests would wait for one that runs these.
    items.sort(key=lambda item: (usual or not is_long(item), stage(item.path)))
    sampling.mark_costly(items)
    out = marks_left_out(config)
    chosen = config.getoption("--part")
    if config.getoption("--ranks"):
        ranks.skip_tests_of_one_process(items)
    left = [
        item
        for item in items
        if any(item.get_closest_marker(name) for name in out) or (chosen is not None and not is_in_part(item, *chosen))
    ]
    if "wide" in out:
        left += sampling.left_of_costly(set(items).difference(left), share_of_costly(config))
    if left:
        config.hook.pytest_deselected(items=left)
        out_of_run = set(left)
        items[:] = [item for item in items if item not in out_of_run]


def pytest_collection_finish() -> None:
    """Exempt tests and modules, which live to the end, from the search for cycles."""
    gc.collect()
    gc.freeze()


def is_long(item: pytest.Item) -> bool:
    """Whether a test of the exhaustive tier may take minutes: a campaign, one marked ``slow``, one with a timeout."""
    marked = any(item.get_closest_marker(name) for name in ("slow", "timeout"))
    return marked or "trial_count" in getattr(item, "fixturenames", ())


@functools.cache
def stage(file: Path) -> int:
    """When the tests of a file run: 0, the tour; 1, the semantics of operators and operations; 2, the rest."""
    name = file.relative_to(ROOT).as_posix()
    if name == "tests/test_tour.py":
        return 0
    return 1 if name.startswith(("tests/operators/", "tests/ops/")) else 2


def is_in_part(item: pytest.Item, k: int, n: int) -> bool:
    """Whether part `k` of the `n` parts of the exhaustive tier runs a test.

    The tier: tests that run under --exhaustive alone, drawn calls, of which it draws more, and fault campaigns, whose
    counts it raises.  Campaigns are in every part.  Other tests are the same in every run, and are in no part.
    """
    if "trial_count" in getattr(item, "fixturenames", ()):
        return True
    marked = any(item.get_closest_marker(name) for name in ("exhaustive", "wide", "costly"))
    drawn = getattr(getattr(item, "function", None), "is_hypothesis_test", False)
    return bool(marked or drawn) and zlib.crc32(item.nodeid.encode()) % n == k - 1


@pytest.fixture(scope="session", autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """The engine under test; new objects are on its device, or on the grid whose parts are."""
    grid, name = ranks.session_grid(), request.config.getoption("--engine")
    with use(name):
        if grid is None:
            yield name
        else:
            with config.set(device=grid.device):
                yield grid.device


@pytest.fixture(autouse=True)
def unchanged_configuration(engine: str) -> Iterator[None]:
    """Fail a test that leaves a setting changed, and restore the setting for later tests."""
    names = [item.name for item in fields(Config)]
    before = {name: getattr(config, name) for name in names}
    yield
    changed = {name: getattr(config, name) for name in names if getattr(config, name) != before[name]}
    for name in changed:
        setattr(config, name, before[name])
    assert not changed, f"the test left settings changed: {changed}"


@pytest.fixture(autouse=True)
def kernels_for_few(request: pytest.FixtureRequest, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels of large operands in half of the tests; in one of 12 of a short run on the CPU, which compiles.

    The CPU engine leaves operands of few entries to NumPy, and the CUDA engine has a product of its own for them.
    """
    one_of = 12 if engine == "cpu" and not sampling.exhaustive else 2
    if zlib.crc32(request.node.nodeid.encode(), sampling.seed) % one_of != 1:
        return
    if engine == "cpu":
        from semiring.engines.cpu import index_rank

        monkeypatch.setattr(index_rank, "FEW_ENTRIES", -1)
    elif engine == "cuda":
        from semiring.engines.cuda import tuning

        monkeypatch.setattr(tuning, "DENSE_STEPS", -1)


@pytest.fixture
def trial_count(request: pytest.FixtureRequest) -> Callable[[int, int, int], int]:
    """How many trials a fault campaign runs: ``trial_count(short, exhaustive, long)`` selects the count of this run."""

    def pick(short: int, exhaustive: int, long: int) -> int:
        if request.config.getoption("--long-faults"):
            return long
        return exhaustive if request.config.getoption("--exhaustive") else short

    return pick


def shared_folder() -> Path:
    """The folder of real graphs with known results: beside the repository, or in $SEMIRING_TEST_DATA."""
    return Path(os.environ.get("SEMIRING_TEST_DATA") or ROOT.parent / "shared" / "data")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real graphs with known results; a test that needs it is skipped where it is missing."""
    folder = shared_folder()
    if not (folder / "truth.json").is_file():
        pytest.skip(f"the shared graphs are not at {folder} (SEMIRING_TEST_DATA names another place)")
    return folder
