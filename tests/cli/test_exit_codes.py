"""Guarantees for scripts: exit codes, one line for each error, nothing half-written, a traceback only on request."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import semiring as sr
from semiring.bridges.cli import main, program
from semiring.config import cuda_available


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = str(tmp_path / "path.srb")
    sr.io.write(path, sr.random.path(4))
    return path


def failure(capsys: pytest.CaptureFixture[str], *words: str, code: int = 1) -> str:
    """Run a command that fails; return the one line that it wrote to standard error."""
    # Lines about kernels being compiled, and about slow steps, are no errors.
    with sr.config.set(quiet=True):
        assert main([*words, "--no-progress"]) == code
    caught = capsys.readouterr()
    assert caught.out == ""
    line = caught.err.removesuffix("\n")
    assert "\n" not in line
    assert line.startswith("semiring: error: ")
    return line


@pytest.mark.parametrize("words", [["--help"], ["bfs", "--help"], ["generate", "rmat", "--help"], ["--version"]])
def test_help_is_no_error(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["unknown"],
        ["bfs"],
        ["generate"],
        ["generate", "rmat", "six", "o.srb"],
        ["info", "x.mtx", "--compress", "zip"],
        ["info", "x.mtx", "--placement", "moon"],
        ["info", "x.mtx", "--device-memory", "much"],
    ],
)
def test_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "usage: semiring" in capsys.readouterr().err


def test_options_that_do_not_go_together(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--base" in failure(capsys, "info", graph, "--base", "1", code=2)
    assert "--out" in failure(capsys, "bfs", graph, "--parents", code=2)
    assert ".srb" in failure(capsys, "convert", graph, "a.mtx", "--compress", "packed", code=2)


@pytest.mark.parametrize("name", ["nowhere.mtx", "nowhere.parquet", "nowhere.gml", "nowhere.mtx.zst"])
def test_missing_file(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pyarrow", "networkx", "zstandard"):
        monkeypatch.setitem(sys.modules, package, None)
    assert failure(capsys, "info", name).endswith(f"{name}: No such file or directory")


@pytest.mark.parametrize("name", ["graphs", "graphs.csv"])
def test_a_folder(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).mkdir()
    assert failure(capsys, "info", str(tmp_path / name)).endswith(f"{name}: Is a directory")


def test_closed_output(graph: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One line and code 1, before any work: a file that is opened next would have the descriptor of standard output."""
    commands = [
        *(
            ["info", graph],
            ["info"],
            ["bfs", graph, "--json"],
            ["pagerank", graph, "--out", "-"],
            ["cache"],
            ["--help"],
        ),
        *(
            ["convert", graph, graph],
            ["completion", "bash"],
            ["triangle-count", graph],
            ["generate", "path", "3", graph],
        ),
    ]
    before = Path(graph).read_bytes()
    monkeypatch.setattr(sys, "stdout", None)
    for words in commands:
        assert main(words) == 1
        assert capsys.readouterr().err == "semiring: error: standard output is closed\n"
    assert Path(graph).read_bytes() == before
    command = ["sh", "-c", '"$0" "$@" >&-', sys.executable, "-m", "semiring", "info", graph]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (1, "semiring: error: standard output is closed\n")


def test_malformed_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n3 1\n")
    assert f"{path}:3" in failure(capsys, "components", str(path))


def test_unknown_ending(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "graph.xyz").write_text("0 1\n")
    assert ".mtx" in failure(capsys, "info", str(tmp_path / "graph.xyz"))


def test_a_missing_file_is_missing_whatever_its_ending(capsys: pytest.CaptureFixture[str]) -> None:
    assert "rome99: No such file" in failure(capsys, "info", "rome99")


