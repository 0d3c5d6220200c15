"""C<M, replace> accum= T of a stored matrix: every mask, accumulator, `replace` and structure, fused and composed.

`test_write_semantics` has the definition, and writes the results of operations.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import semiring as sr
from semiring.config import config
from semiring.engines import registry
from semiring.engines.requests.operands import Mask, Spec
from semiring.formats import CSR
from semiring.formats.records import record
from semiring.ops.write import Plan, Write
from tests.draw import contents
from tests.ops.test_write_semantics import (
    ACCUMULATE,
    MASKS,
    Array,
    Combine,
    Dense,
    admitted,
    assert_is,
    build,
    ways,
    write,
)


class Merged(NamedTuple):
    """Types of the output and of the source, the accumulator, and which of the matrices are iso-valued."""

    output: str
    source: str
    accum: str | None
    iso: str


# The first is structure alone.  "secondi" reads positions; "plus" on int8 and float32 is evaluated in float32.
USUAL_MERGES = (
    Merged("bool", "bool", "lor", "CT"),
    Merged("float64", "float64", None, "C"),
    Merged("int8", "float32", "plus", ""),
    Merged("int64", "int64", "secondi", "T"),
)
EVERY_MERGE = [
    Merged(*types, accum, iso)
    for types in (("float64", "float64"), ("int64", "float64"), ("int8", "float32"), ("bool", "bool"))
    for accum in (None, "plus", "first", "min")
    for iso in ("", "C", "T", "CT")
]
MERGES = [
    *USUAL_MERGES,
    *(pytest.param(one, marks=pytest.mark.wide) for one in EVERY_MERGE if one not in USUAL_MERGES),
]
HEIGHT, WIDTH = 6, 45
STRUCTURES: dict[str, Callable[[Any], Array]] = {
    "sparse": lambda rng: rng.random((HEIGHT, WIDTH)) < 0.2,
    "dense": lambda rng: rng.random((HEIGHT, WIDTH)) < 0.7,
    "empty": lambda rng: np.zeros((HEIGHT, WIDTH), bool),
    "full": lambda rng: np.ones((HEIGHT, WIDTH), bool),
    "full and empty rows": lambda rng: np.repeat(rng.random((HEIGHT, 1)) < 0.5, WIDTH, axis=1),
}
COMBINES: dict[str | None, Combine] = {
    **ACCUMULATE,
    "lor": np.logical_or,
    "secondi": lambda c, t: np.broadcast_to(np.arange(HEIGHT)[:, None], c.shape),
}


@pytest.mark.costly
@pytest.mark.parametrize("merged", MERGES, ids=lambda one: "-".join(str(part) for part in one))
def test_matrix_into_matrix(engine: str, merged: Merged) -> None:
    """Every mask, `replace` and pair of structures: a write is one call where the engine can, else composed."""
    rng = np.random.default_rng(0)

    def drawn(dtype: str, structure: str, iso: bool) -> Dense:
        values = (contents(rng, HEIGHT * WIDTH, np.dtype(np.int8)).reshape(HEIGHT, WIDTH) % 7).astype(dtype)
        if iso:
            values[:] = 1
        return values, STRUCTURES[structure](rng)

    for of_c, of_t in product(STRUCTURES, repeat=2):
        c = drawn(merged.output, of_c, "C" in merged.iso)
        t = drawn(merged.source, of_t, "T" in merged.iso)
        for mask, replace in product((None, *MASKS), (False, True)):
            of_m = str(rng.choice(list(STRUCTURES)))
            m = drawn("int8", of_m, bool(rng.random() < 0.3))
            expected = write(c, t, admitted(m, mask), COMBINES.get(merged.accum), replace and mask is not None)
            options = {} if mask is None else {"replace": replace}
            for where, fusion in ways(engine):
                with sr.use(where), config.set(fusion=fusion):
                    C, T, M = (
                        build(pair, "csr", iso)
                        for pair, iso in ((c, "C" in merged.iso), (t, "T" in merged.iso), (m, len(set(m[0].flat)) == 1))
                    )
                    C(mask=None if mask is None else MASKS[mask](M), accum=merged.accum, **options) << T
                    assert_is(C, expected, f"{where}, fusion {fusion}: {of_c}, {of_t}, mask {mask} {of_m}, {replace}")


@pytest.mark.one_process("kernels and plans are of parts")
def test_a_write_of_a_matrix_is_one_call(engine: str) -> None:
    A = sr.Matrix.from_coo([0, 1, 1], [1, 0, 2], [1.0, 2.0, 3.0], nrows=3, ncols=3)
    C = A.dup()
    with sr.explain() as steps:
        C(~A.T.dup().S, "plus") << A
    assert ("write_matrix" in str(steps)) == (engine != "reference")


@pytest.mark.parametrize("place", range(3))
def test_a_write_of_compressed_matrices(engine: str, place: int) -> None:
    """C, T or the mask in a storage kind that the write in one call does not accept: the write is composed."""
    rng = np.random.default_rng(place)
    pairs = [(np.ones((HEIGHT, WIDTH)), STRUCTURES["sparse"](rng)) for _ in range(3)]
    expected = write(pairs[0], pairs[1], admitted(pairs[2], "structure"), ACCUMULATE["plus"], False)
    with sr.use(engine):
        matrices = [build(pair, "csr", False) for pair in pairs]
        matrices[place] = matrices[place].compress()
        C, T, M = matrices
        C(M.S, "plus") << T
        assert_is(C, expected, f"compressed: {place}")


@pytest.mark.parametrize("fuses", [("mask",), ()])
def test_a_request_with_a_mask_fuses_it_if_its_implementation_declares_so(
    monkeypatch: pytest.MonkeyPatch, fuses: tuple[str, ...]
) -> None:
    @record
    class Copy(Spec):
        name: ClassVar[str] = "copy_of_tests"
        a: CSR
        mask: Mask | None = None

    seen: list[Mask | None] = []

    def copy(q: Copy) -> CSR:
        seen.append(q.mask)
        return q.a

    registry.load("reference")
    monkeypatch.setattr(registry, "_table", dict(registry._table))
    registry.implements(Copy, engine="reference", fuses=fuses)(copy)
    with sr.use("reference"):
        A = sr.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0], nrows=2, ncols=2)
        mask = Mask(A.store, True, False)
        Plan("copy", A.shape, A.dtype, "cpu", Copy(A.store)).into(None, Write(mask))
    assert seen == [mask if fuses else None]
