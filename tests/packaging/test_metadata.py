"""What describes a release agrees with itself, and the check of a wheel's contents reports what is wrong with it."""

from __future__ import annotations

import datetime
import re
import zipfile
from pathlib import Path

import pytest

import semiring as sr
from tests.packaging.contents import ROOT, faults_of_a_wheel, files_of_the_tree, project

PROJECT = project()
VERSION: str = PROJECT["version"]
RECIPE = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
# Packages that conda knows by another name.
OF_CONDA = {
    "igraph": "python-igraph",
    "impi-rt": "impi_rt",
    "matplotlib": "matplotlib-base",
    "torch": "pytorch",
    "torch_geometric": "pytorch_geometric",
}
# Extras for developers; the CUDA engine, whose CuPy is one package of conda; and MPI, which a cluster has of its own.
OTHER_EXTRAS = {"dev", "docs", "package", "nvrtc", "cuda12", "cuda13", "mpi"}


def test_one_version() -> None:
    assert sr.__version__ == VERSION
    assert f'version: "{VERSION}"' in RECIPE


def test_the_changelog_begins_with_the_release() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert sections[0] == "Unreleased"
    released = [section.split(" - ") for section in sections[1:]]
    assert released[0][0] == VERSION
    dates = [datetime.date.fromisoformat(date) for _, date in released]
    assert dates == sorted(dates, reverse=True)


def test_the_changelog_has_each_section_and_entry_once() -> None:
    """A merge that goes wrong repeats them."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for release in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        titles = re.findall(r"^### .*$", release, re.MULTILINE)
        assert len(set(titles)) == len(titles)
    entries = re.findall(r"^- .*$", text, re.MULTILINE)
    assert sorted(set(entries)) == sorted(entries)


def test_classifiers() -> None:
    oldest = PROJECT["requires-python"].removeprefix(">=")
    versions = [row.rpartition(" ")[2] for row in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", row)]
    assert versions[0] == oldest
    assert f'python_min: "{oldest}"' in RECIPE
    assert (ROOT / "run.py").read_text(encoding="utf-8").count(f"OLDEST = ({oldest.replace('.', ', ')})") == 1


def listed(section: str) -> dict[str, str]:
    """Return the requirements of a list of the recipe, by the name of the package."""
    body = RECIPE.partition(f"  {section}:\n")[2]
    lines = re.match(r"(?:    - .*\n)*", body)
    assert lines is not None
    return dict(line.removeprefix("    - ").partition(" ")[::2] for line in lines[0].splitlines())


def required(requirements: list[str]) -> dict[str, str]:
    """Return the requirements of pyproject.toml in the same way."""
    found = (re.fullmatch(r"([\w-]+)(?:\[\w+\])?([^;]*)(?:;.*)?", requirement) for requirement in requirements)
    return {OF_CONDA.get(match[1], match[1]): match[2] for match in found if match is not None}


def test_the_recipe_requires_what_the_project_requires() -> None:
    assert listed("run") == {**required(PROJECT["dependencies"]), "python": ">=${{ python_min }}"}
    extras: dict[str, list[str]] = PROJECT["optional-dependencies"]
    optional = required([row for name, rows in extras.items() if name not in OTHER_EXTRAS for row in rows])
    cupy = {bound for row in (*extras["cuda12"], *extras["cuda13"]) for bound in required([row]).values()}
    assert listed("run_constraints") == {**optional, "cupy": cupy.pop()}
    assert not cupy
    assert "hatchling >=1.27" in RECIPE


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel as it should be, without the digests of its record."""
    path, information = tmp_path / "made.whl", f"semiring-{VERSION}.dist-info"
    extras = "".join(f"Provides-Extra: {name}\n" for name in PROJECT["optional-dependencies"])
    points = [PROJECT["scripts"], *PROJECT["entry-points"].values()]
    with zipfile.ZipFile(path, "w") as archive:
        for name in files_of_the_tree():
            archive.write(ROOT / name, name)
        archive.writestr(f"{information}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
        archive.writestr(
            f"{information}/METADATA", f"Version: {VERSION}\nLicense-Expression: {PROJECT['license']}\n{extras}\n"
        )
        archive.writestr(
            f"{information}/entry_points.txt",
            "".join(f"{name} = {target}\n" for rows in points for name, target in rows.items()),
        )
        archive.writestr(f"{information}/RECORD", "")
    return path


def test_a_whole_wheel_has_no_faults(wheel: Path) -> None:
    assert faults_of_a_wheel(wheel) == []


def test_faults_of_a_wheel_are_reported(wheel: Path, tmp_path: Path) -> None:
    damaged, kernel = tmp_path / "damaged.whl", "semiring/engines/cuda/kernels/write.cuh"
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(damaged, "w") as archive:
        for name in whole.namelist():
            content = whole.read(name)
            if name == "semiring/py.typed" or name.endswith("LICENSE"):
                continue
            archive.writestr(name, content.replace(b"semiring = ", b"") if name.endswith(".txt") else content)
            if name == kernel:
                archive.writestr(f"{name}.orig", content)
        archive.writestr("tests/test_tour.py", "")
    assert faults_of_a_wheel(damaged) == [
        "the wheel lacks semiring/py.typed",
        f"the wheel has {kernel}.orig, which the packages do not have",
        "the wheel has tests/test_tour.py, which the packages do not have",
        "the wheel lacks its license",
        "entry_points.txt lacks semiring = semiring.cli:main",
        "entry_points.txt lacks semiring = semiring.nx_backend:backend",
        "entry_points.txt lacks semiring = _nx_semiring:get_info",
    ]
