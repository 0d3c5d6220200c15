"""`pytest --ranks RxC`: the body of a test runs on every rank of a grid."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from semiring import Vector
from semiring.config import config
from semiring.exceptions import NotSupported
from tests import ranks


def item(body: Any, **arguments: Any) -> Any:
    """What `ranks.run` reads of a test of pytest."""
    return SimpleNamespace(
        function=body,
        obj=body,
        funcargs=arguments,
        config=SimpleNamespace(getoption={"--engine": "cpu"}.get),
        _fixtureinfo=SimpleNamespace(argnames=tuple(arguments)),
    )


def test_each_rank_runs_the_body_on_the_grid() -> None:
    before, found = config.device, []

    def body(size: int) -> None:
        v = Vector.from_dense(range(size))
        found.append((v.device, v.to_dict()))

    assert ranks.run(item(body, size=3), (2, 1)) is True
    assert found == [("2x1 cpu", {0: 0, 1: 1, 2: 2})] * 2
    assert config.device == before


def test_a_body_that_fails_or_lacks_an_operation() -> None:
    def fails() -> None:
        assert Vector(int, 3).nvals == 1

    def lacks() -> None:
        raise NotSupported("no such thing")

    before = config.device
    with pytest.raises(AssertionError):
        ranks.run(item(fails), (2, 1))
    with pytest.raises(pytest.skip.Exception, match="on a grid: no such thing"):
        ranks.run(item(lacks), (1, 2))
    assert config.device == before


def test_shapes() -> None:
    assert ranks.shape("3x2") == (3, 2)
    for text in ("3", "x2", "0x1", "axb"):
        with pytest.raises(argparse.ArgumentTypeError, match="ROWSxCOLUMNS"):
            ranks.shape(text)
