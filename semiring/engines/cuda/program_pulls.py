"""The CUDA text of products that pull: each row of the result reads its entries."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...dtypes import c_name
from ...formats import Bitmap, Full
from ..programs.lifetimes import halves
from ..programs.program import Values
from ..requests.operands import Mask
from .program_numbers import Numbers
from .program_text import cast


class Pulls(Numbers):
    """Writes the pulls of products, and the operands of either direction."""

    # -- operands of the device functions --------------------------------------------------------------------

    def _matrix_text(self, p: Product, m: str) -> str:
        return f"p{p.number}::Matrix{{a.A{m}, a.iso{m}}}"

    def _columns_text(self, p: Product, m: str | None) -> str:
        return f"p{p.number}::open_columns(p{p.number}::ColumnsArgument(a.I{m}))"

    def _vector_text(self, p: Product, u: Any) -> str:
        words, values = self.set_of(u), self.values_of(u)
        iso = "{}" if values is not None else self.typed(u.iso, u.dtype)
        return f"p{p.number}::Vector{{{words + '.words' if words else 'nullptr'}, {values or 'nullptr'}, {iso}}}"

    def _mask_text(self, p: Product, mask: Any) -> str:
        words = self.set_of(mask.store) if isinstance(mask, Mask) else None
        values = self.values_of(mask.store) if isinstance(mask, Mask) and not mask.structural else None
        changed = f"{p.changed}.words" if p.changed else "nullptr"
        return (
            f"p{p.number}::Admitted{{{{{words + '.words' if words else 'nullptr'}, {values or 'nullptr'}}}, {changed}}}"
        )

    def _open_rows(self, p: Product, mask: Any) -> str:
        if isinstance(mask, Mask) and mask.structural and isinstance(mask.store, Bitmap):
            count = f"{self.set_of(mask.store)}.count"
            if p.changed is not None:
                count = f"({count} {'+' if p.changes == 1 else '-'} {p.changed}.count)"
            return f"a.n{p.c} - {count}" if mask.complement else count
        return f"a.n{p.c}"

    def masked(self, mask: Any) -> list[str | None]:
        """Return the variables that a simplified mask reads."""
        if not isinstance(mask, Mask):
            return []
        return [self.set_of(mask.store), None if mask.structural else self.values_of(mask.store)]

    def admitting(self, p: Product, mask: Any) -> list[str | None]:
        """Return the variables that the mask of a product reads; not those that may change beside it."""
        return [p.changed] if p.changed is not None else self.masked(mask)

    def _deliver(self, p: Product, k: int, *, listed: str) -> None:
        """Assign the result behind the next barrier."""
        if p.fresh is not None:
            # Its old positions were cleared, beside the product: those for the next time.
            cleared = f"{p.fresh}.count = 0; {p.fresh}.listed = 1;"
            swap = f"{{ const auto m = {p.home}; {p.home} = {p.fresh}; {p.fresh} = m; {cleared} }}"
            self.later(swap, p.home, p.fresh)
        self.counted(p.c, p.home, k, listed=listed)

    # -- pull ----------------------------------------------------------------------------------------------

    def _leave_to_host(self, q: Any, mask: Any, p: Product, made: Any) -> int:
        """Let the host execute a pull of all entries of a large matrix; return the point behind it.

        The engine's kernels have more registers than a program, and shared memory for the values of frequent columns.
        """
        if self._waiting:
            self.barrier()
        self.points += 1
        after, m, u = self.points, p.pull or "", q.vector
        masked = mask if isinstance(mask, Mask) else None
        self.put(f"if (a.nvals{m} >= i64({'HOST_ENTRIES' if masked is None else 'HOST_MASKED'})) {{")
        compared = masked is None and isinstance(u, Bitmap) and isinstance(u.values, Values)
        if compared:
            self.covered.add(m)
            k = self.counter()
            self.put(f"    g.count({k}, missing_words(a.columns{m}, {self.set_of(u)}.words, {self.n(u)}));")
            self.put(f"    g.barrier([&] {{ b.covered = counted[{k}] == b.c{k}; b.c{k} = counted[{k}]; }});")
        self.put(f"    {self.leave(f'HOST_PRODUCT - {len(self.host_products)}', after)}")
        self.put("}")
        self.host_products.append(
            HostProduct(int(m or 0), q.semiring, q.flip, q.nout, q.ninner, u, masked, made, compared)
        )
        self.lifetimes.kept += [part for item in (q.vector, made, masked and masked.store) for part in halves(item)]
        return after

    def _pull(self, q: Any, mask: Any, u: Any, p: Product, made: Any, k: int) -> None:
        number, m, target = p.number, p.pull, p.target
        space, n = f"p{number}", f"a.n{p.c}"
        reads = [self.set_of(u), self.values_of(u), *self.admitting(p, mask)]
        whole = isinstance(u, Full) and not isinstance(mask, Mask)  # the pattern determines the rows of the result
        operands = (
            f"a.P{m}, {self._columns_text(p, m)}, {self._matrix_text(p, m or '')}, {self._vector_text(p, u)}, "
            f"{self._mask_text(p, mask)}"
        )
        self.touch(reads, [target, p.values])
        values = p.values or f"({c_name(q.semiring.z)}*)nullptr"
        shift = self.shift(p.c)
        p.counts = not whole
        bounded = self._pull_bounded(q, u, p, operands) if whole and not p.early and _bounded(q) else None
        after = None if p.early else self._leave_to_host(q, mask, p, made)
        if whole:
            self.present.add(m or "")
            self.point(f"a.nvals{m}")
            self.put(f"copy_presence({target}.words, a.present{m}, {n});")
        if p.early:
            if not whole:
                self.point(f"{n} + a.nvals{m} / 8")
            self.put(f"{space}::pull(g, {k}, {shift}, {operands}, {target}, {values}, {n});")
            return
        hits = self.buffer("hit", "bool", ("tiles", m))
        carry = self.buffer("carry", c_name(q.semiring.z), ("tiles", m))
        self.tiled.add(m or "")
        tiles = f"a.first_row{m}, a.tiles{m}"
        if not whole:
            if p.push is None:  # else it was cleared for either direction
                self.put(f"clear_words({target}.words, {n});")
                self.barrier()
            self.touch(reads, [target, p.values])
            self.point(f"a.nvals{m} + {n}")
        self.put(
            f"{space}::pull_tiles(room, {operands}, {target}.words, {values}, {n}, a.nvals{m}, {tiles}, {hits}, "
            f"{carry});"
        )
        self.barrier()
        self.touch([], [target, p.values])
        ends = f"a.P{m}, a.first_row{m}, {hits}, {carry}, a.tiles{m}"
        self.put(f"{space}::complete({ends}, {target}.words, {values}, {n});")
        if not whole:
            self.barrier()
            self.touch([target])
            self.put(f"{space}::count_bits(g, {k}, {shift}, {target}.words, {n});")
            self._deliver(p, k, listed="0")
            p.counted = True
            self.barrier()
        self.put_at(0, f"point_{after}:;")
        if bounded is not None:
            self.indent -= 1
            self.put("}")
            self.join_pending(bounded)

    def _pull_bounded(self, q: Any, u: Any, p: Product, operands: str) -> Any:
        """Pull rows that end at the least (greatest) value of a vector, where many entries have it, as labels soon do.

        In a vector of ascending (descending) values, as labels often are at first, rows end at their first entry.
        Opens the branch of the other products; returns what is pending behind this one.
        """
        if self._waiting:
            self.barrier()
        number, m, target, n, z = p.number, p.pull, p.target, f"a.n{p.c}", c_name(q.semiring.z)
        add, k, size = q.semiring.add, self.counter(2), self.n(u)
        self.bounded.append(number)
        hits, parts = self.buffer("hits", "bool", "blocks"), self.buffer("parts", z, "blocks")
        bound = self.buffer("bound", z, "blocks")
        name = self.operator("binary", add.op)
        combine = f"[=]({z} x, {z} y) {{ return {cast(f'{name}(x, y)', add.z)}; }}"
        value, positions = cast(self.value(u, "i"), add.z), f"each_position({size}, "
        following = cast(self.value(u, "i + 1"), add.z)
        self.put(f"s.bounded{number} = 0;")
        self.put(f"if (a.nvals{m} >= i64(BOUNDED_ENTRIES)) {{")
        self.indent += 1
        self.point(size)
        self.put(
            f"reduce_parts<{z}>({hits}, {parts}, [&](auto f) {{ {positions}f); }}, [&](i64 i) {{ return {value}; }}, "
            f"{combine});"
        )
        self.put("g.barrier();")
        self.put("{")
        self.put(f"    const {z} least = combine_parts<{z}>({hits}, {parts}, {combine});")
        self.put("    u64 mine = 0, unordered = 0;")
        self.put(f"    {positions}[&](i64 i) {{")
        self.put(f"        const {z} x = {value}, y = i + 1 < {size} ? {following} : x;")
        self.put(f"        mine += x == least; unordered += {name}(x, y) != x;")
        self.put("    });")
        self.put(f"    g.count({k}, mine); g.count({k + 1}, unordered);")
        self.put(f"    if (group_thread() == 0) {bound}[0] = least;")
        self.put("}")
        self.put("g.barrier();")
        self.put(
            f"s.bounded{number} = counted[{k + 1}] == b.c{k + 1} ? 2 : "
            f"i64(counted[{k}] - b.c{k}) * i64(BOUNDED_SHARE) >= {size};"
        )
        self.put(f"g.change([&] {{ b.c{k} = counted[{k}]; b.c{k + 1} = counted[{k + 1}]; }});")
        self.indent -= 1
        self.put("}")
        self.put(f"if (s.bounded{number}) {{")
        self.indent += 1
        self.point(f"{n} + a.nvals{m} / 8")
        self.put(f"copy_presence({target}.words, a.present{m}, {n});")
        self.put(
            f"p{number}::pull_bounded({operands}, {target}.words, {p.values}, {n}, {bound}[0], s.bounded{number} == 2);"
        )
        self.indent -= 1
        self.put("} else {")
        self.indent += 1
        return self.pending()


def _bounded(q: Any) -> bool:
    """Return whether a product is the least or greatest value of a vector in each row: an integer of one type."""
    multiply, add = q.semiring.mult, q.semiring.add
    return (
        bool(add.expr.order)
        and multiply.expr.projection == ("x" if q.flip else "y")
        and q.vector.dtype == q.semiring.z
        and q.semiring.z.kind in "iu"
        and isinstance(q.vector, Full)
        and isinstance(q.vector.values, Values)
    )


class HostProduct(NamedTuple):
    """A product that the host executes where the matrix is large.

    matrix: its number.  compared: whether the program compares the entries of the vector with
    the columns that have entries.
    """

    matrix: int
    semiring: Any
    flip: bool
    nout: int
    ninner: int
    vector: Any
    mask: Mask | None
    made: Any
    compared: bool


class Product:
    """The names of a product in the text."""

    def __init__(
        self, number: int, target: str, values: str | None, c: int, pull: str | None, push: str | None, summed: bool,
        early: bool,
    ) -> None:  # fmt: skip
        self.number, self.target, self.values, self.c = number, target, values, c
        self.pull, self.push, self.summed, self.early = pull, push, summed, early
        self.rows = ""
        # The variable of the result; in a product that may push, `target` is `fresh`, empty positions that become those
        # of the result, and whose place the old ones take.
        self.home = target
        self.fresh: str | None = None
        # What is added (1) since the last barrier to the positions that the mask reads, or removed from them (2).
        self.changes = 0
        self.changed: str | None = None
        # Whether a counter has the number of entries of the result, and whether it was assigned.
        self.counts, self.counted = True, False
