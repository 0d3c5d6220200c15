"""The recorded CPU kernels: they are rebuilt from data, and are those that calls need."""

from __future__ import annotations

import importlib
import inspect
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from numba.core import types

import semiring as sr
from semiring import kernel_store
from semiring.config import config
from semiring.engines.cpu import compile, program
from semiring.engines.cpu.types import monoid
from semiring.engines.shared import compilations
from semiring.warming import cpu_lists, record_cpu
from tests import sampling

KERNELS, CALLS = cpu_lists._read()
# Each function with one type of values, and those of these that every run takes.
PAIRS = [(name, sampling.draw(f"types of {name}", of_type, 1)[0]) for name, of_type in CALLS.items()]
_FEW = [pair for pair in PAIRS if pair[0] in ("transpose", *sampling.draw("recorded functions", CALLS, 1))]


def test_types_are_rebuilt() -> None:
    """Equal ones with equal texts, which are the keys of stored kernels."""
    operator = monoid(sr.monoid.plus[float])._numba_type_
    vector, rows = types.Array(types.float32, 1, "C"), types.Array(types.boolean, 2, "A", readonly=True, aligned=False)
    pairs = types.Tuple((vector, types.none)), types.UniTuple(types.int64, 2)
    for numba_type in (types.int64, types.boolean, types.none, operator, vector, rows, *pairs, types.literal(3)):
        rebuilt = cpu_lists._decoded(json.loads(json.dumps(cpu_lists.encoded(numba_type))))
        assert (rebuilt, repr(rebuilt)) == (numba_type, repr(numba_type))


def test_kernels_are_numbered_by_size() -> None:
    small, large, loop = ("m", "small", "[]"), ("m", "large", "[]"), ("", "text", "[]")
    lists = {"f": {"bool": {small: 1, loop: 7}, "int64": {small: 1, large: 9}}}
    kept = json.loads(cpu_lists.lzma.decompress(cpu_lists.packed(lists)))
    assert [tuple(kernel) for kernel in kept["kernels"]] == [large, loop, small]
    assert kept["calls"] == {"f": {"bool": [1, 2], "int64": [0, 2]}}


def test_recorded_kernels_exist() -> None:
    """Record again if not: ``python -m semiring.warming.record_cpu``."""
    assert KERNELS
    for module, function, signature in KERNELS:
        made: Any = getattr(importlib.import_module(module), function) if module else program._kernel(function)
        assert made in compile._kernels
        assert len(inspect.signature(made.py_func).parameters) == len(json.loads(signature))


@pytest.mark.parametrize(
    ("name", "dtype"), [pytest.param(*pair, marks=sampling.marks(pair, _FEW, pytest.mark.wide)) for pair in PAIRS]
)
def test_calls_need_the_recorded_kernels(name: str, dtype: str, engine: str) -> None:
    """Record again if not: the missing ones are compiled by first calls, the others in vain.

    A few others are accepted: which kernels a call needs depends on the processors of the machine that recorded.
    """
    if engine != "cpu":
        pytest.skip("kernels of the CPU engine")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        needed = set(pool.submit(record_cpu.recorded, name, dtype).result())
    listed = {KERNELS[number] for number in cpu_lists.numbers(name, [dtype])}
    assert needed - listed == set()
    assert 10 * len(listed - needed) <= len(listed)


def test_a_recorded_kernel_is_compiled_and_stored(tmp_path: Path) -> None:
    with config.set(cache_dir=tmp_path):
        number = len(KERNELS) - 1
        module, function, _ = KERNELS[number]
        made = getattr(importlib.import_module(module), function)
        loaded = made.overloads.copy()
        made.overloads.clear()
        try:
            before = compilations.count()
            cpu_lists.compiled(number)
            assert compilations.count() == before + 1
            assert kernel_store.facts().kernels == 1
        finally:
            made.overloads.update(loaded)
