"""The static types of expressions are those at run time; `run.py tests` checks them by mypy and pyright."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path
from typing import Any

import pytest

import semiring as sr

FILE = Path(__file__).with_name("expressions.py")
spec = importlib.util.spec_from_file_location("expressions", FILE)
assert spec is not None
assert spec.loader is not None
expressions: Any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(expressions)

FUNCTIONS = [name for name, found in vars(expressions).items() if inspect.isfunction(found) and found.__doc__]
FUNCTIONS = [name for name in FUNCTIONS if getattr(expressions, name).__module__ == "expressions"]


@pytest.fixture(autouse=True)
def kernels_for_few() -> None:
    """Run the kernels that users get: those of large operands, which `tests.conftest` selects, take long to compile."""


def checked(value: Any, expected: Any) -> Any:
    """`typing.assert_type` at run time."""
    assert expected is Any or type(value) is expected
    return value


@pytest.mark.parametrize("name", FUNCTIONS)
def test_types_at_run_time(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(expressions, "assert_type", checked)
    monkeypatch.chdir(tmp_path)
    A = sr.Matrix.from_dense([[1.0, 2.0, 3.0, 4.0]] * 4)
    sr.io.mmwrite("graph.mtx", A)
    given = {"A": A, "v": sr.Vector.from_dense([1.0, 2.0, 3.0, 4.0]), "s": sr.Scalar.from_value(2.0)}
    function = getattr(expressions, name)
    function(**{parameter: given[parameter] for parameter in inspect.signature(function).parameters})
