"""The shared graphs, read in the simplest way: whole files through NumPy, without the readers of the package.

`load` returns the simple graph to which ``truth.json`` refers: no self-loops, no repeated arcs, both directions
where the graph is undirected.  Rows are numbered as `id_rule` says.
"""

from __future__ import annotations

import gzip
import lzma
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Graph:
    """A simple graph as CSR arrays; `weights` (or None) are the least of parallel arcs, `ids` the file's numbers."""

    indptr: Array
    indices: Array
    weights: Array | None
    ids: Array

    @property
    def n(self) -> int:
        return self.indptr.size - 1

    def scipy(self) -> Any:
        """The pattern with ones, as SciPy has it."""
        return sp.csr_array((np.ones(self.indices.size, np.int8), self.indices, self.indptr), shape=(self.n, self.n))

    def symmetric(self) -> Graph:
        """Every arc in both directions."""
        rows = np.repeat(np.arange(self.n), np.diff(self.indptr))
        return assemble(
            self.n,
            np.concatenate([rows, self.indices]),
            np.concatenate([self.indices, rows]),
            None if self.weights is None else np.concatenate([self.weights, self.weights]),
            self.ids,
        )


def assemble(n: int, rows: Array, cols: Array, weights: Array | None, ids: Array) -> Graph:
    """Sort arcs, drop self-loops, keep the lightest of parallel ones."""
    kept = rows != cols
    rows, cols = rows[kept].astype(np.int64), cols[kept].astype(np.int64)
    keys = rows * n + cols
    order = np.argsort(keys, kind="stable") if weights is None else np.lexsort((weights[kept], keys))
    unique, first = np.unique(keys[order], return_index=True)
    indptr = np.searchsorted(unique, np.arange(n + 1) * n) if n else np.zeros(1, np.int64)
    return Graph(indptr, unique % max(n, 1), None if weights is None else weights[kept][order][first], ids)


def load(folder: Path, name: str, facts: dict[str, Any]) -> Graph:
    """The graph of an entry of ``truth.json``."""
    rows, cols, weights, n, base = _parse(folder, name)
    if "rank" in facts["id_rule"]:
        listed = folder / f"{name.removesuffix('.e.gz')}.v"
        vertices = _numbers(listed) if listed.exists() else _numbers(Path(f"{listed}.gz"), missing_ok=True)
        ids = np.unique(np.concatenate([rows, cols, vertices]).astype(np.int64))
        rows, cols = np.searchsorted(ids, rows), np.searchsorted(ids, cols)
        n = ids.size
    else:
        base = facts["id_base"] if base is None else base
        n = facts["vertices"] if n is None else n
        rows, cols, ids = rows - base, cols - base, np.arange(n) + base
    if not facts["weighted"]:
        weights = None
    if not facts["directed"]:
        rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
        weights = None if weights is None else np.concatenate([weights, weights])
    return assemble(n, rows, cols, weights, ids)


def _text(path: Path) -> str:
    opened = gzip.open if path.suffix == ".gz" else lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="latin-1") as file:
        content: str = file.read()
    return content


def _numbers(path: Path, *, missing_ok: bool = False) -> Array:
    if missing_ok and not path.exists():
        return np.zeros(0)
    return np.array(_text(path).split(), np.float64)


def _table(lines: list[str]) -> Array:
    """Lines of as many numbers each."""
    if not lines:
        return np.zeros((0, 2))
    flat = np.array(" ".join(lines).replace(",", " ").split(), np.float64)
    return flat.reshape(len(lines), -1)


