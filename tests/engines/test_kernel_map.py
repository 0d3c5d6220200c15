"""The map of the CUDA kernels: every file after those it includes, with its module; launches name real kernels."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import semiring
from semiring.formats import CODECS

ENGINE = Path(semiring.__file__).parent / "engines" / "cuda"
KERNELS = ENGINE / "kernels"
ROW = re.compile(r"^\| `(\w+\.cuh)` \| .+ \| (.+) \|$", re.MULTILINE)
ENTRY = re.compile(r'extern "C" __global__[\w\s]*?(\w+)\(')
BOUNDS = re.compile(r"__launch_bounds__\([^)]*\)")
INCLUDE = re.compile(r'^#include "(\w+\.cuh)"', re.MULTILINE)

ROWS = dict(ROW.findall((KERNELS / "README.md").read_text(encoding="utf-8")))


def files_of(row: str) -> list[str]:
    """The files of a row of the map: one, or one for each codec."""
    if "CODEC" not in row:
        return [row]
    files = [row.replace("CODEC", codec) for codec in (*CODECS, "uncompressed")]
    return [file for file in files if "uncompressed" not in file or (KERNELS / file).exists()]


def row_of(included: str) -> str:
    """The row of the map that contains an included file."""
    return next(row for row in ROWS if included.removeprefix("T_") in (row, *files_of(row)))


def text_of(row: str) -> str:
    return "".join((KERNELS / file).read_text(encoding="utf-8") for file in files_of(row))


def test_every_file_is_listed_once() -> None:
    listed = ROW.findall((KERNELS / "README.md").read_text(encoding="utf-8"))
    assert sorted(file for row, _ in listed for file in files_of(row)) == sorted(
        path.name for path in KERNELS.glob("*.cuh")
    )


def test_a_file_includes_only_files_listed_before_it() -> None:
    order = list(ROWS)
    later = [
        (file, included)
        for file in order
        for included in INCLUDE.findall(text_of(file))
        if order.index(row_of(included)) > order.index(file)
    ]
    assert not later


def test_modules_that_launch_a_file_exist_and_others_have_no_kernel() -> None:
    for file, launched in ROWS.items():
        modules = re.findall(r"`([\w/]+\.py)`", launched)
        assert bool(modules) == ("__global__" in text_of(file)), file
        for module in modules:
            assert f'"{file}"' in (ENGINE / module).read_text(encoding="utf-8"), f"{module} does not name {file}"


def entries_of(file: str) -> set[str]:
    """The kernels of a file and of the files that it includes."""
    text = (KERNELS / file).read_text(encoding="utf-8")
    included = [entries_of(name) for name in INCLUDE.findall(text) if (KERNELS / name).exists()]
    return set(ENTRY.findall(BOUNDS.sub("", text))).union(*included)


def launches() -> list[tuple[str, str, str]]:
    """(module, file, kernel) for every ``kernel(file, name)`` whose file and name are literals or constants."""
    found = []
    for path in sorted(ENGINE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "kernel" and len(node.args) > 1:
                file, name = (
                    part.value if isinstance(part, ast.Constant) else known.get(getattr(part, "id", ""))
                    for part in node.args[:2]
                )
                if isinstance(file, str) and isinstance(name, str):
                    found.append((path.name, file, name))
    return found


def test_every_launch_names_a_kernel_of_its_file() -> None:
    """Without a GPU nothing is loaded, so a kernel that moved to another file would be found missing too late."""
    found = launches()
    assert len(found) > 60
    missing = [(module, file, name) for module, file, name in found if name not in entries_of(file)]
    assert not missing
