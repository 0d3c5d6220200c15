"""The tests on a grid of processes: every rank runs the whole test.

    semiring launch -n 2 -m pytest --ranks 2x1 FILES    each rank is a process of MPI
    pytest --ranks 3x1 FILES                            each rank is a thread that takes turns
    semiring launch -n 2 -m pytest --ranks 2x1 --engine=cuda FILES    parts on GPUs, or all on the only one

New objects are on the grid, so a test makes, computes and compares objects that are held in parts, and a comparison
with another program compares what the ranks hold together.  An operation that a grid does not have skips the test, and
the summary (`-rs`) names the operation.

Processes run the tests of the library as they are: what a test changes in its process (settings, replaced functions),
other ranks do not see, and fixtures are on the grid too.  Threads share all that, so they are for single tests.  The
first process reports; the others end with the same outcome, because an error on one rank fails the test on all.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from semiring import distributed
from semiring.config import config
from semiring.distributed import process
from semiring.exceptions import InvalidValue, NotSupported

# The grid of this session, if its ranks are processes.
_grid: distributed.Grid | None = None


def shape(text: str) -> tuple[int, int]:
    """The rows and columns of ``--ranks 3x2``."""
    rows, _, cols = text.partition("x")
    if not (rows.isdigit() and cols.isdigit() and int(rows) and int(cols)):
        raise argparse.ArgumentTypeError(f"a grid is given as ROWSxCOLUMNS, such as 3x1; got {text!r}")
    return int(rows), int(cols)


def start(shape: tuple[int, int] | None, engine: str) -> distributed.Grid | None:
    """Return the grid of the processes that run this session, None if this is the only one.

    New objects are on it from now on, also those that a test makes when it is imported.
    """
    global _grid
    if shape is not None and process.launched():
        try:
            _grid = distributed.Grid(shape=shape, device=_device(engine))
        except InvalidValue as error:
            raise pytest.UsageError(f"--ranks: {error}") from None
        config.device = _grid.device
    return _grid


def _device(engine: str) -> str:
    """Return the device of the parts of a grid."""
    return "cuda" if engine == "cuda" else "cpu"


def session_grid() -> distributed.Grid | None:
    """Return the grid of this session, if its ranks are processes."""
    return _grid


def skip_tests_of_one_process(items: Iterable[pytest.Item]) -> None:
    """Skip the tests that are marked ``one_process``, with the reason of the mark."""
    for item in items:
        mark = item.get_closest_marker("one_process")
        if mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"of one process: {mark.args[0]}"))


def silence(settings: pytest.Config) -> None:
    """Report by the first process alone."""
    reporter: Any = settings.pluginmanager.get_plugin("terminalreporter")
    if _grid is not None and _grid.rank and reporter is not None:
        reporter._tw._file = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  until the process ends


def run(item: pytest.Function, shape: tuple[int, int]) -> bool:
    """Run a test on all ranks; True, as pytest's hook wants it."""
    arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
    try:
        if _grid is None:
            _by_threads(item, lambda: item.obj(**arguments), shape)
        else:
            _by_processes(_grid, lambda: item.obj(**arguments))
    except NotSupported as error:
        pytest.skip(f"on a grid: {error}")
    return True


def _by_threads(item: pytest.Function, body: Callable[[], Any], shape: tuple[int, int]) -> None:
    if getattr(item.function, "is_hypothesis_test", False):
        pytest.skip("draws its calls, and each rank would draw others")
    before = config.device

    def program(grid: distributed.Grid) -> None:
        config.device = grid.device
        body()

    try:
        distributed.run(shape[0] * shape[1], program, shape=shape, device=_device(item.config.getoption("--engine")))
    finally:
        config.device = before


def _by_processes(grid: distributed.Grid, body: Callable[[], Any]) -> None:
    """Run the body, then agree on its outcome, so that all ranks begin the next test together."""
    outcome: BaseException | None = None
    try:
        body()
    except (Exception, pytest.skip.Exception, pytest.fail.Exception) as error:
        outcome = error
    if grid.comm.broken:
        pytest.exit(f"the ranks have made different calls: {outcome}", returncode=1)
    skipped = isinstance(outcome, pytest.skip.Exception)

    def ended() -> None:
        if outcome is not None and not skipped:
            raise outcome if isinstance(outcome, Exception) else AssertionError(str(outcome))

    try:
        grid.run_then_barrier(ended)
    except Exception:
        if outcome is None or skipped:
            raise  # the error of another rank
    if outcome is not None:
        raise outcome
