"""A plugin of pytest: which functions of the backend return a result in each test, and the test's outcome."""

from __future__ import annotations

import functools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_calls: Counter[str] = Counter()
_tests: dict[str, dict[str, Any]] = {}


def _counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        try:
            result = function(*args, **kwargs)
        except NotImplementedError:
            raise
        except Exception:
            _calls[name] += 1  # an error of NetworkX is a result too
            raise
        _calls[name] += 1
        return result

    return counted


def pytest_collection_finish() -> None:
    from semiring.bridges.networkx.registry import FUNCTIONS

    for name, function in FUNCTIONS.items():
        FUNCTIONS[name] = _counted(name, function)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    _calls.clear()
    outcome = yield
    _tests.setdefault(item.nodeid, {"outcome": None})["functions"] = dict(_calls)
    return outcome


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    row = _tests.setdefault(report.nodeid, {"outcome": None, "functions": {}})
    if report.failed:
        row["outcome"] = "failed"
    elif report.skipped:
        row["outcome"] = "xfailed" if hasattr(report, "wasxfail") else "skipped"
    elif report.when == "call" and row["outcome"] is None:
        row["outcome"] = "passed"


def pytest_sessionfinish(session: pytest.Session) -> None:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    Path(os.environ["NETWORKX_CONFORMANCE_REPORT"] + worker).write_text(json.dumps(_tests), encoding="utf-8")
