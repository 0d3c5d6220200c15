"""Optional packages: the extras exist, and a call without its package names the extra and leaves no file behind."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from numba.core import entrypoints

from semiring import exceptions as ex
from semiring import optional
from semiring.config import cuda_available, use
from tests.packaging.optional_calls import calls

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def without(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Block the import of a package and of its modules, loaded or not."""
    entrypoints.init_all()  # awkward extends numba, which would report that it cannot load the extension
    for name in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("package", sorted(optional.EXTRAS))
def test_an_extra_installs_its_package(package: str) -> None:
    extra = optional.EXTRAS[package][1]
    names = [re.split(r"[<>=\[]", requirement)[0] for requirement in EXTRAS[extra]]
    assert package in [re.sub(r"-cuda\d+x$", "", name) for name in names]


@pytest.mark.parametrize("package", sorted(set(optional.EXTRAS) - {"shtab"}))  # the commands: tests/cli
def test_a_missing_package_is_named_with_its_extra(
    package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without(package, monkeypatch)
    assert not optional.installed(package)
    name, extra = optional.EXTRAS[package]
    for call in calls(tmp_path)[package]:
        before = sorted(tmp_path.iterdir())
        with pytest.raises(ex.NotSupported, match=re.escape(f" needs {name}: pip install 'semiring[{extra}]'")):
            call()
        assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(cuda_available(), reason="a device is there")
def test_a_device_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    without("cupy", monkeypatch)
    with pytest.raises(ex.NotSupported, match=r"'cuda' needs CuPy: pip install 'semiring\[cuda13\]' \(or cuda12"):
        use("cuda")


def test_a_module_below_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    without("pyarrow", monkeypatch)
    with pytest.raises(ex.NotSupported, match=r"f needs pyarrow: .*\[arrow\]"):
        optional.needed("f", "pyarrow.parquet")


def test_the_installation_page_lists_the_extras() -> None:
    page = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`([\w-]+)`", " ".join(re.findall(r"^\| (.*?) \|", page, re.MULTILINE))))
    assert {extra for _, extra in optional.EXTRAS.values()} - {"cuda13"} <= listed


def test_all_development_extras_are_extras() -> None:
    """`dev` names other extras in place of their packages, so that each version is written once."""
    named = re.findall(r"semiring\[([\w,-]+)\]", " ".join(EXTRAS["dev"]))
    assert {extra for part in named for extra in part.split(",")} <= set(EXTRAS)