def _parse(folder: Path, name: str) -> tuple[Array, Array, Array | None, int | None, int | None]:
    """(rows, cols, weights, number of rows if the file contains it, base if the format fixes it)."""
    path = folder / (f"{name}.e" if name.startswith("graphalytics/") else name)
    stem = path.name.removesuffix(".gz").removesuffix(".xz")
    text = _text(path)
    if stem.endswith(".mtx"):
        return _matrix_market(text)
    if stem.endswith(".graph-txt"):
        return _adjacency(text.splitlines()[1:], 0)
    if stem.endswith(".graph"):
        return _metis(text)
    if stem.endswith(".graphml"):
        arcs = np.array(re.findall(r'source="n?(\d+)"\s+target="n?(\d+)"', text), np.float64).reshape(-1, 2)
        nodes = np.array(re.findall(r'<node id="n?(\d+)"', text), np.float64)
        # A self-loop keeps a node without edges; `assemble` drops it.
        return np.concatenate([arcs[:, 0], nodes]), np.concatenate([arcs[:, 1], nodes]), None, None, None
    if stem.endswith("actor.dat"):
        return _bipartite(text)
    if stem.endswith("routes.dat"):
        fields = [line.split(",") for line in text.splitlines()]
        table = np.array([(f[3], f[5]) for f in fields if "\\N" not in (f[3], f[5])], np.float64)
        return table[:, 0], table[:, 1], None, None, None
    if stem.endswith(".tntp"):
        body = text[text.index("<END OF METADATA>") :].splitlines()[1:]
        rows = [line.rstrip("; \t") for line in body if line.strip() and not line.lstrip().startswith("~")]
        table = np.array([line.split()[:5] for line in rows], np.float64)
        return table[:, 0], table[:, 1], table[:, 4], None, None
    if stem.endswith(".gr"):
        lines = [line.removeprefix("a ") for line in text.splitlines() if line[:1].isdigit() or line[:2] == "a "]
    elif stem.endswith(".jlg"):
        lines = text.splitlines()[1:]
    else:
        lines = [line for line in text.splitlines() if line.strip() and line[0] not in "#%"]
    table = _table(lines)
    return table[:, 0], table[:, 1], table[:, 2] if table.shape[1] > 2 else None, None, None


def _matrix_market(text: str) -> tuple[Array, Array, Array | None, int | None, int | None]:
    header = text.split("\n", 1)[0].lower()
    body = [line for line in text.splitlines() if line.strip() and not line.startswith("%")]
    nrows, ncols = (int(float(part)) for part in body[0].split()[:2])
    n = max(nrows, ncols)
    table = _table(body[1:])
    if " array " in header or (len(body) > 1 and len(body[1].split()) == 1):
        if "symmetric" in header:
            cols, rows = np.triu_indices(n)
        else:
            cols, rows = (part.ravel() for part in np.indices((ncols, nrows)))
        return rows + 1.0, cols + 1.0, table.ravel(), n, 1
    rows, cols, values = table[:, 0], table[:, 1], table[:, 2] if table.shape[1] > 2 else None
    if "symmetric" in header or "hermitian" in header:
        sign = -1.0 if "skew" in header else 1.0
        rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
        values = None if values is None else np.concatenate([values, sign * values])
    return rows, cols, values, n, 1


def _adjacency(lines: list[str], base: int) -> tuple[Array, Array, None, int, int]:
    counts = [len(line.split()) for line in lines]
    cols = np.array(" ".join(lines).split(), np.float64)
    return np.repeat(np.arange(len(lines)), counts) + float(base), cols, None, len(lines), base


def _metis(text: str) -> tuple[Array, Array, Array | None, int | None, int | None]:
    lines = [line for line in text.split("\n") if not line.startswith("%")]
    head = lines[0].split()
    n, format = int(head[0]), head[2].zfill(3) if len(head) > 2 else "000"
    lines = (lines[1:] + [""] * n)[:n]
    if format[0] == "1" and sum(len(line.split()) for line in lines) == int(head[1]):
        format = "000"  # one converted file announces vertex sizes and has none
    skip = (1 if format[0] == "1" else 0) + (int(head[3]) if len(head) > 3 else 1 if format[1] == "1" else 0)
    if format[2] == "0":
        rows, cols, _, _, base = _adjacency([" ".join(line.split()[skip:]) for line in lines], 1)
        return rows, cols, None, n, base
    pairs = [np.array(line.split()[skip:], np.float64).reshape(-1, 2) for line in lines]
    rows = np.repeat(np.arange(n), [len(pair) for pair in pairs]) + 1.0
    table = np.concatenate(pairs)
    return rows, table[:, 0], table[:, 1], n, 1


def _bipartite(text: str) -> tuple[Array, Array, None, int | None, int | None]:
    """Each line is a film, whose members are actors: films are numbered after the last actor."""
    films = [line.split() for line in text.splitlines()]
    actors = np.array(text.split(), np.float64)
    after = int(actors.max()) + 1
    film = after + np.repeat(np.arange(len(films)), [len(members) for members in films])
    # A self-loop keeps an actor or a film with no part; `assemble` drops it.
    every = np.arange(after + len(films))
    return np.concatenate([actors, every]), np.concatenate([film, every]), None, None, None
