"""`semiring completion`: the scripts complete commands, options, choices and files in the shells themselves."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from semiring.cli import main

pytest.importorskip("shtab")

CASES = {
    "semiring pager": {"pagerank"},
    "semiring triangle-": {"triangle-count", "triangle-centrality"},
    "semiring bfs --sym": {"--symmetric"},
    "semiring bfs g.el --device c": {"cpu", "cuda"},
    "semiring sssp --method d": {"delta_stepping"},
    "semiring generate kron": {"kronecker"},
    "semiring info ro": {"roads.gr"},
}


def script(shell: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Write the script for a shell beside a file to complete."""
    assert main(["completion", shell]) == 0
    path = folder / f"semiring.{shell}"
    path.write_text(capsys.readouterr().out)
    (folder / "roads.gr").touch()
    return path


def found(folder: Path, *command: str) -> str:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, program = script("bash", tmp_path, capsys), [f"source {tmp_path}/semiring.bash"]
    for line in CASES:
        words = line.split()
        program += [f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'; COMPREPLY=()"]
        program += ["_shtab_semiring semiring 2>/dev/null; echo ${COMPREPLY[@]}"]
    lines = found(tmp_path, "bash", "--norc", "-c", "\n".join(program)).splitlines()
    assert path.stat().st_size > 10_000
    assert [set(line.split()) for line in lines] == list(CASES.values())


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish")
def test_fish(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script("fish", tmp_path, capsys)
    program = "; ".join([f"source {path}", *(f'complete -C "{line}"; echo ==' for line in CASES)])
    parts = found(tmp_path, "fish", "--no-config", "-c", program).split("==\n")[:-1]
    assert [{row.partition("\t")[0] for row in part.splitlines()} for part in parts] == list(CASES.values())


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
def test_zsh(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The completer runs in an interactive shell only: its syntax is checked, and that compinit registers it."""
    path = script("zsh", tmp_path, capsys)
    found(tmp_path, "zsh", "-f", "-n", str(path))
    path.rename(tmp_path / "_semiring")
    setup = f"fpath+={tmp_path}; autoload -Uz compinit; compinit -u -d {tmp_path}/dump; print -r -- $_comps[semiring]"
    assert found(tmp_path, "zsh", "-f", "-c", setup) == "_semiring\n"


def test_an_unknown_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "bash" in capsys.readouterr().err


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    error = "semiring: error: completion needs shtab: pip install 'semiring[completion]'\n"
    assert capsys.readouterr().err == error
