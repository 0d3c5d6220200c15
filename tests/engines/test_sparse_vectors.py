"""Index lists as matrices of one row: every request has the result of the request on vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semiring.engines import registry
from semiring.engines.requests.operands import Index, Mask
from semiring.engines.requests.operations import Ewise, ExtractVector, Keep, ScatterVector, WriteVector
from semiring.engines.rows import sparse_vectors
from semiring.formats import IndexList
from semiring.operators import binary
from tests.compare import assert_same, device_for, place
from tests.draw import make_vector

SIZE, FLOAT = 40, np.dtype(np.float64)


def listed(seed: int, size: int = SIZE, *, iso: bool = False) -> Any:
    return make_vector(size, FLOAT, "index", 0.3, iso, seed)


def typed(name: str) -> Any:
    return getattr(binary, name).typed(FLOAT, FLOAT)


SOME = Index(SIZE, 3, array=np.array([7, 2, 7], np.int32))
PLACES = Index(SIZE, 12, 1, 3)
REQUESTS: dict[str, tuple[Any, Callable[..., IndexList]]] = {
    **{
        f"{mode} {name}": (Ewise(listed(1), listed(2), typed(name), mode, *values), sparse_vectors.ewise)
        for mode, values in (("intersect", ()), ("union", ()), ("fill", (FLOAT.type(2), FLOAT.type(3))))
        for name in ("minus", "firsti", "secondj")
    },
    "keep": (Keep(listed(1), Mask(listed(2), True, False)), sparse_vectors.keep),
    "keep outside values": (Keep(listed(1, iso=True), Mask(listed(2), False, True)), sparse_vectors.keep),
    "write": (
        WriteVector(listed(1), listed(3), Mask(listed(2), True, True), None, False),
        sparse_vectors.write_vector,
    ),
    "accumulate": (
        WriteVector(listed(1), listed(3), Mask(listed(2), False, False), typed("plus"), True),
        sparse_vectors.write_vector,
    ),
    "accumulate all": (WriteVector(listed(1), listed(3), None, typed("min"), False), sparse_vectors.write_vector),
    "extract a range": (ExtractVector(listed(1), Index(SIZE, 9, 38, -4)), sparse_vectors.extract_vector),
    "extract positions": (ExtractVector(listed(1), SOME), sparse_vectors.extract_vector),
    "scatter a range": (ScatterVector(listed(1, 12), PLACES, None), sparse_vectors.scatter_vector),
    "scatter repeats": (
        ScatterVector(make_vector(3, FLOAT, "full", 1.0, False, 5), SOME, typed("plus")),
        sparse_vectors.scatter_vector,
    ),
    "scatter one value": (
        ScatterVector(make_vector(3, FLOAT, "full", 1.0, True, 5), SOME, None),
        sparse_vectors.scatter_vector,
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_the_row_has_the_entries_of_the_vector(name: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "reference":
        pytest.skip("the specification reads vectors of any size alike")
    spec, function = REQUESTS[name]
    placed = place(spec, device_for(engine))
    assert_same(function(placed, engine).to("cpu"), registry.run(spec, "reference"))
    assert not sparse_vectors.are_long(placed)
    monkeypatch.setattr(sparse_vectors, "_LONG", SIZE)
    monkeypatch.setattr(sparse_vectors, "_SHARE", 0)
    assert sparse_vectors.are_long(placed)
