"""The text of each request: loops over the entries of its operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import Bitmap, Full
from ..programs.lifetimes import Place, halves
from ..programs.program import Values
from ..programs.text import KINDS
from ..programs.traced import Untraceable
from ..requests.operands import Mask, simplified
from ..shared.iso_results import POSITIONS
from .program_products import Products, exact, exact_binary
from .scalar import cast_text


class Requests(Products):
    """Writes the steps of a program that are requests."""

    def _write_vector(self, q: Any, made: Any, place: Place) -> None:
        """C<M, replace> accum= T; the rows of C become those of the result where nothing reads C later."""
        old, t, mask, accum = q.c, q.t, simplified(q.mask), q.accum
        c = self.size(made.size)
        full = isinstance(made, Full)
        s_old = old.words if isinstance(old, Bitmap) else None
        v_old = old.values if isinstance(old.values, Values) else None
        v_made = made.values if isinstance(made.values, Values) else None
        # C of itself: entries that the mask excludes are deleted or stay, and nothing is written.
        itself = accum is None and list(halves(old)) == list(halves(t)) and old.dtype == t.dtype and old.iso is t.iso
        read = (*(() if itself else (t,)), *((mask.store,) if isinstance(mask, Mask) else ()))
        others = [part for item in read for part in halves(item)]
        if full and s_old is not None:
            self._write_full(q, made, place)
            return
        s = None
        if not full and s_old is None:
            s = self.home(made.words)
            self._all_present(c, s)
        elif s_old is not None:
            if self.lifetimes.dead(s_old, place) and not any(s_old is part for part in others):
                self.homes[id(made.words)] = self.home(s_old)
                s = self.home(s_old)
                self.in_place.add(id(made))
            else:
                s = self.home(made.words)
                self._copied(c, self.home(s_old), s)
        v = None
        if v_made is not None:
            if v_old is not None and self.lifetimes.dead(v_old, place) and not any(v_old is part for part in others):
                self.homes[id(v_made)] = self.home(v_old)
                v = self.home(v_old)
                self.in_place.add(id(made))
            else:
                v = self.home(v_made)
                value = self._value(old, "i_")
                self._each(old, "i_")
                self._set(made, c, v, "i_", value)
                self.indent -= 1
        self.lifetimes.kept += [made.words if isinstance(made, Bitmap) else None, v_made]
        if mask is False:
            if q.replace and s is not None:
                self._emptied(c, s)
            else:
                self.put("pass")
            return
        if q.replace and mask is not True:
            self._remove_masked(old, mask, c, s)
        if itself:
            self.put("pass")
            return
        t_full = isinstance(t, Full)
        listed = isinstance(mask, Mask) and not mask.complement and isinstance(mask.store, Bitmap)
        shown: Any = mask
        if accum is None and not t_full and not listed:
            # Entries of C that the mask admits and T lacks are deleted.
            self._each(old, "i_")
            test = f"not ({self._has(t.words, 'i_')})"
            if mask is not True:
                test = f"({self._admits(mask, 'i_')}) and {test}"
            self.put(f"if {test}:")
            self.indent += 1
            self._remove(c, s, "i_")
            self.indent -= 2
        by_mask = listed and (t_full or accum is None)
        driver = shown.store if by_mask else t
        self._each(driver, "i_", sort=False)
        tests = []
        if isinstance(mask, Mask) and not (by_mask and mask.structural):
            tests.append(f"({self._admits(mask, 'i_')})")
        if tests:
            self.put(f"if not ({tests[0]}):")
            self.put_at(self.indent + 1, "continue")
        if by_mask and not t_full:
            self.put(f"if {self._has(t.words, 'i_')}:")
            self.indent += 1
        self._put_entry(made, t, accum, c, s, v, "i_")
        if by_mask and not t_full:
            self.indent -= 1
            if accum is None and s is not None:  # of a full C the entries that the mask admits are those of T
                self.put(f"elif {self._has(made.words, 'i_')}:")
                self.indent += 1
                self._remove(c, s, "i_")
                self.indent -= 1
        self.indent -= 1

    def _all_present(self, c: int, s: str) -> None:
        """Set all presence bits of a row."""
        self.put(f"for g_ in range(w{c}):")
        self.put_at(self.indent + 1, f"W{c}[np.uintp({s}w + g_)] = np.uint32(0xFFFFFFFF)")
        self.put(f"if n{c} & 31:")
        last = f"(np.uint32(1) << np.uint32(n{c} & 31)) - np.uint32(1)"
        self.put_at(self.indent + 1, f"W{c}[np.uintp({s}w + w{c} - 1)] = {last}")
        self.put(f"{s}n = n{c}")
        self.put(f"{s}t = 0")

    def _remove_masked(self, old: Any, mask: Any, c: int, s: str | None) -> None:
        """Delete the entries of C that the mask excludes: along the shorter list where the mask lists them."""
        shorter = mask.structural and mask.complement and isinstance(mask.store, Bitmap) and isinstance(old, Bitmap)
        if shorter:
            self.put(f"if {self.home(mask.store.words)}n < {self.home(old.words)}n:")
            self.indent += 1
            self._each(mask.store, "i_")
            self._remove(c, s, "i_")
            self.indent -= 2
            self.put("else:")
            self.indent += 1
        self._each(old, "i_")
        self.put(f"if not ({self._admits(mask, 'i_')}):")
        self.indent += 1
        self._remove(c, s, "i_")
        self.indent -= 3 if shorter else 2

    def _write_full(self, q: Any, made: Any, place: Place) -> None:
        """C accum= T for a full T: C has entries everywhere then."""
        old, t, c = q.c, q.t, self.size(made.size)
        v = None
        if isinstance(made.values, Values):
            if isinstance(old.values, Values) and self.lifetimes.dead(old.values, place) and old.values is not t.values:
                self.homes[id(made.values)] = self.home(old.values)
                self.lifetimes.kept.append(made.values)
            v = self.home(made.values)
        if v is None:
            self.put("pass")
            return
        self.put(f"budget -= n{c}")
        self.put(f"for i_ in range(n{c}):")
        self.indent += 1
        self.put(f"if {self._has(old.words, 'i_')}:")
        self.indent += 1
        if not isinstance(old.values, Values) or self.home(old.values) != v:
            self._set(made, c, v, "i_", self._value(old, "i_"))
        self._put_entry(made, t, q.accum, c, None, v, "i_")
        self.indent -= 1
        self.put("else:")
        self.indent += 1
        self._set(made, c, v, "i_", cast_text(self._value(t, "i_"), t.dtype, made.dtype))
        self.indent -= 2

    def _put_entry(self, made: Any, t: Any, accum: Any, c: int, s: str | None, v: str | None, i: str) -> None:
        """Write an entry of T: combined with that of C by the accumulator where C has one, else as it is."""
        alone = cast_text(self._value(t, i), t.dtype, made.dtype)
        at = f"V{c}_{made.dtype.name}[np.uintp({v} + {i})]"

        def combined() -> None:
            if v is None:
                self.put("pass")
            elif accum is None:
                self.put(f"{at} = {alone}")
            else:
                if accum.uses & POSITIONS:
                    raise Untraceable("an accumulator that reads positions")
                names = {"x": ("x", made.dtype), "y": ("y", t.dtype)}
                read = {name: names[name] for name in names if name in accum.uses}
                texts = {"x": at, "y": self._value(t, i)}
                self.put(f"z_ = {self.function(accum, read, accum.z)}({', '.join(texts[name] for name in read)})")
                self.put(f"{at} = {cast_text('z_', accum.z, made.dtype)}")

        if s is None:
            combined()
            return
        self.put(f"if {self._has(made.words, i)}:")
        self.indent += 1
        combined()
        self.indent -= 1
        self.put("else:")
        self.indent += 1
        self.put(f"W{c}[np.uintp({s}w + ({i} >> 5))] |= np.uint32(1) << np.uint32({i} & 31)")
        self.put(f"if {s}t != 0:")
        self.put_at(self.indent + 1, f"L{c}[np.uintp({s}l + {s}n)] = {i}")
        self.put_at(self.indent + 1, f"{s}t = 1")
        self.put(f"{s}n += 1")
        if v is not None:
            self.put(f"{at} = {alone}")
        self.indent -= 1

    def _remove(self, c: int, s: str | None, i: str) -> None:
        """Delete an entry that may be present."""
        assert s is not None
        word = f"W{c}[np.uintp({s}w + ({i} >> 5))]"
        self.put(f"if ({word} >> np.uint32({i} & 31)) & np.uint32(1) != 0:")
        self.indent += 1
        self.put(f"{word} &= ~(np.uint32(1) << np.uint32({i} & 31))")
        self.put(f"{s}n -= 1")
        self.put(f"{s}t = 0")
        self.indent -= 1

    def _ewise(self, q: Any, made: Any, place: Place, test: str = "") -> None:
        """Write the entries of a and b combined; test: of which only those for whose value z_ it holds."""
        a, b, mask = q.a, q.b, simplified(q.mask)
        c, s, v = self._fresh(made)
        sa = a.words if isinstance(a, Bitmap) else None
        sb = b.words if isinstance(b, Bitmap) else None
        if mask is False:
            if s is not None:
                self._counted(c, s, "2")
            return
        both = self._pair(q, self._value(a, "i_"), a.dtype, self._value(b, "i_"), b.dtype)

        def admitted() -> None:
            if mask is not True:
                self.put(f"if not ({self._admits(mask, 'i_')}):")
                self.put_at(self.indent + 1, "continue")

        def entry(value: str) -> None:
            if test:
                self.put(f"z_ = {cast_text(value, q.op.z, made.dtype)}")
                self.put(f"if not ({test}):")
                self.put_at(self.indent + 1, "continue")
                value = "z_"
            if s is not None:
                self._insert(c, s, "i_")
            self._set(made, c, v, "i_", value)
            if s is None and v is None:
                self.put("pass")

        if q.mode == "intersect":
            first, second = (b, sa) if sa is None or sb is not None else (a, sb)
            if sa is not None and sb is not None:
                # Along the shorter list.
                self.put(f"if {self.home(sa)}n < {self.home(sb)}n:")
                self.indent += 1
                self._intersected(a, sb, admitted, entry, both, c, s)
                self.indent -= 1
                self.put("else:")
                self.indent += 1
                self._intersected(b, sa, admitted, entry, both, c, s)
                self.indent -= 1
            else:
                self._intersected(first, second, admitted, entry, both, c, s)
            return
        if q.mode == "fill":
            left = self._pair(q, self._value(a, "i_"), a.dtype, self.typed(q.beta, q.op.y), q.op.y)
            right = self._pair(q, self.typed(q.alpha, q.op.x), q.op.x, self._value(b, "i_"), b.dtype)
        else:
            left = cast_text(self._value(a, "i_"), a.dtype, q.op.z)
            right = cast_text(self._value(b, "i_"), b.dtype, q.op.z)
        for first, other, alone, again in ((a, sb, left, False), (b, sa, right, True)):
            if again and other is None:
                continue  # the first operand is full
            if not again and sb is None and sa is not None:
                continue  # the second is full: one pass over all positions
            self._each(first, "i_")
            admitted()
            has = self._has(other, "i_")
            if again and sb is not None:
                self.put(f"if {has}:")
                self.put_at(self.indent + 1, "continue")
                entry(alone)
            else:
                if has == "True":
                    entry(both)
                else:
                    if s is not None:
                        self._insert(c, s, "i_")
                    if v is not None:
                        self.put(f"if {has}:")
                        self.indent += 1
                        self._set(made, c, v, "i_", both)
                        self.indent -= 1
                        self.put("else:")
                        self.indent += 1
                        self._set(made, c, v, "i_", alone)
                        self.indent -= 1
                    elif s is None:
                        self.put("pass")
            self.indent -= 1
        if s is not None:
            self._counted(c, s, "1")

    def _intersected(self, first: Any, other: Any, admitted: Any, entry: Any, both: str, c: int, s: Any) -> None:
        self._each(first, "i_")
        admitted()
        if other is not None:
            self.put(f"if not ({self._has(other, 'i_')}):")
            self.put_at(self.indent + 1, "continue")
        entry(both)
        self.indent -= 1
        if s is not None:
            self._counted(c, s, self._order_of(first))

    def _order_of(self, first: Any) -> str:
        """Return the order of the list of a result that is filled along the entries of a store."""
        return f"{self.home(first.words)}t" if isinstance(first, Bitmap) else "2"

    def _apply(self, q: Any, made: Any, place: Place) -> None:
        a, c = q.a, self.size(made.size)
        value = self._unary(q.op, q.k, a)
        old = a.values if isinstance(a.values, Values) else None
        if old is not None and old.dtype == made.dtype and self.lifetimes.dead(old, place):
            self.homes[id(made.values)] = self.home(old)
            self.lifetimes.kept.append(made.values)
            self.in_place.add(id(made))
        v = self.home(made.values)
        self._each(a, "i_")
        self._set(made, c, v, "i_", value)
        self.indent -= 1

    def _select(self, q: Any, made: Any, place: Place) -> None:
        producer = self.deferred.get(id(q.a.values))
        if producer is not None and producer.spec.name == "ewise" and isinstance(q.a, Bitmap):
            test = cast_text(self._unary(q.op, q.k, q.a, "z_"), q.op.z, np.dtype(np.bool_))
            self._ewise(producer.spec, made, place, test)
            return
        self._filtered(q.a, made, self._unary(q.op, q.k, q.a), q.op.z)

    def _filtered(self, a: Any, made: Any, test: str, dtype: np.dtype[Any]) -> None:
        self._kept(a, a, made, cast_text(test, dtype, np.dtype(np.bool_)), *self._fresh(made))

    def _kept(self, along: Any, a: Any, made: Any, test: str, c: int, s: Any, v: Any) -> None:
        """Write the entries of a, at the positions of a store, for which a test holds."""
        self._each(along, "i_")
        self.put(f"if {test}:")
        self.indent += 1
        self._insert(c, s, "i_")
        self._set(made, c, v, "i_", self._value(a, "i_"))
        self.indent -= 2
        self._counted(c, s, self._order_of(along))

    def _keep(self, q: Any, made: Any, place: Place) -> None:
        """Write the entries that a mask admits: along the shorter list where the mask has one."""
        a, mask = q.a, simplified(q.mask)
        test = self._admits(mask, "i_")
        if not isinstance(mask, Mask) or mask.complement or not isinstance(mask.store, Bitmap):
            self._filtered(a, made, test, np.dtype(np.bool_))
            return
        row, listed = self._fresh(made), mask.store
        if isinstance(a, Bitmap):
            self.put(f"if {self.home(a.words)}n <= {self.home(listed.words)}n:")
            self.indent += 1
            self._kept(a, a, made, test, *row)
            self.indent -= 1
            self.put("else:")
            self.indent += 1
            self._kept(listed, a, made, f"({self._has(a.words, 'i_')}) and ({test})", *row)
            self.indent -= 1
        else:
            self._kept(listed, a, made, test, *row)

    def _reduce_scalar(self, q: Any, made: Any, place: Place) -> None:
        a, add = q.a, q.monoid
        kind = KINDS[made.number.kind]
        total, seen = self.name("sum"), self.name("seen")
        zero = add.z.type(0)
        self.put(f"{total} = {self.constant(zero)}")
        self.put(f"{seen} = False")
        self._each(a, "i_", sort=not exact(add))
        value = cast_text(self._value(a, "i_"), a.dtype, add.z)
        self.put(f"v_ = {value}")
        self.put(f"if {seen}:")
        self.put_at(self.indent + 1, f"{total} = {self._sum(add, total, 'v_')}")
        self.put("else:")
        self.put_at(self.indent + 1, f"{total} = v_")
        self.put_at(self.indent + 1, f"{seen} = True")
        stop = "True" if add.is_any else self._stops(add, total)
        if stop is not None:
            self.put(f"if {stop}:")
            self.put_at(self.indent + 1, "break")
        self.indent -= 1
        self.put(f"{self.number(made.number)} = {cast_text(total, add.z, kind)}")

    def _extract_vector(self, q: Any, made: Any, place: Place) -> None:
        u, index = q.u, q.index
        c, s, v = self._fresh(made)
        k = self._position_text(index, c)
        self.put(f"budget -= n{c}")
        self.put(f"for i_ in range(n{c}):")
        self.indent += 1
        self.put(f"k_ = {k}")
        if isinstance(u, Bitmap):
            self.put(f"if not ({self._has(u.words, 'k_')}):")
            self.put_at(self.indent + 1, "continue")
        if s is not None:
            self._insert(c, s, "i_")
        self._set(made, c, v, "i_", self._value(u, "k_"))
        if s is None and v is None:
            self.put("pass")
        self.indent -= 1
        if s is not None:
            self._counted(c, s, "2")

    def _position_text(self, index: Any, c: int) -> str:
        """Return the text of index[i_], for an index of the size class c."""
        if isinstance(index.array, Values):
            name = index.array.dtype.name
            return f"np.int64(V{c}_{name}[np.uintp({self.home(index.array)} + i_)])"
        if index.array is not None:
            raise Untraceable("an index that is an array")
        return f"{self.number(index.start)} + {self.number(index.step)} * i_"

    def _scatter_vector(self, q: Any, made: Any, place: Place) -> None:
        u, dup = q.u, q.dup
        c, s, v = self._fresh(made, always=True)
        assert s is not None
        assert v is not None
        k = self._position_text(q.index, self.size(u.size))
        ordered = dup is None or not exact_binary(dup)
        self._each(u, "i_", sort=ordered)
        self.put(f"k_ = {k}")
        self.put(f"v_ = {self._value(u, 'i_')}")
        at = f"V{c}_{made.dtype.name}[np.uintp({v} + k_)]"
        self.put(f"if not ({self._has(made.words, 'k_')}):")
        self.indent += 1
        self._insert(c, s, "k_")
        self.put(f"{at} = v_")
        self.indent -= 1
        self.put("else:")
        self.indent += 1
        if dup is None:
            self.put(f"{at} = v_")
        else:
            names = {"x": ("x", made.dtype), "y": ("y", u.dtype)}
            read = {name: names[name] for name in names if name in dup.uses}
            texts = {"x": at, "y": "v_"}
            self.put(f"z_ = {self.function(dup, read, dup.z)}({', '.join(texts[name] for name in read)})")
            self.put(f"{at} = {cast_text('z_', dup.z, made.dtype)}")
        self.indent -= 2
        self._counted(c, s, "1")

    def _outside(self, q: Any, made: Any, place: Place) -> None:
        index, c = q.rows, self.size(q.a.size)
        if index.array is not None or index.step != 1:
            raise Untraceable("a region that is no range")
        first, last = self.number(index.start), self.number(index.start + index.count)
        self._filtered(q.a, made, f"not ({first} <= i_ and i_ < {last})", np.dtype(np.bool_))
        del c
