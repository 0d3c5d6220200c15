"""Products with full matrices under masks: every mask, accumulator, replace, target and method of computing them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from semiring.ops.mxm import METHODS
from tests import sampling
from tests.formats.test_full_products import HEIGHT, full, pairs, sparse, specified

MASKS: dict[str, Callable[[Matrix], Any]] = {
    "structure": lambda m: m.S,
    "value": lambda m: m.V,
    "not structure": lambda m: ~m.S,
    "not value": lambda m: ~m.V,
}
WIDTH = 70
# Entries of a mask: few in a row, many in some rows, or a full matrix.
AMOUNTS = ("few", "many", "full")
RINGS = ("plus_times", "min_plus", "any_firsti", "plus_secondj", "max_second", "plus_pair")
ROWS = list(product(RINGS, ("all", "some", "one value"), AMOUNTS))
SAMPLE = sampling.draw("full masks", ROWS, 2)


def mask_of(amount: str, rng: np.random.Generator) -> Matrix:
    if amount == "full":
        return full(rng, (HEIGHT, WIDTH), "int8", "some")
    there = rng.random((HEIGHT, WIDTH)) < (0.01 if amount == "few" else 0.7)
    there[3::4] = False
    there[0, 5] = True
    rows, columns = there.nonzero()
    return Matrix.from_coo(rows, columns, rng.integers(0, 2, rows.size).astype("int8"), shape=there.shape)


@pytest.mark.costly
@pytest.mark.parametrize(("ring", "rows", "amount"), [pytest.param(*r, marks=sampling.marks(r, SAMPLE)) for r in ROWS])
def test_masks_and_writes(ring: str, rows: str, amount: str) -> None:
    rng = np.random.default_rng(12)
    mask = mask_of(amount, rng)
    targets = sparse(rng, (HEIGHT, WIDTH), "float64"), full(rng, (HEIGHT, WIDTH), "float64", "some")
    for name, a, b in pairs(rng, WIDTH, "float64", rows):
        whole = specified(lambda p, q: p.mxm(q, ring), a, b)
        for kind, masked in MASKS.items():
            inside = specified(lambda c, m, masked=masked: c.dup(mask=masked(m)), whole, mask)
            assert a.mxm(b, ring, mask=masked(mask)).to("cpu").isequal(inside, check_dtype=True), (name, kind)
            for target, accum, replace in product(targets, (None, "plus"), (False, True)):

                def write(
                    out: Matrix, c: Matrix, m: Matrix, masked: Any = masked, how: Any = (accum, replace)
                ) -> Matrix:
                    made = out.dup()
                    made(masked(m), accum=how[0], replace=how[1]) << c
                    return made

                expected = specified(write, target, whole, mask)
                out = target.dup()
                out(masked(mask), accum=accum, replace=replace) << a.mxm(b, ring)
                assert out.to("cpu").isequal(expected, check_dtype=True), (name, kind, accum, replace)


@pytest.mark.one_process("kernels and plans are of parts")
def test_the_method_depends_on_the_mask(engine: str) -> None:
    """Entries of a mask are computed alone where they are few; without entries of a row, it is not computed."""
    if engine == "reference":
        pytest.skip("the specification computes every position")
    rng = np.random.default_rng(13)
    a, x = sparse(rng, (HEIGHT, 30), "float64"), full(rng, (30, WIDTH), "float64")
    d, b = full(rng, (HEIGHT, 30), "float64"), sparse(rng, (30, WIDTH), "float64")
    methods = {}
    for name, p, q in (("sparse full", a, x), ("full sparse", d, b)):
        for amount in ("few", "many"):
            with sr.explain() as log:
                p.mxm(q, mask=mask_of(amount, rng).S).wait()
            details = next(call.details for call in log if call.operation == "mxm" and "method" in call.details)
            methods[name, amount] = details["method"], details.get("whole_rows")
    if engine == "cpu":
        assert methods["sparse full", "few"] == methods["full sparse", "few"] == ("dot", None)
        assert methods["sparse full", "many"] == ("rows of B", None)
        assert methods["full sparse", "many"] == ("rows of A'", None)
    else:
        few, many = methods["sparse full", "few"], methods["sparse full", "many"]
        assert few[0] == many[0] == "masked rows"
        assert 0 == few[1] < many[1]


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_full_operands(method: str, engine: str) -> None:
    """A method that has no form for full rows reads them as uncompressed rows; `explain` has the one that ran."""
    rng = np.random.default_rng(14)
    mask, ran = mask_of("few", rng), {}
    for name, a, b in pairs(rng, WIDTH, "float64", "all"):
        whole = specified(lambda p, q: p.mxm(q), a, b)
        inside = specified(lambda c, m: c.dup(mask=m.S), whole, mask)
        for masked, expected in ((False, whole), (True, inside)):
            with sr.explain() as log:
                made = a.mxm(b, method=method, mask=mask.S if masked else None).wait()
            assert made.to("cpu").isclose(expected, check_dtype=True), (name, masked)
            methods = [call.details["method"] for call in log if call.operation == "mxm" and "method" in call.details]
            ran[name, masked] = methods[-1] if methods else None
    if engine == "reference":
        return
    assert all(ran.values())
    if engine == "cuda":
        own = {"auto": "spmm", "rows": "spmm", "hash": "hash", "sort": "sort"}
        assert method not in own or ran["sparse full", False] == own[method]
        if method in ("auto", "dot"):
            assert ran["full full'", True] == "sddmm"
