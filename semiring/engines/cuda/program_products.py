"""The CUDA text of products with a matrix: push or pull, as the device chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...dtypes import c_name
from ...formats import Bitmap, Full, index_dtype
from ..operands import Mask, simplified
from ..program import Values
from ..program_lifetimes import Place, halves
from ..traced import Untraceable
from . import tuning
from .algebra import ring_facts
from .columns import column_types
from .program_numbers import Numbers
from .program_text import cast
from .specialise import constants, semiring, typedefs


class Products(Numbers):
    """Writes the products of a program; each is a namespace of the text."""

    def _mxv(self, q: Any, made: Any, place: Place) -> None:
        mask, u = simplified(q.mask), q.vector
        target, values, c = self.set_of(made), self.values_of(made), self.size(q.nout)
        assert target is not None
        if mask is False:
            self.touch([], [target])
            self.put(f"clear({target}, a.n{c});")
            self.later(f"{target}.count = 0; {target}.listed = 1;", target)
            return
        facts = ring_facts(q.semiring)
        pushes, pulls = q.by_column.ready, q.by_row.ready
        if q.direction != "auto":
            pushes, pulls = q.direction == "push", q.direction == "pull"
        elif isinstance(u, Full) and pulls:
            pushes = False
        if pushes and pulls and column_types(q.by_row.get().pattern) != column_types(q.by_column.get().pattern):
            pushes = False  # the text of a product reads columns of one type
        valued = values is not None
        summed = valued and not facts.is_any  # products at one position are combined
        if summed and facts.start is None:
            if not pulls:
                raise Untraceable("a push whose sums atomics cannot combine")
            pushes = False
        number = len(self.products)
        pull_matrix = self.matrix(q.by_row) if pulls else None
        push_matrix = self.matrix(q.by_column) if pushes else None
        names = _Product(number, target, values, c, pull_matrix, push_matrix, summed, facts.early or not valued)
        if isinstance(mask, Mask) and mask.structural:
            names.changes, names.changed = self.changing.get(self.set_of(mask.store) or "", (0, None))
        self.products.append(self._namespace(q, mask, names, valued, facts))
        if pushes:
            self._prepare_push(q, mask, u, names)
        k = self.counter()
        edged = self.edged.get(c) is not None
        pushed, pulled = "2" if edged else "1", "0"
        if pushes and pulls:
            before = self.pending()
            pull_lines, pull_end = self._apart(lambda: self._pull_side(q, mask, u, names, made, k))
            self.resume(before)
            push_lines, push_end = self._apart(lambda: self._push(q, mask, u, names, made, k))
            if pull_end[1] != push_end[1]:  # one of them has put a barrier, and what waited for it
                ends = []
                for lines, end in ((pull_lines, pull_end), (push_lines, push_end)):
                    self.resume(end)
                    more, _ = self._apart(self.barrier if end[1] else lambda: None)
                    lines += more
                    ends.append(self.pending())
                pull_end, push_end = ends
            self.put(f"if (s.pull{number}) {{")
            self.lines += pull_lines
            self.put("} else {")
            self.lines += push_lines
            self.put("}")
            self.resume(push_end)
            self.join_pending(pull_end)
            listed = f"s.pull{number} ? {pulled} : {pushed}"
        elif pulls:
            self._pull(q, mask, u, names, made, k)
            listed = pulled
        else:
            self._push(q, mask, u, names, made, k)
            listed = pushed
        if not names.counts:
            self.later(f"{target}.count = a.rows{pull_matrix}; {target}.listed = 0;", target)
        elif not names.counted:
            self._deliver(names, k, listed=listed)

    def _apart(self, write: Callable[[], None]) -> tuple[list[str], Any]:
        """Return the lines of a side of a branch, and what is pending behind it."""
        kept, self.lines = self.lines, []
        self.indent += 1
        write()
        self.indent -= 1
        lines, self.lines = self.lines, kept
        return lines, self.pending()

    def _pull_side(self, q: Any, mask: Any, u: Any, p: _Product, made: Any, k: int) -> None:
        self._pull(q, mask, u, p, made, k)
        if p.summed and not p.counted:
            self._deliver(p, k, listed="0")
            self.settle()
        p.counted = False

    def _deliver(self, p: _Product, k: int, *, listed: str) -> None:
        """Assign the result behind the next barrier."""
        if p.fresh is not None:
            # Its old positions were cleared, beside the product: those for the next time.
            cleared = f"{p.fresh}.count = 0; {p.fresh}.listed = 1;"
            swap = f"{{ const auto m = {p.home}; {p.home} = {p.fresh}; {p.fresh} = m; {cleared} }}"
            self.later(swap, p.home, p.fresh)
        self.counted(p.c, p.home, k, listed=listed)

    def _namespace(self, q: Any, mask: Any, p: _Product, valued: bool, facts: Any) -> str:
        """Return the text of the functions of a product."""
        a = self.matrices[int(p.pull or p.push or 0)]
        u = q.vector
        masked = mask if isinstance(mask, Mask) else None
        form = 0
        if masked is not None:
            full = isinstance(masked.store, Full)
            form = 3 if full else 1 if masked.structural else 2
            if full and masked.structural:
                raise Untraceable("a structural mask that is full")
            if form != 1 and masked.store.values is None:
                raise Untraceable("a mask of one value")
        mask_type = np.dtype(np.int8) if masked is None else masked.store.dtype
        types = typedefs(P=a.pattern.indptr.dtype, A=a.dtype, U=u.dtype, M=mask_type) + column_types(a.pattern)
        flags = constants(
            FLIP=q.flip, U_FULL=isinstance(u, Full), MASK=form,
            COMPLEMENT=bool(masked is not None and masked.complement), VALUED=valued, NATIVE=facts.native,
            PROBES=tuning.PROBES, TILE=tuning.TILE, EARLY=p.early, PUSHES=p.push is not None,
            PULLS=p.pull is not None, CHANGES=p.changes,
        )  # fmt: skip
        head = f"namespace p{p.number} {{\nnamespace op {{\nusing namespace ::op;\n}}\n"
        return f'{head}{semiring(q.semiring)}{types}{flags}#include "program_product.cuh"\n}}\n'

    # -- operands of the device functions --------------------------------------------------------------------

    def _matrix_text(self, p: _Product, m: str) -> str:
        return f"p{p.number}::Matrix{{a.A{m}, a.iso{m}}}"

    def _columns_text(self, p: _Product, m: str | None) -> str:
        return f"p{p.number}::open_columns(p{p.number}::ColumnsArgument(a.I{m}))"

    def _vector_text(self, p: _Product, u: Any) -> str:
        words, values = self.set_of(u), self.values_of(u)
        iso = "{}" if values is not None else self.typed(u.iso, u.dtype)
        return f"p{p.number}::Vector{{{words + '.words' if words else 'nullptr'}, {values or 'nullptr'}, {iso}}}"

    def _mask_text(self, p: _Product, mask: Any) -> str:
        words = self.set_of(mask.store) if isinstance(mask, Mask) else None
        values = self.values_of(mask.store) if isinstance(mask, Mask) and not mask.structural else None
        changed = f"{p.changed}.words" if p.changed else "nullptr"
        return (
            f"p{p.number}::Admitted{{{{{words + '.words' if words else 'nullptr'}, {values or 'nullptr'}}}, {changed}}}"
        )

    def _open_rows(self, p: _Product, mask: Any) -> str:
        if isinstance(mask, Mask) and mask.structural and isinstance(mask.store, Bitmap):
            count = f"{self.set_of(mask.store)}.count"
            if p.changed is not None:
                count = f"({count} {'+' if p.changes == 1 else '-'} {p.changed}.count)"
            return f"a.n{p.c} - {count}" if mask.complement else count
        return f"a.n{p.c}"

    # -- push ----------------------------------------------------------------------------------------------

    def _prepare_push(self, q: Any, mask: Any, u: Any, p: _Product) -> None:
        """Clear the result, list the rows where they are not listed, and choose the direction."""
        number, m = p.number, p.push
        space, cu = f"p{number}", self.size(q.ninner)
        words = self.set_of(u)
        n = f"a.n{cu}"
        row = self.buffer("row", _column_type(self, cu), (cu, 1))
        before = self.buffer("before", c_name(self.matrices[int(m or 0)].pattern.indptr.dtype), (cu, 1))
        p.rows = f"{space}::Rows{{{row}, {before}, b.rows{number}, b.edges{number}}}"
        p.fresh = p.target = f"b.{self._row(f'S{p.c}')}"
        self.touch([words, *self.admitting(p, mask)], [p.home, row])
        self.put(f"clear({p.home}, a.n{p.c});")
        listed = "false"
        if words is not None and self.edged.get(cu) == m:
            listed = f"({words}.listed == 2)"
            p.rows = (
                f"({listed} ? {space}::Rows{{{words}.list, {words}.before, {words}.count, {words}.edges}} : {p.rows})"
            )
        k = self.counter()
        packing = f"Packing{{int(a.shift{m})}}"
        count = f"{words}.count" if words else n
        # With so many entries rows soon end, and a pull is chosen without counting edges.
        crowded = f"{count} * i64(CROWDED_SHARE) >= {n}" if p.pull is not None and p.early else "false"
        estimate = f"i64(f64(a.nvals{m}) * f64({count}) / f64({n} > 0 ? {n} : 1))"
        known = "false"
        if p.pull is not None:
            # The same number of entries as in a product that was pulled: it is again, and edges are not counted.
            known = f"s.pull{number} == 2"
            self.put(f"s.pull{number} = s.pull{number} != 0 && !{listed} && {count} == b.rows{number} ? 2 : 0;")
        self.put(f"if (!{listed} && !({crowded}) && !({known})) {{")
        self.indent += 1
        self.point(self.items(u))
        source = words or f"Positions<{_column_type(self, cu)}, i32>{{nullptr, nullptr, nullptr, {n}, 0, 0}}"
        into = f"{space}::Rows{{{row}, {before}, 0, 0}}"
        self.put(f"{space}::measure(g, {k}, b.c{k}, {packing}, a.P{m}, {source}, {n}, {into});")
        amount = f"counted[{k}] - b.c{k}"
        self.put(
            f"g.barrier([&] {{ b.rows{number} = {packing}.rows({amount}); b.edges{number} = {packing}.edges({amount}); "
            f"b.c{k} = counted[{k}]; }});"
        )
        self.indent -= 1
        self.put("}")
        if p.pull is not None:
            edges = f"b.edges{number}"
            if words is not None:
                edges = f"({listed} ? {words}.edges : ({crowded}) ? {estimate} : {edges})"
            self.put(
                f"s.pull{number} = {known} || ({crowded} && !{listed}) || {space}::prefers_pull(a.nvals{m}, a.n{p.c}, "
                f"{self._open_rows(p, mask)}, {count}, {edges});"
            )

    def masked(self, mask: Any) -> list[str | None]:
        """Return the variables that a simplified mask reads."""
        if not isinstance(mask, Mask):
            return []
        return [self.set_of(mask.store), None if mask.structural else self.values_of(mask.store)]

    def admitting(self, p: _Product, mask: Any) -> list[str | None]:
        """Return the variables that the mask of a product reads; not those that may change beside it."""
        return [p.changed] if p.changed is not None else self.masked(mask)

    def _push(self, q: Any, mask: Any, u: Any, p: _Product, made: Any, k: int) -> None:
        number, m, target = p.number, p.push, p.target
        space = f"p{number}"
        sums = p.values or "nullptr"
        start = ring_facts(q.semiring).start
        if p.summed:
            sums = self.buffer("sums", c_name(q.semiring.z), (p.c, 1), start)
        reads = [self.set_of(u), self.values_of(u), *self.admitting(p, mask)]
        self.touch(reads, [target, p.values])
        self.point(f"({p.rows}).edges")
        edged = self.edged.get(p.c) is not None
        offsets = c_name(self.matrices[int(m or 0)].indptr.dtype)
        degrees = f"a.P{self.edged[p.c]}" if edged else f"(const {offsets}*)nullptr"
        packing = f"Packing{{{self.shift(p.c)}}}"
        self.put(
            f"{space}::push(g, room, {k}, b.c{k}, {packing}, a.P{m}, {self._columns_text(p, m)}, "
            f"{self._matrix_text(p, m or '')}, {self._mask_text(p, mask)}, {p.rows}, {self._vector_text(p, u)}, "
            f"{target}, {sums}, {degrees});"
        )
        if p.summed:
            # The sums are stored along the list of the result.
            self._deliver(p, k, listed="2" if edged else "1")
            p.counted = True
            self.barrier()
            assert start is not None
            self.finish(made, sums, f"{sums}[i]", self.held(start))

    def finish(self, made: Any, sums: str, value: str, start: str) -> None:
        """Store the values that were combined, and prepare their slots for the next time."""
        target, values = self.set_of(made), self.values_of(made)
        self.touch([target], [values, sums])
        self.point(self.items(made))
        self.put(f"each_entry({target}, {self.n(made)}, [&](i64 i) {{ {values}[i] = {value}; {sums}[i] = {start}; }});")
        assert target is not None
        assert values is not None
        self.visited(target, values)

    # -- pull ----------------------------------------------------------------------------------------------

    def _leave_to_host(self, q: Any, mask: Any, p: _Product, made: Any) -> int:
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

    def _pull(self, q: Any, mask: Any, u: Any, p: _Product, made: Any, k: int) -> None:
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

    def _pull_bounded(self, q: Any, u: Any, p: _Product, operands: str) -> Any:
        """Pull rows that end at the least (greatest) value of a vector, where many entries have it, as labels soon do.

        Opens the branch of the other products; returns what is pending behind this one.
        """
        if self._waiting:
            self.barrier()
        number, m, target, n, z = p.number, p.pull, p.target, f"a.n{p.c}", c_name(q.semiring.z)
        add, k = q.semiring.add, self.counter()
        self.bounded.append(number)
        hits, parts = self.buffer("hits", "bool", "blocks"), self.buffer("parts", z, "blocks")
        bound = self.buffer("bound", z, "blocks")
        name = self.operator("binary", add.op)
        combine = f"[=]({z} x, {z} y) {{ return {cast(f'{name}(x, y)', add.z)}; }}"
        value, positions = cast(self.value(u, "i"), add.z), f"each_position({self.n(u)}, "
        self.put(f"s.bounded{number} = 0;")
        self.put(f"if (a.nvals{m} >= i64(BOUNDED_ENTRIES)) {{")
        self.indent += 1
        self.point(self.n(u))
        self.put(
            f"reduce_parts<{z}>({hits}, {parts}, [&](auto f) {{ {positions}f); }}, [&](i64 i) {{ return {value}; }}, "
            f"{combine});"
        )
        self.put("g.barrier();")
        self.put("{")
        self.put(f"    const {z} least = combine_parts<{z}>({hits}, {parts}, {combine});")
        self.put("    u64 mine = 0;")
        self.put(f"    {positions}[&](i64 i) {{ mine += {value} == least; }});")
        self.put(f"    g.count({k}, mine);")
        self.put(f"    if (group_thread() == 0) {bound}[0] = least;")
        self.put("}")
        self.put(f"g.barrier(); s.bounded{number} = i64(counted[{k}] - b.c{k}) * i64(BOUNDED_SHARE) >= {self.n(u)};")
        self.put(f"g.change([&] {{ b.c{k} = counted[{k}]; }});")
        self.indent -= 1
        self.put("}")
        self.put(f"if (s.bounded{number}) {{")
        self.indent += 1
        self.point(f"{n} + a.nvals{m} / 8")
        self.put(f"copy_presence({target}.words, a.present{m}, {n});")
        self.put(f"p{number}::pull_bounded({operands}, {target}.words, {p.values}, {n}, {bound}[0]);")
        self.indent -= 1
        self.put("} else {")
        self.indent += 1
        return self.pending()


def _bounded(q: Any) -> bool:
    """Return whether a product is the least or greatest value of a vector in each row: an integer of one type."""
    multiply, add = q.semiring.mult, q.semiring.add
    extreme = add.op.expr in ("min(x, y)", "max(x, y)")
    return (
        extreme and multiply.expr == ("x" if q.flip else "y") and q.vector.dtype == q.semiring.z
        and q.semiring.z.kind in "iu" and isinstance(q.vector, Full) and isinstance(q.vector.values, Values)
    )  # fmt: skip


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


class _Product:
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


def _column_type(text: Numbers, c: int) -> str:
    return c_name(index_dtype(text.sizes[c]))
