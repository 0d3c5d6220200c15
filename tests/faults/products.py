"""Random products, by every method, against the specification and SuiteSparse:GraphBLAS.

    python -m tests.faults products --count 10000 --seed 1 --engine cuda
    python -m tests.faults.products SEED FIRST LAST BLOCK ENGINE      # these trials alone, in this process

A trial is a product (`_product_cases`), executed by every method of `mxm` through the public API.  All results must
have the type, shape and entries that the engine ``reference`` gives, and those of SuiteSparse where python-graphblas is
installed and has the operators.  Where the monoid is ``any``, each value must be that of some inner index.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import semiring as sr
from semiring.config import config
from semiring.devices import on_device
from semiring.engines.reference.dense import densify
from semiring.engines.reference.evaluation import binary
from semiring.formats import CSR
from semiring.ops.mxm import METHODS
from tests.compare import check_invariants, same_values
from tests.faults._isolated import run_isolated
from tests.faults._operation_sides import graphblas, theirs_of
from tests.faults._product_cases import RINGS, Dense, Operand, Product, draw, legal_products
from tests.faults.tally import Tally
from tests.storage_kinds import KINDS, in_format, in_kind, small_slices

Array = np.ndarray[Any, Any]
# Trials of a semiring, and of a child process at least.
_BLOCK = 240


def trials(count: int, seed: int, engine: str = "cpu") -> Tally:
    """`count` random products on an engine; every one counts as ok, wrong, raw, died or hung."""
    block = max(1, min(_BLOCK, -(-count // len(RINGS))))
    return run_isolated("tests.faults.products", count, seed, [str(block), engine], chunk=block, most=16)


def trial(seed: int, number: int, block: int, engine: str) -> Product:
    """The product of this number: consecutive blocks have a semiring each.  The specification is dense."""
    return draw(RINGS[number // block % len(RINGS)], seed, number, KINDS, large=engine != "reference")


def outcome(q: Product, engine: str, gb: Any = None) -> str:
    """What differs by which method, or nothing."""
    expected = expected_of(q)
    if gb is not None and q.ring.oracle and not q.ring.ambiguous:
        differs = difference(q, _in_suitesparse(q, gb), expected, dtype=False)
        if differs:
            return f"the specification differs from SuiteSparse: {differs}"
    with sr.use(engine), small_slices(), config.set(fusion=q.fusion), _for_few(engine, q.few):
        objects = {name: _placed(operand, engine) for name, operand in q.operands.items() if name != "C"}
        for method in METHODS:
            own = dict(objects)
            for name in {q.over, "C"}:
                own[name] = _placed(q.operands[name], engine)
            if q.operands["M"] is q.operands["C"]:
                own["M"] = own["C"]
            target = own[q.over]
            _written(q, own, target, method)
            check_invariants(_uncompressed(target))
            if differs := difference(q, _core_of(target, q), expected):
                return f"method {method}: {differs}"
    return ""


@contextmanager
def _for_few(engine: str, usual: bool) -> Iterator[None]:
    """Kernels for large operands, unless `usual`: engines have products of their own for few entries."""
    if usual or engine not in ("cpu", "cuda"):
        yield
        return
    module = "semiring.engines.cpu.index_rank" if engine == "cpu" else "semiring.engines.cuda.tuning"
    with patch(f"{module}.{'FEW_ENTRIES' if engine == 'cpu' else 'DENSE_STEPS'}", -1):
        yield


def _placed(operand: Operand, engine: str) -> sr.Matrix:
    """The matrix on the engine's device, in its storage kind."""
    store = operand.store()
    if engine == "cuda":
        store = store.to("cuda")
    store = on_device(engine, store)
    if operand.format is not None and operand.kind is not None:
        store = in_format(store, operand.format, operand.kind[1], engine)
    elif operand.kind is not None:
        store = in_kind(store, *operand.kind, engine)
    made: sr.Matrix = sr.Matrix._new(store)
    return made


def _written(q: Product, objects: dict[str, Any], target: Any, method: str) -> None:
    a, b = (objects[name].T if q.operands[name].transposed else objects[name] for name in "AB")
    options: dict[str, Any] = {} if q.accum is None else {"accum": q.accum}
    if q.mask != "none":
        mask = getattr(objects["M"], "V" if q.mask.endswith("value") else "S")
        options.update(mask=~mask if q.mask.startswith("complement") else mask, replace=q.replace)
    product = a.mxm(b, q.ring.typed, method=method)
    if options:
        target(**options) << product
    else:
        target << product


