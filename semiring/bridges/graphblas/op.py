"""``op`` as python-graphblas has it: the operators of :mod:`semiring.op` that are not index-unary ones."""

from __future__ import annotations

from typing import Any

from semiring import indexunary as _indexunary
from semiring import op as _own
from semiring.operators import table as _table

_KINDS = ("binary", "unary", "semiring", "monoid")

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
    return _table.attribute_of(_KINDS, name)


def __dir__() -> list[str]:
    return sorted({name.partition(".")[0] for kind in _KINDS for name in _table.names(kind)})
