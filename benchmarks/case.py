"""A case of the benchmarks: what its module declares, and what it uses while it runs.

Each module of `benchmarks.cases` is a case, named like the module with hyphens.  It declares

- its docstring: the first line is what ``--list`` prints;
- ``main(run)``, which measures, verifies and reports; the exit code is 1 if a target is missed or there is no row,
  unless it returns another one;
- ``OPTIONS``, if it has any: ``{name: (default, help)}`` or ``(default, help, choices)``.  A default for each device is
  a dict by device; a tuple is a list of values; False is a switch;
- ``ROWS``, if parts of it can be selected by ``--rows``: functions, of what ``run.rows`` passes to them;
- ``DEVICE``, if it has only one.
"""

from __future__ import annotations

import argparse
import ast
import importlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import semiring as sr

from .harness import Samples
from .report import RESULTS, Peer, Report, Row, timed

FOLDER = Path(__file__).resolve().parent / "cases"


def names() -> dict[str, str]:
    """What each case measures, by its name; no case is imported, since some need optional packages."""
    found = {}
    for path in sorted(FOLDER.glob("[a-z]*.py")):
        about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found[path.stem.replace("_", "-")] = about.partition("\n")[0]
    return found


def module(name: str) -> ModuleType:
    """The module of a case."""
    return importlib.import_module(f"benchmarks.cases.{name.replace('-', '_')}")


class Run:
    """One run of a case.

    device: ``"cpu"`` or ``"cuda"``.  options: the values of ``OPTIONS``.  result: the name of the result files; a case
    changes it before its first row.
    """

    def __init__(self, name: str, device: str, options: argparse.Namespace, folder: Path = RESULTS) -> None:
        self.device = device
        self.options = options
        self.result = name
        self._folder = folder

    @property
    def on_gpu(self) -> bool:
        """Whether the case runs on a GPU."""
        return self.device == "cuda"

    @cached_property
    def report(self) -> Report:
        """The result files, which exist from the first row on."""
        return Report(self.result, self.device, self._folder)

    def add(self, what: str, unit: str, value: float | None, bound: float | None = None, **more: Any) -> None:
        """Report one figure; see `Row`."""
        self.report.add(Row(what, unit, value, bound, **more))

    def timed(
        self,
        what: str,
        found: Samples | Mapping[str, Samples],
        bound: float | None = None,
        note: str = "",
        recorded: Sequence[tuple[str, float]] = (),
        peers: Sequence[Peer] = (),
        **more: Any,
    ) -> None:
        """Report milliseconds: of one program, or of ours, the first, and of its peers.

        recorded, peers: figures of other programs: measured earlier, or apart.
        """
        ours, *others = [("", found)] if isinstance(found, Samples) else found.items()
        beside = [Peer(name, samples.median, samples=samples.wall_ms) for name, samples in others]
        beside += [Peer(name, ms, recorded=True) for name, ms in recorded]
        self.report.add(timed(what, ours[1], bound, note, peers=(*beside, *peers), **more))

    def selects(self, what: str) -> bool:
        """Whether ``--only`` selects a name: it is absent, or one of its words is part of the name."""
        return not self.options.only or any(word in what for word in self.options.only)

    def chosen(self, rows: Sequence[Any]) -> list[Any]:
        """The functions that ``--rows`` selects."""
        return [row for row in rows if not self.options.rows or row.__name__ in self.options.rows]

    def rows(self, rows: Sequence[Any], argument: Any) -> None:
        """Call the functions that ``--rows`` selects."""
        for row in self.chosen(rows):
            row(argument)


# A usual option: words, of which one must be part of the name of what is measured.
ONLY = ((), "only what has one of these words in its name")


def parser(name: str, case: ModuleType) -> argparse.ArgumentParser:
    """The command line of a case."""
    about = (case.__doc__ or "").strip()
    made = argparse.ArgumentParser(
        prog=f"python -m benchmarks {name}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if not hasattr(case, "DEVICE"):
        made.add_argument("--device", choices=("cpu", "cuda"), help="default: the device of new objects")
    made.add_argument("--out", type=Path, default=RESULTS, help="the folder of the result files")
    if hasattr(case, "ROWS"):
        rows = [row.__name__ for row in case.ROWS]
        made.add_argument("--rows", nargs="+", choices=rows, metavar="ROW", help="only these: " + ", ".join(rows))
    for option, (default, about, *choices) in getattr(case, "OPTIONS", {}).items():
        example = next(iter(default.values())) if isinstance(default, dict) else default
        known: dict[str, Any] = {"default": default, "help": f"{about}; default: {default}".replace("%", "%%")}
        if example is False:
            known |= {"action": "store_true", "help": about}
        elif isinstance(example, tuple):
            known |= {"nargs": "*", "type": type(example[0]) if example else str}
        elif example is not None:
            known["type"] = type(example)
        if choices:
            known["choices"] = choices[0]
        made.add_argument(f"--{option.replace('_', '-')}", dest=option, **known)
    return made


def run(name: str, arguments: Sequence[str]) -> int:
    """Run a case with the arguments of a command line; the exit code is 1 if a target is missed."""
    case = module(name)
    options = parser(name, case).parse_args(arguments)
    device = getattr(case, "DEVICE", None) or options.device or ("cuda" if sr.cuda_available() else "cpu")
    for option, value in vars(options).items():
        if isinstance(value, dict):
            setattr(options, option, value[device])
    this = Run(name, device, options, options.out)
    with sr.use(device):
        code = case.main(this)
    if code is None or "report" in vars(this):
        this.report.close()
    return int(this.report.failed if code is None else code)
