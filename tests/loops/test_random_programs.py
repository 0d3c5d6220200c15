"""Random programs give the same results step by step and compiled."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines.cpu import program
from tests.loops import interpreted
from tests.loops.random_programs import Writer

_SIZE = 9


def _function(folder: Path, seed: int) -> Any:
    path = folder / f"program_{seed}.py"
    path.write_text(Writer(seed).text())
    spec = importlib.util.spec_from_file_location(f"program_{seed}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.program


def _arguments(seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    kinds = [np.int64, np.int32, np.float64]
    chosen = [kinds[rng.integers(3)] for _ in range(4)]

    def sparse(dtype: Any) -> Vector:
        count = rng.integers(0, _SIZE + 1)
        at = rng.permutation(_SIZE)[:count]
        return Vector.from_coo(at, rng.integers(-4, 8, count).astype(dtype), size=_SIZE)

    edges = rng.integers(0, 30)
    at = rng.integers(0, _SIZE, (2, edges))
    values = rng.integers(-2, 5, edges).astype(chosen[0]) if rng.random() < 0.6 else True
    A = Matrix.from_coo(at[0], at[1], values, nrows=_SIZE, ncols=_SIZE, dup_op="first")
    if rng.random() < 0.5:
        A.T.wait()
        if seed % 2:
            A.T.store.pattern.facts[program._PULLED] = True
    if seed % 2:  # with hubs
        A.store.pattern.facts[program._PULLED] = True
    f = Vector.from_dense(rng.integers(-3, 6, _SIZE).astype(chosen[3]))
    p = Vector.from_dense(rng.integers(0, _SIZE, _SIZE))
    return A, sparse(chosen[1]), sparse(chosen[2]), f, p, int(rng.integers(0, 4)), float(rng.integers(0, 9)) / 4


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Vector):
        if a.dtype.kind != "f":
            return bool(a.isequal(b, check_dtype=True))
        return bool(a.dtype == b.dtype and a.isclose(b, rel_tol=1e-12))
    return type(a) is type(b) and (a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=1e-12))


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    copies = [value.dup() if isinstance(value, Vector) else value for value in arguments]
    try:
        return function(*copies), *(value for value in copies if isinstance(value, Vector))
    except Exception as error:
        return type(error).__name__, str(error)


def _check(folder: Path, seed: int, count: Counter[str], engine: str = "cpu") -> None:
    """Compare a program step by step, on an engine, with the compiled one; count what its loops did."""
    function = _function(folder, seed)
    made = sr.compile(strict=True)(function)
    for number in range(2):
        arguments = _arguments(1000 * seed + number)
        with sr.use(engine):
            expected = _outcome(function, arguments)
        found = _outcome(made, arguments)
        if isinstance(found[0], str) and found[0] == "NotSupported":
            count["not compiled"] += 1
            if engine != "reference":
                found = _outcome(sr.compile(function), arguments)
                assert _same(expected, found), f"seed {seed}, arguments {number}:\n{Writer(seed).text()}"
            continue
        assert _same(expected, found), f"seed {seed}, arguments {number}:\n{Writer(seed).text()}\n{expected}\n{found}"
        count["compiled"] += 1


def test_random_programs_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trial_count: Callable[[int, int, int], int], device: str
) -> None:
    """Without a compilation: the text of the kernel is Python, and the short tier compares with the specification."""
    if device == "cuda":
        pytest.skip("the kernels of the CPU engine")
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)
    count: Counter[str] = Counter()
    trials = trial_count(40, 1000, 20_000)
    with sr.use("cpu"):
        for seed in range(trials):
            _check(tmp_path, seed, count, "reference" if trials == 40 else "cpu")
    assert count["compiled"] > count.total() // 2, count


@pytest.mark.costly
def test_random_programs(tmp_path: Path, trial_count: Callable[[int, int, int], int], device: str) -> None:
    count: Counter[str] = Counter()
    for seed in range(trial_count(3, 20, 200)):
        _check(tmp_path, seed, count, device)
    assert count["compiled"] > count.total() // 2, count
