"""The text of products with a matrix: push or pull."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import Bitmap, Full
from ..operands import Mask, simplified
from ..program_lifetimes import Place
from .program_text import Text


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
        if pushes and pulls:
            self._choose_direction(q, mask, u)
            self.indent += 1
            self._pull(q, made, mask, u, c, r, v)
            self.indent -= 1
            self.put("else:")
            self.indent += 1
            self._push(q, made, mask, u, c, r, v)
            self.indent -= 1
        elif pulls:
            self._pull(q, made, mask, u, c, r, v)
        else:
            self._push(q, made, mask, u, c, r, v)

    def _choose_direction(self, q: Any, mask: Any, u: Any) -> None:
        cu, cr = self.size(q.ninner), self.size(q.nout)
        home = self.home(u.words)
        m, p = self.matrix(q.by_column), self.matrix(q.by_row)
        admitted = f"n{cr}"
        if isinstance(mask, Mask) and mask.structural and isinstance(mask.store, Bitmap):
            count = f"N{cr}[{self.home(mask.store.words)}]"
            admitted = f"n{cr} - {count}" if mask.complement else count
        early = q.semiring.add.is_any or q.semiring.add.terminal is not None
        self.put(f"if shares_pull(L{cu}, N{cu}, T{cu}, {home}, n{cu}, P{m}, P{p}, {admitted}, {early}):")

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
        if add.is_any or add.terminal is None:
            return None
        return f"{value} == {self.constant(add.terminal)}"

    def _push(self, q: Any, made: Any, mask: Any, u: Any, c: int, r: str, v: str | None) -> None:
        ring, m = q.semiring, self.matrix(q.by_column)
        a = self.matrices[int(m)]
        # Where the order of the terms determines the result it is that of the rows, as in products one by one.
        ordered = v is not None and not _any_order(ring)
        self._each(u, "k_", sort=ordered)
        if v is not None:
            uname = "x" if q.flip else "y"
            if uname in ring.mult.uses:
                self.put(f"u_ = {self._value(u, 'k_')}")
        self.put(f"budget -= np.int64(P{m}[np.uintp(k_ + 1)]) - np.int64(P{m}[np.uintp(k_)])")
        self.put(f"for p_ in range(np.int64(P{m}[np.uintp(k_)]), np.int64(P{m}[np.uintp(k_ + 1)])):")
        self.indent += 1
        self.put(f"o_ = np.int64(I{m}[np.uintp(p_)])")
        if mask is not True:
            self.put(f"if not ({self._admits(mask, 'o_')}):")
            self.put_at(self.indent + 1, "continue")
        self.put(f"if not ({self._has(made.words, 'o_')}):")
        self.indent += 1
        self._insert(c, r, "o_")
        if v is not None:
            self._set(made, c, v, "o_", self._product(q, m, a.dtype, "p_", "u_", "o_", "k_"))
        self.indent -= 1
        if v is not None and not ring.add.is_any:
            at = f"V{c}_{made.dtype.name}[np.uintp({v} * n{c} + o_)]"
            stop = self._stops(ring.add, at)
            self.put("else:" if stop is None else f"elif not ({stop}):")
            self.indent += 1
            self.put(f"{at} = {self._sum(ring.add, at, self._product(q, m, a.dtype, 'p_', 'u_', 'o_', 'k_'))}")
            self.indent -= 1
        self.indent -= 2
        self._counted(c, r, "1 if m_ > 1 else 2")

    def _pull(self, q: Any, made: Any, mask: Any, u: Any, c: int, r: str, v: str | None) -> None:
        ring, m = q.semiring, self.matrix(q.by_row)
        a = self.matrices[int(m)]
        words = u.words if isinstance(u, Bitmap) else None
        reads = v is not None and ("x" if q.flip else "y") in ring.mult.uses
        value = self._value(u, "k_") if reads else "None"
        product = self._product(q, m, a.dtype, "p_", "u_", "o_", "k_")
        self.put(f"budget -= n{c} + I{m}.size")
        listed = isinstance(mask, Mask) and not mask.complement and isinstance(mask.store, Bitmap)
        words_of_mask = isinstance(mask, Mask) and mask.structural and isinstance(mask.store, Bitmap) and not listed
        by_word = words_of_mask or mask is True
        if listed:
            self._each(mask.store, "o_")
        elif by_word:
            assert words_of_mask is False or isinstance(mask, Mask)
            self.put(f"for g_ in range(w{c}):")
            self.indent += 1
            rest = "np.uint32(0xFFFFFFFF)"
            if words_of_mask:
                rest = f"~W{c}[np.uintp({self.home(mask.store.words)} * w{c} + g_)]"
            self.put(f"rest_ = {rest}")
            self.put(f"if (g_ << 5) + 32 > n{c}:")
            self.put_at(self.indent + 1, f"rest_ &= (np.uint32(1) << np.uint32(n{c} - (g_ << 5))) - np.uint32(1)")
            self.put("found_ = np.uint32(0)")
            self.put("while rest_ != 0:")
            self.indent += 1
            self.put("bit_ = rest_ & (~rest_ + np.uint32(1))")
            self.put("rest_ ^= bit_")
            self.put("o_ = (g_ << 5) + trailing_zeros(bit_)")
        else:
            self.put(f"for o_ in range(n{c}):")
            self.indent += 1
        if mask is not True and not (listed and mask.structural) and not words_of_mask:
            self.put(f"if not ({self._admits(mask, 'o_')}):")
            self.put_at(self.indent + 1, "continue")
        self.put(f"p_ = np.int64(P{m}[np.uintp(o_)])")
        self.put(f"end_ = np.int64(P{m}[np.uintp(o_ + 1)])")
        if words is not None:
            probe = self._has(words, "k_")
            self.put(f"k_ = np.int64(I{m}[np.uintp(p_)]) if p_ < end_ else np.int64(0)")
            self.put(f"while p_ < end_ and not ({probe}):")
            self.indent += 1
            self.put("p_ += 1")
            self.put(f"k_ = np.int64(I{m}[np.uintp(p_)]) if p_ < end_ else np.int64(0)")
            self.indent -= 1
        self.put("if p_ == end_:")
        self.put_at(self.indent + 1, "continue")
        if v is not None:
            self.put(f"k_ = np.int64(I{m}[np.uintp(p_)])")
            if reads:
                self.put(f"u_ = {value}")
            self.put(f"sum_ = {product}")
            if not ring.add.is_any:
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
            self._set(made, c, v, "o_", "sum_")
        if by_word and not listed:
            self.put("found_ |= bit_")
        self._insert(c, r, "o_", bit=not by_word or listed)
        self.indent -= 1
        if by_word and not listed:
            self.put(f"W{c}[np.uintp({r} * w{c} + g_)] = found_")
            self.indent -= 1
        self._counted(c, r, "1 if m_ > 1 else 2" if listed else "2")


def exact(add: Any) -> bool:
    """Return whether the order of the terms does not change a sum."""
    return add.z.kind in "biu" or add.op.expr in ("min(x, y)", "max(x, y)")


def exact_binary(op: Any) -> bool:
    """Return whether the order of operands does not change the result of an operator that combines several."""
    return (op.z.kind in "biu" and "commutative" in op.laws) or op.expr in ("min(x, y)", "max(x, y)")


def _any_order(ring: Any) -> bool:
    """Return whether the order of the terms of a product does not change its value."""
    if ring.add.is_any:
        return False
    return exact(ring.add)
