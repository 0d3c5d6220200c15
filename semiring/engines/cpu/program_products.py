"""The text of products with a matrix: push or pull."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...formats import Bitmap, Full
from ...operators.expression import Expression
from ..programs.lifetimes import Place
from ..requests.operands import Mask, simplified
from ..shared.direction import ends_early
from .program_text import Text

# Rows of a vector that are pushed entry by entry: of a long path only the time from one row to the next counts.
_FEW = 2


class Products(Text):
    """Writes the products of a program."""

    def _mxv(self, q: Any, made: Any, place: Place) -> None:
        mask, u = simplified(q.mask), q.vector
        c, r, v = self._fresh(made)
        assert r is not None
        if mask is False:
            self._counted(c, r, "2")
            return
        pushes, pulls = q.by_column.ready, q.by_row.ready
        if q.direction != "auto":
            pushes, pulls = q.direction == "push", q.direction == "pull"
        elif isinstance(u, Full) and pulls:
            pushes = False
        self.multiplied[id(q)] = int(self.matrix(q.by_column if pushes else q.by_row))
        if isinstance(u, Full) and mask is True:
            self.whole.add(id(q))
        blocks = isinstance(u, Bitmap) and pushes and (v is None or q.semiring.add.is_any)
        few = f"{self.home(u.words)}n <= {_FEW}" if isinstance(u, Bitmap) else ""
        words = u.words if isinstance(u, Bitmap) else None
        last = words is not None and self.lifetimes.dead(words, place) and not _reads(mask, words)
        push_entries = partial(self._push_entries, last=last)
        ways: list[tuple[str, Any]] = [("", self._push_blocks if blocks else push_entries)]
        if pulls and pushes:
            choice = self._choose_direction(q, mask, u)
            ways.insert(0, (choice if blocks else f"not ({few}) and {choice}", self._pull))
        elif pulls:
            ways = [("", self._pull)]
        if blocks:
            ways.insert(0, (few, push_entries))
        for number, (test, write) in enumerate(ways):
            if len(ways) > 1:
                self.put(f"{'elif' if number else 'if'} {test}:" if test else "else:")
            self.indent += len(ways) > 1
            write(q, made, mask, u, c, r, v)
            self.indent -= len(ways) > 1

    def _choose_direction(self, q: Any, mask: Any, u: Any) -> str:
        """Return the text of whether a product pulls."""
        cu, cr = self.size(q.ninner), self.size(q.nout)
        home = self.home(u.words)
        m, p = self.matrix(q.by_column), self.matrix(q.by_row)
        admitted = f"n{cr}"
        if isinstance(mask, Mask) and mask.structural and isinstance(mask.store, Bitmap):
            count = f"{self.home(mask.store.words)}n"
            admitted = f"n{cr} - {count}" if mask.complement else count
        early, sums = ends_early(q.semiring.add), bool(q.semiring.mult.uses)
        return f"shares_pull(L{cu}, {home}l, {home}n, {home}t, n{cu}, P{m}, P{p}, {admitted}, {early}, {sums})"

    def _product(self, q: Any, m: str, a_dtype: np.dtype[Any], p: str, u: str, o: str, k: str) -> str:
        """Return the text of a product."""
        mult = q.semiring.mult
        a = f"value_at(A{m}, {p})"
        x, y = (u, a) if q.flip else (a, u)
        xd, yd = (q.vector.dtype, a_dtype) if q.flip else (a_dtype, q.vector.dtype)
        integer = np.dtype(np.int64)
        places = ("np.int64(0)", k, k, o) if q.flip else (o, k, k, "np.int64(0)")
        names = {"x": ("x", xd), "y": ("y", yd)} | {n: (n, integer) for n in ("xi", "xj", "yi", "yj")}
        texts = {"x": x, "y": y} | dict(zip(("xi", "xj", "yi", "yj"), places, strict=True))
        read = {name: names[name] for name in names if name in mult.uses}
        if mult.expr.is_multiplication and _is_one(self.matrices[int(m)].iso):
            mult = replace(mult, expr=Expression("x" if q.flip else "y"))  # the other factor
        function = self.function(mult, read, q.semiring.z if mult.z == q.semiring.z else mult.z)
        return f"{function}({', '.join(texts[name] for name in read)})"

    def _sum(self, add: Any, a: str, b: str) -> str:
        if add.is_any:
            return a
        op = add.op
        names = {"x": ("x", op.x), "y": ("y", op.y)}
        read = {name: names[name] for name in names if name in op.uses}
        texts = {"x": a, "y": b}
        return f"{self.function(op, read, op.z)}({', '.join(texts[name] for name in read)})"

    def _stops(self, add: Any, value: str) -> str | None:
        """Return the text of whether a sum is final.

        None also where that is an extreme of an integer type that hardly occurs: the test costs a quarter of a row.
        """
        rare = add.z.kind == "i" and _is_extreme(add)
        if add.is_any or add.terminal is None or rare:
            return None
        return f"{value} == {self.constant(add.terminal)}"

    def _push_blocks(self, q: Any, made: Any, mask: Any, u: Any, c: int, r: str, v: str | None) -> None:
        """Push rows in blocks, by loops without a branch that is hardly predictable (see `closure_push`).

        The first entry in the order of the rows determines the value: the sum is ``any``, or there are no values.
        """
        ring, m = q.semiring, self.matrix(q.by_column)
        cu, home = self.size(u.size), self.home(u.words)
        mult = ring.mult.uses if v is not None else frozenset()
        kept = ["block[np.uintp({at})]"]
        if mult:
            kept += ["block[np.uintp({at} + SPAN)]", "block[np.uintp({at} + 2 * SPAN)]"]
        copy = "copy_entries" if mult else "copy_columns"
        # As entry by entry.
        self._listed(u, sort=v is not None and not _any_order(ring))
        self.put("s_, done_ = np.int64(0), np.int64(0)")
        self.put(f"while s_ < {home}n:")
        self.indent += 1
        self.put(f"s_, done_, filled_ = {copy}(P{m}, I{m}, L{cu}, {home}l, s_, {home}n, done_, block)")
        self.put("budget -= filled_")
        # Those present before the block are dropped apart: the next loop waits for the word that it has stored before.
        self.put("kept_ = np.int64(0)")
        self.put("for e_ in range(filled_):")
        self.indent += 1
        self.put("o_ = block[np.uintp(e_)]")
        for text in kept:
            self.put(f"{text.format(at='kept_')} = {text.format(at='e_')}")
        word = "W{c}[np.uintp({home}w + (o_ >> 5))]"
        absent = word.format(c=c, home=r)
        if isinstance(mask, Mask) and mask.structural and mask.complement and isinstance(mask.store, Bitmap):
            absent += " | " + word.format(c=c, home=self.home(mask.store.words))
        elif mask is not True:
            self.put(f"if not ({self._admits(mask, 'o_')}):")
            self.put_at(self.indent + 1, "continue")
        self.put(f"kept_ += np.int64((~({absent}) >> np.uint32(o_ & 31)) & np.uint32(1))")
        self.indent -= 1
        self.put("first_ = m_")
        self.put("for e_ in range(kept_):")
        self.indent += 1
        self.put("o_ = block[np.uintp(e_)]")
        self.put(f"at_ = np.uintp({r}w + (o_ >> 5))")
        self.put(f"word_ = W{c}[at_]")
        self.put(f"W{c}[at_] = word_ | (np.uint32(1) << np.uint32(o_ & 31))")
        self.put(f"L{c}[np.uintp({r}l + m_)] = o_")
        for text in kept[1:]:
            self.put(f"{text.format(at='m_ - first_')} = {text.format(at='e_')}")
        self.put("m_ += np.int64((~word_ >> np.uint32(o_ & 31)) & np.uint32(1))")
        self.indent -= 1
        if v is not None:
            self.put("for e_ in range(first_, m_):")
            self.indent += 1
            self.put(f"o_ = np.int64(L{c}[np.uintp({r}l + e_)])")
            if mult:
                self.put("k_ = block[np.uintp(e_ - first_ + SPAN)]")
                self.put("p_ = block[np.uintp(e_ - first_ + 2 * SPAN)]")
            if ("x" if q.flip else "y") in mult:
                self.put(f"u_ = {self._value(u, 'k_')}")
            self._set(made, c, v, "o_", self._product(q, m, self.matrices[int(m)].dtype, "p_", "u_", "o_", "k_"))
            self.indent -= 1
        self.indent -= 1
        self._counted(c, r, "1 if m_ > 1 else 2")

    def _push_entries(self, q: Any, made: Any, mask: Any, u: Any, c: int, r: str, v: str | None, *, last: bool) -> None:
        """Push rows entry by entry.  last: nothing reads the positions of the vector later; its row is then emptied."""
        ring, m = q.semiring, self.matrix(q.by_column)
        a = self.matrices[int(m)]
        # Where the order of the terms determines the result it is that of the rows, as in products one by one.
        ordered = v is not None and not _any_order(ring)
        self._each(u, "k_", sort=ordered)
        if last:
            self.put(f"W{self.size(u.size)}[np.uintp({self.home(u.words)}w + (k_ >> 5))] = 0")
        if v is not None:
            uname = "x" if q.flip else "y"
            if uname in ring.mult.uses:
                self.put(f"u_ = {self._value(u, 'k_')}")
        self.put(f"p_ = np.int64(P{m}[np.uintp(k_)])")
        self.put(f"end_ = np.int64(P{m}[np.uintp(k_ + 1)])")
        self.put("budget -= end_ - p_")
        self.put("for p_ in range(p_, end_):")
        self.indent += 1
        self.put("p_ = rolled(p_)")
        self.put(f"o_ = np.int64(I{m}[np.uintp(p_)])")
        first = v is None or ring.add.is_any  # whether only the first term of a sum is of use
        excluded = isinstance(mask, Mask) and mask.structural and mask.complement and isinstance(mask.store, Bitmap)
        if mask is not True and not (first and excluded):
            self.put(f"if not ({self._admits(mask, 'o_')}):")
            self.put_at(self.indent + 1, "continue")
        self.put(f"at_ = np.uintp({r}w + (o_ >> 5))")
        self.put("bit_ = np.uint32(1) << np.uint32(o_ & 31)")
        self.put(f"word_ = W{c}[at_]")
        present = "word_"
        if first and excluded:
            present = f"(word_ | W{c}[np.uintp({self.home(mask.store.words)}w + (o_ >> 5))])"
        self.put(f"if {present} & bit_ == 0:")
        self.indent += 1
        self.put(f"W{c}[at_] = word_ | bit_")
        self._insert(c, r, "o_", bit=False)
        if v is not None:
            self._set(made, c, v, "o_", self._product(q, m, a.dtype, "p_", "u_", "o_", "k_"))
        self.indent -= 1
        if not first:
            at = f"V{c}_{made.dtype.name}[np.uintp({v} + o_)]"
            # A sum that is an extreme hardly occurs, and the next term does not change it.
            stop = None if _is_extreme(ring.add) else self._stops(ring.add, at)
            self.put("else:" if stop is None else f"elif not ({stop}):")
            self.indent += 1
            self.put(f"{at} = {self._sum(ring.add, at, self._product(q, m, a.dtype, 'p_', 'u_', 'o_', 'k_'))}")
            self.indent -= 1
        self.indent -= 2
        if last:
            self.put(f"{self.home(u.words)}n, {self.home(u.words)}t = 0, 2")
        self._counted(c, r, "1 if m_ > 1 else 2")

    def _pull(self, q: Any, made: Any, mask: Any, u: Any, c: int, r: str, v: str | None) -> None:
        m = self.matrix(q.by_row)
        words = u.words if isinstance(u, Bitmap) else None
        add = q.semiring.add
        early = words is not None and (v is None or add.is_any or self._stops(add, "sum_") is not None)
        self.put(f"budget -= n{c}" if early else f"budget -= n{c} + I{m}.size")
        outer, order, bits = self.indent, "2", True
        structural = mask is True or (isinstance(mask, Mask) and mask.structural)
        if isinstance(mask, Mask) and not mask.complement and isinstance(mask.store, Bitmap):
            self._each(mask.store, "o_")
            order = "1 if m_ > 1 else 2"
        elif structural and (mask is True or isinstance(mask.store, Bitmap)):
            bits = words is not None
            # Whether a value depends on the entry that leads to it.
            constant = v is None or (q.semiring.add.is_any and not q.semiring.mult.uses)
            if words is not None and constant and q.ninner == q.nout:
                self.hub_matrices.add(int(m))
                product = self._product(q, m, self.matrices[int(m)].dtype, "p_", "u_", "o_", "k_") if v else None
                self._rows_without_hub(made, mask, words, m, c, r, v, product)
                order = "1 if m_ > 1 else 2"
            else:
                self._open_rows(mask, m, c, by_chunk=bits)
        else:
            structural = False
            self.put(f"for o_ in range(n{c}):")
            self.indent += 1
        if not structural:
            self.put(f"if not ({self._admits(mask, 'o_')}):")
            self.put_at(self.indent + 1, "continue")
        self.put(f"p_ = np.int64(P{m}[np.uintp(o_)])")
        self.put(f"end_ = np.int64(P{m}[np.uintp(o_ + 1)])")
        if words is not None:
            probe = self._has(words, "k_")
            self.put(f"k_ = np.int64(I{m}[np.uintp(p_)]) if p_ < end_ else np.int64(0)")
            self.put(f"while p_ < end_ and not ({probe}):")
            self.put_at(self.indent + 1, "p_ += 1")
            self.put_at(self.indent + 1, f"k_ = np.int64(I{m}[np.uintp(p_)]) if p_ < end_ else np.int64(0)")
            if early:
                self.put(f"budget -= p_ - np.int64(P{m}[np.uintp(o_)])")
        self.put("if p_ == end_:")
        self.put_at(self.indent + 1, "continue")
        if v is not None:
            self._sum_of_row(q, made, u, m, words)
            self._set(made, c, v, "o_", "sum_")
        if not bits:
            self.put("found_ |= bit_")
        self._insert(c, r, "o_", bit=bits)
        self.indent -= 1
        if not bits:
            self.put(f"W{c}[np.uintp({r}w + g_)] = found_")
        self.indent = outer
        self._counted(c, r, order)

    def _open_rows(self, mask: Any, m: str, c: int, *, by_chunk: bool) -> None:
        """Begin a loop over the rows that a structural mask admits, from its words.

        By chunks of words whose rows are collected and prefetched: they end at entries that are hardly predictable.
        """
        if by_chunk:
            self.put(f"for chunk_ in range(0, w{c}, WORDS):")
            self.indent += 1
            self.put("open_ = np.int64(0)")
            self.put(f"for g_ in range(chunk_, min(chunk_ + WORDS, w{c})):")
        else:
            self.put(f"for g_ in range(w{c}):")
        self.indent += 1
        rest = "np.uint32(0xFFFFFFFF)"
        if isinstance(mask, Mask) and isinstance(mask.store, Bitmap):
            rest = f"~W{c}[np.uintp({self.home(mask.store.words)}w + g_)]"
        self.put(f"rest_ = {rest}")
        self.put(f"if (g_ << 5) + 32 > n{c}:")
        self.put_at(self.indent + 1, f"rest_ &= (np.uint32(1) << np.uint32(n{c} - (g_ << 5))) - np.uint32(1)")
        if not by_chunk:
            self.put("found_ = np.uint32(0)")
        self.put("while rest_ != 0:")
        self.indent += 1
        self.put("bit_ = rest_ & (~rest_ + np.uint32(1))")
        self.put("rest_ ^= bit_")
        self.put("o_ = (g_ << 5) + trailing_zeros(bit_)")
        if by_chunk:
            self.put("block[np.uintp(open_)] = o_")
            self.put(f"open_ += np.int64(P{m}[np.uintp(o_)] != P{m}[np.uintp(o_ + 1)])")
            self.indent -= 2
            self._collected_rows(m)

    def _rows_without_hub(
        self, made: Any, mask: Any, words: Any, m: str, c: int, r: str, v: str | None, product: str | None
    ) -> None:
        """Begin a loop as `_open_rows` by chunks, over the rows whose hub is not in the vector.

        The others have an entry (`closure_hubs`): one array, read sequentially, decides most rows without a visit.
        Without hubs, h is 0: one element of H and O is read, and no row decided.
        """
        self.put(f"state[6] |= (1 + h{m}) << {min(int(m), 62)}")
        self.put(f"for chunk_ in range(0, w{c}, WORDS):")
        self.indent += 1
        self.put("open_ = np.int64(0)")
        self.put(f"for g_ in range(chunk_, min(chunk_ + WORDS, w{c})):")
        self.indent += 1
        rest = f"O{m}[np.uintp(g_ & h{m})]"
        if isinstance(mask, Mask) and isinstance(mask.store, Bitmap):
            rest += f" & ~W{c}[np.uintp({self.home(mask.store.words)}w + g_)]"
        self.put(f"rest_ = {rest}")
        self.put(f"if (g_ << 5) + 32 > n{c}:")
        self.put_at(self.indent + 1, f"rest_ &= (np.uint32(1) << np.uint32(n{c} - (g_ << 5))) - np.uint32(1)")
        self.put("found_ = np.uint32(0)")
        self.put("while rest_ != 0:")
        self.indent += 1
        self.put("bit_ = rest_ & (~rest_ + np.uint32(1))")
        self.put("rest_ ^= bit_")
        self.put("o_ = (g_ << 5) + trailing_zeros(bit_)")
        self.put(f"k_ = np.int64(H{m}[np.uintp(o_ & h{m})])")
        self.put(f"hit_ = np.int64((W{c}[np.uintp({self.home(words)}w + (k_ >> 5))] >> np.uint32(k_ & 31)) & h{m} & 1)")
        self.put(f"L{c}[np.uintp({r}l + m_)] = o_")
        self.put("m_ += hit_")
        self.put("found_ |= np.uint32(hit_) << np.uint32(o_ & 31)")
        self.put("block[np.uintp(open_)] = o_")
        self.put("open_ += 1 - hit_")
        if v is not None and product is not None:
            self._set(made, c, v, "o_", product)
        self.indent -= 1
        self.put(f"W{c}[np.uintp({r}w + g_)] = found_")
        self.indent -= 1
        self._collected_rows(m)

    def _collected_rows(self, m: str) -> None:
        """Begin a loop over the rows in the block."""
        self.put("for b_ in range(open_):")
        self.indent += 1
        self.put("if b_ + AHEAD < open_:")
        self.put_at(self.indent + 1, f"prefetch(I{m}, P{m}[np.uintp(block[np.uintp(b_ + AHEAD)])])")
        self.put("o_ = block[np.uintp(b_)]")

    def _sum_of_row(self, q: Any, made: Any, u: Any, m: str, words: Any) -> None:
        """Add the products of a row from its entry at `p_`, which has one, to `end_`."""
        ring = q.semiring
        reads = ("x" if q.flip else "y") in ring.mult.uses
        value = self._value(u, "k_") if reads else "None"
        product = self._product(q, m, self.matrices[int(m)].dtype, "p_", "u_", "o_", "k_")
        self.put(f"k_ = np.int64(I{m}[np.uintp(p_)])")
        if reads:
            self.put(f"u_ = {value}")
        self.put(f"sum_ = {product}")
        if ring.add.is_any:
            return
        self.put("p_ += 1")
        stop = self._stops(ring.add, "sum_")
        self.put("while p_ < end_:" if stop is None else f"while p_ < end_ and not ({stop}):")
        self.indent += 1
        self.put(f"k_ = np.int64(I{m}[np.uintp(p_)])")
        if words is not None:
            self.put(f"if {self._has(words, 'k_')}:")
            self.indent += 1
        if reads:
            self.put(f"u_ = {value}")
        self.put(f"sum_ = {self._sum(ring.add, 'sum_', product)}")
        if words is not None:
            self.indent -= 1
        self.put("p_ += 1")
        self.indent -= 1


def _is_one(iso: Any) -> bool:
    """Return whether all entries of a matrix are 1: the type of a factor does not change that."""
    return iso is not None and bool(iso == 1)


def exact(add: Any) -> bool:
    """Return whether the order of the terms does not change a sum."""
    return add.z.kind in "biu" or _is_extreme(add)


def exact_binary(op: Any) -> bool:
    """Return whether the order of operands does not change the result of an operator that combines several."""
    return (op.z.kind in "biu" and "commutative" in op.laws) or bool(op.expr.order)


def _is_extreme(add: Any) -> bool:
    """Return whether a sum is the least or the greatest term."""
    return bool(add.expr.order)


def _reads(mask: Mask | bool, words: Any) -> bool:
    """Return whether a simplified mask reads positions."""
    return isinstance(mask, Mask) and getattr(mask.store, "words", None) is words


def _any_order(ring: Any) -> bool:
    """Return whether the order of the terms of a product does not change its value."""
    if ring.add.is_any:
        return False
    return exact(ring.add)
