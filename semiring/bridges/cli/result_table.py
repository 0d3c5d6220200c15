"""The result of an algorithm as facts, and as a table in which vertices have their names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import semiring as sr
from semiring.algorithms.vertex_labels import vertices_of
from semiring.bridges.cli.ranks import whole
from semiring.exceptions import InvalidValue


class Table(NamedTuple):
    """Columns of equal length, the names of each that is vertices, and the order in which rows are shown."""

    head: list[str]
    columns: list[NDArray[Any]]
    labels: list[sr.Labels | None]
    order: NDArray[np.int64]

    def named(self, chosen: Any) -> list[NDArray[Any]]:
        """Return the columns at an index of rows, with names for vertices."""
        parts = ((column[chosen], labels) for column, labels in zip(self.columns, self.labels, strict=True))
        return [part if labels is None else labels[part] for part, labels in parts]

    def rows(self, chosen: Any) -> list[tuple[Any, ...]]:
        """Return the rows at an index, with names for vertices."""
        return list(zip(*(column.tolist() for column in self.named(chosen)), strict=True))


class Outcome:
    """What a function returned: its Vectors and matrices, its numbers, or paths."""

    def __init__(self, result: Any, function: str = "", labels: sr.Labels | None = None) -> None:
        self.result, self.function, self.labels = result, function, labels
        self._algorithm = getattr(sr.algorithms, function, None)
        found = _parts_of(result)
        self.parts = {name: part for name, part in found.items() if isinstance(part, (sr.Vector, sr.Matrix))}
        self.paths: list[dict[Any, Any]] | None = None
        self.numbers: dict[str, Any]
        if isinstance(result, sr.algorithms.Route):
            self.paths = [{"vertices": result.vertices}]
            self.numbers = {"paths": 1, "length": result.length}
            return
        if isinstance(result, list) and not self.parts:
            self.paths = [_parts_of(route) for route in result]
            self.numbers = {"paths": len(self.paths)}
            return
        self.numbers = {
            _shown(name): len(part) if isinstance(part, tuple) else self._named(name, part)
            for name, part in found.items()
            if name not in self.parts and (part is not None or result is None)
        }

    @property
    def facts(self) -> dict[str, Any]:
        """Return the facts, by name; those of a second Vector or Matrix are prefixed by its name."""
        made = dict(self.numbers)
        for name, part in self.parts.items():
            prefix = "" if len(self.parts) == 1 else f"{_shown(name)}_"
            values_are_vertices = vertices_of(self._algorithm, name, part.ndim)[-1]
            made |= {f"{prefix}{fact}": value for fact, value in _facts(part, values_are_vertices).items()}
        return made

    def wait(self) -> Outcome:
        """Wait until every part is computed."""
        for part in self.parts.values():
            part.wait()
        return self

    def main(self) -> Any:
        """Return the first Vector or Matrix; InvalidValue for a result that is none, or a list of them."""
        if not self.parts or isinstance(self.result, list):
            raise InvalidValue("--out: the result is no Vector and no Matrix: only text (.txt .tsv .csv) holds it")
        return next(iter(self.parts.values()))

    def table(self) -> Table:
        """Return the entries of the first part, or of all parts of a list; the paths; or the names of numbers.

        The largest values are first, of equal ones the first position; vertices are in the order of the positions.
        """
        if self.paths is not None:
            head = list(next(iter(self.paths), ["vertices"]))
            fields = ([self._named(name, path[name]) for path in self.paths] for name in head)
            return _in_order(head, *fields)
        if not self.parts:
            return _in_order(["name", "value"], list(self.numbers), list(self.numbers.values()))
        several = self.parts.items() if isinstance(self.result, list) else [next(iter(self.parts.items()))]
        tables = [_table_of(part, vertices_of(self._algorithm, name, part.ndim)) for name, part in several]
        if not isinstance(self.result, list):
            return tables[0]
        columns = [np.concatenate(parts) for parts in zip(*(table.columns for table in tables), strict=True)]
        numbers = np.repeat(np.arange(len(tables)), [table.order.size for table in tables])
        return Table(["part", *tables[0].head], [numbers, *columns], [None, *tables[0].labels], np.arange(numbers.size))

    def _named(self, name: str | int, part: Any) -> Any:
        """Return the names of a vertex or of a list of vertices."""
        if self.labels is None or part is None or not vertices_of(self._algorithm, name, 0)[-1]:
            return part
        return [self.labels[row] for row in part] if isinstance(part, list) else self.labels[part]


def _parts_of(result: Any) -> dict[str | int, Any]:
    """Return the parts of a result by name, of a list or tuple without names by number."""
    if dataclasses.is_dataclass(result):
        return {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    if hasattr(result, "_asdict"):
        return dict(result._asdict())
    if isinstance(result, tuple | list):
        return dict(enumerate(result))
    if isinstance(result, Mapping):
        return dict(result)
    return {"value": result.value if isinstance(result, sr.Scalar) else result}


def _shown(name: str | int) -> str:
    return f"part_{name}" if isinstance(name, int) else name


def _in_order(head: list[str], *columns: list[Any]) -> Table:
    """Return a table of objects, in their order."""
    arrays = [np.empty(len(column), object) for column in columns]
    for array, column in zip(arrays, columns, strict=True):
        array[:] = column
    return Table(head, list(arrays), [None] * len(arrays), np.arange(arrays[0].size))


def _table_of(part: Any, vertices: tuple[bool, ...]) -> Table:
    part = whole(part)
    *columns, values = part.to_coo(index_dtype=None, device="cpu")
    head = ["row", "column"] if part.ndim == 2 else ["vertex" if vertices[0] else "position"]
    order: NDArray[Any] = np.arange(values.size)
    if not vertices[-1]:
        order = np.argsort(-values if values.dtype.kind in "if" else ~values.astype(np.uint64), kind="stable")
    labels = [part.labels] if part.ndim == 1 else [part.row_labels, part.column_labels]
    return Table([*head, "value"], [*columns, values], [*labels, part.value_labels], order)


def _facts(part: Any, are_vertices: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"entries": part.nvals}
    if isinstance(part, sr.Matrix):
        made = {"shape": list(part.shape), **made}
    values = part.to_coo(index_dtype=None, device="cpu")[-1]
    if values.size and values.dtype.kind in "iuf" and not are_vertices:
        made |= {"smallest": values.min().item(), "largest": values.max().item()}
    if isinstance(part, sr.Vector) and values.dtype.kind in "iub":
        made["distinct_values"] = int(np.unique(values).size)
    return made
