"""Messages of the library in the words of the shell."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import semiring as sr
from semiring.bridges.cli import main, program
from semiring.bridges.cli.error_text import in_shell_words

READING = {"dup_op", "relabel", "nrows", "unweighted", "compress", "placement", "device", "base", "comment", "sep"}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ('pass dup_op= to combine, for example dup_op="plus"', "pass --dup-op to combine, for example --dup-op plus"),
        ("relabel=True numbers the ids; nrows=50 requests it", "--relabel numbers the ids; --nrows 50 requests it"),
        ("or give a smaller nrows=", "or give a smaller --nrows"),
        ("weights=False reads the ends alone", "--unweighted reads the ends alone"),
        ("placement='host' needs no locked memory", "--placement host needs no locked memory"),
        ('placement="host" and then .compress("packed").to(placement="device"), or', "--compress packed, or"),
        ('.compress("varint") for less to read', "--compress varint for less to read"),
        ('what works: device="cpu"', "what works: --device cpu"),
        ("comment='' reads it", "--comment '' reads it"),
        ("sep=';' or comment='#%' or sep=','", "--sep ';' or --comment '#%' or --sep ,"),
        ("dtype=float64 may hold them", "dtype=float64 may hold them"),  # no option of these
        ("a x1.base=3 == 4", "a x1.base=3 == 4"),
    ],
)  # fmt: skip
def test_arguments_are_options(message: str, expected: str) -> None:
    assert in_shell_words(message, READING) == expected


def test_parameters_of_the_function_are_options() -> None:
    message = 'sssp: method="auto" accepts them (tol=1e-06, weights=False, max_iter=3.)'
    expected = "sssp: --method auto accepts them (--tol 1e-06, --no-weights, --max-iter 3.)"
    assert in_shell_words(message, {"method", "tol", "weights", "max_iter"}) == expected


def test_the_name_of_the_file_is_left_as_it_is() -> None:
    message = "/data/base=1.el:3: base=0 is the first"
    assert in_shell_words(message, {"base"}, file="/data/base=1.el") == "/data/base=1.el:3: --base 0 is the first"


@pytest.fixture
def failure(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command that fails; return its error."""

    def run(*words: str, code: int = 1) -> str:
        with sr.config.set(quiet=True):
            assert main([*words, "--no-progress"]) == code
        return capsys.readouterr().err

    return run


def test_advice_works_in_the_shell(tmp_path: Path, failure: Callable[..., str]) -> None:
    """An id that is far too large, with the advice followed."""
    path = str(tmp_path / "big.el")
    Path(path).write_text("0 90000000000\n")
    error = failure("info", path)
    assert "--relabel" in error
    assert (size := re.search(r"--nrows (\d+) requests", error)) is not None
    assert int(size[1]) == 90_000_000_001
    assert main(["info", path, "--relabel", "--no-progress"]) == 0
    assert "--nrows: the names" in failure("info", path, "--relabel", "--nrows", "3", code=2)
    Path(path).write_text("0 1 7\n")
    assert main(["info", path, "--nrows", "4", "--unweighted", "--no-progress"]) == 0
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n")
    assert "--unweighted is not an option of .mtx files" in failure(
        "info", str(tmp_path / "a.mtx"), "--unweighted", code=2
    )


def test_options_of_reading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("0 1 7\n")
    assert main(["info", str(tmp_path / "a.txt"), "--nrows", "4", "--unweighted", "--json", "--no-progress"]) == 0
    assert '"shape": [4, 4], "entries": 1, "dtype": "bool"' in capsys.readouterr().out


def test_algorithms_speak_of_options(tmp_path: Path, failure: Callable[..., str]) -> None:
    (tmp_path / "a.wel").write_text("0 1 -2\n1 0 1\n")
    error = failure("sssp", str(tmp_path / "a.wel"), "--source", "0", "--method", "delta_stepping")
    assert "--method auto and --method bellman_ford accept negative weights" in error


def test_advice_for_directed_graphs(tmp_path: Path, failure: Callable[..., str]) -> None:
    path = str(tmp_path / "a.wel")
    Path(path).write_text("0 1 2\n1 2 1\n")
    assert "store each in both with --symmetric\n" in failure("louvain", path)
    assert main(["info", path, "--symmetric", "--no-progress"]) == 0
    Path(path).write_text("0 1 2\n1 0 3\n")
    assert "such as --merge-op max\n" in failure("louvain", path)
    assert "the graph has a cycle; semiring condensation, of its strong" in failure("longest-paths", path)


def test_calls_are_commands() -> None:
    message = "connected_components(A) labels its parts; see sr.algorithms.bfs_order(A)"
    assert in_shell_words(message, {"merge_op"}) == "semiring components labels its parts; see semiring bfs-order"
    assert in_shell_words("f(A) = g(A, 1)", set()) == "f(A) = g(A, 1)"


def test_both_directions_are_combined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = str(tmp_path / "a.wel"), str(tmp_path / "b.srb")
    Path(path).write_text("0 1 2\n1 0 3\n2 2 5\n")
    assert main(["convert", path, out, "--merge-op", "min", "--no-progress"]) == 0
    assert sr.io.read(out).to_dicts() == {0: {1: 2}, 1: {0: 2}, 2: {2: 5}}


def test_standard_input_is_named(failure: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"0 x\n")))
    error = failure("info", "-")
    assert error.startswith("semiring: error: standard input:1: expected an integer as target")
    assert "--relabel" in error


MALFORMED = ("0\n", "0 1\n0 1 2\n", "a b\n", "0 99999999999\n", "-1 2\n", "0 1 x\n", "0 1 1\n0 1 2\n", "0 1 2 3\n0\n")


@pytest.mark.parametrize("content", MALFORMED)
def test_no_message_about_a_file_names_an_argument(content: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(content)
    arguments = program.parser().parse_args(["info", str(path)])
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(sr.SemiringError) as error:
            sr.io.read(path)
    for message in (error.value, *(warning.message for warning in warned)):
        assert not re.search(r"(?<![\w-])[a-z_]+=", program._in_shell_words(str(message), arguments))
