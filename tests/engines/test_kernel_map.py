"""The map of the CUDA kernels: every file after those it includes, with its module."""

from __future__ import annotations

import re
from pathlib import Path

import semiring
from semiring.formats import CODECS

ENGINE = Path(semiring.__file__).parent / "engines" / "cuda"
KERNELS = ENGINE / "kernels"
ROW = re.compile(r"^\| `(\w+\.cuh)` \| .+ \| (.+) \|$", re.MULTILINE)
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


def test_modules_that_plan_launches_exist_and_other_files_have_no_kernel() -> None:
    for file, launched in ROWS.items():
        modules = re.findall(r"`([\w/]+\.py)`", launched)
        assert bool(modules) == ("__global__" in text_of(file)), file
        for module in modules:
            assert f'"{file}"' in (ENGINE / module).read_text(encoding="utf-8"), f"{module} does not name {file}"
