"""Old names raise errors that name the new ones, and the new ones exist."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

import pytest

import semiring as sr
from semiring import Labels, Matrix
from semiring.renamed import KEYWORDS, NAMES, SINCE

ROWS = [(owner, old, new) for owner, table in NAMES.items() for old, new in table.items()]
MODULES = [row for row in ROWS if row[0].startswith("semiring.")]
ARGUMENTS = [(function, old, new) for function, table in KEYWORDS.items() for old, new in table.items()]


def owner_of(name: str) -> Any:
    return import_module(name) if name.startswith("semiring.") else getattr(sr, name)


def replaced(owner: str, old: str, new: str) -> str:
    """The pattern of the message; the test of the new name."""
    name, _, arguments = new.partition("(")
    found = getattr(owner_of(owner), name)
    for argument in re.findall(r"(\w+)=", arguments):
        assert argument in inspect.signature(found).parameters
    return rf"has no attribute '{old}'; use \.?{re.escape(new)}, its name since {re.escape(SINCE)}$"


@pytest.mark.parametrize(("owner", "old", "new"), ROWS)
def test_an_old_name(owner: str, old: str, new: str) -> None:
    pattern = replaced(owner, old, new)
    with pytest.raises(AttributeError, match=pattern):
        getattr(owner_of(owner), old)
    assert not hasattr(owner_of(owner), old)
    assert old not in dir(owner_of(owner))
    if not owner.startswith("semiring."):
        thing = Matrix(bool, 2, 2) if owner == "Matrix" else sr.Vector(bool, 2)
        with pytest.raises(AttributeError, match=pattern):
            getattr(thing, old)


@pytest.mark.parametrize(("owner", "old", "new"), MODULES)
def test_an_import_of_an_old_name(owner: str, old: str, new: str) -> None:
    with pytest.raises(ImportError, match=replaced(owner, old, new)):
        exec(f"from {owner} import {old}", {})


def test_a_name_that_never_existed() -> None:
    for module in (sr.algorithms, sr.ops):
        with pytest.raises(AttributeError, match=r"no attribute 'never'$"):
            _ = module.never
        with pytest.raises(ImportError, match="cannot import name 'never'"):
            exec(f"from {module.__name__} import never", {})


@pytest.mark.parametrize(("function", "old", "new"), ARGUMENTS)
@pytest.mark.parametrize("named", [False, True])
def test_an_old_argument(function: str, old: str, new: str, *, named: bool) -> None:
    called = getattr(sr.algorithms, function)
    parameters = inspect.signature(called).parameters
    assert new in parameters
    assert old not in parameters
    A = Matrix(bool, 2, 2)
    if named:
        A.labels = Labels(["ann", "bob"])
    required = {p.name: 0 for p in parameters.values() if p.default is p.empty and p.name != "A"}
    with pytest.raises(TypeError, match=rf"^{function}\(\) has no argument '{old}'; use '{new}', its name since "):
        called(A, **required, **{old: 1})


def test_another_wrong_argument() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'never'"):
        sr.algorithms.degrees(Matrix(bool, 2, 2), never=1)  # type: ignore[call-arg]
