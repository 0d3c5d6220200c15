"""The result of an algorithm as facts, a table of its largest entries, and the object that a file receives."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semiring as sr
from semiring.exceptions import InvalidValue
from semiring.memory.arrays import to_host

Ids = sr.Labels | None


class Outcome:
    """What a function returned.

    facts: its numbers, the lengths of its tuples, and for each Vector or Matrix the entries, and the smallest and
    largest value.
    """

    def __init__(self, parts: dict[str, Any]) -> None:
        self.parts = {name: part for name, part in parts.items() if isinstance(part, (sr.Vector, sr.Matrix))}
        others = {name: part for name, part in parts.items() if name not in self.parts and part is not None}
        self.numbers = {name: len(part) if isinstance(part, tuple) else part for name, part in others.items()}

    @property
    def facts(self) -> dict[str, Any]:
        """Return the facts, by name; those of a second Vector or Matrix are prefixed by its name."""
        made = dict(self.numbers)
        for name, part in self.parts.items():
            prefix = "" if len(self.parts) == 1 else f"{name}_"
            made |= {f"{prefix}{fact}": value for fact, value in _facts(part).items()}
        return made

    def wait(self) -> Outcome:
        """Wait until every part is computed."""
        for part in self.parts.values():
            part.wait()
        return self

    def main(self) -> Any:
        """Return the first Vector or Matrix; InvalidValue if there is none to write."""
        if not self.parts:
            raise InvalidValue("--out: the result is no Vector and no Matrix")
        return next(iter(self.parts.values()))

    def top(self, count: int, ids: Ids, vertices: bool) -> tuple[list[str], list[list[Any]]]:
        """Return the head and the rows of a table of the entries with the largest values, of equal ones the first.

        vertices: the values are vertices, shown in the order of the positions.
        """
        if not self.parts:
            return [], []
        part = self.main()
        *places, values = (to_host(array) for array in part.to_coo(index_dtype=None))
        order: NDArray[Any] = np.arange(values.size)
        if not vertices:
            order = np.argsort(-values if values.dtype.kind in "if" else ~values.astype(np.uint64), kind="stable")
        chosen = order[:count]
        shown_values = named(values[chosen], ids) if vertices else values[chosen]
        head = ["vertex", "value"] if len(places) == 1 else ["row", "column", "value"]
        columns = [*(named(place[chosen], ids) for place in places), shown_values]
        return head, [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def named(vertices: NDArray[Any], ids: Ids) -> NDArray[Any]:
    """Return the ids of the file for vertices, if it was read with ``--relabel``."""
    return vertices if ids is None else ids[vertices]


def outcome_of(result: Any) -> Outcome:
    """Return the parts of a result: an object, a number, a tuple, or a dataclass."""
    if dataclasses.is_dataclass(result):
        return Outcome({field.name: getattr(result, field.name) for field in dataclasses.fields(result)})
    if isinstance(result, tuple | list):
        names = getattr(result, "_fields", [f"part_{at}" for at in range(len(result))])
        return Outcome(dict(zip(names, result, strict=True)))
    if isinstance(result, sr.Scalar):
        return Outcome({"value": result.value})
    return Outcome({"value": result})


def _facts(part: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"entries": part.nvals}
    if isinstance(part, sr.Matrix):
        made = {"shape": list(part.shape), **made}
    values = to_host(part.to_coo(index_dtype=None)[-1])
    if values.size and values.dtype.kind in "iuf":
        made |= {"smallest": values.min().item(), "largest": values.max().item()}
    if isinstance(part, sr.Vector) and values.dtype.kind in "iub":
        made["distinct_values"] = int(np.unique(values).size)
    return made
