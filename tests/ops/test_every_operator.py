"""Every built-in operator, on every type it has, at the values where engines tend to differ.

The engine under test equals `expression_numpy`: overflow, division by zero, NaN, infinities, signed zeros,
shifts past the width.  On the CPU the operators of a type are compiled together into one function, which takes a
tenth of the time that a kernel for each would; elsewhere each is an ordinary `ewise` or `apply`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np
import pytest

from semiring.dtypes import INT64
from semiring.engines.requests.operations import Apply, Ewise, Select
from semiring.engines.shared.expression_numpy import evaluate
from semiring.formats import Full
from semiring.operators import catalog
from tests import sampling
from tests.compare import TOLERANCE, result_of
from tests.pool import absdiff, clip, near

Array = np.ndarray[Any, Any]
BATCH = 20
FLOATING = ("float", "complex")
# Types of one run: of integers and booleans, and of floats; and batches of their operators.  All under --exhaustive.
SAMPLED = {"cpu": (1, 1)}
USUALLY_SAMPLED = (5, 2)
SAMPLED_BATCHES = {"cpu": 4}


def values_of(dtype: np.dtype[Any]) -> Array:
    """The edge cases among the numbers of a type."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        few = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -7.25, 0.1, 100.0, 3.1e9, -3.1e9, 1e19, -1e19]
        return np.array([*few, np.finfo(dtype).max, np.inf, -np.inf, np.nan], dtype)
    if dtype.kind == "c":  # infinities and NaN differ between the formulas of the engines
        parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 0.1, 12.0]
        return np.array([complex(re, im) for re in parts for im in parts if (re, im) != (-1.0, 0.0)], dtype)
    limits = np.iinfo(dtype)
    few = [limits.min, limits.max, limits.min + 1, limits.max - 1, *range(-3, 5), 7, 8, 31, 32, 63, 64, 65, 100, -100]
    return np.array(sorted({value for value in few if limits.min <= value <= limits.max}), dtype)


def pairs_of(x: np.dtype[Any], y: np.dtype[Any]) -> tuple[Array, Array]:
    a, b = np.meshgrid(values_of(x), values_of(y), indexing="ij")
    return a.ravel(), b.ravel()


def operators() -> list[tuple[str, Any]]:
    """(kind, typed operator): the catalog without operators derived from others, and user-defined ones."""
    built_in = list(catalog("unary", "binary", "indexunary", "select"))
    own = [("binary", absdiff), ("unary", clip), ("indexunary", near)]
    return built_in + [(kind, family[dtype]) for kind, family in own for dtype in family.types]


def _group(item: tuple[str, Any]) -> tuple[str, str]:
    return item[0], item[1].x.name


GROUPS = {key: [op for _, op in found] for key, found in groupby(sorted(operators(), key=_group), key=_group)}
TYPES = sorted({name for _, name in GROUPS})
SAMPLE = [
    name
    for floats, count in enumerate(SAMPLED.get(sampling.engine, USUALLY_SAMPLED))
    for name in sampling.draw(f"operand types {floats}", (t for t in TYPES if t.startswith(FLOATING) == floats), count)
]
STARTS = [(kind, name, start) for (kind, name), found in GROUPS.items() for start in range(0, len(found), BATCH)]
USUAL = [batch for batch in STARTS if batch[1] in SAMPLE]
SAMPLED_STARTS = sampling.draw("batches of operators", USUAL, SAMPLED_BATCHES.get(sampling.engine, len(USUAL)))
BATCHES = [
    pytest.param(
        kind,
        GROUPS[kind, name][start : start + BATCH],
        id=f"{kind}-{name}-{start // BATCH}",
        marks=sampling.marks((kind, name, start), SAMPLED_STARTS),
    )
    for kind, name, start in STARTS
]


def arguments(kind: str, op: Any) -> dict[str, Array]:
    """Values for every variable of an operator; positions are small, as those of a vector are."""
    if kind == "unary":
        return {"x": values_of(op.x)}
    x, other = pairs_of(op.x, op.y if kind == "binary" else op.k)
    p = np.arange(x.size, dtype=np.int64)
    if kind == "binary":
        return {"x": x, "y": other, "xi": p, "xj": p * 0, "yi": p, "yj": p * 0}
    return {"x": x, "i": p, "j": p * 0, "k": other}


def expected(op: Any, given: dict[str, Array]) -> Array:
    return np.broadcast_to(evaluate(op.expr, given, op.z), given["x"].shape)


