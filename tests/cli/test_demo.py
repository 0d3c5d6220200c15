"""The demonstration: the bundled roads and a tiny social-like graph."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from semiring.bridges.plot import style
from semiring.cli import main


def test_demo_prints_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "frontier.png"
    assert main(["demo", "--scale", "6", "--plot", str(path)]) == 0
    text = capsys.readouterr().out
    for word in ("engine", "Roads of New York", "Kronecker scale 6", "264,346", "730,100", "MTEPS", "push", str(path)):
        assert word in text
    assert path.read_bytes().startswith(b"\x89PNG")


def test_demo_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--scale", "6", "--source", "0", "--no-plot", "--json"]) == 0
    roads, social = json.loads(capsys.readouterr().out)["graphs"]
    assert (roads["rows"], roads["entries"], roads["reached"]) == (264_346, 730_100, 264_346)
    assert (roads["levels"], roads["components"], roads["entries_traversed"]) == (620, 1, 730_100)
    assert len(roads["directions"]) == len(roads["vertex_frontier"]) == 620
    assert sum(roads["vertex_frontier"]) == roads["reached"]
    assert social["rows"] == 64


def test_demo_without_matplotlib(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(style, "can_draw", lambda: False)
    path = tmp_path / "frontier.png"
    assert main(["demo", "--scale", "5", "--plot", str(path)]) == 0
    assert "semiring[plot]" in capsys.readouterr().out
    assert not path.exists()