def test_a_source_that_is_no_number(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = failure(capsys, "bfs", graph, "--source", "first", code=2)
    assert "a row number or max-degree, got 'first'; names of vertices need --relabel" in line


def test_options_of_python_are_named_as_those_of_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.wel").write_text("0 1 2\n0 1 3\n")
    line = failure(capsys, "info", str(tmp_path / "a.wel"))
    assert "pass --dup-op to combine them, for example --dup-op plus" in line
    (tmp_path / "a.el").write_text("a b\n")
    assert "--relabel numbers ids that are text" in failure(capsys, "info", str(tmp_path / "a.el"))


def test_source_out_of_range(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "source 4" in failure(capsys, "bfs", graph, "--source", "4")


def test_graph_that_is_not_square(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "wide.srb")
    sr.io.write(path, sr.Matrix(bool, 2, 3))
    assert "an adjacency matrix is square, got shape (2, 3)" in failure(capsys, "bfs", path)


def test_no_convergence(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "after 1 iterations" in failure(capsys, "pagerank", graph, "--max-iter", "1")


@pytest.mark.parametrize(
    "words",
    [
        ["bfs", "{graph}", "--out", "{out}.xyz"],
        ["bfs", "{graph}", "--plot", "{out}.pdf"],
        ["convert", "{graph}", "{out}.sg"],
    ],
)
def test_refused_output_is_refused_at_once(
    words: list[str], graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failure(capsys, *(word.format(graph=graph, out=tmp_path / "out") for word in words))
    assert [path.name for path in tmp_path.iterdir()] == ["path.srb"]


def test_output_into_no_folder(graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "none" / "out.srb")
    assert failure(capsys, "convert", graph, target).endswith(f"error: {target}: No such file or directory")


def test_a_plot_into_no_folder(graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    target = str(tmp_path / "none" / "plot.png")
    with sr.config.set(quiet=True):
        assert main(["bfs", graph, "--plot", target, "--no-progress"]) == 1
    assert capsys.readouterr().err == f"semiring: error: {target}: No such file or directory\n"


def test_ids_too_large(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "big.el"
    path.write_text("0 5000000000\n")
    assert "--nrows 5000000001 requests" in failure(capsys, "info", str(path))


@pytest.mark.parametrize("module", ["semiring", "semiring.cli"])
def test_wrong_variables_of_the_environment(module: str) -> None:
    environment = {**os.environ, "SEMIRING_DEVICE": "gpu", "SEMIRING_QUIET": "perhaps"}
    words = [sys.executable, "-m", module, "info"]
    finished = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr.startswith("semiring: error: ")
    assert "SEMIRING_DEVICE" in finished.stderr
    assert finished.stderr.count("\n") == 1
    code = "import semiring; semiring.Vector(bool, 3)"
    used = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert re.search("InvalidValue: .*SEMIRING_DEVICE", used.stderr)


@pytest.mark.skipif(cuda_available(), reason="a device is there")
def test_no_device(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    failure(capsys, "bfs", graph, "--device", "cuda")


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "nowhere.mtx", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_interrupt(monkeypatch: pytest.MonkeyPatch, graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sr.io, "read", interrupted)
    assert main(["info", graph]) == 130
    assert capsys.readouterr().err == "semiring: interrupted\n"


def test_device_is_put_back(graph: str) -> None:
    before = (sr.config.device, sr.config.cpu_engine)
    assert main(["components", graph, "--device", "reference", "--json"]) == 0
    assert (sr.config.device, sr.config.cpu_engine) == before


def test_every_command_is_there() -> None:
    assert {command.__name__.rpartition(".")[2] for command in program._COMMANDS} == {
        "bench", "bfs", "cache", "components", "convert", "demo", "generate", "info", "launch", "pagerank", "warm",
    }  # fmt: skip


def process(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "semiring", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # A suite started in the background ignores interrupts, and its children would inherit that.
        preexec_fn=None if os.name == "nt" else lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.parametrize("module", ["semiring", "semiring.cli"])
def test_runs_as_a_module(module: str) -> None:
    finished = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True)
    assert finished.stdout == f"semiring {sr.__version__}\n"


@pytest.mark.skipif(os.name == "nt", reason="no SIGPIPE there")
def test_reader_that_closes_the_pipe(tmp_path: Path) -> None:
    path = str(tmp_path / "long.srb")
    sr.io.write(path, sr.random.path(200_000))
    with process("components", path, "--out", "-") as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.wait(60) == 141
        assert "Traceback" not in running.stderr.read()


def opened_for_writing(pipe: Path, reader: subprocess.Popen[str]) -> int:
    """Open a pipe as soon as a process reads from it, however long that takes to start."""
    while True:
        with contextlib.suppress(OSError):  # no reader yet
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        assert reader.poll() is None
        time.sleep(0.05)


@pytest.mark.skipif(os.name == "nt", reason="no signals there")
def interrupted(running: Any) -> int:
    """Interrupt until the process ends: Python ignores an exception of a signal that arrives inside a destructor."""
    for _ in range(30):
        running.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return int(running.wait(2))
    running.kill()
    raise AssertionError("the process ignored 30 interrupts")


def test_interrupted_process(tmp_path: Path) -> None:
    pipe = tmp_path / "never.el"
    os.mkfifo(pipe)
    with process("info", str(pipe)) as running:
        writer = opened_for_writing(pipe, running)  # no write: the command waits
        assert interrupted(running) == 130
        os.close(writer)
        assert running.stderr is not None
        assert running.stderr.read().endswith("semiring: interrupted\n")


def test_output_without_unicode(graph: str) -> None:
    words = [sys.executable, "-m", "semiring", "bfs", graph, "--chart"]
    finished = subprocess.run(words, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=True)
    assert finished.stdout.isascii()
    assert b"vertex frontier" in finished.stdout


def test_a_warning_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "four.txt"
    path.write_text("0 1 2 3\n1 0 4 5\n")
    command = [sys.executable, "-m", "semiring", "info", str(path), "--device", "cpu", "--no-progress"]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    assert "semiring: warning: " in found.stderr
    (line,) = (line for line in found.stderr.splitlines() if "compiling" not in line)
    assert re.fullmatch(r"semiring: warning: .*four\.txt:1: columns after the weight are ignored, 1 a line; .*", line)


@pytest.mark.costly
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("words", [["info"], ["convert", "GRAPH", "-"], ["pagerank", "GRAPH", "--out", "-"]])
def test_full_output(graph: str, words: list[str]) -> None:
    command = [sys.executable, "-m", "semiring", *(graph if word == "GRAPH" else word for word in words)]
    with open("/dev/full", "w") as full:
        finished = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert finished.returncode == 1
    assert finished.stderr.splitlines()[-1] == "semiring: error: standard output: No space left on device"
