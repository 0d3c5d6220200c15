"""What a user meets first: previews, errors for names of other libraries, and arrays of other libraries."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Scalar, Vector
from semiring import exceptions as ex
from semiring.engines.rows.residency import entries_between
from semiring.operators import table
from semiring.operators.near_names import MEANT

A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], [7.0, 2.0, 1.0, 9.0], nrows=4, ncols=4, device="cpu")


def many() -> Matrix:
    """A matrix of about 3,000 entries with values of their own, some rows empty, some of many tiles."""
    rng = np.random.default_rng(1)
    rows, cols = rng.integers(0, 40, 4000) ** 2, rng.integers(0, 900, 4000)
    return Matrix.from_coo(rows, cols, np.arange(4000.0), shape=(1600, 900), dup_op="first")


@pytest.mark.one_process("repr shows the part of one process")
@pytest.mark.parametrize("kind", ["csr", "varint", "packed", "host", "hypersparse"])
def test_the_preview_lists_entries(kind: str) -> None:
    B = many()
    if kind in ("varint", "packed"):
        B = B.compress(kind)
    elif kind == "host":
        B = B.to(placement="host")
    elif kind == "hypersparse":
        B = B.convert("hypersparse")
    i, j, x = B.to_coo(device="cpu")
    lines = [line.split() for line in repr(B).splitlines()[1:]]
    assert lines[0] == ["i", "j", "value"]
    shown = [*range(5), *range(B.nvals - 5, B.nvals)]
    assert [line for line in lines[1:] if line != ["..."]] == [[str(i[p]), str(j[p]), f"{x[p]:.6g}"] for p in shown]
    for first, last in ((0, 0), (120, 140), (127, 128), (130, 700), (B.nvals - 1, B.nvals)):
        found = entries_between(B.store, first, last)
        assert all(np.array_equal(part, whole[first:last]) for part, whole in zip(found, (i, j, x), strict=True))


@pytest.mark.one_process("repr shows the part of one process")
@pytest.mark.parametrize("to", ["index", "bitmap"])
def test_the_preview_of_a_vector_lists_entries(to: str) -> None:
    v = Vector.from_coo([3, 70, 999], [1.0, 2.0, 3.0], size=1000).convert(to)
    assert [line.split() for line in repr(v).splitlines()[1:]] == [["i", "3", "70", "999"], ["value", "1", "2", "3"]]
    v = Vector.from_coo(np.arange(0, 10**5, 7), 1, size=10**5).convert(to)
    assert repr(v).splitlines()[1].split() == [
        "i",
        "0",
        "7",
        "14",
        "21",
        "28",
        "...",
        *map(str, range(99967, 10**5, 7)),
    ]


def test_html_of_the_rest() -> None:
    assert Scalar.from_value(3)._repr_html_() == "<p><code>Scalar(int64, 3)</code></p>"
    assert "&lt;mask ~Matrix.S of shape (4, 4)&gt;" in (~A.S)._repr_html_()
    assert (~A.S)._repr_html_().count("<tr>") == 5
    with sr.explain() as log:
        (A + A).wait()
    html: Any = log._repr_html_()  # type: ignore[attr-defined]
    assert html.count("<tr>") == len(log) + 2
    assert "<td>ewise</td>" in html
    trace = sr.algorithms.bfs_trace(A, 0)
    assert trace._repr_html_().count("<tr>") == len(trace.steps) + 1
    assert repr(trace).splitlines()[1].split() == ["0", trace.steps[0].direction, "1", "2"]


HINTS: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "method of SciPy": (AttributeError, r"'todense'; use \.to_numpy\(fill_value=0\)", lambda: A.todense()),
    "constructor": (AttributeError, r"use semiring\.io\.from_scipy_sparse", lambda: A.from_scipy_sparse),
    "of a class": (AttributeError, r"object 'Matrix'.*use semiring\.io\.from_networkx", lambda: Matrix.from_networkx),
    "of a class of vectors": (AttributeError, r"use Vector\.from_dense", lambda: Vector.from_numpy),
    "of groups": (AttributeError, r"use \.reduce_by\(labels", lambda: Vector(float, 3).groupby),
    "near constructor": (AttributeError, r"did you mean 'from_coo'", lambda: Matrix.from_cooo),
    "near name": (AttributeError, r"'to_dens'; did you mean 'to_dense'", lambda: A.to_dens),
    "of the other kind": (AttributeError, r"A\.mxv\(v, op\)", lambda: Vector(float, 3).mxv(A)),
    "of the package": (AttributeError, r"it is semiring\.io\.read", lambda: sr.read),
    "parse error": (ex.UdfParseError, r"'x \+' is no expression: .* at character 3", lambda: A.apply("x +")),
    "still a name": (ex.UnknownOperator, r"no expression", lambda: A.select("x >")),
    "select value": (ex.UnknownOperator, r"select\('>', 3\), or 'valuegt'", lambda: A.select("value")),
    "tropical": (ex.UnknownOperator, r"did you mean 'min_plus'\?", lambda: A.mxm(A, "tropical")),
    "average": (ex.UnknownOperator, r"did you mean 'mean'\?", lambda: A.reduce_scalar("avg")),
    "another kind": (ex.UnknownOperator, r"did you mean binary\.plus\?", lambda: A.apply("pluss")),
    "matrix for a Vector": (TypeError, r"mxv: expected a Vector, got an array of 2 dim", lambda: A.mxv(np.eye(4))),
    "list for a Vector": (TypeError, r"mxv: expected a Vector, got list.*from_dense", lambda: A.mxv([1])),  # type: ignore[arg-type]
    "condition as index": (TypeError, r"A\[M\.V\], a condition A\.select", lambda: A[A > 3]),
    "not an array": (ValueError, r"4 of 16 positions hold a value.*to_numpy", lambda: np.asarray(A)),
    "not shared": (ValueError, r"from_dlpack", lambda: Vector.full(1, 3, device="cpu").__array__(copy=False)),
}  # fmt: skip


def test_classes_complete_public_names_only() -> None:
    assert not {"Named", "mro", "from_networkx"} & {*dir(Matrix), *dir(Vector)}
    assert not hasattr(Matrix, "_ipython_display_")
    assert isinstance(Vector(int, 3), Vector)


@pytest.mark.parametrize("name", HINTS)
def test_the_error_names_what_there_is(name: str) -> None:
    kind, message, operation = HINTS[name]
    with pytest.raises(kind, match=f"(?s){message}"):
        operation()


def test_a_sparse_matrix_of_scipy_is_named() -> None:
    S: Any = pytest.importorskip("scipy.sparse").eye_array(4).tocsr()
    for operation in (lambda: Matrix(S), lambda: S @ A, lambda: S * A):
        with pytest.raises(TypeError, match="from_scipy_sparse"):
            operation()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, extra in (("networkx", r"semiring\[networkx\]"), ("cupy", r"semiring\[cuda13\]")):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ex.NotSupported, match=extra):
            sr.io.to_networkx(A) if name == "networkx" else sr.io.to_cupy_sparse(A)


def test_suggested_operators_exist() -> None:
    for kind, rows in MEANT.items():
        for meant in rows.values():
            known = {*table.names(kind), *(table.names("agg") if kind == "monoid" else ())}
            assert set(re.findall(r"'(\w+)'", meant)) <= known


@pytest.mark.one_process("reads the arrays of a store")
def test_a_full_vector_is_shared_by_dlpack(engine: str) -> None:
    values = np.arange(5.0)
    v = Vector.from_dense(values)
    if engine == "cuda":
        import cupy

        shared = cupy.from_dlpack(v)
        assert shared.data.ptr == cupy.from_dlpack(v).data.ptr
    else:
        shared = np.from_dlpack(v)
        assert np.shares_memory(shared, np.from_dlpack(v))
    assert shared.tolist() == values.tolist()
    assert (v.__dlpack_device__()[0] == 2) == (engine == "cuda")
    with pytest.raises(BufferError, match="2 of 5"):
        Vector.from_coo([0, 1], [1, 2], size=5).__dlpack__()
    with pytest.raises(BufferError, match="full"):
        Vector.full(1, 5).__dlpack__()


def test_every_export_has_a_way_to_numpy() -> None:
    B, v = many(), Vector.from_coo([1, 4], [1.0, 2.0], size=6)
    exports: list[Any] = [
        *(getattr(B, name)(device="cpu") for name in ("to_coo", "to_csr", "to_csc", "to_dcsr", "to_dcsc")),
        (B.to_edgelist(device="cpu")[0], v.to_dense(0, device="cpu"), B.to_dense(0, device="cpu")),
        v.to_coo(device="cpu"),
        (v.to_numpy(0), B.to_numpy(0), np.asarray(v.to("cpu")[1:2])),
    ]
    assert all(type(array) is np.ndarray for arrays in exports for array in arrays)
