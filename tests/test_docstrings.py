"""Every public name has a docstring; what is called documents its parameters, and has an example that runs.

The rule:

- A function, a method or a class that users construct documents each parameter by name in ``Parameters``.
- A function, a method or a class that is no exception has an example.  Examples use ``sr``, ``np``, `Matrix`, `Vector`
  and `Scalar`; files are written to the working directory.  Their output does not depend on the engine.
- A property, an exception and a module need their docstring alone.

The short tier runs a sample of the examples on the CPU engine, and all of them on the reference engine, which compiles
nothing; the other engines and the exhaustive tier run all of them.
"""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import semiring as sr
import semiring.compat.graphblas as gb
from semiring import optional
from semiring.facade import recorder, storage_slot
from semiring.operators import table
from tests import sampling

# Classes of which users make objects; objects of the others are results.
CONSTRUCTED = {sr.Labels, sr.Matrix, sr.Vector, sr.Scalar, sr.use}
# Special methods that are syntax of their own.
SPECIAL = {"__call__", "__getitem__"}
# Methods by which packages of the library reach one another: `dir` of an object does not list them.
INTERNAL = storage_slot._INTERNAL | recorder._CALLED
# Kinds of objects that public names hold, by their classes.
OBJECTS = ("semiring.operators.", "semiring.config", "semiring.facade.", "semiring.bridges.graphblas.")


class Public(NamedTuple):
    """A public name: where users find it, the object, its kind, and the names of its parameters."""

    name: str
    thing: Any
    kind: str
    parameters: tuple[str, ...]

    @property
    def text(self) -> str:
        return inspect.getdoc(self.thing) or ""


def parameters_of(function: Any) -> tuple[str, ...]:
    return tuple(
        name for name in inspect.signature(function).parameters if name not in ("self", "cls") and name.strip("_")
    )


def members_of(name: str, cls: type[Any]) -> Iterator[Public]:
    """Yield a class and what it defines; a method that several classes share has the name of the first."""
    exception = issubclass(cls, BaseException)
    made = parameters_of(cls.__init__) if cls in CONSTRUCTED else ()
    yield Public(name, cls, "exception" if exception else "class", made)
    for member in dir(cls):
        owner = next((base for base in cls.__mro__ if member in vars(base)), object)
        private = member in INTERNAL or (member.startswith("_") and member not in SPECIAL)
        if private or exception or not owner.__module__.startswith("semiring"):
            continue
        found = vars(owner)[member]
        found = found.__func__ if isinstance(found, classmethod | staticmethod) else found
        if isinstance(found, property):
            yield Public(f"{name}.{member}", found.fget, "property", ())
        elif inspect.isfunction(found):
            yield Public(f"{name}.{member}", found, "method", parameters_of(found))


def names_of(name: str, module: ModuleType, seen: set[int]) -> Iterator[Public]:
    """Yield what a module publishes, the modules below it included."""
    yield Public(name, module, "module", ())
    for member in dir(module) if "__dir__" in vars(module) else module.__all__:
        found = getattr(module, member)
        if isinstance(found, ModuleType):
            if found.__name__.startswith("semiring.") and id(found) not in seen:
                seen.add(id(found))
                yield from names_of(f"{name}.{member}", found, seen)
            continue
        if not inspect.isclass(found) and not inspect.isroutine(inspect.unwrap(found)):
            if not type(found).__module__.startswith(OBJECTS):
                continue
            member, found = type(found).__name__, type(found)
        if not found.__module__.startswith("semiring"):
            continue
        if inspect.isclass(found):
            if id(found) not in seen:
                seen.add(id(found))
                yield from members_of(f"{name}.{member}", found)
        else:
            yield Public(f"{name}.{member}", found, "function", parameters_of(found))


