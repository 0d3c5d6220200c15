"""Devices of executors: their names, and the functions that an executor replaces."""

from __future__ import annotations

import ast
import copy
import importlib
import pickle
from pathlib import Path
from typing import Any

import pytest

from semiring import devices
from semiring.config import checked_device, engine_for
from semiring.devices import Device, Executor, dispatched, in_parts, local_device
from semiring.distributed import rules
from semiring.engines import registry
from semiring.engines.requests.operations import Transpose
from semiring.exceptions import InvalidValue, NotSupported

PACKAGE = Path(devices.__file__).parent


class Elsewhere(Executor):
    """Counts what it is asked."""

    def __init__(self) -> None:
        self.device, self.local, self.asked = Device("far cpu", self), "cpu", list[Any]()

    def find(self, spec: Any) -> Any:
        self.asked.append(spec)

    def implements(self, spec: Any) -> bool:
        return bool(spec is Transpose)

    def unsupported(self, operation: str) -> str:
        return f"{operation}: too far away"

    def version(self, function: Any) -> Any:
        return lambda *args: ("elsewhere", function.__name__, *args)


class Held:
    def __init__(self, device: str) -> None:
        self.device = device


@dispatched()
def first(x: Any) -> Any:
    return x


@dispatched(1)
def second(size: int, device: str) -> Any:
    return size, device


def test_the_executor_of_a_device_replaces_functions() -> None:
    far, near = Held(Elsewhere().device), Held("cpu")
    assert first(near) is near
    assert first(far) == ("elsewhere", "first", far)
    assert second(3, "cpu") == (3, "cpu")
    assert second(3, far.device) == ("elsewhere", "second", 3, far.device)


def test_requests_go_to_the_executor() -> None:
    there, spec = Elsewhere(), object.__new__(Transpose)
    assert engine_for(there.device) is there.device
    assert registry.implemented(Transpose, there.device)
    assert registry.find(spec, there.device) is None
    assert there.asked == [spec]
    with pytest.raises(NotSupported, match="transpose: too far away"):
        registry.run(spec, there.device)


def test_devices_are_known_by_name() -> None:
    with pytest.raises(InvalidValue, match="got 'far cpu'"):
        checked_device("far cpu")
    there = Elsewhere()
    devices.register(there.device, thread=True)
    try:
        assert checked_device("far cpu") is there.device
        assert checked_device(Elsewhere().device) is there.device  # ranks that are threads have grids of one name
    finally:
        del devices._known.own["far cpu"]
    assert (local_device(there.device), local_device("cuda")) == ("cpu", "cuda")
    assert in_parts("cpu", there.device)
    assert not in_parts("cpu", "cuda")


def test_a_device_is_its_name() -> None:
    there = Elsewhere().device
    assert there == "far cpu"
    assert f"{there}" == "far cpu"
    assert {there: 1}["far cpu"] == 1
    assert type(pickle.loads(pickle.dumps(there))) is str  # another process has other executors
    assert copy.copy(there) is copy.deepcopy(there) is there


def dispatched_functions() -> list[Any]:
    """Return the functions of the package that are decorated with `dispatched`."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
            if any(ast.unparse(decorator).startswith("dispatched(") for decorator in decorators):
                module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
                found.append(getattr(importlib.import_module(module), node.name))  # type: ignore[attr-defined]
    return found


def test_grids_replace_every_function_that_reads_arrays() -> None:
    functions = dispatched_functions()
    assert len(functions) > 20
    rules.rules()
    assert [function.__name__ for function in functions if function not in rules._versions] == []
    assert len(rules._versions) == len(functions)
