"""The machine of a result, and the revision of the repository."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from semiring.bridges.bench import machine
from semiring.bridges.bench.machine import output, slug

__all__ = ["ROOT", "describe", "facts", "slug"]

ROOT = Path(__file__).resolve().parent.parent


@functools.cache
def facts(device: str) -> dict[str, Any]:
    """The facts that a comparison of figures needs, with the revision."""
    revision = output("git", "rev-parse", "--short=12", "HEAD", cwd=ROOT) or "unknown"
    changed = output("git", "status", "--porcelain", "--untracked-files=no", cwd=ROOT)
    return machine.facts(device) | {"revision": revision + ("+changes" if changed else "")}


def describe(device: str) -> str:
    """The facts as lines of text."""
    return machine.describe(facts(device))
