"""Draw mutants: list the changes that cosmic-ray offers, take a seeded sample, and record each as an edit of a file."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import random
import sqlite3
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

_CONFIGURATION = """[cosmic-ray]
module-path = [{modules}]
timeout = 1.0
excluded-modules = []
test-command = "true"
[cosmic-ray.distributor]
name = "local"
"""


class Change(NamedTuple):
    """One change as cosmic-ray names it."""

    module: str
    line: int
    column: int
    operator: str
    occurrence: int


@dataclass(frozen=True)
class Mutant:
    """An edit of one module: the characters from `start` to `end` become `replacement`."""

    module: str
    line: int
    operator: str
    digest: str  # of the unchanged module
    start: int
    end: int
    replacement: str

    @property
    def name(self) -> str:
        """Identify the edit, also in another run: the first digits of a digest of all fields."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:12]

    def apply(self, source: str) -> str:
        """Return the changed text of the module."""
        if digest(source) != self.digest:
            raise ValueError(f"{self.module} is not the file that the mutants were drawn from: draw them again")
        return source[: self.start] + self.replacement + source[self.end :]

    def difference(self, source: str) -> str:
        """Return the change as a unified diff, without lines of context."""
        before, after = source.splitlines(), self.apply(source).splitlines()
        return "\n".join(list(unified_diff(before, after, lineterm="", n=0))[2:])


@dataclass(frozen=True)
class Draw:
    """A sample of the mutants of a revision."""

    seed: int
    places: int
    mutants: list[Mutant]

    def write(self, path: Path) -> None:
        """Write a line with the seed and the number of places, and a line for each mutant, as JSON."""
        lines: list[object] = [{"seed": self.seed, "places": self.places}, *map(asdict, self.mutants)]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Draw:
        """Read what `write` wrote."""
        first, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        return cls(**first, mutants=[Mutant(**line) for line in lines])


def digest(source: str) -> str:
    """Return the digest of a module's text that its mutants record."""
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def annotated(source: str) -> set[int]:
    """The lines with only annotations, type checks and assertions: changing them changes no behavior."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg | ast.Assert):
            parts: list[ast.AST] = [node]
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            parts = [node.returns]
        elif isinstance(node, ast.AnnAssign) and node.value is None:
            parts = [node]
        else:
            continue
        for part in parts:
            lines.update(range(part.lineno, (part.end_lineno or part.lineno) + 1))  # type: ignore[attr-defined]
    return lines


def sample(session: Path, root: Path, count: int, seed: int) -> tuple[int, list[Change]]:
    """Return the number of positions in a session of cosmic-ray, and `count` changes, at most one for each position.

    The order is random, so that the mutants that a stopped run has tried are a sample too.
    """
    places: defaultdict[tuple[str, int, int], list[Change]] = defaultdict(list)
    idle: dict[str, set[int]] = {}
    listed = "module_path, start_pos_row, start_pos_col, operator_name, occurrence"
    with sqlite3.connect(session) as database:
        changes = sorted(Change(*row) for row in database.execute(f"select {listed} from mutation_specs"))
    for change in changes:
        if change.module not in idle:
            idle[change.module] = annotated((root / change.module).read_text(encoding="utf-8"))
        if change.line not in idle[change.module]:
            places[change[:3]].append(change)
    rng = random.Random(seed)
    chosen = rng.sample(sorted(places), min(count, len(places)))
    return len(places), [rng.choice(places[place]) for place in chosen]


def _common(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (x, y) in pairs if x != y), min(len(one), len(other)))


def edit(change: Change, before: str, after: str) -> Mutant:
    """Return the smallest edit that makes one text of a module another."""
    start = _common(before, after)
    same = _common(before[start:][::-1], after[start:][::-1])
    end = len(before) - same
    return Mutant(
        change.module, change.line, change.operator, digest(before), start, end, after[start : len(after) - same]
    )


def draw(root: Path, modules: Sequence[str], count: int, seed: int, command: str) -> Draw:
    """Draw mutants of the modules of a working tree; `command` is that of cosmic-ray."""
    with tempfile.TemporaryDirectory() as folder:
        configuration, session = Path(folder) / "mutation.toml", Path(folder) / "mutation.sqlite"
        listed = ", ".join(f'"{module}"' for module in modules)
        configuration.write_text(_CONFIGURATION.format(modules=listed), encoding="utf-8")
        subprocess.run([command, "init", str(configuration), str(session)], cwd=root, check=True)
        places, changes = sample(session, root, count, seed)

        def made(numbered: tuple[int, Change]) -> Mutant:
            number, change = numbered
            before = (root / change.module).read_text(encoding="utf-8")
            copy = Path(folder) / f"{number}.py"
            copy.write_text(before, encoding="utf-8")
            subprocess.run([command, "apply", str(copy), change.operator, str(change.occurrence)], check=True)
            return edit(change, before, copy.read_text(encoding="utf-8"))

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return Draw(seed, places, list(pool.map(made, enumerate(changes))))
