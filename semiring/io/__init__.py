"""Files, and the sparse matrices and graphs of other libraries.

``semiring.io.read(path)`` chooses the reader by the extension of a file, ``write(path, A)`` writes one, ``open(path)``
maps a ``.srb`` file in milliseconds. Every malformed file raises `InvalidFormat` with the line or byte; files are
written atomically.
"""

from __future__ import annotations

from semiring.io.adjacency_lists import read_graph_txt, read_metis
from semiring.io.atomic import atomic_writer
from semiring.io.cupy_sparse import from_cupy_sparse, to_cupy_sparse
from semiring.io.dimacs import read_dimacs
from semiring.io.edge_lists import read_edgelist
from semiring.io.edge_lists_write import write_dimacs, write_edgelist
from semiring.io.files import extension
from semiring.io.gap import read_sg
from semiring.io.graphalytics import read_graphalytics
from semiring.io.igraph import from_igraph, to_igraph
from semiring.io.jlg import read_jlg
from semiring.io.journal import Journal
from semiring.io.konect import read_konect
from semiring.io.markup import read_gml, read_graphml
from semiring.io.markup_write import write_gml, write_graphml
from semiring.io.matrix_market import mmread
from semiring.io.matrix_market_write import mmwrite
from semiring.io.networkx import from_networkx, to_networkx
from semiring.io.npz import load_npz, save_npz
from semiring.io.parquet import read_parquet, write_parquet
from semiring.io.read import read, readers, write, writers
from semiring.io.scipy_sparse import from_scipy_sparse, to_scipy_sparse
from semiring.io.srb_mapped import open, read_srb, write_srb
from semiring.io.torch_geometric import from_torch_geometric, to_torch_geometric
from semiring.io.vectors import read_vector, write_vector
from semiring.memory.allocation import reports_memory

__all__ = [
    "Journal",
    "atomic_writer",
    "extension",
    "from_cupy_sparse",
    "from_igraph",
    "from_networkx",
    "from_scipy_sparse",
    "from_torch_geometric",
    "load_npz",
    "mmread",
    "mmwrite",
    "open",
    "read",
    "read_dimacs",
    "read_edgelist",
    "read_gml",
    "read_graph_txt",
    "read_graphalytics",
    "read_graphml",
    "read_jlg",
    "read_konect",
    "read_metis",
    "read_parquet",
    "read_sg",
    "read_srb",
    "read_vector",
    "readers",
    "save_npz",
    "to_cupy_sparse",
    "to_igraph",
    "to_networkx",
    "to_scipy_sparse",
    "to_torch_geometric",
    "write",
    "write_dimacs",
    "write_edgelist",
    "write_gml",
    "write_graphml",
    "write_parquet",
    "write_srb",
    "write_vector",
    "writers",
]

# OutOfMemory names the public function that was called.
for _name in __all__:
    globals()[_name] = reports_memory(globals()[_name])


def __dir__() -> list[str]:
    return sorted(__all__)