def public() -> list[Public]:
    """Return every public name once."""
    seen: set[int] = set()
    found = [*names_of("sr", sr, seen), *names_of("gb", gb, seen)]
    found += members_of("sr.Mask", type(sr.Vector(bool, 1).S))
    found += members_of("sr.Target", type(sr.Vector(bool, 1)()))
    once: dict[int, Public] = {}
    for one in found:
        once.setdefault(id(inspect.unwrap(one.thing)), one)
    return list(once.values())


PUBLIC = public()
EXAMPLES = [one for one in PUBLIC if ">>>" in one.text]
SAMPLE = sampling.draw("docstrings", [one.name for one in EXAMPLES], 8)


def lacks(one: Public) -> str | None:
    """Return what a docstring lacks, or None."""
    if not one.text:
        return "a docstring"
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n\w+\n---|\Z)", one.text, re.DOTALL | re.MULTILINE)
    named = re.findall(r"\w+", section[1]) if section else []
    undocumented = [name for name in one.parameters if name not in named]
    if undocumented:
        return f"the parameters {', '.join(undocumented)}"
    if one.kind in ("function", "method", "class") and not re.search(r"^Examples\n-+\n>>> ", one.text, re.MULTILINE):
        return "an example"
    return None


def test_every_public_name_is_documented() -> None:
    found = {one.name: lacks(one) for one in PUBLIC}
    assert not {name: what for name, what in found.items() if what}
    assert len(PUBLIC) > 300
    assert len(EXAMPLES) > 200


def test_the_check_reports_what_is_missing() -> None:
    def silent(a: int) -> int:
        return a

    def partial(a: int, b: int) -> int:
        """Return a + b.

        Parameters
        ----------
        a : the first

        Examples
        --------
        >>> 1 + 1
        2
        """
        return a + b

    def shown(a: int) -> int:
        """Return a.

        Parameters
        ----------
        a : a number
        """
        return a

    cases = {silent: "a docstring", partial: "the parameters b", shown: "an example"}
    for function, expected in cases.items():
        assert lacks(Public("f", function, "function", parameters_of(function))) == expected


def failures(one: Public) -> str:
    """Run the example of one name; return each expression with another value than documented, and both values."""
    if re.search(r"plot|\.(spy|hist|draw)$", one.name) and importlib.util.find_spec("matplotlib") is None:
        return ""
    function = inspect.unwrap(one.thing)
    module = importlib.import_module(function.__module__)
    names = {**vars(module), "sr": sr, "np": np, "Matrix": sr.Matrix, "Vector": sr.Vector, "Scalar": sr.Scalar}
    names["__name__"] = "__main__"  # a program of a user
    test = doctest.DocTestParser().get_doctest(one.text, names, one.name, module.__file__, 0)
    report: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    return "".join(report)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Remove the operators that examples register, close their figures; files are written to a folder of the test."""
    monkeypatch.chdir(tmp_path)
    before = {kind: dict(rows) for kind, rows in table._TABLES.items()}
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    for kind, rows in before.items():
        table._TABLES[kind].clear()
        table._TABLES[kind].update(rows)


@pytest.fixture(autouse=True)
def kernels_for_few() -> None:
    """Run the kernels that users get: those of large operands, which `tests.conftest` selects, take long to compile."""


@pytest.mark.parametrize(
    "one",
    [pytest.param(one, id=one.name, marks=sampling.marks(one.name, SAMPLE, pytest.mark.wide)) for one in EXAMPLES],
)
def test_example(one: Public) -> None:
    found = failures(one)
    for package, (name, extra) in optional.EXTRAS.items():
        absent = (f"needs {name}: pip install 'semiring[{extra}]'", f"No module named '{package}'")
        if any(text in found for text in absent) and not optional.installed(package):
            pytest.skip(f"needs {name}")
    assert not found


@pytest.mark.costly
def test_all_examples_on_the_reference_engine(engine: str) -> None:
    if engine != "cpu":
        pytest.skip("the other engines run every example one by one")
    with sr.use("reference"):
        found = "".join(failures(one) for one in EXAMPLES)
    assert not found
