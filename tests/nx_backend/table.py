"""The table of functions in ``docs/networkx.md``: ``python -m tests.nx_backend.table`` writes it again."""

from __future__ import annotations

from pathlib import Path

from _nx_semiring import FUNCTIONS

PAGE = Path(__file__).resolve().parents[2] / "docs/networkx.md"
HEAD = "| function | what differs, or is left to NetworkX |\n|---|---|\n"


def table() -> str:
    """Return the rows, one for each function."""
    return "".join(f"| `{name}` | {note} |\n" for name, note in sorted(FUNCTIONS.items()))


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text[: text.index(HEAD) + len(HEAD)] + table(), encoding="utf-8")
