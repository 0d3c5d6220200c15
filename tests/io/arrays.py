"""Helpers of the io tests: text as bytes, and entries in one order."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semiring.io.triples import Triples

ALL_DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
]

# Real graphs with known facts, found as the fixture `shared_data` finds them; here they also name test cases.
DATA = Path(os.environ.get("SEMIRING_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the shared graphs are not at {DATA}")


def text(content: str | bytes) -> Any:
    raw = content.encode() if isinstance(content, str) else content
    return np.frombuffer(raw, dtype=np.uint8)


def entries(triples: Triples) -> list[tuple[int, int, Any]]:
    values = np.broadcast_to(triples.values, len(triples.rows))
    return sorted(zip(triples.rows.tolist(), triples.cols.tolist(), values.tolist(), strict=True), key=lambda e: e[:2])


def simple_facts(triples: Triples) -> dict[str, int]:
    """The counts of truth.json that need no algorithm."""
    n = max(triples.nrows, triples.ncols)
    rows, cols = triples.rows.astype(np.int64), triples.cols.astype(np.int64)
    off = rows != cols
    arcs = np.unique(rows[off] * n + cols[off])
    return {
        "vertices": n,
        "self_loops": int((~off).sum()),
        "simple_arcs": len(arcs),
        "max_out_degree": int(np.bincount(arcs // n, minlength=1).max()) if n else 0,
        "max_in_degree": int(np.bincount(arcs % n, minlength=1).max()) if n else 0,
    }
