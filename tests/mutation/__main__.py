"""Draw mutants, run them, and print the score; see the package's docstring."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from .drawing import Draw, draw
from .running import Campaign, report

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = (
    "semiring/ops",
    "semiring/storage",
    "semiring/engines/sliced",
    "semiring/algorithms",
    "semiring/facade/writing.py",
    "semiring/facade/elementwise.py",
    "semiring/facade/elementwise.py",
)


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="Score the tests by mutants.")
    parser.add_argument("--count", type=int, default=200, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--modules", nargs="+", default=MODULES, help="files and folders to change")
    parser.add_argument("--cosmic-ray", default="cosmic-ray", help="the command, which draws")
    files = parser.add_mutually_exclusive_group()
    files.add_argument("--draw", type=Path, metavar="FILE", help="write the drawn mutants to FILE, and run none")
    files.add_argument("--mutants", type=Path, metavar="FILE", help="run the mutants of FILE, and draw none")
    parser.add_argument("--processes", type=int, default=1, help="mutants that run at the same time")
    parser.add_argument("--seconds", type=float, default=1e6, help="time after which the run stops")
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds that the tests of one mutant may take")
    parser.add_argument("--out", type=Path, metavar="FILE", help="append each result; what FILE has is not run again")
    return parser


def main() -> int:
    """Run as the command line selects."""
    parser = arguments()
    asked = parser.parse_args()
    if asked.mutants:
        drawn = Draw.read(asked.mutants)
    else:
        command = shutil.which(asked.cosmic_ray)
        if command is None:
            parser.error(
                f"there is no command {asked.cosmic_ray!r}: install cosmic-ray, as by `pipx install cosmic-ray`"
            )
        drawn = draw(ROOT, asked.modules, asked.count, asked.seed, command)
    if asked.draw:
        drawn.write(asked.draw)
        print(f"{len(drawn.mutants)} mutants drawn of {drawn.places} places, seed {drawn.seed}")
        return 0
    campaign = Campaign(ROOT, drawn, asked.processes, asked.seconds, asked.timeout, asked.out)
    with tempfile.TemporaryDirectory(prefix="mutation-", ignore_cleanup_errors=True) as folder:
        campaign.run(Path(folder))
        print(report(drawn, campaign.results), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
