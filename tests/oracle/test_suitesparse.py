"""The same calls in SuiteSparse:GraphBLAS through python-graphblas, which shares no code with this package.

Values are small integers (also as floats), so that sums are exact in any order and types are compared by value.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import semiring as sr
from tests import sampling
from tests.draw import contents

pytestmark = pytest.mark.oracle
pytest.importorskip("graphblas", reason="python-graphblas is not installed")

N = 23
DTYPES = ("bool", "int8", "int32", "int64", "uint16", "float32", "float64")
Arrays = dict[str, np.ndarray[Any, Any]]
Call = Callable[[Any, Arrays], Any]


@pytest.fixture(scope="module")
def gb() -> Any:
    found = importlib.import_module("graphblas")
    found.init("suitesparse", blocking=True)
    return found


def drawn(seed: int, dtype: str) -> Arrays:
    """Coordinates and values of the operands, by name."""
    rng = np.random.default_rng(seed)
    found: Arrays = {}
    for name, density in (("A", 0.2), ("B", 0.3), ("C", 0.3), ("M", 0.4)):
        found[name] = _entries(rng, (N, N), dtype, density)
    for name, density in (("u", 0.5), ("v", 0.3), ("w", 0.4), ("m", 0.5)):
        found[name] = _entries(rng, (N,), dtype, density)
    return found


def _entries(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, density: float) -> Any:
    at = np.nonzero(rng.random(shape) < density)
    values = contents(rng, at[0].size, np.dtype(np.uint8)) % 5
    return (*at, values.astype(dtype))


class Side:
    """One of the two libraries: its operands, built from the same arrays."""

    def __init__(self, library: Any, arrays: Arrays) -> None:
        self.library = library
        for name, (*at, values) in arrays.items():
            sizes = {"nrows": N, "ncols": N} if len(at) == 2 else {"size": N}
            make = library.Matrix if len(at) == 2 else library.Vector
            setattr(self, name, make.from_coo(*at, values, **sizes, dtype=values.dtype))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.library, name)


def entries(x: Any) -> dict[tuple[int, ...], Any]:
    """Values by position, of an object of either library."""
    *at, values = (np.asarray(part.get() if hasattr(part, "get") else part) for part in x.to_coo())
    return dict(zip(zip(*(part.tolist() for part in at), strict=True), values.tolist(), strict=True))


def assert_equal(ours: Any, theirs: Any) -> None:
    mine, right = entries(ours), entries(theirs)
    assert mine.keys() == right.keys()
    for at, value in right.items():
        assert mine[at] == pytest.approx(value, rel=1e-5, nan_ok=True), at


def both(gb: Any, seed: int, dtype: str, call: Callable[[Any], Any]) -> None:
    """The call gives the same on both sides; it may return an object, or an expression of python-graphblas."""
    arrays = drawn(seed, dtype)
    theirs = call(Side(gb, arrays))
    assert_equal(call(Side(sr, arrays)), theirs.new() if hasattr(theirs, "new") else theirs)


SEMIRINGS = ("plus_times", "min_plus", "max_plus", "max_times", "min_first", "max_second", "plus_pair", "plus_first")
LOGICAL = ("lor_land", "any_pair")
BINARIES = ("plus", "minus", "times", "min", "max", "first", "second", "pair", "rminus")
TO_BOOL = ("eq", "ne", "lt", "le", "gt", "ge")
BY_PLACE = ("tril", "triu", "diag", "offdiag", "rowle", "rowgt", "colle", "colgt")
BY_VALUE = ("valueeq", "valuene", "valuelt", "valuele", "valuegt", "valuege")
DUPS = ("plus", "times", "min", "max", "first", "second")


# A product of another operator or type takes three seconds to compile, so that a short run on the CPU has a sample of
# the operators, each on one type; `tests/faults` draws the others too.
WIDE = pytest.mark.wide


def few(rows: list[tuple[str, str]], usual: set[tuple[str, str]], name: str = "", count: int = 0) -> list[Any]:
    """Parameters, of which a short run on the CPU uses the usual ones; with a name, a sample of `count` of these."""
    if name:
        drawn = sampling.draw(name, [row for row in rows if row in usual], count)
        return [pytest.param(*row, marks=sampling.marks(row, drawn, WIDE)) for row in rows]
    return [pytest.param(*row, marks=[] if row in usual else [WIDE]) for row in rows]


FEW = [pytest.param("int32", marks=WIDE), pytest.param("uint16", marks=WIDE), "float64"]
PRODUCTS = few(
    [*product(SEMIRINGS, DTYPES[1:]), *product(LOGICAL, DTYPES)],
    {
        *((name, ("int64", "float64")[number % 2]) for number, name in enumerate(SEMIRINGS)),
        *((name, "bool") for name in LOGICAL),
        ("plus_times", "float64"),
    },
    "products beside SuiteSparse",
    5,
)


@pytest.mark.costly
@pytest.mark.parametrize(("name", "dtype"), PRODUCTS)
def test_products(gb: Any, name: str, dtype: str) -> None:
    both(gb, 1, dtype, lambda s: s.A.mxv(s.u, getattr(s.semiring, name)))
    both(gb, 2, dtype, lambda s: s.A.T.mxv(s.u, getattr(s.semiring, name)))
    both(gb, 3, dtype, lambda s: s.u.vxm(s.A, getattr(s.semiring, name)))
    both(gb, 4, dtype, lambda s: s.A.mxm(s.B, getattr(s.semiring, name)))
    both(gb, 5, dtype, lambda s: s.A.T.mxm(s.B.T, getattr(s.semiring, name)))


@pytest.mark.costly
@pytest.mark.parametrize("name", ["min_firsti", "min_firstj", "max_secondi", "min_secondj"])
def test_positional_products(gb: Any, name: str) -> None:
    def operator(s: Side) -> Any:
        return getattr(s.semiring if s.library is sr else s.semiring.ss, name)

    both(gb, 6, "int64", lambda s: s.A.mxm(s.B, operator(s)))
    both(gb, 7, "int64", lambda s: s.A.mxv(s.u, operator(s)))
    both(gb, 8, "int64", lambda s: s.u.vxm(s.A, operator(s)))


@pytest.mark.costly
@pytest.mark.parametrize("name", ["times", "minus", "second"])
@pytest.mark.parametrize("dtype", FEW)
def test_kronecker(gb: Any, name: str, dtype: str) -> None:
    both(gb, 9, dtype, lambda s: s.A.kronecker(s.B, getattr(s.binary, name)))
    both(gb, 10, dtype, lambda s: s.A.T.kronecker(s.B.T, getattr(s.binary, name)))


@pytest.mark.parametrize("name", ["firsti", "firstj", "secondi", "secondj"])
def test_positional_kronecker(gb: Any, name: str) -> None:
    both(gb, 9, "int64", lambda s: s.A.kronecker(s.B, getattr(s.binary if s.library is sr else s.binary.ss, name)))


@pytest.mark.costly
@pytest.mark.parametrize("name", BINARIES)
@pytest.mark.parametrize("dtype", FEW)
def test_ewise(gb: Any, name: str, dtype: str) -> None:
    both(gb, 11, dtype, lambda s: s.A.ewise_mult(s.B, getattr(s.binary, name)))
    both(gb, 12, dtype, lambda s: s.u.ewise_mult(s.v, getattr(s.binary, name)))
    both(gb, 13, dtype, lambda s: s.A.ewise_add(s.B, getattr(s.binary, name)))
    both(gb, 14, dtype, lambda s: s.u.ewise_add(s.v, getattr(s.binary, name)))
    if dtype != "uint16":  # a Python scalar widens the result there; here it takes the type of the operands
        both(gb, 15, dtype, lambda s: s.A.ewise_union(s.B, getattr(s.binary, name), 2, 3))
    both(gb, 16, dtype, lambda s: s.A.ewise_add(s.B.T, getattr(s.binary, name)))


@pytest.mark.parametrize("name", TO_BOOL)
@pytest.mark.parametrize("dtype", FEW)
def test_compare(gb: Any, name: str, dtype: str) -> None:
    """On the intersection alone: the union would mix results of type bool with operands."""
    both(gb, 17, dtype, lambda s: s.A.ewise_mult(s.B, getattr(s.binary, name)))
    both(gb, 18, dtype, lambda s: s.u.ewise_mult(s.v, getattr(s.binary, name)))


@pytest.mark.parametrize("name", ["ainv", "abs", "identity", "one", "sqrt", "exp", "minv"])
@pytest.mark.parametrize("dtype", [pytest.param("int32", marks=WIDE), pytest.param("float32", marks=WIDE), "float64"])
def test_apply(gb: Any, name: str, dtype: str) -> None:
    if name == "minv" and dtype == "int32":
        pytest.skip("division of integers by zero is our own rule")
    both(gb, 21, dtype, lambda s: s.A.apply(getattr(s.unary, name)))
    both(gb, 22, dtype, lambda s: s.u.apply(getattr(s.unary, name)))


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_apply_bound(gb: Any, dtype: str) -> None:
    both(gb, 23, dtype, lambda s: s.A.apply(s.binary.minus, right=2))
    both(gb, 24, dtype, lambda s: s.A.apply(s.binary.minus, left=2))
    both(gb, 25, dtype, lambda s: s.A.apply(s.indexunary.rowindex))
    both(gb, 26, dtype, lambda s: s.u.apply(s.indexunary.rowindex))
    # On int64 alone there, and with a thunk it is j - i - k there, j - i + k here and in the C specification.
    both(gb, 27, "int64", lambda s: s.A.apply(s.indexunary.diagindex))


@pytest.mark.parametrize(
    ("name", "dtype"),
    few(
        [*product(BY_PLACE, ["int32"]), *product(BY_VALUE, ["int32", "uint16", "float64"])],
        {*product((*BY_PLACE, *BY_VALUE), ["int32"])},
    ),
)
def test_select(gb: Any, name: str, dtype: str) -> None:
    both(gb, 31, dtype, lambda s: s.A.select(getattr(s.select, name), 2))
    if name in BY_VALUE:
        both(gb, 32, dtype, lambda s: s.u.select(getattr(s.select, name), 2))


REDUCTIONS = [
    *product(["plus", "times", "min", "max"], ["int8", "int64", "float64"]),
    *product(["lor", "land", "lxor", "lxnor"], ["bool"]),
    *product(["bor", "band", "bxor", "bxnor"], ["uint16"]),
]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "dtype"),
    few(
        REDUCTIONS,
        {row for row in REDUCTIONS if row[1] != "int8" and row != ("times", "int64")},
        "reductions beside SuiteSparse",
        7,
    ),
)
def test_reduce(gb: Any, name: str, dtype: str) -> None:
    both(gb, 41, dtype, lambda s: s.A.reduce_rowwise(getattr(s.monoid, name)))
    both(gb, 42, dtype, lambda s: s.A.reduce_columnwise(getattr(s.monoid, name)))
    arrays = drawn(43, dtype)
    ours, theirs = Side(sr, arrays), Side(gb, arrays)
    for pick in (
        lambda s: s.A.reduce_scalar(getattr(s.monoid, name)),
        lambda s: s.u.reduce(getattr(s.monoid, name)),
    ):
        assert pick(ours).value == pick(theirs).new().value


I, J = [5, 0, 5, 22, 7], [3, 1, 19]


@pytest.mark.parametrize("dtype", ["bool", "int64", "float32"])
def test_extract(gb: Any, dtype: str) -> None:
    both(gb, 51, dtype, lambda s: s.u[I])
    both(gb, 52, dtype, lambda s: s.A[I, J])
    both(gb, 53, dtype, lambda s: s.A[:, 4])
    both(gb, 54, dtype, lambda s: s.A[4, :])
    both(gb, 55, dtype, lambda s: s.A[2:20:3, :])
    both(gb, 56, dtype, lambda s: s.A.T)


MASKS: dict[str, Callable[[Any], Any]] = {
    "none": lambda m: None,
    "value": lambda m: m.V,
    "structure": lambda m: m.S,
    "complement_value": lambda m: ~m.V,
    "complement_structure": lambda m: ~m.S,
}
VECTOR_WRITES: dict[str, Callable[[Any], Any]] = {
    "mxv": lambda s: s.A.mxv(s.u, s.semiring.plus_times),
    "vxm": lambda s: s.u.vxm(s.A, s.semiring.min_plus),
    "ewise_add": lambda s: s.u.ewise_add(s.v, s.binary.plus),
    "ewise_mult": lambda s: s.u.ewise_mult(s.v, s.binary.times),
    "apply": lambda s: s.u.apply(s.unary.ainv),
    "reduce": lambda s: s.A.reduce_rowwise(s.monoid.plus),
}
MATRIX_WRITES: dict[str, Callable[[Any], Any]] = {
    "mxm": lambda s: s.A.mxm(s.B, s.semiring.plus_times),
    "ewise_add": lambda s: s.A.ewise_add(s.B, s.binary.plus),
    "ewise_mult": lambda s: s.A.ewise_mult(s.B, s.binary.times),
    "apply": lambda s: s.A.apply(s.unary.ainv),
    "select": lambda s: s.A.select(s.select.tril, 0),
    "transpose": lambda s: s.A.T,
}


def options(s: Side, mask: Any, accum: str | None, replace: bool) -> dict[str, Any]:
    found: dict[str, Any] = {} if accum is None else {"accum": getattr(s.binary, accum)}
    return found if mask is None else {**found, "mask": mask, "replace": replace}


@pytest.mark.costly
@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("accum", [None, "plus", "min", "second"])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_write(gb: Any, dtype: str, mask: str, accum: str | None, replace: bool) -> None:
    """C<M, replace> accum= T, for vectors and matrices."""
    for name, call in VECTOR_WRITES.items():
        _written(gb, dtype, lambda s: s.w, lambda s: MASKS[mask](s.m), accum, replace, call, name)
    for name, call in MATRIX_WRITES.items():
        _written(gb, dtype, lambda s: s.C, lambda s: MASKS[mask](s.M), accum, replace, call, name)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("mask", MASKS)
def test_write_over_an_operand(gb: Any, mask: str, replace: bool) -> None:
    """The output is an operand, and then its own mask."""
    for alias in ("u", "A"):
        calls = VECTOR_WRITES if alias == "u" else MATRIX_WRITES
        for name, call in calls.items():
            masked = lambda s: MASKS[mask](s.m if alias == "u" else s.M)  # noqa: B023, E731
            own = lambda s: MASKS[mask](getattr(s, alias))  # noqa: B023, E731
            for over in (masked, own):
                _written(gb, "int64", lambda s: getattr(s, alias), over, "plus", replace, call, name)  # noqa: B023


def _written(
    gb: Any,
    dtype: str,
    target: Callable[[Any], Any],
    mask: Callable[[Any], Any],
    accum: str | None,
    replace: bool,
    call: Callable[[Any], Any],
    name: str,
) -> None:
    arrays = drawn(61, dtype)
    sides = [Side(sr, arrays), Side(gb, arrays)]
    for s in sides:
        target(s)(**options(s, mask(s), accum, replace)) << call(s)
    try:
        assert_equal(target(sides[0]), target(sides[1]))
    except AssertionError as error:
        raise AssertionError(f"{name}: {error}") from None


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("accum", [None, "plus", "minus", "min", "first", "second"])
@pytest.mark.parametrize("mask", MASKS)
def test_assign(gb: Any, mask: str, accum: str | None, replace: bool) -> None:
    """C(M)[I, J] << B covers all of C; C[I, J](M) << B covers the region."""
    rows, cols = [5, 0, 22, 7], [3, 1, 19]
    arrays = drawn(71, "int64")
    sides = [Side(sr, arrays), Side(gb, arrays)]
    for s in sides:
        piece = s.B[rows, cols].dup() if s.library is sr else s.B[rows, cols].new()
        part = s.M[rows, cols].dup() if s.library is sr else s.M[rows, cols].new()
        whole = options(s, MASKS[mask](s.M), accum, replace)
        region = options(s, MASKS[mask](part), accum, replace)
        s.C(**whole)[rows, cols] << piece
        s.B[rows, cols](**region) << piece
        s.w(**options(s, MASKS[mask](s.m), accum, replace))[rows] << 3
    for name in ("C", "B", "w"):
        assert_equal(getattr(sides[0], name), getattr(sides[1], name))


@pytest.mark.costly
@pytest.mark.parametrize("mask", MASKS)
def test_assign_to_rows_and_columns(gb: Any, mask: str) -> None:
    """C(m)[i, J] << u: m is as long as row i, and no other row changes; C[i, J](m) << u: m is as long as J."""
    rng = np.random.default_rng(72)
    for trial in range(40):
        arrays = drawn(int(rng.integers(2**31)), "int64")
        at, count = int(rng.integers(N)), int(rng.integers(1, N + 1))
        part: Any = [slice(None), slice(2, 17, 3), [at], rng.permutation(N)[:count].tolist()][trial % 4]
        key = (at, part) if rng.random() < 0.5 else (part, at)
        accum, replace, scalar = rng.choice([None, "plus", "min"]), bool(rng.integers(2)), bool(rng.integers(2))
        sides = [Side(sr, arrays), Side(gb, arrays)]
        for s in sides:
            u, m = (x[part].dup() if s.library is sr else x[part].new() for x in (s.u, s.m))
            value = 3 if scalar else u
            s.C(**options(s, MASKS[mask](s.m), accum, replace))[key] << value
            s.B[key](**options(s, MASKS[mask](m), accum, replace)) << value
            del s.A(**options(s, MASKS[mask](s.m), None, False))[key]
        for name in ("C", "B", "A"):
            assert_equal(getattr(sides[0], name), getattr(sides[1], name))


@pytest.mark.parametrize("accum", ["plus", "times", "min", "max"])
def test_assign_to_repeated_positions(gb: Any, accum: str) -> None:
    """The accumulator combines values of one position, as `dup_op` does when building."""
    arrays = drawn(81, "int64")
    at, values = np.array([5, 0, 5, 22, 5, 0]), np.array([2, 3, 4, 5, 6, 7])
    ours, theirs = Side(sr, arrays), Side(gb, arrays)
    ours.w(accum=accum)[at] << sr.Vector.from_dense(values)
    pieces = gb.Vector.from_coo(at, values, size=N, dup_op=getattr(gb.binary, accum))
    theirs.w(accum=getattr(gb.binary, accum)) << pieces
    assert_equal(ours.w, theirs.w)


@pytest.mark.parametrize("k", [0, 1, -3, N - 1, 1 - N])
def test_diagonals(gb: Any, k: int) -> None:
    """Of a matrix, and the square matrix that has a vector on one."""
    for dtype in ("bool", "int64", "float32"):
        both(gb, 91, dtype, lambda s: s.A.diag(k))
        both(gb, 92, dtype, lambda s: s.u.diag(k))


@pytest.mark.parametrize("dup", DUPS)
@pytest.mark.parametrize("dtype", ["int8", "int64", "float64"])
def test_build(gb: Any, dtype: str, dup: str) -> None:
    """Repeated entries are combined in the order in which they are given: `first` and `second` show it."""
    rng = np.random.default_rng(101)
    rows, cols = rng.integers(0, N, (2, 6 * N)) % 9
    values = (contents(rng, rows.size, np.dtype(np.uint8)) % 3).astype(dtype)

    def built(library: Any) -> tuple[Any, Any]:
        options = {"dtype": values.dtype, "dup_op": getattr(library.binary, dup)}
        return (
            library.Matrix.from_coo(rows, cols, values, nrows=N, ncols=N, **options),
            library.Vector.from_coo(rows, values, size=N, **options),
        )

    for ours, theirs in zip(built(sr), built(gb), strict=True):
        assert_equal(ours, theirs)


@pytest.mark.parametrize("accum", [None, "plus"])
@pytest.mark.parametrize("mask", MASKS)
def test_bitmap_matrices(gb: Any, mask: str, accum: str | None) -> None:
    """Element-wise operations, products and masked writes on matrices in the format "bitmap"."""
    arrays = drawn(111, "float64")
    sides = [Side(sr, arrays), Side(gb, arrays)]
    for name in ("A", "B", "C", "M"):
        getattr(sides[0], name).convert("bitmap")
    for s in sides:
        binary = s.library.binary
        chosen = options(s, MASKS[mask](s.M), accum, False)
        s.C(**chosen) << s.A.ewise_add(s.B, binary.minus)
        s.B(**chosen) << s.A.ewise_mult(s.C, binary.times)
        s.A(**chosen) << s.A.mxm(s.B, s.library.semiring.plus_times)
        s.w << s.C.reduce_rowwise(s.library.monoid.plus)
        s.v << s.C.mxv(s.u, s.library.semiring.min_plus)
        s.u << s.v.vxm(s.C, s.library.semiring.plus_times)
    assert sides[0].M.format == "bitmap"
    for name in ("A", "B", "C", "u", "v", "w"):
        assert_equal(getattr(sides[0], name), getattr(sides[1], name))
