"""Wrong commands, options and choices: one line that names what was probably meant, under the usage in one line."""

from __future__ import annotations

import pytest

from semiring.bridges.cli import main, program
from semiring.bridges.cli.parsing import ELSEWHERE, Parser


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("bsf g.mtx", "no command 'bsf'; did you mean bfs?"),
        ("triangle_count g.mtx", "no command 'triangle_count'; did you mean triangle-count?"),
        ("connected_components g.mtx", "no command 'connected_components': it is semiring components"),
        ("bfs_parents g.mtx", "no command 'bfs_parents': it is semiring bfs --parents --out FILE"),
        ("xyzzyq g.mtx", "no command 'xyzzyq'; semiring --help lists them"),
        ("roads.gr.xz", "'roads.gr.xz' is a file and no command: write, for example, semiring info roads.gr.xz"),
        ("--json bfs g.mtx", "--json is an option of the commands: write it after the command"),
        ("--verion", "no option --verion; did you mean --version?"),
        ("bfs g.mtx --symetric", "no option --symetric; did you mean --symmetric?"),
        ("bfs --symetric", "no option --symetric; did you mean --symmetric?"),
        ("bfs g.mtx --max_iter=3", "no option --max_iter; semiring bfs --help shows the options"),
        ("pagerank g.mtx --max_iter=3", "no option --max_iter; did you mean --max-iter?"),
        ("bfs g.mtx more", "unexpected argument 'more'; did you mean --source more?"),
        ("pagerank g.mtx more", "unexpected argument 'more'; semiring pagerank --help shows the arguments"),
        ("generate rmt 4 g.srb", "no kind 'rmt'; did you mean rmat?"),
        ("generate rmat 4 g.srb --sed 3", "no option --sed; did you mean --seed?"),
        ("bfs", "the following arguments are required: FILE"),
        ("", "the following arguments are required: COMMAND; semiring --help lists them"),
    ],
)
def test_what_was_meant(words: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    caught = capsys.readouterr()
    usage, line = caught.err.splitlines()
    assert caught.out == ""
    assert usage.startswith("usage: semiring")
    assert line.endswith(f": error: {expected}")


def test_choices_of_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bfs", "g.mtx", "--device", "cud"]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert "reference" in line
    assert line.endswith("; did you mean cuda?")
    assert main(["sssp", "g.mtx", "--method", "dijkstra"]) == 2
    assert "delta_stepping" in capsys.readouterr().err


def test_an_abbreviated_option_is_accepted() -> None:
    assert program.parser().parse_args(["bfs", "g.mtx", "--symm"]).symmetric


def test_usage_of_every_command_is_one_line() -> None:
    made = program.parser()
    assert isinstance(made, Parser)
    assert made.format_usage() == "usage: semiring [options] COMMAND ...\n"
    commands = made._parsers()
    assert commands["bfs"].format_usage() == "usage: semiring bfs [options] FILE\n"
    assert commands["info"].format_usage() == "usage: semiring info [options] [FILE]\n"
    assert (
        commands["generate"]._parsers()["rmat"].format_usage() == "usage: semiring generate rmat [options] SCALE OUT\n"
    )
    assert all(parser.format_usage().count("\n") == 1 for parser in commands.values())


def test_functions_under_other_names_are_commands() -> None:
    commands = program.parser()._parsers()  # type: ignore[attr-defined]
    assert {command.split()[0] for command in ELSEWHERE.values()} <= set(commands)
    assert not set(ELSEWHERE) & set(commands)
