"""Element-wise operations: the engine under test equals the specification."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.engines.requests.operands import Index
from semiring.engines.requests.operations import Apply, Convert, Ewise, Keep, Outside, Select, WriteVector
from semiring.formats import Bitmap, IndexList
from tests.compare import check
from tests.draw import VECTOR_FORMATS, contents, dtypes, indexes, masks, seeds, sizes, some_sizes, stores, vectors
from tests.pool import ACCUMULATORS, BINARIES, INDEXUNARIES, SELECTS, Operator

FEW = settings(max_examples=settings().max_examples // 2)
FEWER = settings(max_examples=settings().max_examples // 3)  # for each mode of an operator: it serves all three
shapes = st.tuples(sizes) | st.tuples(sizes, sizes)


@pytest.mark.costly
@pytest.mark.parametrize("mode", ["intersect", "union", "fill"])
@pytest.mark.parametrize("pooled", BINARIES)
@FEWER
@given(data=st.data())
def test_ewise(engine: str, pooled: Operator, mode: str, data: st.DataObject) -> None:
    shape = data.draw(shapes, label="shape")
    op = pooled.typed
    a = data.draw(stores(shape, pooled.operand), label="a")
    b = data.draw(stores(shape, op.y), label="b")
    alpha = beta = None
    if mode == "fill":
        rng = np.random.default_rng(data.draw(seeds, label="seed of alpha and beta"))
        alpha, beta = contents(rng, 1, op.x)[0], contents(rng, 1, op.y)[0]
    check(Ewise(a, b, op, mode, alpha, beta), engine)


@pytest.mark.parametrize("pooled", INDEXUNARIES)
@FEW
@given(data=st.data())
def test_apply(engine: str, pooled: Operator, data: st.DataObject) -> None:
    shape = data.draw(shapes, label="shape")
    k = pooled.typed.k.type(data.draw(st.integers(0, 9), label="k"))
    check(Apply(data.draw(stores(shape, pooled.operand), label="a"), pooled.typed, k), engine)


@pytest.mark.parametrize("pooled", SELECTS)
@FEW
@given(data=st.data())
def test_select(engine: str, pooled: Operator, data: st.DataObject) -> None:
    shape = data.draw(shapes, label="shape")
    k = pooled.typed.k.type(data.draw(st.integers(0 if pooled.typed.k.kind == "u" else -3, 9), label="k"))
    check(Select(data.draw(stores(shape, pooled.operand), label="a"), pooled.typed, k), engine)


@given(data=st.data())
def test_keep(engine: str, data: st.DataObject) -> None:
    shape = data.draw(shapes, label="shape")
    dtype = data.draw(st.sampled_from((np.dtype(np.int8), np.dtype(np.float64))), label="dtype")
    check(Keep(data.draw(stores(shape, dtype), label="a"), data.draw(masks(shape), label="mask")), engine)


@given(data=st.data())
def test_keep_by_own_mask(engine: str, data: st.DataObject) -> None:
    """``C(C.S) << ...`` and its like: the mask is the object itself."""
    a = data.draw(stores(data.draw(shapes), np.dtype(np.int32)), label="a")
    flags = data.draw(st.tuples(st.booleans(), st.booleans()), label="structural, complement")
    mask = data.draw(masks(a.shape if hasattr(a, "shape") else (a.size,)))
    check(Keep(a, type(mask)(a, *flags)), engine)


@given(data=st.data())
def test_outside(engine: str, data: st.DataObject) -> None:
    shape = data.draw(shapes, label="shape")
    region: list[Index] = [data.draw(indexes(size)) for size in shape]
    a = data.draw(stores(shape, data.draw(st.sampled_from((np.dtype(np.int16), np.dtype(np.float32))))), label="a")
    check(Outside(a, region[0], region[1] if len(region) == 2 else None), engine)


# Types of C and T.  One pair for each accumulator: all formats of C, T and a mask are drawn for each.
WRITTEN = defaultdict(
    lambda: ("uint8", "float32"),
    {"": ("int32", "float64"), "plus": ("float64", "float64"), "absdiff_of_tests": ("uint8", "int64")},
)


@pytest.mark.costly
@pytest.mark.parametrize("pooled", [None, *ACCUMULATORS])
@FEW
@given(data=st.data())
def test_write_vector(engine: str, pooled: Operator | None, data: st.DataObject) -> None:
    size = data.draw(sizes, label="size")
    accum = None if pooled is None else pooled.typed
    of_c, of_t = (np.dtype(name) for name in WRITTEN["" if accum is None else accum.name])
    check(
        WriteVector(
            data.draw(vectors(size, of_c), label="c"),
            data.draw(vectors(size, of_t), label="t"),
            data.draw(st.none() | masks((size,)), label="mask"),
            accum,
            data.draw(st.booleans(), label="replace"),
        ),
        engine,
    )


@given(data=st.data())
def test_convert(engine: str, data: st.DataObject) -> None:
    u = data.draw(vectors(data.draw(some_sizes), data.draw(dtypes)), label="u")
    to = data.draw(st.sampled_from(VECTOR_FORMATS), label="to")
    if to == "full" and isinstance(u, (IndexList, Bitmap)) and u.nvals < u.size:
        to = "bitmap"
    found = check(Convert(u, to), engine)
    assert found.format == to or " " in engine  # on a grid it is that of the pieces
