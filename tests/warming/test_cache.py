"""The folder of compiled kernels: what counts as one, what is removed, and who shares it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from semiring.config import config
from semiring.warming import cache

CPU = "cpu/0123456789abcdef/cpu_11aa"
OURS = {
    f"{CPU}/closure_levels.levels-98.py311.00ff.nbc": b"machine code",
    f"{CPU}/closure_levels.levels-98.py312.00ff.nbc": b"of another Python",
    f"{CPU}/build._sort-1.py311.00ff.nbc.tmp.0123abcd": b"half",
    f"cuda/{'0a' * 32}.bin": b"binary",
    "cuda/tmpab_12.part": b"ha",
}
OTHERS = ("notes.txt", "cpu/notes.txt", "cpu/project/build/kernel.nbc", "cuda/firmware.bin", f"{CPU}/notes.txt")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in OURS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_files_and_kernels_are_counted(folder: Path) -> None:
    with config.set(cache_dir=folder):
        assert cache.facts() == cache.CacheFacts(folder, 5, 3, sum(map(len, OURS.values())))


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    with config.set(cache_dir=tmp_path / "none"):
        assert cache.facts() == cache.clear() == cache.CacheFacts(tmp_path / "none", 0, 0, 0)


def test_clear_removes_all_that_engines_wrote(folder: Path) -> None:
    with config.set(cache_dir=folder):
        removed = cache.clear()
        assert (removed.files, cache.facts().files) == (5, 0)
    assert list(folder.iterdir()) == []


def test_clear_keeps_the_files_of_others(folder: Path) -> None:
    for name in OTHERS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    with config.set(cache_dir=folder):
        cache.clear()
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == set(OTHERS)


def test_python_versions_share_the_binaries_of_cuda_and_not_those_of_numba(tmp_path: Path) -> None:
    """A key of CUDA code names nothing of Python; numba's file names contain the version."""
    numba = pytest.importorskip("numba.core.caching")
    from semiring.engines.cpu.compile import kernel

    made = kernel(_doubled)
    assert f".py{sys.version_info.major}{sys.version_info.minor}" in made._cache._cache_file._name("float64")
    assert numba.IndexDataCacheFile in type(made._cache._cache_file).__mro__


def test_a_key_of_cuda_code_does_not_depend_on_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cupy", reason="CuPy brings NVRTC")
    from semiring.engines.cuda import compile

    monkeypatch.setattr(compile, "compile_text", lambda *_: b"code")
    names = []
    for number, version in enumerate([sys.version_info, (3, 99, 0)]):
        monkeypatch.setattr(sys, "version_info", version)
        with config.set(cache_dir=tmp_path / str(number)):
            compile._cached_binary("cast.cuh", "typedef int A, Z;\n", "sm_90")
            names += [path.name for path in (tmp_path / str(number) / "cuda").iterdir()]
    assert len(names) == 2
    assert len(set(names)) == 1


def _doubled(x: float) -> float:
    return x * 2
