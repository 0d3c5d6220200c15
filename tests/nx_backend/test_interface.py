"""What NetworkX reads about the backend, and when it uses it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import Any

import networkx as nx
import pytest
from networkx.utils.backends import _registered_algorithms

import _nx_semiring
from semiring.bridges.networkx.registry import FUNCTIONS
from semiring.exceptions import InvalidValue
from semiring.nx_backend import backend
from tests.networkx_conformance.installed import ROOT, entry_points


def test_the_table_lists_the_functions() -> None:
    assert list(_nx_semiring.FUNCTIONS) == sorted(FUNCTIONS)
    assert len(FUNCTIONS) >= 100
    assert set(FUNCTIONS) <= set(dir(backend))


def test_signatures_are_those_of_networkx() -> None:
    for name, function in FUNCTIONS.items():
        own = inspect.signature(function).parameters.values()
        theirs = inspect.signature(_registered_algorithms[name].orig_func).parameters.values()
        assert [(p.name, p.default, p.kind) for p in own] == [(p.name, p.default, p.kind) for p in theirs], name


@pytest.mark.parametrize("group", ["networkx.backends", "networkx.backend_info"])
def test_entry_points_load(group: str) -> None:
    found = EntryPoint("semiring", entry_points()[group]["semiring"], group).load()
    assert found in (backend, _nx_semiring.get_info)


def test_info_is_light() -> None:
    code = "import sys, _nx_semiring; _nx_semiring.get_info(); print('numpy' in sys.modules, 'semiring' in sys.modules)"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert finished.stdout.split() == ["False", "False"]


def test_importing_semiring_does_not_import_networkx() -> None:
    code = "import sys, semiring, semiring.algorithms, semiring.io; print('networkx' in sys.modules)"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert finished.stdout.split() == ["False"]


def test_without_networkx_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['networkx'] = None; import semiring.nx_backend"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert finished.returncode == 1
    assert "NotSupported" in finished.stderr
    assert "pip install 'semiring[networkx]'" in finished.stderr


def test_docs_of_networkx_describe_the_backend() -> None:
    assert _nx_semiring.get_info()["functions"]["transitivity"]["additional_docs"].startswith("Directed graphs")


def test_unknown_names_and_arguments() -> None:
    G = nx.path_graph(3)
    with pytest.raises(ImportError, match="'nonesuch' backend is not installed"):
        nx.pagerank(G, backend="nonesuch")
    with pytest.raises(TypeError, match="unknown"):
        nx.pagerank(G, backend="semiring", unknown=1)
    with pytest.raises(NotImplementedError, match="not implemented by 'semiring'"):
        nx.dispersion(G, backend="semiring")


def test_a_function_as_weight_is_refused_with_a_reason() -> None:
    G = nx.path_graph(3)
    with pytest.raises(NotImplementedError, match="for the given arguments"):
        nx.single_source_dijkstra(G, 0, weight=lambda u, v, data: 1, backend="semiring")
    assert backend.can_run("single_source_dijkstra", (G, 0), {"weight": lambda u, v, data: 1}) == "a function as weight"
    assert backend.can_run("dispersion", (G,), {}) == "dispersion is not implemented"


@pytest.mark.parametrize("decorated", ["connected_components", "triangles", "core_number", "katz_centrality"])
def test_kinds_of_graphs_are_refused_as_by_networkx(decorated: str) -> None:
    function = getattr(nx, decorated)
    G = nx.MultiDiGraph([(0, 1)])
    with pytest.raises(nx.NetworkXNotImplemented):
        list(function(G))
    with pytest.raises(nx.NetworkXNotImplemented):
        list(function(G, backend="semiring"))


def test_what_the_backend_refuses_falls_back() -> None:
    G = nx.complete_graph(130)
    nx.set_edge_attributes(G, -1.0, "weight")
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(G, 0, backend="semiring")
    with nx.config(backend_priority=["semiring"], fallback_to_nx=True), pytest.raises(ValueError, match="negative"):
        nx.single_source_dijkstra_path_length(G, 0)


def test_graphs_of_the_backend_are_accepted() -> None:
    G = nx.karate_club_graph()
    H: Any = backend.convert_from_nx(G)
    assert nx.number_connected_components(H) == 1
    assert (len(H), H.number_of_edges(), 33 in H, 34 in H, [] in H) == (34, 78, True, False, False)
    assert str(H) == "semiring Graph with 34 nodes and 78 edges"
    with nx.config(fallback_to_nx=True):
        assert len(nx.dispersion(H)) == len(nx.dispersion(G))


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("device", ["gpu", "cuda:0", 7, ""])
def test_a_wrong_device_is_an_error_whether_or_not_the_graph_is_converted(device: Any, cached: bool) -> None:
    G = nx.path_graph(4)
    if cached:
        nx.pagerank(G, backend="semiring")
    with nx.config.backends.semiring(device=device):
        with pytest.raises(InvalidValue, match="a device is 'cpu' or 'cuda'"):
            nx.pagerank(G, backend="semiring")
        with nx.config(backend_priority=["semiring"]), pytest.raises(InvalidValue, match="a device is"):
            nx.pagerank(G)
        with pytest.raises(InvalidValue, match="a device is"):
            _ = backend.convert_from_nx(G).structure
    assert len(nx.pagerank(G, backend="semiring")) == 4


@pytest.mark.parametrize("size", ["many", float("nan"), [1]])
def test_a_wrong_size_is_an_error(size: Any) -> None:
    with (
        nx.config(backend_priority=["semiring"]),
        nx.config.backends.semiring(minimum_size=size),
        pytest.raises(InvalidValue, match="minimum_size: expected a number or None"),
    ):
        nx.pagerank(nx.path_graph(4))


def test_matrices_of_a_converted_graph_are_made_on_the_device_of_the_call() -> None:
    H: Any = backend.convert_from_nx(nx.path_graph(4))
    first = H.structure
    with nx.config.backends.semiring(device="cpu"):
        assert H.structure.device == H.device == "cpu"
        assert H.structure is H.structure
    assert H.structure is first
