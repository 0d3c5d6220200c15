"""The parser of the command line: argparse with suggestions for commands, options and choices that do not exist."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import semiring as sr

#: Functions whose command has another name than theirs.
ELSEWHERE = {
    "bfs-levels": "bfs",
    "bfs-parents": "bfs --parents --out FILE",
    "bfs-trace": "bfs",
    "connected-components": "components",
}
_CHOICE = re.compile(r"argument (?P<name>\S+): invalid choice: '(?P<word>[^']*)'")


class Parser(argparse.ArgumentParser):
    """An ArgumentParser, also for the commands below it, whose errors name what was probably meant."""

    _words: Sequence[str] = ()

    def parse_known_args(  # type: ignore[override]
        self, args: Any = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; what no argument accepts is an error of this parser, which has the options to suggest."""
        self._words = list(sys.argv[1:] if args is None else args)
        parsed, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(self._unknown(rest[0]))
        return parsed, rest

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and exit with code 2."""
        found = _CHOICE.match(message)
        if found is not None:
            message = self._no_choice(message, found["name"], found["word"])
        elif "required" in message:  # argparse reports missing arguments before unknown options
            unknown = next(filter(self._is_unknown, self._words), None)
            advice = f"; {self.prog} --help lists them" if self._parsers() else ""
            message = f"{message}{advice}" if unknown is None else self._unknown(unknown)
        super().error(message)

    def format_usage(self) -> str:
        """Return the usage in one line, which errors show: the help lists the options."""
        arguments = [action for action in self._actions if not action.option_strings]
        names = [f"[{action.metavar}]" if action.nargs in ("?", "*") else f"{action.metavar}" for action in arguments]
        return f"usage: {' '.join([self.prog, '[options]', *names, *(['...'] if self._parsers() else [])])}\n"

    def _is_unknown(self, word: str) -> bool:
        flag = word.partition("=")[0]
        below = (option for parser in self._parsers().values() for option in parser._options())
        return flag.startswith("--") and not any(known.startswith(flag) for known in (*self._options(), *below))

    def _unknown(self, word: str) -> str:
        if not word.startswith("-") or word == "-":
            vertex = f"--source {word}" if "--source" in self._options() else None
            advice = f"did you mean {vertex}?" if vertex else f"{self.prog} --help shows the arguments"
            return f"unexpected argument {word!r}; {advice}"
        flag = word.partition("=")[0]
        below = {option for parser in self._parsers().values() for option in parser._options()}
        if flag in below:
            return f"{flag} is an option of the commands: write it after the command"
        return f"no option {flag}; {self._hint(flag, self._options(), f'{self.prog} --help shows the options')}"

    def _no_choice(self, message: str, name: str, word: str) -> str:
        parsers = self._parsers()
        if not parsers:  # a choice of an option: the message lists all of them
            action = next(action for action in self._actions if name in _names(action))
            close = _close(word, map(str, action.choices or ()))
            return f"{message}; did you mean {close}?" if close else message
        kind = name.lower()
        if kind == "command" and sr.io.extension(word)[0] in sr.io.readers():
            return f"{word!r} is a file and no command: write, for example, {self.prog} info {word}"
        command = word.replace("_", "-")
        if kind == "command" and command in ELSEWHERE:
            return f"no command {word!r}: it is {self.prog} {ELSEWHERE[command]}"
        return f"no {kind} {word!r}; {self._hint(command, parsers, f'{self.prog} --help lists them')}"

    def _hint(self, word: str, known: Iterable[str], otherwise: str) -> str:
        close = _close(word, known)
        return f"did you mean {close}?" if close else otherwise

    def _options(self) -> list[str]:
        return [option for action in self._actions for option in action.option_strings]

    def _parsers(self) -> dict[str, Parser]:
        """Return the parsers of the commands below this one."""
        groups = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return {name: parser for group in groups for name, parser in group.choices.items()}


def command_of(function: str) -> str:
    """Return the command of a function of `semiring.algorithms`."""
    command = function.replace("_", "-")
    return ELSEWHERE.get(command, command)


def _names(action: argparse.Action) -> set[str]:
    """Return the names by which argparse's messages call an argument."""
    return {"/".join(action.option_strings), str(action.metavar), action.dest}


def _close(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is nearest to `word`, if one is near."""
    found = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return found[0] if found else None
