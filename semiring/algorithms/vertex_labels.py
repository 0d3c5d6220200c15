"""Names of vertices in algorithms: as arguments, and on the axes and the values of results.

An algorithm computes with row numbers and without labels.  Its decorator, `algorithm`, gives it those of the names in
its arguments, and labels what it returns.  Numbers and lists of Python, which carry no labels, hold names if an
argument was one.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Set
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from semiring import Labels, Matrix, Vector, ops
from semiring.exceptions import ConvergenceFailure, IndexOutOfBound, InvalidValue, SemiringError
from semiring.renamed import KEYWORDS, keyword_error

P = ParamSpec("P")
R = TypeVar("R")

# Parameters that are vertices, and those with a value for each vertex, where mappings may have names as keys; of labels
# of communities the values are vertices too.
_VERTICES = frozenset({"order", "personalization", "source", "sources", "starts", "target", "u", "v", "vertices"})
_VALUED = frozenset({"beta", "dangling", "labels", "personalization", "start"})


def algorithm(axes: str | tuple[str, ...] = "", **parts: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate an algorithm: names of vertices, failed allocations, and keyword arguments of earlier versions.

    Its arguments may have the names of the vertices of its graph, which is the first one, and its result has them.  A
    failed allocation raises OutOfMemory with its name.

    Parameters
    ----------
    axes : what the axes of a result are, a letter for each, and behind ">" its values, where these are vertices too:
        v  the vertices of the graph; none are named if its rows and its columns have different labels
        r  its rows, and "c" its columns, of functions of rectangular matrices
        s  the vertices that the parameter for sources names, in that order; "x" those of `vertices`
        k  the vertices of the first part of the result
        .  anything else
        A number, or a list of numbers, has no axes: ">v" where they are vertices, which are named as the call names its
        own.  Alternatives for Vectors and matrices are separated by "|"; the parts of a tuple are in a tuple.
    **parts : the same for each part of a record, by its name
    """
    spec: Any = parts or axes

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = function.__name__
        parameters = list(inspect.signature(function).parameters)
        first = parameters[0]
        translated = [at for at in parameters if at in _VERTICES or at in _VALUED]
        run = ops.reports_memory(function)

        @wraps(function)
        def named(*args: P.args, **kwargs: P.kwargs) -> R:
            A: Any = args[0] if args else kwargs.get(first)
            try:
                if isinstance(A, Matrix) and A.unlabeled() is A:
                    return run(*args, **kwargs)
                labels = _labels_of(A)
                return run(*args, **kwargs) if labels is None else with_names(A, labels, args, kwargs)
            except TypeError:
                if (error := keyword_error(name, kwargs)) is None:
                    raise
            raise error

        def with_names(A: Any, labels: _Names, args: tuple[Any, ...], kwargs: dict[str, Any]) -> R:
            given: dict[str, Any] = {**dict(zip(parameters, args, strict=False)), **kwargs}
            given[first] = {key: B.unlabeled() for key, B in A.items()} if isinstance(A, Mapping) else A.unlabeled()
            by_name = False
            if labels.vertices is not None:
                for parameter in translated:
                    if parameter in given:
                        its = given[parameter]
                        given[parameter] = _translated(name, parameter, its, labels.vertices)
                        by_name |= given[parameter] is not its and isinstance(given[parameter], int)
            try:
                result = run(**given)  # type: ignore[call-arg]
            except SemiringError as error:
                if isinstance(error, ConvergenceFailure):
                    _label(error.result, spec, labels, given)
                if labels.vertices is not None:
                    _name_vertices(error, labels.vertices)
                raise
            _label(result, spec, labels, given)
            return _listed(result, spec, labels.vertices) if by_name and labels.vertices is not None else result

        made = named if spec or translated or name in KEYWORDS else run
        made.axes = spec  # type: ignore[attr-defined]
        return made

    return decorate


def vertices_of(function: Any, part: str | int, ndim: int) -> tuple[bool, ...]:
    """Return which axes of a part of an algorithm's result are vertices, and last whether its values are.

    part: the name in a record, the number in a tuple; of no account in other results.  ndim: 0 for a number, or a list.
    """
    spec: Any = getattr(function, "axes", "")
    if not isinstance(spec, str):
        spec = spec.get(part, "") if isinstance(spec, dict) else spec[part]
    axes, values = _of_dimension(spec, ndim)
    return (*(letter != "." for letter in axes.ljust(ndim, ".")), values != "")


def _of_dimension(spec: str, ndim: int) -> tuple[str, str]:
    """Return the axes and the values of the alternative of a specification with that many axes."""
    for axes, _, values in (part.partition(">") for part in spec.split("|")):
        if len(axes) == ndim:
            return axes, values
    return "", ""


class _Names(NamedTuple):
    """The labels of a graph: of its rows, of its columns, and those that both share."""

    rows: Labels | None
    columns: Labels | None
    vertices: Labels | None


