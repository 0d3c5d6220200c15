"""``python -m benchmarks CASE [options]``: one measurement; ``--list`` prints all cases."""

from __future__ import annotations

import difflib
import sys

from . import case


def main(arguments: list[str] | None = None) -> int:
    """Run the case that the command line names."""
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--list"]
    known = case.names()
    if name in ("--list", "--help", "-h"):
        print("python -m benchmarks CASE [options]; the options of a case: python -m benchmarks CASE --help\n")
        width = max(map(len, known))
        print("\n".join(f"{one:{width}}  {about}" for one, about in known.items()))
        return 0
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        sys.exit(f"no case is called {name!r}" + (f"; did you mean {near[0]}?" if near else "; see --list"))
    return case.run(name, rest)


if __name__ == "__main__":
    sys.exit(main())
