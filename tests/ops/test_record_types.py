"""Record and array types: names, layouts, the expressions on their fields, and python-graphblas's objects for them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from semiring import Vector, binary, dtypes, monoid, unary
from semiring.exceptions import DomainMismatch, NotSupported, UdfParseError
from tests.ops.test_records import ALIGNED, NESTED, PACKED, entries, records


@pytest.fixture
def arrays(engine: str) -> None:
    """Skip on a GPU, which refuses array types."""
    if engine == "cuda":
        pytest.skip("CuPy has no arrays of these records")


def test_types() -> None:
    named = dtypes.register_new("EdgeOfTests", ALIGNED)
    assert named == ALIGNED
    assert Vector("EdgeOfTests", 3).dtype == ALIGNED
    assert dtypes.EdgeOfTests is named
    assert dtypes.name(ALIGNED) == "EdgeOfTests"
    assert "EdgeOfTests" in dir(dtypes)
    dtypes.unregister("EdgeOfTests")
    assert dtypes.name(ALIGNED) == "{'n': int32, 'w': float64}"
    with pytest.raises(DomainMismatch):
        dtypes.lookup("EdgeOfTests")
    with pytest.raises(ValueError, match="Python object"):
        dtypes.register_new("Objects", np.dtype([("x", object)]))
    with pytest.raises(ValueError, match="builtin"):
        dtypes.register_new("Number", np.int8)
    for taken in ("FP32", "lookup", "$"):
        with pytest.raises(ValueError, match="name"):
            dtypes.register_new(taken, ALIGNED)
    assert dtypes.lookup(np.dtype([("x", ">i4")])) == np.dtype([("x", "<i4")])
    for bad in (
        np.dtype("S5"),
        np.dtype([("x", "S5")]),
        np.dtype({"names": ["a", "b"], "formats": ["i4", "i4"], "offsets": [0, 2]}),
    ):
        with pytest.raises(DomainMismatch, match="not supported"):
            dtypes.lookup(bad)
    with pytest.raises(DomainMismatch, match="no common type"):
        dtypes.unify(ALIGNED, float)
    array = dtypes.lookup("int64[4]")
    assert array == dtypes.lookup(np.dtype((np.int64, (4,))))
    assert dtypes.name(array) == "int64[4]"


@pytest.mark.usefixtures("arrays")
def test_array_types() -> None:
    v = Vector("int64[3]", 4)
    v[0] = [1, 2, 3]
    v[2] = 7
    assert v.to_dict() == {0: [1, 2, 3], 2: [7, 7, 7]}
    assert v[0] == [1, 2, 3]
    assert (v[2].value == 7).all()
    assert entries(v.apply(lambda x: x[0] + x[2])) == {0: 4, 2: 14}
    assert entries(v.apply(lambda x: (x[2], x[1], x[0]))) == {0: [3, 2, 1], 2: [7, 7, 7]}
    assert v.to_numpy(0).shape == (4, 3)
    w = Vector.from_coo([0, 2], np.array([[1, 2, 3], [7, 7, 7]]), "int64[3]", size=4)
    assert v.isequal(w, check_dtype=True)
    assert v.ewise_mult(w, "eq").reduce("land").value


@pytest.mark.parametrize("dtype_of", [PACKED, NESTED, "int64[3]"], ids=str)
def test_layouts_that_a_gpu_refuses(dtype_of: Any, engine: str) -> None:
    values = np.zeros(2, dtypes.lookup(dtype_of))
    if engine == "cuda":
        with pytest.raises(NotSupported, match=r"aligned|arrays|16 bytes"):
            Vector.from_coo([0, 1], values)
    else:
        assert Vector.from_coo([0, 1], values).nvals == 2


def test_laws_of_expressions(engine: str) -> None:
    """What is outside the language raises where the operator is made, with the line."""
    with pytest.raises(UdfParseError, match="written out"):
        unary.register_anonymous(lambda x: x[x.n])
    with pytest.raises(UdfParseError, match="subscript"):
        unary.register_anonymous(lambda x: x[1:])
    with pytest.raises(UdfParseError):
        binary.register_anonymous(lambda x, y: {x: y})
    nested = dtypes.lookup(NESTED)
    deep = unary.register_anonymous(lambda x: x["at"]["j"] + x.v[1] if x.ok else x.at.i)
    assert deep[nested].z == np.float64
    swapped = unary.register_anonymous(lambda x: ((x.at.j, x.at.i), (x.v[1], x.v[0]), not x.ok))
    assert swapped[nested].z == nested
    v = Vector.from_dense(records(5, NESTED, 1), device="cpu" if engine == "cuda" else None)
    for before, after in zip(v.to_coo(device="cpu")[1], v.apply(swapped).to_coo(device="cpu")[1], strict=True):
        assert after["at"]["i"] == before["at"]["j"]
        assert after["v"].tolist() == before["v"].tolist()[::-1]
        assert after["ok"] != before["ok"]
    assert binary.first[nested, "int8"].return_type == nested
    assert binary.first["int8", nested].return_type == np.int8
    assert binary.first[nested].commutes_to is binary.second[nested]
    assert nested in monoid.any
    assert nested not in monoid.plus
    assert pickle.loads(pickle.dumps(swapped))[nested] == swapped[nested]


@pytest.mark.usefixtures("arrays")
def test_a_monoid_of_array_types() -> None:
    """Its identity holds an array."""
    longest = monoid.register_anonymous("x if x[0] >= y[0] else y", 0)
    v = Vector.from_coo([0, 1], np.array([[1, 2, 3], [7, 7, 7]]), "int64[3]", size=4)
    assert hash(longest[v.dtype]) == hash(longest[v.dtype])
    assert v.reduce(longest) == 7


@pytest.mark.usefixtures("arrays")
def test_python_graphblas() -> None:
    """Types are objects with GraphBLAS's names, and further dimensions of values are array types."""
    import semiring.compat.graphblas as gb

    edge = gb.dtypes.register_anonymous({"x": int, "y": float})
    assert (edge.name, edge.np_type.names) == ("{'x': INT64, 'y': FP64}", ("x", "y"))
    assert pickle.loads(pickle.dumps(edge)) == edge
    v = gb.Vector.from_coo([0, 2], [[1, 2], [3, 4]])
    assert (v.dtype.name, v[2].new().value.tolist()) == ("INT64[2]", [3, 4])
    assert gb.Vector.from_dict(v.to_dict()).isequal(v, check_dtype=True)
    s = gb.Scalar.from_value({"x": 1, "y": 2.5}, dtype=edge)
    assert s == (1, 2.5)
    w = gb.Vector(edge, size=2)
    w << gb.binary.first(s, gb.Vector.from_scalar(0, 2, dtype=edge))
    assert w.to_dict() == {0: (1, 2.5), 1: (1, 2.5)}
    with pytest.raises(ValueError, match="not supported"):
        gb.dtypes.lookup_dtype("badname")