def _labels_of(A: Any) -> _Names | None:
    """Return the labels of a graph, or those on which several agree; None if there are none."""
    if isinstance(A, Matrix):
        if A.unlabeled() is A:
            return None
        names = _Names(A.row_labels, A.column_labels, A.labels)
        return None if names.rows is None and names.columns is None else names
    if isinstance(A, Mapping):
        found = [its for its in map(_labels_of, A.values()) if its is not None]
        return found[0] if found and all(its == found[0] for its in found) else None
    return None


def _translated(name: str, parameter: str, value: Any, labels: Labels) -> Any:
    """Return an argument with row numbers in place of names."""
    try:
        if isinstance(value, Mapping) and parameter in _VALUED:
            found = {labels.index(key): labels.index(x) if parameter == "labels" else x for key, x in value.items()}
            if len(found) < len(value):
                raise InvalidValue("a vertex occurs twice, by its name and by its row")
            return found
        if parameter not in _VERTICES:
            return value
        if isinstance(value, Set):
            rows = labels.index(list(value))
            return np.sort(rows) if isinstance(rows, np.ndarray) else value
        return labels.index(value)
    except InvalidValue as error:
        raise InvalidValue(f"{name}: {parameter}: {error}") from None


def _name_vertices(error: SemiringError, labels: Labels) -> None:
    """Put names in place of the row numbers in a message; behind a row that is out of bounds, that it is a label."""
    if error.template is None:
        return
    text, vertices = error.template
    if isinstance(error, IndexOutOfBound):
        row = vertices[0]
        if row in labels:
            error.args = (f"{error}; {row} is a label, of the row A.labels.row({row})",)
    else:
        error.args = (text.format(*(repr(labels[vertex]) for vertex in vertices)),)


def _listed(result: Any, spec: Any, labels: Labels) -> Any:
    """Return a result with names in place of the vertices in numbers and lists of Python, if it has any."""
    if spec == ">v":
        if isinstance(result, list):
            return [labels[row] for row in result]
        return None if result is None else labels[result]
    if isinstance(spec, dict) and isinstance(result, list):
        return [_listed(part, spec, labels) for part in result]
    lists = [name for name, its in spec.items() if its == ">v"] if isinstance(spec, dict) and result is not None else []
    if lists:  # of a record
        return dataclasses.replace(result, **{name: _listed(getattr(result, name), ">v", labels) for name in lists})
    return result


def _label(result: Any, spec: Any, labels: _Names, given: dict[str, Any]) -> None:
    """Set the labels of a result by its specification."""
    if spec is None or result is None or spec == ">v":
        return
    if isinstance(result, (Vector, Matrix)):
        _set(result, spec, labels, given, None)
    elif isinstance(result, Mapping):
        for part in result.values():
            _label(part, spec, labels, given)
    elif isinstance(spec, tuple):
        for part, its in zip(result, spec, strict=True):
            _set(part, its, labels, given, result[0])
    elif isinstance(spec, dict) and (dataclasses.is_dataclass(result) or isinstance(result, tuple)):
        for field, its in spec.items():
            _label(getattr(result, field), its, labels, given)
    elif isinstance(result, (list, tuple)):
        for part in result:
            _label(part, spec, labels, given)


def _set(result: Any, spec: str, labels: _Names, given: dict[str, Any], first: Any) -> None:
    axes, values = _of_dimension(spec, result.ndim)
    of: dict[str, Labels | None] = {"v": labels.vertices, "r": labels.rows, "c": labels.columns}
    if "k" in axes and labels.vertices is not None:
        of["k"] = labels.vertices.take(first.to_coo(values=False, device="cpu")[0])
    for letter, parameters in (("s", ("source", "personalization")), ("x", ("vertices",))):
        if letter in axes:
            of[letter] = _chosen(labels.vertices, next((given[p] for p in parameters if p in given), None))
    for axis, letter in enumerate(axes):
        if (found := of.get(letter)) is not None and len(found) == result.shape[axis]:
            setattr(result, "labels" if result.ndim == 1 else ("row_labels", "column_labels")[axis], found)
    if values:
        result.value_labels = of[values]


def _chosen(labels: Labels | None, vertices: Any) -> Labels | None:
    """Return the labels of the vertices of an argument; None if one occurs twice, or they are not listed."""
    if isinstance(vertices, Matrix):  # of seeds, a row for each result
        return vertices.row_labels
    if labels is None or vertices is None:
        return None
    if isinstance(vertices, Vector):
        vertices = vertices.to_coo(values=False, device="cpu")[0]
    elif isinstance(vertices, Set):
        vertices = sorted(vertices)
    rows = np.atleast_1d(np.asarray(vertices.get() if hasattr(vertices, "get") else vertices))
    return labels.take(rows) if rows.size and len(np.unique(rows)) == rows.size else None
