"""Why tests do not run on a grid: the table in ``skipped.md``."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_ROW = re.compile(r"^\| (mark|operation) \| (.+?) \| (.+) \|$", re.MULTILINE)
_MARK, _OPERATION = "of one process: ", "on a grid: "


def listed() -> dict[str, str]:
    """Return the reasons of `skipped.md`, each with its kind: ``mark``, or ``operation`` that a grid does not have."""
    text = (Path(__file__).parent / "skipped.md").read_text(encoding="utf-8")
    return {reason.strip("`"): kind for kind, reason, _ in _ROW.findall(text)}


def grid_reason(text: str) -> str | None:
    """Return the reason of a test that a grid skips, of an operation its name; None for what no engine or GPU runs."""
    if text.startswith(_MARK):
        return text.removeprefix(_MARK)
    if text.startswith(_OPERATION):
        return text.removeprefix(_OPERATION).partition(" is not supported on a grid")[0].partition(";")[0]
    return None
