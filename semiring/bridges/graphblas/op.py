"""``op`` as python-graphblas has it: the operators of :mod:`semiring.op` that are not index-unary ones."""

from __future__ import annotations

from types import FunctionType as _FunctionType
from typing import Any

from semiring import binary as _binary
from semiring import indexunary as _indexunary
from semiring import monoid as _monoid
from semiring import op as _own
from semiring import semiring as _semiring
from semiring import unary as _unary

from_string = _own.from_string
numpy = _own.numpy
globals().update(
    {
        name: value
        for name, value in vars(_own).items()
        if not name.startswith("_") and getattr(value, "kind", None) and vars(_indexunary).get(name) is not value
    }
)


def __getattr__(name: str) -> Any:
    found = getattr(_own, name)
    if getattr(_indexunary, name, None) is not found:
        return found
    for kind in (_semiring, _monoid):
        if name in dir(kind):
            return getattr(kind, name)
    return getattr(_binary, name)  # raises UnknownOperator


def __dir__() -> list[str]:
    names = {(kind, name) for kind in (_binary, _unary, _semiring, _monoid) for name in dir(kind)}
    return sorted({name for kind, name in names if not isinstance(vars(kind).get(name), _FunctionType)})
