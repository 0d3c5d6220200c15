"""Further steps of `benchmarks.sanitize`: records of 3 to 16 bytes, which kernels move in words of 1, 4 and 8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring import Matrix, Vector, binary, indexunary, monoid, semiring
from semiring.config import config

from .inputs import Small

__all__ = ["STEPS"]

_LAYOUTS = {
    "3 bytes": np.dtype([("a", np.int8), ("b", np.int8), ("c", np.int8)]),
    "8 bytes": np.dtype([("a", np.int32), ("b", np.int32)]),
    "12 bytes": np.dtype([("a", np.int32), ("b", np.int32), ("c", np.int32)]),
    "16 bytes": np.dtype([("a", np.int8), ("b", np.int64)], align=True),
}


_PLACED = indexunary.register_anonymous(lambda x, i, j, k: {"at": x.a + i, "of": x.a * k})


def _operators(layout: str) -> tuple[Any, Any]:
    """A commutative and associative operator, and a product, that read and write every number."""
    names = _LAYOUTS[layout].names or ()
    rest, second = {"c": "max(x.c, y.c)"}, "x.b + y.b"
    whole = ", ".join(["min(x.a, y.a)", second, *(rest[name] for name in names[2:])])
    other = ", ".join(["y.a", second, *(f"x.{name}" for name in names[2:])])
    return binary.register_anonymous(f"({whole})"), binary.register_anonymous(f"({other})")


def _records(x: Any, layout: str) -> Any:
    """The same entries, with numbers of the value in every field."""
    at: list[Any]
    *at, values = x.to_coo(device="cpu")
    made = np.zeros(values.size, _LAYOUTS[layout])
    made["a"], low = values % 100, values % 7
    made["b"] = low
    if "c" in (made.dtype.names or ()):
        made["c"] = values % 5
    if isinstance(x, Matrix):
        return Matrix.from_coo(at[0], at[1], made, shape=x.shape)
    listed = Vector.from_coo(at[0], made, size=x.size)
    return listed if x.nvals < x.size else listed.convert("full")


def _ring(layout: str) -> Any:
    add, mult = _operators(layout)
    identity = (100, 0, -100)[: len(_LAYOUTS[layout].names or ())]
    return semiring.register_anonymous(monoid.register_anonymous(add, identity), mult)


def _product(s: Small, layout: str, u: str, direction: str) -> Vector:
    with config.set(direction=direction):
        made: Vector = _records(s.A, layout).mxv(_records(getattr(s, u), layout), _ring(layout)).wait()
        return made


def _built(layout: str) -> Matrix:
    places = np.arange(4000) * 7919 % 900
    values = np.zeros(4000, _LAYOUTS[layout])
    values["a"] = places % 50
    return Matrix.from_coo(places // 30, places % 30, values, shape=(30, 30), dup_op=_operators(layout)[0])


_OPERATIONS: dict[str, Callable[[Small, str], Any]] = {
    "mxm": lambda s, layout: _records(s.E, layout).mxm(_records(s.E, layout), _ring(layout)),
    "mxm, masked": lambda s, layout: _records(s.E, layout).mxm(_records(s.E, layout), _ring(layout)).new(mask=s.S.S),
    "mxm, any": lambda s, layout: _records(s.E, layout).mxm(s.E, "any_first").apply("one"),
    "mxv, push": lambda s, layout: _product(s, layout, "q", "push"),
    "mxv, pull": lambda s, layout: _product(s, layout, "u", "pull"),
    "union": lambda s, layout: _records(s.A, layout).ewise_add(_records(s.E, layout), _operators(layout)[0]),
    "intersection": lambda s, layout: _records(s.A, layout).ewise_mult(_records(s.E, layout), "eq"),
    "vectors": lambda s, layout: _records(s.q, layout).ewise_add(_records(s.u, layout), _operators(layout)[0]),
    "sums": lambda s, layout: _records(s.A, layout).reduce_rowwise(_ring(layout).add),
    "sum": lambda s, layout: Vector.from_scalar(_records(s.A, layout).reduce_scalar(_ring(layout).add), 3),
    "transpose": lambda s, layout: _records(s.A, layout).T.dup(),
    "select": lambda s, layout: _records(s.A, layout).select(lambda x, i, j, k: x.a > k, 50),
    "extract": lambda s, layout: _records(s.A, layout)[[5, 7, 5, 290], :],
    "assign": lambda s, layout: _assigned(s, layout),
    "apply": lambda s, layout: _records(s.A, layout).apply(_PLACED, 3),
    "bitmap": lambda s, layout: _records(s.p, layout).convert("bitmap").apply(lambda x: x.a),
    "build": lambda s, layout: _built(layout),
}


def _assigned(s: Small, layout: str) -> Matrix:
    made: Matrix = _records(s.A, layout)
    made(s.E.S, accum=_operators(layout)[0])[:, :] << _records(s.E, layout)
    made[3, :] = _records(s.u, layout)
    return made


def _of_layout(operation: Callable[[Small, str], Any], layout: str) -> Callable[[Small], Any]:
    return lambda s: operation(s, layout)


_OPERATIONS_OF_WORDS: dict[str, Callable[[Small, str], Any]] = {
    "scan": lambda s, layout: _records(s.E, layout).scan(_ring(layout).add),
}

STEPS: dict[str, Callable[[Small], Any]] = {
    f"{name}, records of {layout}": _of_layout(step, layout)
    for layout in _LAYOUTS
    for name, step in (_OPERATIONS | (_OPERATIONS_OF_WORDS if _LAYOUTS[layout].itemsize in (8, 16) else {})).items()
}
