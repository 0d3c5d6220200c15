"""Settings: changed at once, restored by a `with` block, and never half changed."""

from __future__ import annotations

import threading

import pytest

import semiring as sr
from semiring.config import Config, config, on_change
from semiring.exceptions import InvalidValue


@pytest.fixture(autouse=True)
def as_before() -> object:
    before = config.direction, config.fusion, config.quiet, config.device, config.cpu_engine
    yield
    config.direction, config.fusion, config.quiet, config.device, config.cpu_engine = before


def test_set_as_a_statement_takes_effect_at_once_and_persists() -> None:
    config.set(direction="push", fusion=False)
    assert (config.direction, config.fusion) == ("push", False)


def test_set_as_a_statement_reaches_the_operations() -> None:
    A = sr.Matrix.from_edgelist([(0, 1), (1, 2)], shape=(3, 3))
    v = sr.Vector.from_coo([0], [1], size=3)
    for direction in ("push", "pull"):
        sr.config.set(direction=direction)
        assert v.vxm(A, "any_pair")._plan.request.direction == direction


def test_set_in_a_with_block_restores_after_an_exception() -> None:
    def fail() -> None:
        with config.set(direction="pull") as settings:
            assert settings is config
            assert config.direction == "pull"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert config.direction == "auto"


def test_blocks_nest() -> None:
    with config.set(direction="push"):
        with config.set(direction="pull", quiet=True):
            assert (config.direction, config.quiet) == ("pull", True)
        assert (config.direction, config.quiet) == ("push", False)
    assert config.direction == "auto"


def test_a_change_can_be_entered_again_and_inside_itself() -> None:
    push = config.set(direction="push")
    with push:
        assert config.direction == "push"
    assert config.direction == "auto"
    with push:
        config.direction = "pull"
        with push:
            assert config.direction == "push"
        assert config.direction == "pull"
    assert config.direction == "auto"


def test_use_can_be_entered_again() -> None:
    before = config.cpu_engine
    other = "cpu" if before == "reference" else "reference"
    switch = sr.use(other)
    for _ in range(2):
        with switch:
            assert config.cpu_engine == other
        assert config.cpu_engine == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"directoin": "push"}, "'directoin'.*did you mean 'direction'"),
        ({"direction": "sideways"}, "direction must be one of auto, push, pull; got 'sideways'"),
        ({"fusion": False, "quite": True}, "'quite'.*did you mean 'quiet'"),
        ({"fusion": False, "quiet": "perhaps"}, "quiet must be true or false"),
        ({"zzz": 1}, "settings are: device, "),
    ],
)
def test_what_is_wrong_raises_at_once_and_changes_nothing(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        config.set(**changes)
    assert config.fusion


def test_a_listener_receives_the_whole_change_and_may_reject_it() -> None:
    seen = []

    def listener() -> None:
        seen.append((config.fusion, config.quiet))
        if config.quiet and not config.fusion:
            raise InvalidValue("refused")

    from semiring.config import _listeners

    on_change("fusion", listener)
    try:
        with pytest.raises(InvalidValue, match="refused"):
            config.set(fusion=False, quiet=True)
        assert seen[0] == (False, True)
        assert (config.fusion, config.quiet) == (True, False)
    finally:
        _listeners["fusion"].remove(listener)


def test_settings_are_those_of_the_process() -> None:
    found = []
    with config.set(direction="push"):
        reader = threading.Thread(target=lambda: found.append(config.direction))
        reader.start()
        reader.join()
    assert found == ["push"]


def test_a_config_of_its_own_is_set_alike() -> None:
    own = Config()
    with own.set(direction="pull"):
        assert own.direction == "pull"
    assert own.direction == "auto"
    assert config.direction == "auto"
