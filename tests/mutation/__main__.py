"""Draw mutants, run them, and print the score; see the package's docstring."""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = (
    "semiring/ops",
    "semiring/storage",
    "semiring/engines/sliced",
    "semiring/algorithms",
    "semiring/facade/writing.py",
    "semiring/facade/infix.py",
)
_CONFIGURATION = """[cosmic-ray]
module-path = [{modules}]
timeout = {timeout:.1f}
excluded-modules = []
test-command = "{python} -m tests.mutation.suspects"
[cosmic-ray.distributor]
name = "local"
"""


def annotated(source: str) -> set[int]:
    """The lines with only annotations, type checks and assertions: changing them changes no behaviour."""
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


def sample(session: Path, clone: Path, count: int, seed: int) -> int:
    """Keep `count` mutants of the session, at most one for each position; returns the number of positions."""
    with sqlite3.connect(session) as database:
        places: defaultdict[tuple[str, int, int], list[str]] = defaultdict(list)
        idle: dict[str, set[int]] = {}
        listed = "module_path, start_pos_row, start_pos_col, operator_name, occurrence, job_id"
        rows = sorted(database.execute(f"select {listed} from mutation_specs"))
        for module, row, column, _, _, job in rows:
            if module not in idle:
                idle[module] = annotated((clone / module).read_text(encoding="utf-8"))
            if row not in idle[module]:
                places[module, row, column].append(job)
        rng = random.Random(seed)
        chosen = rng.sample(sorted(places), min(count, len(places)))
        kept = {rng.choice(places[place]) for place in chosen}
        database.execute("create temp table kept (job_id text primary key)")
        database.executemany("insert into kept values (?)", [(job,) for job in kept])
        for table in ("mutation_specs", "work_items"):
            database.execute(f"delete from {table} where job_id not in (select job_id from kept)")
    return len(places)


def results(session: Path) -> list[tuple[str, str, int, str, str]]:
    """(outcome, module, line, operator, difference) of each mutant; a SLOW one exceeded the time limit."""
    outcome = "case when output = 'timeout' then 'SLOW' else test_outcome end"
    columns = f"{outcome}, module_path, start_pos_row, operator_name, diff"
    with sqlite3.connect(session) as database:
        return database.execute(
            f"select {columns} from work_results join mutation_specs using (job_id) order by 2, 3"
        ).fetchall()


def main() -> int:
    """Run as the command line selects."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="Score the tests by mutants.")
    parser.add_argument("--count", type=int, default=200, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--modules", nargs="+", default=MODULES, help="files and folders to change")
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds that the tests of one mutant may take")
    parser.add_argument("--cosmic-ray", default="cosmic-ray", help="the command")
    asked = parser.parse_args()
    command = shutil.which(asked.cosmic_ray)
    if command is None:
        parser.error(f"there is no command {asked.cosmic_ray!r}: install cosmic-ray, as by `pipx install cosmic-ray`")
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        modules = ", ".join(f'"{module}"' for module in asked.modules)
        configuration = _CONFIGURATION.format(modules=modules, timeout=asked.timeout, python=sys.executable)
        (clone / "mutation.toml").write_text(configuration, encoding="utf-8")
        session = clone / "mutation.sqlite"
        env = {**os.environ, "PYTHONPATH": str(clone)}

        def cosmic_ray(*words: str) -> None:
            subprocess.run([command, *words], cwd=clone, env=env, check=True)

        cosmic_ray("init", "mutation.toml", session.name)
        places = sample(session, clone, asked.count, asked.seed)
        subprocess.run([sys.executable, "-m", "tests.mutation.suspects"], cwd=clone, env=env, check=True)
        cosmic_ray("exec", "mutation.toml", session.name)
        found = results(session)
    outcomes = Counter(outcome for outcome, *_ in found)
    for outcome, module, line, operator, difference in found:
        if outcome != "KILLED":
            print(f"{outcome} {module}:{line} {operator}\n{difference}")
    counts = ", ".join(f"{count} {outcome.lower()}" for outcome, count in sorted(outcomes.items()))
    print(f"{len(found)} mutants of {places} places, seed {asked.seed}: {counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
