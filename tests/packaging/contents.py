"""What a wheel and an sdist contain, compared with the tree that they are made from."""

from __future__ import annotations

import email
import hashlib
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("semiring", "_nx_semiring")
# Files without which the library does not work, and which no import would miss.
NEEDED = (
    "semiring/py.typed",
    "semiring/data/NY.gr.xz",
    "semiring/engines/cuda/kernels/mxv_pull.cuh",
    "semiring/engines/cuda/kernels/write.cuh",
)


def project() -> dict[str, Any]:
    """Return the table [project] of pyproject.toml."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def files_of_the_tree() -> dict[str, str]:
    """Return the digest of each file of the packages, without what Python writes."""
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in {".pyc"}:
                found[path.relative_to(ROOT).as_posix()] = _digest(path.read_bytes())
    return found


def files_of_a_wheel(wheel: Path) -> dict[str, str]:
    """Return the digest of each file of a wheel, without the record of digests."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith(".dist-info/RECORD")]
        return {name: _digest(archive.read(name)) for name in names}


def faults_of_a_wheel(wheel: Path) -> list[str]:
    """Return what is wrong with the contents of a wheel: nothing, if it is as it should be."""
    files, tree, expected = files_of_a_wheel(wheel), files_of_the_tree(), project()
    information = f"semiring-{expected['version']}.dist-info"
    inside = {name: digest for name, digest in files.items() if not name.startswith(f"{information}/")}
    faults = [f"the wheel lacks {name}" for name in sorted({*tree, *NEEDED} - set(inside))]
    faults += [f"the wheel has {name}, which the packages do not have" for name in sorted(set(inside) - set(tree))]
    faults += [
        f"{name} differs from the tree" for name in sorted(set(inside) & set(tree)) if inside[name] != tree[name]
    ]
    with zipfile.ZipFile(wheel) as archive:
        faults += _faults_of_the_metadata(archive, information, expected)
    return faults


def _faults_of_the_metadata(archive: zipfile.ZipFile, information: str, expected: dict[str, Any]) -> list[str]:
    faults = []
    if f"{information}/licenses/LICENSE" not in archive.namelist():
        faults.append("the wheel lacks its license")
    metadata = email.message_from_bytes(archive.read(f"{information}/METADATA"))
    if (metadata["Version"], metadata["License-Expression"]) != (expected["version"], expected["license"]):
        faults.append(f"METADATA: version {metadata['Version']}, license {metadata['License-Expression']}")
    if set(metadata.get_all("Provides-Extra", [])) != set(expected["optional-dependencies"]):
        faults.append("METADATA: other extras than in pyproject.toml")
    commands = archive.read(f"{information}/entry_points.txt").decode()
    points = [expected["scripts"], *expected["entry-points"].values()]
    lines = [f"{name} = {target}" for point in points for name, target in point.items()]
    faults += [f"entry_points.txt lacks {line}" for line in lines if line not in commands]
    return faults


def faults_of_an_sdist(sdist: Path) -> list[str]:
    """Return what is wrong with the contents of an sdist."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    needed = {*files_of_the_tree(), "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "tests/test_tour.py"}
    faults = [f"the sdist lacks {name}" for name in sorted(needed - names)]
    unwanted = [name for name in names if "__pycache__" in name or name.startswith((".ci/", ".venv/", "docs/_build"))]
    return faults + [f"the sdist has {name}" for name in sorted(unwanted)]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
