"""The one import that changes: ``graphblas`` is `semiring.compat.graphblas` in this process.

Their tests also import parts of the implementation of python-graphblas (``graphblas.core``) and their own `conftest`.
Stand-ins let the files be imported; a test that uses one of those parts fails, and `suite` classes it as internal.
"""

from __future__ import annotations

import functools
import platform
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import pytest

import semiring.compat.graphblas as compat
from semiring.operators.families import Binary, IndexUnary, Monoid, Select, Semiring, Unary
from tests.conformance import private_names

# Errors of python-graphblas for programs that are right here, by a part of their text.
EXTENSIONS = {
    r"autocompute|enable automatic|automatically compute|Automatic computation": (
        "a result is computed when it is first used, without .new()"
    ),
    r"XXX|only valid for BOOL|not supported for FP64|only supported for BOOL|Bad dtype": (
        "| and & mean plus and times, lor and land of booleans, where no operator is called on them; they may be mixed"
    ),
    r"Unable to infer|No indices provided": "an object without indices has size 0 where no size is given",
    r"use `Vector.from_coo`|values must be passed separately": "pairs and edges may be arrays",
    r"plus does not work": "sums of booleans are counts",
    r"SelectOp must have BOOL": "the result of a select operator is cast to bool",
    r"only be True if a mask": "replace without a mask replaces everything",
}
_ACCEPTED = re.compile("|".join(EXTENSIONS))
_raises = pytest.raises


class Internal:
    """A part of the implementation of python-graphblas, which has no counterpart."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self.__name__}.{name} is internal to python-graphblas")


def _operator_class(module: ModuleType, families: Any) -> type[Any]:
    """A class of ``graphblas.core.operator``: its constructors are those of the public module of its operators."""

    class Kind(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, families)

    makers: dict[str, Any] = {
        name: staticmethod(getattr(module, name)) for name in ("register_new", "register_anonymous")
    }
    makers |= {"_initialize": staticmethod(lambda: None), "_initialized": True}  # nothing needs initialization
    return Kind(module.__name__, (), makers)


_OPERATOR_CLASSES = {
    "UnaryOp": (compat.unary, Unary),
    "BinaryOp": (compat.binary, Binary),
    "IndexUnaryOp": (compat.indexunary, IndexUnary),
    "SelectOp": (compat.select, Select),
    "Monoid": (compat.monoid, Monoid),
    "Semiring": (compat.semiring, Semiring),
}


class _InternalModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Internal(f"{self.__name__}.{name}")


def install(tests: Path, strict: bool) -> None:
    """Make ``graphblas`` in `sys.modules` this library, and `tests` the package ``graphblas.tests``.

    strict: compare the texts of errors, and fail where this library accepts what python-graphblas refuses
    (`EXTENSIONS`).
    """
    prefix = compat.__name__
    aliases = {"graphblas" + name[len(prefix) :]: name for name in list(sys.modules) if name.startswith(prefix)}
    sys.modules.update({alias: sys.modules[name] for alias, name in aliases.items()})
    for name in (
        "core",
        "core.operator",
        "core.mask",
        "core.expr",
        "core.utils",
        "core.infix",
        "core.ss",
        "core.dtypes",
    ):
        sys.modules[f"graphblas.{name}"] = _InternalModule(f"graphblas.{name}")
    classes = sys.modules["graphblas.core.operator"]
    for name, (module, family) in _OPERATOR_CLASSES.items():
        setattr(classes, name, _operator_class(module, family))
    types = sys.modules["graphblas.core.dtypes"]
    private_names.install(classes, types)
    for name, value in {"_supports_udfs": True, "lib": Internal("lib"), "operator": classes, "dtypes": types}.items():
        setattr(sys.modules["graphblas.core"], name, value)
    setattr(compat, "core", sys.modules["graphblas.core"])  # noqa: B010
    package, conftest = ModuleType("graphblas.tests"), ModuleType("graphblas.tests.conftest")
    package.__path__ = [str(tests)]
    vars(conftest).update(
        autocompute=_autocompute,
        compute=lambda x: x,
        pypy=platform.python_implementation() == "PyPy",
        shouldhave=lambda module, name: True,
        orig_semirings=private_names.built_in("semiring"),
        orig_binaryops=private_names.built_in("binary"),
    )
    sys.modules.update({package.__name__: package, conftest.__name__: conftest})
    if not strict:
        pytest.raises = _any_text  # type: ignore[assignment]


def _autocompute(function: Callable[..., Any]) -> Callable[..., Any]:
    """Their decorator: run a test with automatic computation."""

    @functools.wraps(function)
    def inner(*arguments: Any, **keywords: Any) -> Any:
        with compat.config.set(autocompute=True):
            return function(*arguments, **keywords)

    return inner


def _any_text(expected: Any, *rest: Any, match: str | None = None, **keywords: Any) -> Any:
    """`pytest.raises` without comparing the text of the error."""
    if match is not None and _ACCEPTED.search(match):
        return _Accepted(expected)
    return _raises(expected, *rest, **keywords)


class _Accepted:
    """A block that may raise the error."""

    def __init__(self, expected: Any) -> None:
        self._expected = expected

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, _: object, __: TracebackType | None) -> bool:
        return kind is not None and issubclass(kind, self._expected)
