"""The entry points of ``pyproject.toml``, as an installation would register them."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def entry_points() -> dict[str, dict[str, str]]:
    """Return the groups of entry points that NetworkX reads."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups: dict[str, dict[str, str]] = project["entry-points"]
    return groups


def with_entry_points(folder: Path) -> Path:
    """Write the metadata of a distribution into a folder, and return what to put first on the path."""
    site = folder / "site"
    metadata = site / "semiring-0.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: semiring\nVersion: 0.0\n", encoding="utf-8")
    groups = entry_points().items()
    text = "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in rows.items()) for group, rows in groups)
    (metadata / "entry_points.txt").write_text(text, encoding="utf-8")
    return site
