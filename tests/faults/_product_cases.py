"""Random products: a semiring on its types, shapes, structures, storage kinds, transposes and a write.

An engine compiles anew for each semiring and types, so trials of one block share them (`RINGS`), and all else is drawn
freely.  Large dimensions have entries at a few positions only: the *core* of a product, its rows, inner indices and
columns at these positions, is what the specification and SuiteSparse compute.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from semiring import operators
from semiring.engines.reference.dense import densify
from semiring.formats import CSR, PLACEMENTS, Pattern, Placement, index_dtype
from semiring.operators.types import TypedSemiring
from tests.draw import matrix_of
from tests.pool import udf
from tests.storage_kinds import OTHER_FORMATS

Array = np.ndarray[Any, Any]
Dense = tuple[Array, Array]


class Ring(NamedTuple):
    """A semiring by name, and the types of the operands.  oracle: SuiteSparse has it on one type."""

    name: str
    left: str
    right: str
    oracle: bool = True

    @property
    def typed(self) -> TypedSemiring:
        family = udf if self.name == udf.name else operators.lookup_semiring(self.name)
        return family.typed(np.dtype(self.left), np.dtype(self.right))

    @property
    def positional(self) -> bool:
        """Whether products depend on positions, which are others in the core."""
        return bool(self.typed.mult.uses & {"xi", "xj", "yi", "yj"})

    @property
    def ambiguous(self) -> bool:
        """Whether several values of an entry are valid."""
        return self.typed.add.is_any and self.typed.mult.name != "pair"

    def __str__(self) -> str:
        return f"{self.name}-{self.left}-{self.right}"


_NAMES = """plus_times int64; min_plus float64; any_pair bool; plus_times float32; lor_land bool; max_second uint8;
plus_pair int64; min_secondi int64; plus_times int8; max_plus int32; any_second int64; plus_first float64;
min_first int32; lxor_land bool; plus_times uint64; any_firstj int64; max_times float32; plus_times float64;
land_lor bool; plus_firstj int64; min_max uint8; max_min int16; plus_times int32; any_first float32; min_times int64;
plus_second uint16; max_first float64; plus_pair bool; plus_pair float32; times_plus int16; plus_minus int32;
min_plus int64; any_secondi bool; plus_times uint8; plus_max float32; max_firsti int64; plus_times int16;
plus_times uint32; plus_times uint16; min_second float32"""
# Those whose operands have one type are SuiteSparse's too, but for the user-defined one.
RINGS: tuple[Ring, ...] = (
    *(Ring(name, dtype, dtype) for name, dtype in (row.split() for row in _NAMES.split(";"))),
    Ring("plus_times", "int8", "float32", False),
    Ring("max_second", "float64", "uint8", False),
    Ring("plus_pair", "bool", "int64", False),
    Ring(udf.name, "int64", "int64", False),
)
_SIZES = (0, 1, 2, 3, 5, 8, 17, 33, 40, 65)
_CORE = (1, 2, 3, 5, 8, 17, 24)
# More columns than a panel of presence bits has (2**17) and than an accumulator of the CPU engine is long.
_LARGE = (40_000, 263_000, 400_000)
_STYLES = ("random", "random", "sparse", "dense", "empty", "full", "full rows", "one row", "one column", "diagonal")
_MASKS = ("none", "value", "structure", "complement_value", "complement_structure")
_ACCUMULATORS = {"b": ("lor", "land", "second"), "": ("plus", "min", "second", "minus")}
_WIDER = {"bool": "int64", "int8": "int64", "uint8": "int32", "int32": "float64", "float32": "float64"}


@dataclass
class Operand:
    """A matrix: its core, the positions of the core (None: the core is all of it), and its storage kind.

    transposed: the store holds the transpose, so that the operand is ``X.T``.  format: another one, if the structure
    has its form; then the kind is a placement alone.
    """

    core: CSR
    shape: tuple[int, int]
    places: tuple[Array, Array] | None
    transposed: bool = False
    kind: tuple[str | None, Placement] | None = None
    format: str | None = None

    def store(self) -> CSR:
        """The matrix itself, whose entries are those of the core."""
        return self.core if self.places is None else _spread(self.core, self.shape, self.places)


@dataclass
class Product:
    """``C<M, replace> accum= A B``.  over: the name of the operand that the output is too, or ``"C"``."""

    ring: Ring
    operands: dict[str, Operand] = field(default_factory=dict)
    mask: str = "none"
    accum: str | None = None
    replace: bool = False
    over: str = "C"
    fusion: bool = True
    few: bool = True
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        write = f"mask {self.mask}, accum {self.accum}, replace {self.replace}, into {self.over}"
        return f"{self.ring}: {'; '.join(self.notes)}; {write}, fusion {self.fusion}, few {self.few}"


class _Draw:
    """The random choices of one product."""

    def __init__(self, seed: int, number: int, kinds: Any, formed: float) -> None:
        self.rng = np.random.default_rng([seed, number])
        self.kinds, self.formed = kinds, formed

    def maybe(self, chance: float) -> bool:
        return bool(self.rng.random() < chance)

    def pick(self, choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def present(self, nrows: int, ncols: int, style: str) -> Array:
        shape = nrows, ncols
        if style == "diagonal":
            return np.eye(nrows, ncols, dtype=np.bool_)
        if style == "full rows":
            return np.repeat(self.rng.random((nrows, 1)) < 0.7, ncols, axis=1)
        density = {"empty": 0.0, "full": 1.0, "dense": 0.6, "random": 0.2}.get(style, 0.04)
        found = self.rng.random(shape) < density
        if style == "one row" and nrows:
            found[int(self.rng.integers(nrows))] = True
        if style == "one column" and ncols:
            found[:, int(self.rng.integers(ncols))] = True
        return found


def draw(
    ring: Ring, seed: int, number: int, kinds: Any, *, formed: float = 0.25, large: bool = True, narrow: bool = False
) -> Product:
    """The product of this number.

    kinds: storage kinds, of which a share `formed` of the matrices has one.  large: some dimensions are.  narrow: with
    one accumulator, and without types that the semiring does not have, which an engine would compile for.
    """
    d = _Draw(seed, number, kinds, formed)
    q = Product(ring)
    sizes, places = _shape(d, large and not ring.positional)
    z = ring.typed.z
    for name, axes, dtype in (("A", (0, 1), ring.left), ("B", (1, 2), ring.right)):
        _operand(d, q, name, sizes, places, axes, dtype, transposed=d.maybe(0.4))
    q.mask = d.pick(_MASKS)
    if not ring.ambiguous and d.maybe(0.5):
        choices = _ACCUMULATORS["b" if z.kind == "b" else ""]
        q.accum = choices[0] if narrow else d.pick(choices)
    q.replace = q.mask != "none" and d.maybe(0.4)
    target = _WIDER.get(z.name, z.name) if not narrow and d.maybe(0.15) else z.name
    _operand(d, q, "C", sizes, places, (0, 2), target)
    _operand(d, q, "M", sizes, places, (0, 2), "bool" if narrow else d.pick(("bool", "bool", "int64", "float32")))
    same = [
        name
        for name in ("A", "B")
        if q.operands[name].shape == q.operands["C"].shape
        and q.operands[name].core.dtype == q.operands["C"].core.dtype
        and not q.operands[name].transposed
        and q.operands[name].places is None
    ]
    if same and d.maybe(0.2):
        q.over = d.pick(same)
    if q.mask != "none" and q.over == "C" and d.maybe(0.08):
        q.operands["M"] = q.operands["C"]
        q.notes.append("C is its mask")
    q.fusion, q.few = d.maybe(0.85), d.maybe(0.5)
    return q


def _shape(d: _Draw, large: bool) -> tuple[list[int], list[Array | None]]:
    """The sizes (rows, inner, columns), and the positions of the core in each large dimension."""
    kind = d.pick(("small", "small", "small", "line", "column", "outer", "wide", "large"))
    if not large and kind in ("wide", "large"):
        kind = "small"
    sizes = [int(d.pick(_SIZES)) for _ in range(3)]
    if kind in ("line", "column", "outer"):
        sizes[("line", "outer", "column").index(kind)] = 1
    places: list[Array | None] = [None, None, None]
    for axis in {"wide": [2], "large": [0, 1, 2]}.get(kind, []):
        if kind == "wide" or d.maybe(0.7):
            sizes[axis] = int(d.pick(_LARGE))
            places[axis] = np.sort(d.rng.choice(sizes[axis], int(d.pick(_CORE)), replace=False))
    return sizes, places


def _operand(
    d: _Draw,
    q: Product,
    name: str,
    sizes: list[int],
    places: list[Array | None],
    axes: tuple[int, int],
    dtype: str,
    *,
    transposed: bool = False,
) -> None:
    """Draw a matrix of these dimensions, and add it to the product."""
    i, j = axes[::-1] if transposed else axes
    at = tuple(np.arange(sizes[axis]) if places[axis] is None else places[axis] for axis in (i, j))
    style, iso = d.pick(_STYLES), d.maybe(0.25)
    present = d.present(*(part.size for part in at), style)  # type: ignore[union-attr]
    core = matrix_of(present, np.dtype(dtype), iso, d.rng)
    is_core = places[i] is None and places[j] is None
    operand = Operand(core, (sizes[i], sizes[j]), None if is_core else at, transposed)  # type: ignore[arg-type]
    if d.maybe(d.formed):
        operand.kind = d.pick(d.kinds)
    elif style.startswith("full") and d.maybe(0.5):
        operand.format, operand.kind = d.pick(OTHER_FORMATS), (None, d.pick(PLACEMENTS))
    q.operands[name] = operand
    kind = "" if operand.kind is None else f" {operand.format or operand.kind[0]} {operand.kind[1]}"
    q.notes.append(
        f"{name}{'.T' if transposed else ''} {sizes[i]}x{sizes[j]} {dtype} {style}{' iso' if iso else ''}{kind}"
    )


def _spread(core: CSR, shape: tuple[int, int], places: tuple[Array, Array]) -> CSR:
    """The matrix with the core's entries at these rows and columns."""
    counts = np.zeros(shape[0] + 1, np.int64)
    counts[places[0] + 1] = np.diff(core.indptr)
    indptr = np.cumsum(counts).astype(index_dtype(core.nvals))
    indices = places[1][core.indices].astype(index_dtype(shape[1]))
    return replace(core, pattern=Pattern(*shape, indptr, indices), cache={})


def dense_of(operand: Operand) -> Dense:
    """Values and presence of the core, as the product reads it."""
    values, present = densify(operand.core)
    return (values.T, present.T) if operand.transposed else (values, present)


def legal_products(q: Product, multiply: Callable[..., Array], got: Array) -> Array:
    """Where `got`, an array over the rows and columns of the core, is the product of some inner index."""
    (a, a_present), (b, b_present) = (dense_of(q.operands[name]) for name in "AB")
    i, k, j = np.ogrid[: a.shape[0], : a.shape[1], : b.shape[1]]
    z = multiply(*np.broadcast_arrays(a[:, :, None], b[None, :, :], i, k, j)).astype(got.dtype)
    equal: Array = (a_present[:, :, None] & b_present[None, :, :] & (z == got[:, None, :])).any(axis=1)
    return equal
