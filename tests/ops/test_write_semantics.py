"""C<M, replace> accum= T, through the public API: every operation, mask, accumulator, type, format and aliasing.

The source of the write is the specification's result of the operation.  The write is then executed fused where the
engine can, composed step by step, and on the specification; all must equal the definition on dense arrays below.

For each operation every combination of mask, `replace` and aliasing is tried, with and without an accumulator.  A test
configuration sets the types and formats of the objects.  On the CPU each new type is compiled, a second or more for
an operation; so there some operations are drawn (`tests.sampling`), with one configuration each: the first one has a
drawn one, the next operation the next one.  ``--exhaustive`` and the other engines use all operations with all
configurations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import semiring as sr
from semiring.config import config
from semiring.dtypes import unify
from semiring.engines.shared.expression_numpy import cast
from tests import sampling
from tests.draw import contents, store_of

N = 7
ROWS, COLS = [5, 0, 3], [6, 2]
DENSITIES = (0.5, 0.2, 1.0, 0.8, 0.0)
Array = np.ndarray[Any, Any]
Dense = tuple[Array, Array]
Combine = Callable[[Any, Any], Any]


class Configuration(NamedTuple):
    """Types and vector formats of the source, of the output and of the mask; which of them are iso-valued."""

    source: str
    output: str
    mask: str
    formats: tuple[str, str, str]
    iso: str
    accum: str


CONFIGURATIONS = (
    Configuration("int64", "float64", "bool", ("index", "bitmap", "full"), "", "plus"),
    Configuration("float32", "int8", "int8", ("bitmap", "full", "index"), "", "min"),
    Configuration("uint8", "uint8", "float32", ("full", "index", "bitmap"), "C", "first"),
    Configuration("bool", "int64", "uint8", ("index", "index", "bitmap"), "AuM", "plus"),
    Configuration("int8", "float32", "bool", ("bitmap", "bitmap", "index"), "ABuw", "second"),
    Configuration("float64", "bool", "int64", ("full", "bitmap", "full"), "M", "first"),
    Configuration("uint8", "int8", "float64", ("bitmap", "index", "index"), "CB", "plus"),
    Configuration("bool", "bool", "bool", ("index", "full", "bitmap"), "CABuwM", "plus"),
    Configuration("float32", "float32", "uint8", ("full", "full", "full"), "Cu", "min"),
)


def dense(x: Any) -> Dense:
    """(values, present) of a Matrix or a Vector."""
    *at, values = (np.asarray(part.get() if hasattr(part, "get") else part) for part in x.to_coo())
    out, present = np.zeros(x.shape, values.dtype), np.zeros(x.shape, bool)
    out[tuple(at)] = values
    present[tuple(at)] = True
    return out, present


def build(pair: Dense, format: str, iso: bool) -> Any:
    """The Matrix or Vector of a dense pair, on the device of the engine in use."""
    values, present = pair
    store = store_of(values, present, "bitmap" if format == "full" and not present.all() else format, iso)
    empty: Any = sr.Matrix(values.dtype, *values.shape) if values.ndim == 2 else sr.Vector(values.dtype, values.size)
    return empty.with_store(store.to(empty.device))


@dataclass
class Operands:
    """The operands: everything is N x N or of size N, so that each may be the output too."""

    C: Any
    A: Any
    B: Any
    u: Any
    w: Any


Operation = Callable[[Operands], Any]

VECTOR_OPERATIONS: dict[str, Operation] = {
    "mxv": lambda g: g.A.mxv(g.u, "plus_times"),
    "mxv_transposed": lambda g: g.A.T.mxv(g.u, "min_plus"),
    "vxm": lambda g: g.u.vxm(g.A, "max_second"),
    "vxm_pattern": lambda g: g.u.vxm(g.A, "plus_pair"),
    "ewise_add": lambda g: g.u.ewise_add(g.w, "plus"),
    "ewise_mult": lambda g: g.u.ewise_mult(g.w, "times"),
    "ewise_union": lambda g: g.u.ewise_union(g.w, "minus", 2, 3),
    "apply": lambda g: g.u.apply("ainv"),
    "apply_bound": lambda g: g.u.apply("plus", right=3),
    "apply_index": lambda g: g.u.apply(sr.indexunary.rowindex),
    "select": lambda g: g.u.select(">", 1),
    "reduce_rowwise": lambda g: g.A.reduce_rowwise("plus"),
    "reduce_columnwise": lambda g: g.A.reduce_columnwise("max"),
    "extract": lambda g: g.u[[3, 3, 0, 6, 1, 2, 5]],
    "extract_row": lambda g: g.A[2, :],
    "extract_column": lambda g: g.A[:, 4],
    "dup": lambda g: g.u.dup(),
}
MATRIX_OPERATIONS: dict[str, Operation] = {
    "mxm": lambda g: g.A.mxm(g.B, "plus_times"),
    "mxm_transposed": lambda g: g.A.T.mxm(g.B.T, "plus_pair"),
    "ewise_add": lambda g: g.A.ewise_add(g.B, "plus"),
    "ewise_add_transposed": lambda g: g.A.ewise_add(g.B.T, "min"),
    "ewise_mult": lambda g: g.A.ewise_mult(g.B, "minus"),
    "ewise_union": lambda g: g.A.ewise_union(g.B, "minus", 2, 3),
    "apply": lambda g: g.A.apply("ainv"),
    "apply_bound": lambda g: g.A.apply("minus", left=3),
    "select": lambda g: g.A.select("tril", -1),
    "extract": lambda g: g.A[[3, 3, 0, 6, 1, 2, 5], :],
    "transpose": lambda g: g.A.T,
    "dup": lambda g: g.A.dup(),
}
MASKS: dict[str, Callable[[Any], Any]] = {
    "value": lambda m: m.V,
    "structure": lambda m: m.S,
    "complement_value": lambda m: ~m.V,
    "complement_structure": lambda m: ~m.S,
}
ACCUMULATE: dict[str | None, Combine] = {
    "plus": lambda c, t: c + t,
    "first": lambda c, t: c,
    "second": lambda c, t: t,
    "min": np.minimum,
}
# Operations that read no vector, and so cannot be written over one that they read.
READS_NO_VECTOR = {"reduce_rowwise", "reduce_columnwise", "extract_row", "extract_column"}


def admitted(mask: Dense, kind: str | None) -> Array:
    values, present = mask
    if kind is None:
        return np.ones(values.shape, bool)
    listed = present & (values != 0) if kind.endswith("value") else present
    return ~listed if kind.startswith("complement") else listed


def write(c: Dense, t: Dense, admits: Array, accum: Combine | None, replace: bool) -> Dense:
    """The definition: Z is T, or C accum T; Z where admitted; C, or nothing, elsewhere."""
    (cv, cp), (tv, tp) = c, t
    zv, zp = cast(tv, cv.dtype), tp
    if accum is not None:
        wide = unify(cv.dtype, tv.dtype)
        met = cast(accum(cast(cv, wide), cast(tv, wide)), cv.dtype)
        zv, zp = np.where(cp & tp, met, np.where(cp, cv, zv)), cp | tp
    return np.where(admits, zv, cv), np.where(admits, zp, cp & (not replace))


def assert_is(x: Any, expected: Dense, what: str) -> None:
    values, present = dense(x)
    assert x.dtype == expected[0].dtype, what
    assert (present == expected[1]).all(), f"{what}\npresence:\n{present}\nexpected:\n{expected[1]}"
    np.testing.assert_array_equal(values[present], expected[0][present], err_msg=what)


@dataclass(frozen=True)
class Case:
    """One write: the seed determines the contents, the rest the write."""

    configuration: Configuration
    seed: int
    mask: str | None
    accum: str | None
    replace: bool
    alias: str = "none"

    def drawn(self, shapes: dict[str, tuple[int, ...]]) -> dict[str, Dense]:
        """Small numbers of every type; sums and products of a few are exact."""
        rng = np.random.default_rng(self.seed)
        density = rng.choice(DENSITIES)
        types = {"C": self.configuration.output, "M": self.configuration.mask}
        formats = dict(zip("sCM", self.configuration.formats, strict=True))
        found = {}
        for name, shape in shapes.items():
            values = (contents(rng, int(np.prod(shape)), np.dtype(np.int8)).reshape(shape) % 7).astype(
                types.get(name, self.configuration.source)
            )
            if name in self.configuration.iso:
                values[:] = values.flat[0]
            full = len(shape) == 1 and formats.get(name, formats["s"]) == "full" and rng.random() < 0.5
            found[name] = values, rng.random(shape) < (1.0 if full else density)
        return found

    def build(self, name: str, pair: Dense) -> Any:
        formats = dict(zip("sCM", self.configuration.formats, strict=True))
        return build(pair, formats.get(name, formats["s"]), name in self.configuration.iso)

    def into(self, target: Any, mask: Any) -> Any:
        """The output with the mask and the accumulator, ready for ``<<``."""
        options: dict[str, Any] = {} if self.accum is None else {"accum": self.accum}
        if self.mask is not None:
            options.update(mask=MASKS[self.mask](mask), replace=self.replace)
        return target(**options) if options else target


def cases(configuration: Configuration, every_accum: bool, aliases: tuple[str, ...] = ("none",)) -> Iterator[Case]:
    """Every mask, `replace` and aliasing, with each accumulator and without."""
    accums: list[str | None] = [None, *(ACCUMULATE if every_accum else [configuration.accum])]
    seed = 0
    for mask in (None, *MASKS):
        for replace in (False, True) if mask is not None else (False,):
            for alias in aliases if mask is not None else [one for one in aliases if one in ("none", "operand")]:
                for accum in accums:
                    yield Case(configuration, seed, mask, accum, replace, alias)
                    seed += 1


def ways(engine: str) -> tuple[tuple[str, bool], ...]:
    """(engine, fusion) of each way to execute a write."""
    return (engine, True), (engine, False), ("reference", False)


def configured(names: Any, count: int) -> list[Any]:
    """Pairs of a name and a test configuration; those outside the sample of `count` run where compilation is short."""
    names = list(names)
    product = ", ".join(names)
    first = int(sampling.generator(product).integers(len(CONFIGURATIONS)))
    drawn = sampling.draw(f"operations of {product}", names, count)
    sample = [(name, CONFIGURATIONS[(first + number) % len(CONFIGURATIONS)]) for number, name in enumerate(drawn)]
    return [
        pytest.param(
            name,
            configuration,
            id=f"{name}-{configuration.source}-{configuration.output}",
            marks=sampling.marks((name, configuration), sample, pytest.mark.wide),
        )
        for name in names
        for configuration in CONFIGURATIONS
    ]


@pytest.fixture
def every_accum(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--exhaustive"))


def check_writes(engine: str, operation: Operation, axes: int, cases: Iterator[Case]) -> None:
    square, line, shape = (N, N), (N,), (N,) * axes
    shapes = {"C": shape, "A": square, "B": square, "u": line, "w": line, "M": shape}
    for case in cases:
        parts = case.drawn(shapes)
        over = case.alias in ("operand", "both")
        with sr.use("reference"):
            t = dense(operation(_operands(case, parts, over)[0]).dup())
        m = parts["C"] if case.alias in ("mask", "both") else parts["M"]
        expected = write(parts["C"], t, admitted(m, case.mask), ACCUMULATE.get(case.accum), case.replace)
        for where, fusion in ways(engine):
            with sr.use(where), config.set(fusion=fusion):
                g, mask = _operands(case, parts, over)
                case.into(g.C, g.C if m is parts["C"] else mask) << operation(g)
                assert_is(g.C, expected, f"{where}, fusion {fusion}: {case}")


def _operands(case: Case, parts: dict[str, Dense], over: bool) -> tuple[Operands, Any]:
    """The operands and the mask; `over`: the output is the first operand too."""
    made = {name: case.build(name, pair) for name, pair in parts.items()}
    mask = made.pop("M")
    if over:
        made["A" if made["C"].ndim == 2 else "u"] = made["C"]
    return Operands(**made), mask


@pytest.mark.costly
@pytest.mark.parametrize(("name", "configuration"), configured(VECTOR_OPERATIONS, 5))
def test_vector(engine: str, name: str, configuration: Configuration, every_accum: bool) -> None:
    aliases = ("none", "mask") if name in READS_NO_VECTOR else ("none", "operand", "mask", "both")
    check_writes(engine, VECTOR_OPERATIONS[name], 1, cases(configuration, every_accum, aliases))


@pytest.mark.costly
@pytest.mark.parametrize(("name", "configuration"), configured(MATRIX_OPERATIONS, 4))
def test_matrix(engine: str, name: str, configuration: Configuration, every_accum: bool) -> None:
    aliases = ("none", "operand", "mask", "both")
    check_writes(engine, MATRIX_OPERATIONS[name], 2, cases(configuration, every_accum, aliases))


def region_of(shape: tuple[int, ...]) -> Any:
    return np.ix_(ROWS, COLS) if len(shape) == 2 else np.array(ROWS)


def assigned(c: Dense, b: Dense, admits: Array, accum: Combine | None, replace: bool) -> Dense:
    """C, with the region written by B."""
    region = region_of(c[0].shape)
    values, present = c[0].copy(), c[1].copy()
    values[region], present[region] = write((values[region], present[region]), b, admits, accum, replace)
    return values, present


REGIONS = configured(
    ["assign_object_1", "assign_object_2", "assign_scalar_1", "assign_scalar_2", "subassign_1", "subassign_2"], 2
)


@pytest.mark.costly
@pytest.mark.parametrize(("name", "configuration"), REGIONS)
def test_region(engine: str, name: str, configuration: Configuration, every_accum: bool) -> None:
    """``C(M)[I, J] << B``: the mask covers all of C.  ``C[I, J](M) << B``: the region alone; the rest is unchanged."""
    axes, sub, by_object = int(name[-1]), name.startswith("sub"), "scalar" not in name
    shape, piece = (N,) * axes, (len(ROWS), len(COLS))[:axes]
    at = (ROWS, COLS) if axes == 2 else ROWS
    for case in cases(configuration, every_accum):
        drawn = case.drawn({"C": shape, "B": piece, "M": piece if sub else shape})
        b = drawn["B"] if by_object else (np.full(piece, 5, configuration.output), np.ones(piece, bool))
        admits = admitted(drawn["M"], case.mask)
        if sub:
            expected = assigned(drawn["C"], b, admits, ACCUMULATE.get(case.accum), case.replace)
        else:
            t = assigned(drawn["C"], b, np.ones(piece, bool), ACCUMULATE.get(case.accum), False)
            expected = write(drawn["C"], t, admits, None, case.replace)
        for where, fusion in ways(engine):
            with sr.use(where), config.set(fusion=fusion):
                C, M = case.build("C", drawn["C"]), case.build("M", drawn["M"])
                target = case.into(C[at], M) if sub else case.into(C, M)[at]
                target << (case.build("B", b) if by_object else 5)
                assert_is(C, expected, f"{where}, fusion {fusion}: {case}")


def test_an_operation_that_raises_leaves_its_target(engine: str) -> None:
    c = sr.Vector.from_coo([0, 2], [1, 2], size=3)
    A = sr.Matrix.from_coo([0, 1], [1, 0], [1, 1], nrows=2, ncols=2)
    with pytest.raises(sr.exceptions.DimensionMismatch):
        c(accum="plus") << A.mxv(c, "plus_times")
    assert c.to_coo()[0].tolist() == [0, 2]
    assert c.to_coo()[1].tolist() == [1, 2]


def test_a_pending_result_uses_its_operands_as_they_were(engine: str) -> None:
    u = sr.Vector.from_coo([0, 1], [1, 2], size=3)
    pending = u.apply("plus", right=10)
    u << u.apply("ainv")
    assert pending.to_coo()[1].tolist() == [11, 12]