def expected_of(q: Product) -> Dense:
    """Values and presence of the core, by the specification."""
    with sr.use("reference"):
        objects = {name: sr.Matrix._new(operand.core) for name, operand in q.operands.items()}
        if q.operands["M"] is q.operands["C"]:
            objects["M"] = objects["C"]
        _written(q, objects, objects[q.over], "auto")
        dense: Dense = densify(objects[q.over].store)
    return dense


def _in_suitesparse(q: Product, gb: Any) -> Dense:
    """The same, by SuiteSparse.

    The product is computed first, since 9.4.5 may crash in a write over an operand, and a mask by values has the true
    entries alone: 9.4.5 crashes in a write of equal values under a full one.
    """
    objects = {name: theirs_of(gb, operand.core) for name, operand in q.operands.items()}
    a, b = (objects[name].T if q.operands[name].transposed else objects[name] for name in "AB")
    made = a.mxm(b, _operator(gb, q)).new()
    target = objects[q.over]
    options: dict[str, Any] = {} if q.accum is None else {"accum": getattr(gb.binary, q.accum)}
    if q.mask != "none":
        value = q.mask.endswith("value")
        masking = objects["M"].dup(dtype=bool).select("==", True).new() if value else objects["M"].dup()
        mask = masking.S
        options.update(mask=~mask if q.mask.startswith("complement") else mask, replace=q.replace)
    target(**options) << made.apply(gb.unary.identity)
    rows, cols, values = target.to_coo()
    core = q.operands[q.over].core
    out, present = np.zeros(core.shape, core.dtype), np.zeros(core.shape, np.bool_)
    out[rows, cols] = values
    present[rows, cols] = True
    return out, present


def _operator(gb: Any, q: Product) -> Any:
    module = gb.semiring.ss if q.ring.positional else gb.semiring
    found = getattr(module, q.ring.name)
    return found if q.ring.positional else found[q.ring.typed.z.name if q.ring.left == "bool" else q.ring.left]


def _uncompressed(target: sr.Matrix) -> CSR:
    """The store, decoded, in host memory."""
    found: CSR = target.decompress().to("cpu").store
    return found


def _core_of(target: sr.Matrix, q: Product) -> Dense:
    """Values and presence of the result at the positions of the core, where all of its entries must be."""
    store, operand = _uncompressed(target), q.operands[q.over]
    assert store.shape == operand.shape, f"shape {store.shape}"
    if operand.places is None:
        dense: Dense = densify(store)
        return dense
    rows = np.repeat(np.arange(store.nrows), np.diff(store.indptr))
    at = tuple(
        np.searchsorted(places, part) for places, part in zip(operand.places, (rows, store.indices), strict=True)
    )
    for places, part, found in zip(operand.places, (rows, store.indices), at, strict=True):
        assert (places[np.minimum(found, places.size - 1)] == part).all(), "an entry where no product can be"
    values, present = np.zeros(operand.core.shape, store.dtype), np.zeros(operand.core.shape, np.bool_)
    values[at] = store.iso if store.values is None else store.values
    present[at] = True
    return values, present


def difference(q: Product, got: Dense, expected: Dense, *, dtype: bool = True) -> str:
    """What differs, or nothing; `any` may have the value of any inner index."""
    (values, present), (right, right_present) = got, expected
    if dtype and values.dtype != right.dtype:
        return f"type {values.dtype}, expected {right.dtype}"
    if (present != right_present).any():
        at = tuple(int(p) for p in np.argwhere(present != right_present)[0])
        return f"{int((present != right_present).sum())} positions differ, first {at}: present {bool(present[at])}"
    wrong = present & ~same_values(values, right)
    if wrong.any() and q.ring.ambiguous:
        mult = q.ring.typed.mult

        def multiply(x: Array, y: Array, i: Array, k: Array, j: Array) -> Array:
            return binary(mult, x, y, xi=i, xj=k, yi=k, yj=j)

        wrong &= ~legal_products(q, multiply, values)
    if not wrong.any():
        return ""
    at = tuple(int(p) for p in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} values differ, first at {at}: {values[at]!r}, not {right[at]!r}"


def run_here(seed: int, first: int, last: int, block: int, engine: str) -> None:
    """These trials in this process; prints what `_isolated` reads."""
    gb = graphblas() if importlib.util.find_spec("graphblas") is not None else None
    for number in range(first, last):
        print(number, flush=True)
        name = f"trial {number} of seed {seed} with blocks of {block}"
        try:
            q = trial(seed, number, block, engine)
            name = f"{name}: {q}"
            differs = outcome(q, engine, gb)
            found = ["wrong" if differs else "ok", f"{name}: {differs}" if differs else ""]
        except Exception as error:
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            where = "" if place is None else f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
            found = ["raw", f"{name}: {type(error).__name__}: {error} at {where}"]
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    run_here(*(int(word) for word in sys.argv[1:5]), engine=sys.argv[5])
