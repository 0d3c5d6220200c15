"""NetworkX with the backend: registered as its entry points would, where the distribution is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint

import networkx as nx
import pytest
from networkx.utils import Config, backends

from _nx_semiring import SETTINGS, get_info
from tests.networkx_conformance.installed import entry_points


@pytest.fixture(scope="session")
def registered() -> None:
    if "semiring" not in backends.backends:
        group = "networkx.backends"
        backends.backends["semiring"] = EntryPoint("semiring", entry_points()[group]["semiring"], group)
        backends.backend_info["semiring"] = get_info()
        nx.config.backends = Config(semiring=Config(**SETTINGS), **nx.config.backends)
        backends._dispatchable.__call__ = backends._dispatchable._call_if_any_backends_installed


@pytest.fixture(autouse=True)
def quiet(registered: None) -> Iterator[None]:
    """Without NetworkX's note that a converted graph is used again, which is a warning."""
    with nx.config(warnings_to_ignore={"cache"}):
        yield
