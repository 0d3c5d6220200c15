"""Parameters of a function as options of its command: their kinds, their help from the docstring, their values."""

from __future__ import annotations

import argparse
import csv
import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import semiring as sr
from semiring.bridges.cli.graphs import MAX_DEGREE, load_pairs, row_of
from semiring.bridges.cli.progress import Progress
from semiring.bridges.cli.results import load_vector

_VERTEX = frozenset({"source", "target", "u", "v"})
_VERTICES = frozenset({"sources", "starts", "vertices"})
# Vectors whose values are vertices.
_VERTEX_VALUES = frozenset({"order"})
_NUMBERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str}
_METAVARS = {
    "vertex": "ROW",
    "vertices": "ROW,ROW,...",
    "int": "N",
    "integers": "N,N,...",
    "float": "X",
    "str": "WORD",
    "vector": "FILE",
    "matrix": "FILE",
}
_FLOATS = ("float32", "float64")
# Options that are not named like their parameter: `--top` limits in every command what is shown.
_FLAGS = {"top": "k"}
# What `weight=True` means.
_TRUE = re.compile(r"True: (.*?)[;.] str:")
# Types that the placeholder of an option shows already.
_PLAIN = re.compile(r"(?:int|float|str|bool|callable)(?:, optional|, or None)?")


class Option(NamedTuple):
    """An option of a command: the parameter, what kind of value it accepts, its default, its help and choices."""

    name: str
    kind: str
    default: Any
    help: str
    choices: tuple[str, ...] | None
    required: bool

    @property
    def flag(self) -> str:
        """Return the word on the command line."""
        return "--" + _FLAGS.get(self.name, self.name).replace("_", "-")


def options_of(function: Callable[..., Any]) -> list[Option] | None:
    """Return the options of a function, or None if it has another first parameter than A, or needs another object."""
    first, *others = inspect.signature(function).parameters.values()
    if first.name != "A":
        return None
    described, made = _described_parameters(function), []
    for parameter in others:
        kind, needed = _kind(parameter), parameter.default is parameter.empty
        if kind is not None:
            types, text = described.get(parameter.name, ("", ""))
            named = tuple(re.findall(r'"(\w+)"', types)) if kind == "str" else ()
            choices = _FLOATS if kind == "dtype" else named if len(named) > 1 else None
            default = None if needed or kind == "dtype" else parameter.default
            made.append(Option(parameter.name, kind, default, text, choices, needed))
        elif needed:
            return None
    return made


def _kind(parameter: inspect.Parameter) -> str | None:
    """Return a key of `_METAVARS`, ``bool``, ``weight``, ``dtype`` or ``progress``; None for what has no option."""
    words = [word.strip() for word in str(parameter.annotation).split("|")]
    if words == ["Weight"]:
        return "weight"
    if parameter.name in _VERTICES:
        return "vertices"
    if parameter.name in _VERTEX and "Vertex" in words:
        return "vertex"
    for kind in (*_NUMBERS, "bool"):
        if kind in words:
            return kind
    for word, kind in (("Values", "vector"), ("Vector", "vector"), ("Matrix", "matrix")):
        if word in words:
            return kind
    if "Sequence[int]" in words:
        return "integers"
    return parameter.name if parameter.name in ("progress", "dtype") else None


def _described_parameters(function: Callable[..., Any]) -> dict[str, tuple[str, str]]:
    """Return what the docstring has for each parameter: its type, and the text for the help."""
    text = inspect.getdoc(function) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    described = {}
    for entry in re.split(r"\n(?=\w)", section.group(1)) if section else []:
        head, _, body = entry.replace("`", "").partition("\n")
        names, _, types = head.partition(" : ")
        details = " ".join(body.split()).rstrip(".")
        parts = [types.strip(), details]
        if details and (_PLAIN.fullmatch(types) or '"' in types):
            parts = [details]
        for name in names.split(","):
            described[name.strip()] = (types, "; ".join(filter(None, parts)).rstrip("."))
    return described


def add_option(group: Any, option: Option) -> None:
    """Declare an option."""
    described = option.help.replace("%", "%%")
    if option.kind == "progress":
        return
    if option.kind == "bool":
        group.add_argument(
            option.flag,
            action=argparse.BooleanOptionalAction,
            default=option.default,
            dest=f"p_{option.name}",
            help=described,
        )
        return
    if option.kind == "weight":  # a switch: an option with or without a field could take FILE for its field
        found = _TRUE.search(described)
        text = found[1] if found else "read the values as weights"
        group.add_argument(option.flag, action="store_true", dest=f"p_{option.name}", help=text)
        return
    source = option.kind == "vertex" and option.name == "source" and option.required
    default = MAX_DEGREE if source else option.default
    group.add_argument(
        option.flag,
        type=_TYPES.get(option.kind, str),
        default=default,
        required=option.required and not source,
        metavar=None if option.choices else _METAVARS[option.kind],
        choices=option.choices,
        dest=f"p_{option.name}",
        help=described + (f" (default: {default})" if default is not None else ""),
    )


def arguments(args: argparse.Namespace, A: sr.Matrix, progress: Progress) -> dict[str, Any]:
    """Return the arguments of ``args.function`` by their names."""
    options = options_of(args.function) or []
    # A dtype that is not given is that of the function.
    options = [option for option in options if option.kind != "dtype" or args.p_dtype is not None]
    return {option.name: argument(args, A, option, progress) for option in options}


def argument(args: argparse.Namespace, A: sr.Matrix, option: Option, progress: Progress) -> Any:
    """Return the value of an option as the function accepts it."""
    if option.kind == "progress":
        return lambda done, total: progress(args.function.__name__, done / total if total else 0.0)
    value = getattr(args, f"p_{option.name}")
    if value is None:
        return value
    if option.kind == "vertex":
        return row_of(A, value)
    if option.kind == "vertices":
        return [row_of(A, word) for word in value]
    if option.kind == "vector":
        return load_vector(value, A, of_vertices=option.name in _VERTEX_VALUES)
    if option.kind == "matrix":
        return load_pairs(args, value, A)
    return value


def vertices(words: str) -> list[str]:
    """Parse vertices separated by commas; a name that contains one is written in quotes."""
    return next(csv.reader([words], skipinitialspace=True), [])


def _integers(words: str) -> list[int]:
    return [int(word) for word in words.split(",")]


vertices.__name__, _integers.__name__ = "list of vertices", "list of numbers"  # in argparse's messages
_TYPES = {**_NUMBERS, "vertices": vertices, "integers": _integers}
