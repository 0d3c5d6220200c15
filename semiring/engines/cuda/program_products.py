"""The CUDA text of products with a matrix: push or pull, as the device chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...dtypes import c_name
from ...formats import Full, index_dtype
from ..programs.lifetimes import Place
from ..programs.traced import Untraceable
from ..requests.operands import Mask, simplified
from . import tuning
from .algebra import ring_facts
from .columns import column_types
from .program_numbers import Numbers
from .program_pulls import Product, Pulls
from .specialize import constants, semiring, typedefs


class Products(Pulls):
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
        names = Product(number, target, values, c, pull_matrix, push_matrix, summed, facts.early or not valued)
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

    def _pull_side(self, q: Any, mask: Any, u: Any, p: Product, made: Any, k: int) -> None:
        self._pull(q, mask, u, p, made, k)
        if p.summed and not p.counted:
            self._deliver(p, k, listed="0")
            self.settle()
        p.counted = False

    def _namespace(self, q: Any, mask: Any, p: Product, valued: bool, facts: Any) -> str:
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

    # -- push ----------------------------------------------------------------------------------------------

    def _prepare_push(self, q: Any, mask: Any, u: Any, p: Product) -> None:
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

    def _push(self, q: Any, mask: Any, u: Any, p: Product, made: Any, k: int) -> None:
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


def _column_type(text: Numbers, c: int) -> str:
    return c_name(index_dtype(text.sizes[c]))
