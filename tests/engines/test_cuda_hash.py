"""Products whose rows are in hash tables of blocks: each size of table is used, and agrees with the specification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy")

import semiring as sr
from semiring import Matrix
from semiring.engines.cuda import tuning
from semiring.engines.cuda.kernel import Kernel

pytestmark = pytest.mark.gpu

# Entries of a row of B, and the products of a row of A that just fit the table of a class, and one row of B less.
WIDTH = 40
SIZES = {
    "medium": (tuning.HASH_SMALL, tuning.HASH_MEDIUM),
    "large": (tuning.HASH_MEDIUM, tuning.HASH_LARGE),
    "largest": (tuning.HASH_LARGE, tuning.HASH_LARGEST),
}
RINGS: dict[str, Any] = {
    "plus_times": "plus_times",
    "any_pair": "any_pair",
    "min_secondi": "min_secondi",
    "not neutral": sr.semiring.register_anonymous(
        sr.monoid.register_anonymous(lambda x, y: x if x > y else y, identity=0), sr.binary.minus
    ),
}


def operands(size: str, columns: int, rng: np.random.Generator) -> tuple[Matrix, Matrix, Matrix]:
    """A, B and a mask: rows of A with the least and with the most products of a class, and rows in between."""
    least, most = SIZES[size]
    lengths = np.linspace(least // WIDTH + 1, most // WIDTH, 6).astype(np.int64)
    rows = np.repeat(np.arange(6), lengths)
    inner = np.concatenate([rng.choice(150, length, replace=False) for length in lengths])
    at = np.concatenate([rng.choice(600, WIDTH, replace=False) for _ in range(150)])
    A = Matrix.from_coo(rows, inner, rng.integers(-4, 5, rows.size), shape=(6, 150))
    B = Matrix.from_coo(
        np.repeat(np.arange(150), WIDTH), at * (columns // 600), rng.integers(-4, 5, at.size), shape=(150, columns)
    )
    there = rng.random((6, 600)) < 0.3
    mask_rows, mask_columns = there.nonzero()
    M = Matrix.from_coo(
        mask_rows, mask_columns * (columns // 600), rng.integers(0, 2, mask_rows.size), shape=(6, columns)
    )
    return A, B, M


@pytest.mark.parametrize("columns", [600, 600 << 30])  # columns of 32 bits, and of 64
@pytest.mark.parametrize("ring", RINGS)
@pytest.mark.parametrize("size", SIZES)
def test_tables_of_blocks(size: str, ring: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    launched: set[str] = set()
    launch = Kernel.__call__

    def watching(self: Kernel, grid: int, *arguments: Any, **options: Any) -> None:
        launched.add(self.entry)
        launch(self, grid, *arguments, **options)

    monkeypatch.setattr(Kernel, "__call__", watching)
    A, B, M = operands(size, columns, np.random.default_rng(4))
    engine = "reference" if columns == 600 else "cpu"  # the specification stores every position
    for kind in ("none", "structure", "value", "complement"):
        masks = {
            "none": lambda m: None,
            "structure": lambda m: m.S,
            "value": lambda m: m.V,
            "complement": lambda m: ~m.S,
        }
        launched.clear()
        made = A.mxm(B, RINGS[ring], mask=masks[kind](M), method="hash").wait()
        assert {"mxm_hash_count_block", "mxm_hash_store_block"} <= launched
        assert "mxm_panels_count" not in launched
        with sr.use(engine):
            expected = A.to("cpu").mxm(B.to("cpu"), RINGS[ring], mask=masks[kind](M.to("cpu"))).wait()
        assert made.to("cpu").isequal(expected, check_dtype=True), kind
