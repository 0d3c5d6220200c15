"""The tests on a grid of processes: every rank, a thread that takes turns, runs the whole test.

New objects are on the grid, so a test makes, computes and compares objects that are held in parts, and a comparison
with another program compares what the ranks hold together.  An operation that a grid does not have skips the test, and
the summary (`-rs`) names the operation.
"""

from __future__ import annotations

import argparse

import pytest

from semiring import distributed
from semiring.config import config
from semiring.exceptions import NotSupported


def shape(text: str) -> tuple[int, int]:
    """The rows and columns of ``--ranks 3x2``."""
    rows, _, cols = text.partition("x")
    if not (rows.isdigit() and cols.isdigit() and int(rows) and int(cols)):
        raise argparse.ArgumentTypeError(f"a grid is given as ROWSxCOLUMNS, such as 3x1; got {text!r}")
    return int(rows), int(cols)


def run(item: pytest.Function, shape: tuple[int, int]) -> bool:
    """Run a test on all ranks; True, as pytest's hook wants it."""
    if getattr(item.function, "is_hypothesis_test", False):
        pytest.skip("draws its calls, and each rank would draw others")
    arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
    before = config.device

    def program(grid: distributed.Grid) -> None:
        config.device = grid.device
        item.obj(**arguments)

    try:
        distributed.run(shape[0] * shape[1], program, shape=shape, device="cpu")
    except NotSupported as error:
        pytest.skip(f"on a grid: {error}")
    finally:
        config.device = before
    return True
