"""The recorded lists (`engines.cuda.kernel_lists`) belong to this version of the kernels; no GPU is needed."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("cupy", reason="the modules of the CUDA engine import CuPy")

from semiring.engines.cuda import catalog, compile, kernel_lists
from semiring.warming import worker
from semiring.warming.record import TYPES
from tests import sampling

TEXTS, CALLS = kernel_lists._read()
_NAMED = re.compile(r"^(?:typedef .*?(\w+);|constexpr \w+ (\w+) =)", re.MULTILINE)


def test_functions_are_recorded_for_every_type() -> None:
    """Record again after some new functions: ``python -m semiring.warming.record`` on a GPU."""
    without = [name for name in worker.names() if name not in CALLS]
    assert len(without) <= 5, without
    assert set(kernel_lists.types()) == set(TYPES)
    assert {name for name in CALLS if name not in worker.names()} == set()


def test_recorded_kernels_are_those_of_the_files() -> None:
    kernels: dict[str, set[str]] = {}
    for kernel in catalog.kernels():
        kernels.setdefault(kernel.file, set()).add(kernel.entry)
    kernels["program.cuh"] = {"program"}  # generated
    unknown = {(file, entry) for file, _, entry in TEXTS if entry not in kernels.get(file, ())}
    assert unknown == set()


def test_prologues_define_what_those_of_the_catalog_define() -> None:
    """Or the texts are out of date: their kernels would be compiled in vain."""
    defined: dict[str, set[frozenset[str]]] = {}
    for file, prologue in catalog.entries():
        defined.setdefault(file, set()).add(frozenset(map("".join, _NAMED.findall(prologue))))
    known = {file: frozenset.union(*names) for file, names in defined.items()}
    for file, prologue, _ in TEXTS:
        if file == "program.cuh":
            continue
        names = set(map("".join, _NAMED.findall(prologue)))
        assert names <= known[file], file
        assert names >= frozenset.intersection(*defined[file]), file


@pytest.mark.nvrtc
@pytest.mark.parametrize("number", sampling.draw("recorded kernels", range(len(TEXTS)), 4))
def test_recorded_kernels_compile(number: int) -> None:
    file, prologue, entry = TEXTS[number]
    assert compile.compile_text(file, prologue, "compute_80", entry)
