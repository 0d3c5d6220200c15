"""Writes the pages of the API reference from the docstrings, when the documentation is built.

Every public name is on one page: classes and modules have a page each, algorithms one a family.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import is_dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import semiring as sr
from semiring import exceptions

FOLDER = Path(__file__).parent / "api"
NOTE = "<!-- Written by docs/reference_pages.py from the docstrings. -->\n"


def write() -> None:
    """Write all pages; a page whose text has not changed keeps its time."""
    FOLDER.mkdir(exist_ok=True)
    pages = {
        "matrix": ("Matrix", [_class("semiring.Matrix")]),
        "vector": ("Vector", [_class("semiring.Vector")]),
        "scalar": ("Scalar", [_class("semiring.Scalar")]),
        "labels": ("Labels", [_class("semiring.Labels")]),
        "whole": ("Several objects, and settings", _functions("semiring", _whole())),
        "io": ("semiring.io", _functions("semiring.io", sr.io.__all__)),
        "random": ("semiring.random", _functions("semiring.random", _public(sr.random))),
        "ops": ("semiring.ops", _functions("semiring.ops", sr.ops.__all__)),
        "loops": ("Compiled loops", [_class(f"semiring.loops.{name}") for name in ("Compiled", "Plan", "LoopPlan")]),
        "plot": ("semiring.plot", _functions("semiring.plot", sr.plot.__all__)),
        "distributed": (
            "semiring.distributed",
            [
                *_functions("semiring.distributed", sr.distributed.__all__),
            ],
        ),
        "exceptions": ("semiring.exceptions", _functions("semiring.exceptions", dir(exceptions))),
    }
    for family, names in sorted(_families().items()):
        pages[f"algorithms_{family}"] = (f"semiring.algorithms: {family}", _functions("semiring.algorithms", names))
    for name, (title, parts) in pages.items():
        _write(FOLDER / f"{name}.md", f"{NOTE}# {title}\n\n{_contents(parts)}\n" + "\n".join(parts))
    listed = "\n".join(pages)
    _write(
        FOLDER / "index.md", f"{NOTE}# API\n\nEvery public name, from its docstring.\n\n```{{toctree}}\n{listed}\n```\n"
    )
    for path in FOLDER.glob("*.md"):
        if path.stem not in pages and path.stem != "index":
            path.unlink()


def _contents(parts: list[str]) -> str:
    """Return a table of the names on a page with their first lines: of a page with one class, of its members."""
    names = [part.partition(":: ")[2].partition("\n")[0] for part in parts]
    if len(names) == 1:
        thing: Any = reduce(getattr, names[0].split(".")[1:], sr)
        members = [name for name in dir(thing) if not name.startswith("_") and getattr(thing, name).__doc__]
        names = [f"{names[0]}.{name}" for name in members]
    listed = "\n".join(f"   ~{name}" for name in names)
    return f"```{{eval-rst}}\n.. autosummary::\n   :nosignatures:\n\n{listed}\n```\n"


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _directive(kind: str, name: str, *options: str) -> str:
    body = "\n".join(f"   {option}" for option in options)
    return f"```{{eval-rst}}\n.. {kind}:: {name}\n{body}\n```\n"


def _class(name: str) -> str:
    return _directive("autoclass", name, ":members:", ":inherited-members:")


def _functions(module: str, names: Iterable[str]) -> list[str]:
    """Return a directive for each function and class of a module."""
    holder: Any = reduce(getattr, module.split(".")[1:], sr)
    made = []
    for name in names:
        thing = getattr(holder, name)
        if inspect.isclass(thing):
            plain = issubclass(thing, (tuple, BaseException)) or is_dataclass(thing)  # "Attributes" lists their members
            made.append(_directive("autoclass", f"{module}.{name}", *([] if plain else [":members:"])))
        elif callable(thing):
            made.append(_directive("autofunction", f"{module}.{name}"))
    return made


def _public(module: Any) -> list[str]:
    """Return the functions and classes that a module or its package defines."""
    package = module.__name__.rpartition(".")[0] if not hasattr(module, "__path__") else module.__name__
    things = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return [name for name, thing in things.items() if callable(thing) and thing.__module__.startswith(package)]


def escape_bars(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape ``|`` in a docstring, outside code: reStructuredText reads ``|x|`` as a substitution."""
    for at, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("``")
            parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
            lines[at] = "``".join(parts)


def _whole() -> list[str]:
    pages = {"Matrix", "Vector", "Scalar", "Labels", "SemiringError"}
    return [
        n for n in sr.__all__ if n not in pages and callable(getattr(sr, n)) and not inspect.ismodule(getattr(sr, n))
    ]


def _families() -> dict[str, list[str]]:
    """Return the names of algorithms by the package that defines them."""
    found: dict[str, list[str]] = {}
    for name in sr.algorithms.__all__:
        thing = getattr(sr.algorithms, name)
        if callable(thing):
            found.setdefault(thing.__module__.split(".")[2], []).append(name)
    return found