def disagreement(op: Any, given: dict[str, Array], got: Array) -> str:
    """What differs, or nothing: floats may to the tolerance of the type; infinities and NaN must be where expected."""
    correct = expected(op, given)
    assert got.dtype == correct.dtype
    if correct.dtype.kind in "fc":
        bound = TOLERANCE[correct.dtype]
        with np.errstate(over="ignore", invalid="ignore"):
            right = np.isclose(got, correct, rtol=bound, atol=bound, equal_nan=True)
            if correct.dtype.kind == "c":  # an infinite part beside one that is only close
                parts = [
                    np.isclose(a, b, rtol=bound, atol=bound) for a, b in zip(_parts(got), _parts(correct), strict=True)
                ]
                right |= parts[0] & parts[1]
    else:
        right = got == correct
    if right.all():
        return ""
    p = int(np.argmin(right))
    at = {name: value[p] for name, value in given.items() if name in op.uses}
    return f"{op!r} = {op.expr}: {(~right).sum()} of {right.size} differ; {at} gives {got[p]!r}, not {correct[p]!r}"


def _parts(z: Array) -> tuple[Array, Array]:
    return z.real, z.imag


@pytest.mark.costly
@pytest.mark.parametrize(("kind", "found"), BATCHES)
def test_operators(engine: str, kind: str, found: list[Any]) -> None:
    evaluate = on_cpu if engine == "cpu" else on_engine
    wrong = [disagreement(op, given, got) for op, given, got in evaluate(kind, found, engine)]
    assert not any(wrong), "\n".join(filter(None, wrong))


def on_engine(kind: str, found: list[Any], engine: str) -> list[tuple[Any, dict[str, Array], Array]]:
    """Each operator in a separate operation."""
    return [one for op in found for one in _asked(kind, op, engine)]


def _asked(kind: str, op: Any, engine: str) -> list[tuple[Any, dict[str, Array], Array]]:
    given = arguments(kind, op)

    def full(values: Array) -> Full:
        return Full(values.size, values.dtype, values)

    if kind == "binary":
        got = result_of(Ewise(full(given["x"]), full(given["y"]), op, "intersect"), engine)
        return [(op, given, _values(got, op.z))]
    typed = as_indexunary(op) if kind == "unary" else op
    results = []
    for k in np.unique(given["k"]) if "k" in op.uses else [typed.k.type(0)]:
        alone = {name: value[given["k"] == k] if "k" in given else value for name, value in given.items()}
        alone |= {"i": np.arange(alone["x"].size)} if "i" in given else {}
        if kind == "select":
            kept = result_of(Select(full(alone["x"]), op, k), engine)
            got = np.isin(np.arange(alone["x"].size), _indices(kept))
            results.append((op, alone, got))
        else:
            results.append((op, alone, _values(result_of(Apply(full(alone["x"]), typed, k), engine), op.z)))
    return results


def as_indexunary(op: Any) -> Any:
    """A unary operator in the form that `apply` uses."""
    from semiring.operators.types import TypedIndexUnary

    return TypedIndexUnary(op.name, op.x, INT64, op.z, op.expr)


def _values(store: Any, dtype: np.dtype[Any]) -> Array:
    if store.values is None:
        return np.full(store.size, store.iso, dtype)
    return np.asarray(store.values)


def _indices(store: Any) -> Array:
    from semiring.engines.reference.dense import densify

    return np.flatnonzero(densify(store)[1])


def on_cpu(kind: str, found: list[Any], engine: str) -> list[tuple[Any, dict[str, Array], Array]]:
    """All operators in one compiled function, through the machinery that the kernels use."""
    import numba

    from semiring.engines.cpu import types

    wanted = [as_indexunary(op) if kind == "unary" else op for op in found]
    make: Callable[[Any], Any] = types.binary if kind == "binary" else types.indexunary
    given = [arguments(kind, op) for op in found]
    results = [np.zeros(some["x"].size, op.z) for op, some in zip(found, given, strict=True)]
    lines = ["def batch(ops, given, results):"]
    for q in range(len(found)):
        names = [f"given[{q}][{at}][p]" for at in range(len(given[q]))]
        if kind == "unary":
            names += ["p", "np.int64(0)", "np.int64(0)"]
        call = f"call(ops[{q}], {', '.join(names)})" if kind == "binary" else f"call_at(ops[{q}], {', '.join(names)})"
        lines += [f"    for p in range(results[{q}].size):", f"        results[{q}][p] = {call}"]
    scope: dict[str, Any] = {"np": np, "call": types.call, "call_at": types.call_at}
    exec("\n".join(lines), scope)
    batch = numba.njit(error_model="numpy")(scope["batch"])
    try:
        batch(tuple(make(op) for op in wanted), tuple(tuple(some.values()) for some in given), tuple(results))
    except numba.TypingError as error:
        if len(found) == 1:
            pytest.fail(f"{found[0]!r} = {found[0].expr} does not compile: {error}")
        half = len(found) // 2
        return on_cpu(kind, found[:half], engine) + on_cpu(kind, found[half:], engine)
    return list(zip(found, given, results, strict=True))
