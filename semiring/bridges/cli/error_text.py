"""Messages of the library in the words of the shell: arguments of Python become options of the command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection

from semiring.bridges.cli.parsing import command_of

# `name=value`; a value is a word in quotes, a number, a name, or left out.
_ARGUMENT = re.compile(
    r"(?<![\w.-])(?P<name>[a-z]\w*)=(?P<value>\"[^\"]*\"|'[^']*'|-?\w+(?:[.+-]+\w+)*|(?=[\s,;:)]|$))"
)
# The advice of `semiring.storage`: steps that one option makes here.
_STEPS = re.compile(r"(?:placement=\"host\" and then )?\.compress\(\"(\w+)\"\)(?:\.to\(placement=\"device\"\))?")


_UNION = re.compile(r"A\.ewise_add\(A\.T, \"(\w+)\"\)")
# A column of an edge list, which is no vertex.
_COLUMN = re.compile(r"\bcolumn (source|target|weight)=")
# A function of the graph, and a part of its result.
_CALL = re.compile(r"\b(?:sr\.algorithms\.)?([a-z_]+)\(A\)(?:\.[a-z_]+)?")


def in_shell_words(message: str, options: Collection[str], *, file: str = "") -> str:
    """Return a message with the arguments that are options of the command in their words: ``--relabel``.

    Calls that a message advises become commands: ``condensation(A)`` is ``semiring condensation``.

    options: names of arguments that the command has as options; others are left as they are.  file: the name of the
    file, which is left as it is.
    """
    parts = message.split(file) if file else [message]
    return file.join(_translated(part, options) for part in parts)


def _translated(text: str, options: Collection[str]) -> str:
    text = _STEPS.sub(r"--compress \1", text) if "compress" in options else text
    if "merge_op" in options:
        text = _UNION.sub(lambda found: "--symmetric" if found[1] == "any" else f"--merge-op {found[1]}", text)
        text = _CALL.sub(lambda found: f"semiring {command_of(found[1])}", text)
    if "source_column" in options:
        text = _COLUMN.sub(r"\1_column=", text)
    return _ARGUMENT.sub(_option_of(options), text)


def _option_of(options: Collection[str]) -> Callable[[re.Match[str]], str]:
    def option(found: re.Match[str]) -> str:
        name, value = found["name"], found["value"]
        quoted = value[:1] in ("'", '"')
        value = value[1:-1] if quoted else value
        if name == "weights" and value == "False" and "unweighted" in options:
            return "--unweighted"
        if name not in options:
            return found[0]
        flag = name.replace("_", "-")
        if value == "False":
            return f"--no-{flag}"
        if quoted:
            return f"--{flag} {shlex.quote(value)}"
        return f"--{flag}" if value in ("", "True") else f"--{flag} {value}"

    return option
