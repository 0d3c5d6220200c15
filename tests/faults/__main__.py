"""Run one fault campaign from the shell; see the package's docstring."""

from __future__ import annotations

import argparse
import importlib
import inspect
import platform
import sys
import time
from datetime import date
from pathlib import Path

import numpy as np


def main() -> int:
    folder = Path(__file__).parent
    campaigns = sorted(
        path.stem for path in folder.glob("*.py") if not path.stem.startswith(("_", "test_")) and path.stem != "tally"
    )
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("campaign", choices=campaigns)
    parser.add_argument("--count", type=int, required=True, help="trials to run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", default="cpu", help="of the campaigns that compare engines")
    parser.add_argument("--seconds", type=float, help="of the campaign that can be limited: no trial begins later")
    parser.add_argument("--out", type=Path, help="append the tally to this file")
    asked = parser.parse_args()
    began = time.perf_counter()
    trials = importlib.import_module(f"tests.faults.{asked.campaign}").trials
    accepted = inspect.signature(trials).parameters
    options = {name: value for name, value in vars(asked).items() if name in accepted and name not in ("count", "seed")}
    tally = trials(asked.count, asked.seed, **options)
    seconds = time.perf_counter() - began
    machine = f"{date.today()}, Python {platform.python_version()}, numpy {np.__version__}, {seconds:.0f} s"
    print(f"{tally}\n  {machine}")
    if asked.out is not None:
        with asked.out.open("a", encoding="utf-8") as out:
            out.write(f"{tally}\n  {machine}\n")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
