"""In these tests everything is computed here, whatever takes less time."""

from __future__ import annotations

import pytest

from semiring.bridges.csgraph.conversion import Policy


@pytest.fixture(autouse=True)
def everything_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Policy, "by_time", False)
