"""Time single operations and print them as bandwidth.

    python -m benchmarks.ops                       every operation
    python -m benchmarks.ops mxv vxm --graph kron20 --device cuda

Each result is compared with array expressions outside the timing.
"""

from __future__ import annotations

import sys
from importlib import import_module

import semiring as sr

from .. import arguments, graphs
from ..harness import SOURCES, measure
from ..report import Report, Row, timed
from .case import Case

WORDS = ("mxv", "vxm", "ewise", "apply", "write", "reduce", "build", "closure_many")


def main() -> int:
    """Measure as the command line selects."""
    parser = arguments.parser("ops", __doc__)
    parser.add_argument("words", nargs="*", metavar="WORD", help="of " + ", ".join(WORDS))
    parser.add_argument("--graph", help="default: kron22 on a GPU, kron16 on a CPU")
    options = parser.parse_args()
    words = options.words or list(WORDS)
    if unknown := [word for word in words if word not in WORDS]:
        parser.error(f"no such word: {', '.join(unknown)}; there are {', '.join(WORDS)}")
    device = arguments.device_of(options)
    name = options.graph or {"cuda": "kron22", "cpu": "kron16"}[device]
    with sr.use(device):
        report = Report("ops", device, options.out)
        A = graphs.make(name)
        for word in words:
            for case in import_module(f"benchmarks.ops.{word}").cases(A):
                report.add(_row(f"{word} {name}: {case.axes}", case, device))
        report.close()
    return 0


def _row(what: str, case: Case, device: str) -> Row:
    samples = measure(lambda _: case.call(), lambda _, result: case.check(result), range(SOURCES), device)
    return timed(what, samples.divided(case.parts), note=f"{case.moved_bytes / samples.median / 1e6:.4g} GB/s")


if __name__ == "__main__":
    sys.exit(main())
