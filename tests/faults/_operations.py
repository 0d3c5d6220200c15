"""Public operations as cases of a fault campaign: operands, the call, and the state that must not change.

Operands are small, of one type, and created for each trial, so that no cache hides an allocation.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import semiring as sr
from semiring import Matrix, Vector, algorithms, binary, io, ops, random

_ROOM = Path(tempfile.gettempdir())


class Operands:
    """A, B (symmetric), P (compressed) and H (in slices), square; C, t: targets; v: an index list; d: a full vector."""

    def __init__(self, seed: int, folder: Path) -> None:
        rng = np.random.default_rng(seed)
        n = self.n = int(rng.integers(20, 60))
        rows, cols = rng.integers(0, n, (2, 4 * n))
        self.rows, self.cols, self.values = rows, cols, rng.integers(1, 9, 4 * n).astype(float)
        self.A = Matrix.from_coo(rows, cols, self.values, shape=(n, n), dup_op="max")
        both = np.concatenate([rows, cols]), np.concatenate([cols, rows])
        self.B = Matrix.from_coo(*both, 1.0, shape=(n, n), dup_op="max")
        self.C = Matrix.from_coo(cols, rows, self.values, shape=(n, n), dup_op="min")
        self.d = Vector.from_dense(rng.integers(1, 9, n).astype(float))
        some = np.sort(rng.permutation(n)[: n // 3])
        self.v = Vector.from_coo(some, self.values[: some.size], size=n)
        self.t = Vector.from_coo(some[::2], self.values[: some[::2].size], size=n)
        self.P = self.A.compress("varint")
        self.H = self.A.to(placement="host")
        self.order = rng.permutation(n)
        self.folder = folder
        self.dense = np.arange(n * n, dtype=float).reshape(n, n) % 7

    def targets(self) -> tuple[Any, ...]:
        """The state that a failed operation must not change, in comparable form."""
        files = {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}
        return (*(comparable(x) for x in (self.A, self.B, self.C, self.d, self.v, self.t, self.P, self.H)), files)


def comparable(x: Any) -> Any:
    """A value that `==` compares: entries of objects, bytes of arrays."""
    if isinstance(x, Matrix | Vector):
        *places, values = (np.asarray(getattr(part, "get", lambda part=part: part)()) for part in x.to_coo())
        return type(x).__name__, x.dtype.name, *(place.tolist() for place in places), values.tolist()
    if hasattr(x, "get") and hasattr(x, "dtype") and not isinstance(x, np.ndarray):
        x = x.get()
    if isinstance(x, np.ndarray):
        return x.dtype.name, x.tolist()
    if isinstance(x, tuple | list):
        return [comparable(part) for part in x]
    if isinstance(x, dict):
        return {key: comparable(part) for key, part in x.items()}
    if hasattr(x, "tocoo"):
        coo = x.tocoo()
        return sorted(zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True))
    if hasattr(x, "edges"):
        return sorted(map(str, x.edges(data=True)))
    return x.value if hasattr(x, "value") else x


class Case(NamedTuple):
    name: str
    run: Callable[[Operands], Any]


def _set(target: Any, key: Any, value: Any) -> Any:
    target[key] = value
    return target


def _changed(target: Any, written: Any, increased: Any, deleted: Any) -> Any:
    target[written] = 5.0
    target[increased]("plus") << 2.0
    del target[deleted]
    return target.wait()


def _done(target: Any, _: Any) -> Any:
    return target


def _filed(o: Operands, write: Callable[[Path], Any], name: str) -> Any:
    path = o.folder / name
    write(path)
    content = path.read_bytes()
    path.unlink()
    return content if name.endswith((".mtx", ".el")) else len(content)


def _read(o: Operands, name: str, **options: Any) -> Any:
    return comparable(io.read(o.folder / name, **options))


# The cheapest to compile first: a short run uses the first ones.
CASES = [
    Case("from_coo", lambda o: Matrix.from_coo(o.rows, o.cols, o.values, shape=(o.n, o.n), dup_op="max")),
    Case("from_dense", lambda o: Matrix.from_dense(o.dense, missing_value=0)),
    Case("Vector.from_coo", lambda o: Vector.from_coo(o.order, o.values[: o.n], size=o.n)),
    Case("Vector.from_dense", lambda o: Vector.from_dense(o.dense[0])),
    Case("from_csr", lambda o: Matrix.from_csr([0, 2, 3], [1, 0, 2], [1.0, 2.0, 3.0], ncols=3)),
    Case("from_scalar", lambda o: Matrix.from_scalar(2.0, 5, 6)),
    Case("identity", lambda o: Matrix.identity(o.n)),
    Case("from_dicts", lambda o: Matrix.from_dicts({0: {1: 2.0}, 3: {0: 1.0}}, nrows=4, ncols=4)),
    Case("from_edgelist", lambda o: Matrix.from_edgelist([(0, 1), (1, 2)], nrows=3, ncols=3)),
    Case("to_coo", lambda o: o.A.to_coo()),
    Case("to_csr", lambda o: o.A.to_csr()),
    Case("to_csc", lambda o: o.A.to_csc()),
    Case("to_dense", lambda o: o.A.to_dense(0.0)),
    Case("to_dicts", lambda o: o.A.to_dicts()),
    Case("to_edgelist", lambda o: o.A.to_edgelist()),
    Case("Vector.to_dense", lambda o: o.v.to_dense(0.0)),
    Case("repr", lambda o: repr(o.A)),
    Case("get", lambda o: (o.A.get(0, 0, 0), o.P.get(1, 1, 0), o.v.get(3, 0))),
    Case("isequal", lambda o: o.A.isequal(o.C)),
    Case("transpose", lambda o: o.A.T.dup()),
    Case("diag", lambda o: (o.v.diag(), o.A.diag(1))),
    Case("resize", lambda o: _done(o.C, o.C.resize(o.n - 3, o.n + 3))),
    Case("resize a vector", lambda o: _done(o.t, o.t.resize(o.n - 3))),
    Case("extract rows", lambda o: o.A[[3, 1, 3], :].dup()),
    Case("extract columns", lambda o: o.A[:, [5, 2, 5]].dup()),
    Case("extract range", lambda o: o.A[2:9, ::-1].dup()),
    Case("extract line", lambda o: (o.A[3, :].dup(), o.A[:, 3].dup())),
    Case("extract vector", lambda o: (o.v[[4, 2]].dup(), o.d[3:7].dup())),
    Case("scatter to a vector", lambda o: _set(o.t, [3, 1, 2], 4.0)),
    Case("assign rows", lambda o: _set(o.C, ([1, 4], slice(None)), o.A[:2, :])),
    Case("assign scalar", lambda o: _set(o.C, ([1, 4], [2, 3]), 5.0)),
    # Writes to elements are logged, and it is their application that may fail: to copies, as the writes are kept.
    Case(
        "assign elements", lambda o: _changed(o.C.dup(), (int(o.rows[0]), 1), (1, 2), (int(o.cols[1]), int(o.rows[1])))
    ),
    Case("assign elements of a vector", lambda o: _changed(o.t.dup(), 1, 0, o.n - 1)),
    Case("delete a region", lambda o: (o.C.__delitem__(([1, 2], [2, 3])), o.C)[1]),
    Case("setdiag", lambda o: _done(o.C, o.C.setdiag(3.0))),
    Case("select", lambda o: (o.A.select(">", 3.0), o.v.select(">", 3.0), o.A.select("tril"))),
    Case("apply", lambda o: (o.A.apply("ainv"), o.d.apply("plus", right=1.0))),
    Case("ewise", lambda o: (o.A + o.C, o.A * o.C, o.v + o.t, o.v * o.d)),
    Case("ewise in slices", lambda o: (o.P + o.C, o.H * o.C)),
    Case("ewise_union", lambda o: o.A.ewise_union(o.C, "minus", 0.0, 0.0)),
    Case("update", lambda o: o.C(o.A.S, accum=binary.plus) << o.A),
    Case("update a vector", lambda o: o.t(~o.v.S, accum="plus", replace=True) << o.d),
    Case("dup under a mask", lambda o: (o.A.dup(mask=o.C.S), o.v.dup(mask=~o.t.S))),
    Case("reduce", lambda o: (o.A.reduce_rowwise("plus"), o.A.reduce_columnwise("plus"), o.A.reduce_scalar("plus"))),
    Case("reduce by aggregate", lambda o: (o.A.reduce_rowwise("count"), o.v.reduce("mean"))),
    Case("mxv", lambda o: (o.A @ o.v, o.A @ o.d, o.v @ o.A)),
    Case("mxv into a target", lambda o: o.t(~o.v.S, "plus") << o.A.mxv(o.d)),
    Case("mxv in slices", lambda o: (o.P @ o.d, o.H @ o.v, o.d @ o.P)),
    Case("mxm", lambda o: o.A @ o.C),
    Case("mxm under a mask", lambda o: o.C(o.B.S, replace=True) << o.A.mxm(o.B)),
    Case("mxm in slices", lambda o: o.P @ o.H),
    Case("power", lambda o: o.A.power(2)),
    Case("inner", lambda o: o.v.inner(o.d)),
    Case("permute", lambda o: o.A.permute(o.order)),
    Case("kronecker", lambda o: o.A.kronecker(o.C)),
    Case("kronecker of copies", lambda o: o.P.kronecker(o.H)),
    Case("compress", lambda o: (o.A.compress("packed"), o.A.compress("varint"))),
    Case("decompress", lambda o: o.P.decompress()),
    Case("to host and back", lambda o: o.A.to(placement="host").to(placement="device")),
    Case("is_symmetric", lambda o: (o.A.is_symmetric_structure, o.B.is_symmetric_structure)),
    Case("closure", lambda o: ops.closure(o.v, o.B, "min_plus")),
    Case("closure in slices", lambda o: ops.closure(o.v, o.P, "min_plus")),
    Case("closure of rows", lambda o: ops.closure(o.A, o.B, "min_plus")),
    Case("closure of many", lambda o: ops.closure_many(range(o.n), o.B).levels),
    Case("closure of many, counts", lambda o: ops.closure_many(range(o.n), o.B, levels=False, counts=True).counts),
    Case("closure of many in slices", lambda o: ops.closure_many([0, 5, 0], o.P).levels),
    Case("link", lambda o: ops.link(ops.singletons(o.v), o.B)),
    Case("link in slices", lambda o: ops.link(ops.singletons(o.v), o.H)),
    Case("bfs", lambda o: (algorithms.bfs_levels(o.B, 0), algorithms.bfs_levels(o.B, [0, 3]))),
    Case("connected_components", lambda o: algorithms.connected_components(o.B)),
    Case("pagerank", lambda o: algorithms.pagerank(o.B, tol=1e-2)),
    Case("sssp", lambda o: algorithms.sssp(o.A, 0)),
    Case("degree_order", lambda o: algorithms.degree_order(o.B)),
    Case("bfs_order", lambda o: algorithms.bfs_order(o.B)),
    Case("locality_order", lambda o: algorithms.locality_order(o.B)),
    Case("reverse_cuthill_mckee", lambda o: algorithms.reverse_cuthill_mckee(o.B)),
    Case("random", lambda o: (random.rmat(4, 3, seed=1), random.kronecker(3, weights="uniform"), random.grid2d(3, 4))),
    Case("to_scipy_sparse", lambda o: io.to_scipy_sparse(o.A, "csc")),
    Case("from_scipy_sparse", lambda o: io.from_scipy_sparse(io.to_scipy_sparse(o.A, "coo"))),
    Case("to_networkx", lambda o: io.to_networkx(o.A)),
    *(
        Case(f"write {name}", lambda o, name=name: _filed(o, lambda path: io.write(path, o.A), name))  # type: ignore[misc]
        for name in ("new.mtx", "new.npz", "new.srb")
    ),
    *(
        Case(f"read {name}", lambda o, name=name: _read(o, name))  # type: ignore[misc]
        for name in ("old.mtx", "old.npz", "old.srb", "old.mtx.gz")
    ),
    Case("open", lambda o: comparable(io.open(o.folder / "old.srb"))),
]


def operands(seed: int, folder: Path) -> Operands:
    """Operands for one trial; `folder` contains a file of each format."""
    made = Operands(seed, folder)
    for name in ("old.mtx", "old.npz", "old.srb", "old.mtx.gz"):
        if not (folder / name).exists():
            io.write(folder / name, made.A)
    return made


def device(engine: str) -> Any:
    """The device of new objects."""
    return sr.use(engine)
