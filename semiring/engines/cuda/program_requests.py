"""The CUDA text of each request: loops that all threads of a program share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import c_name
from ...formats import Bitmap, Full
from ...operators.types import TypedMonoid
from ..programs.lifetimes import Place
from ..programs.program import Values
from ..programs.text import KINDS
from ..programs.traced import Untraceable
from ..requests.operands import Mask, simplified
from .algebra import native_atomic, start_value
from .program_text import cast
from .program_writes import Writes

_BOOL = np.dtype(np.bool_)


class Requests(Writes):
    """Writes the steps of a program that are requests."""

    def _fresh(self, made: Any, sparse: str) -> str:
        """Return empty positions that become those of a result where it is filled along a list.

        The old ones are cleared beside the request, for the next time.
        """
        fresh = f"b.{self._row(f'S{self.size(made.size)}')}"
        self.put(f"if ({sparse}) clear({self.set_of(made)}, {self.n(made)});")
        return fresh

    def _exchange(self, target: str, fresh: str, sparse: str) -> None:
        """Exchange the positions of a result behind the next barrier; before `counted`."""
        swap = f"const auto m = {target}; {target} = {fresh}; {fresh} = m; {fresh}.count = 0; {fresh}.listed = 1;"
        self.later(f"if ({sparse}) {{ {swap} }}", target, fresh)

    # -- a subset of the positions of an operand -----------------------------------------------------------

    def _filtered(self, a: Any, made: Any, test: str, reads: list[str | None], other: str | None = None) -> None:
        """The entries of a for which the test holds; other: positions outside of which it does not."""
        target, values, n = self.set_of(made), self.values_of(made), self.n(made)
        assert target is not None
        driver, c = self.set_of(a), self.size(made.size)
        other = None if other == driver else other
        self.touch([*self.operands(a), *reads], [target, values])
        # The lists that may be followed: each with a condition, how many positions it has, and the test there.
        lists: list[tuple[str, str, str, str]] = []
        if driver is not None:
            self.prefer_list(driver, n, "outdated")
            lists.append((f"{driver}.followed({n})", f"{driver}.length()", driver, "test"))
        if other is not None:
            self.prefer_list(other, n)
            fewer = f" && !({driver}.followed({n}) && {driver}.length() <= {other}.count)" if driver else ""
            inside = f"[&](i64 i) {{ return {self.has(a, 'i')} && test(i); }}"
            lists.insert(0, (f"{other}.sparse({n}){fewer}", f"{other}.count", other, inside))
        sparse = " || ".join(condition for condition, *_ in lists) or "false"
        fresh = self._fresh(made, sparse) if lists else target
        items = n
        for condition, count, *_ in reversed(lists):
            items = f"({condition} ? {count} : {items})"
        self.point(items)
        k = self.counter()
        listed, offsets = self._list_text(made)
        store = f"{values}[i] = {self.value(a, 'i')}; " if values else ""
        word = f"[&](i64 w) {{ return {f'valid_bits({n}, w)' if driver is None else f'{driver}.words[w]'}; }}"
        form = f"{k}, b.c{k}, {self.shift(c)}, {offsets}"
        self.put("{")
        self.put(f"    const auto test = [&](i64 i) {{ return {test}; }};")
        self.put(f"    const auto take = [&](i64 i) {{ {store}}};")
        for condition, _, along, tested in lists:
            self.put(f"    if ({condition}) keep_listed(g, {fresh}, {form}, {along}, {tested}, take); else")
        self.put(f"    keep_words<{listed}>(g, {target}, {form}, {n}, {word}, test, take);")
        self.put("}")
        if lists:
            self._exchange(target, fresh, sparse)
        self.counted(c, target, k, listed=self._listed_text(made, sparse))

    def _list_text(self, made: Any) -> tuple[str, str]:
        """Return the texts of whether a pass over words lists its result, and of the rows whose edges it counts."""
        m = self.edged.get(self.size(made.size))
        pushed = m is not None and self.lifetimes.multiplied(made.words)
        return self._listed(made), f"a.P{m}" if pushed else "nullptr"

    def _listed_text(self, made: Any, sparse: str) -> str:
        """Return the kind of the list of a result that was filled along a list (`sparse`), or by a pass over words."""
        listed, offsets = self._list_text(made)
        kind = "1" if offsets == "nullptr" else "2"
        few = f"{self.set_of(made)}.count * i64(SPARSE_SHARE) <= {self.n(made)}" if listed == "true" else "false"
        return f"{sparse} || {few} ? {kind} : 0"

    def _select(self, q: Any, made: Any, place: Place) -> None:
        producer = self.deferred.get(id(q.a.values))
        if producer is not None and producer.spec.name == "ewise" and isinstance(q.a, Bitmap):
            thunk = self.typed(q.k, q.op.k) if "k" in q.op.uses else "0"
            test = f"{self.operator('indexunary', q.op)}(z, i, i64(0), {thunk})"
            self._ewise(producer.spec, made, place, cast(test, _BOOL))
            return
        test = cast(self.unary(q.op, q.k, q.a), _BOOL)
        self._filtered(q.a, made, test, [])

    def _keep(self, q: Any, made: Any, place: Place) -> None:
        mask = simplified(q.mask)
        other = self.set_of(mask.store) if isinstance(mask, Mask) and not mask.complement else None
        self._filtered(q.a, made, self.admits(mask, "i"), self.masked(mask), other)

    def _outside(self, q: Any, made: Any, place: Place) -> None:
        index = q.rows
        if index.array is not None or index.step != 1:
            raise Untraceable("a region that is no range")
        first, last = self.number(index.start), self.number(index.start + index.count)
        self._filtered(q.a, made, f"!({first} <= i && i < {last})", [])

    # -- element by element --------------------------------------------------------------------------------

    def _apply(self, q: Any, made: Any, place: Place) -> None:
        a = q.a
        old = a.values if isinstance(a.values, Values) else None
        if old is not None and old.dtype == made.dtype and self.lifetimes.dead(old, place):
            self.homes[id(made.values)] = self.home(old)
            self.lifetimes.kept.append(made.values)
            self.in_place.add(id(made))
        values = self.values_of(made)
        if isinstance(a, Full):
            self.touch(local_reads=self.operands(a), local_writes=[values])
        else:
            self.touch(self.operands(a), [values])
        self.point(self.items(a))
        self.store_each(a, values, self.unary(q.op, q.k, a))

    def _ewise(self, q: Any, made: Any, place: Place, test: str = "") -> None:
        """Write the entries of a and b combined; test: of which only those for whose value z it holds."""
        a, b, mask = q.a, q.b, simplified(q.mask)
        target, values, n, c = self.set_of(made), self.values_of(made), self.n(made), self.size(made.size)
        x, y = self.value(a, "i"), self.value(b, "i")
        both = self.binary(q.op, x, y)
        if q.mode == "fill":
            left = self.binary(q.op, x, self.typed(q.beta, q.op.y))
            right = self.binary(q.op, self.typed(q.alpha, q.op.x), y)
        else:
            left, right = cast(x, q.op.z), cast(y, q.op.z)
        sa, sb = self.set_of(a), self.set_of(b)
        in_a, in_b = self.has(a, "i"), self.has(b, "i")
        if target is not None:
            self.touch([*self.operands(a, b), *self.masked(mask)], [target, values])
        else:
            if values is None:
                self.put(";")
                return
            self.touch(local_reads=self.operands(a, b), local_writes=[values])
            self.point(n)
            choice = both
            if sa is not None or sb is not None:
                choice = f"{in_b} ? {both} : {left}" if sa is None else f"{in_a} ? {both} : {right}"
            self.store_each(made, values, choice)
            return
        admitted = self.admits(mask, "i")
        intersects = q.mode == "intersect"
        sets = [each for each in (sa, sb) if each]
        if intersects:
            sparse = " || ".join(f"{each}.sparse({n})" for each in sets) or "false"
        else:
            sparse = " && ".join(f"{each}.sparse({n})" for each in sets) if sa and sb else "false"
        fresh = target
        if sparse != "false":
            for each in sets:
                self.prefer_list(each, n)
            fresh = self._fresh(made, sparse)
        if intersects and sparse != "false":
            items = f"(({sparse}) ? i64(0) : {n})"
        else:
            items = f"(({sparse}) ? {sa}.count + {sb}.count : {n})" if sparse != "false" else n
        self.point(items)
        k = self.counter()
        store = f"{values}[i] = {{}}; " if values else ""

        def keep(name: str, condition: str, value: str) -> None:
            """Put the functions that test a position, and that store its value."""
            tested = f"return {condition};"
            if test:
                tested = f"if (!({condition})) return false; const auto z = {cast(value, made.dtype)}; return {test};"
            self.put(f"    const auto {name} = [&](i64 i) {{ {tested} }};")
            self.put(f"    const auto take_{name} = [&](i64 i) {{ {store.format(value)}}};")

        def words(union: bool) -> str:
            parts = [f"{each}.words[w]" for each in sets]
            every = not parts or (union and len(parts) == 1)
            text = f"valid_bits({n}, w)" if every else (" | " if union else " & ").join(parts)
            return f"[&](i64 w) {{ return {text}; }}"

        self.put("{")
        listed, offsets = self._list_text(made)
        base = f"g, {fresh}, {k}, b.c{k}, {self.shift(c)}, {offsets}"
        dense = f"keep_words<{listed}>(g, {target}, {k}, b.c{k}, {self.shift(c)}, {offsets}, {n}, "
        if intersects:
            if len(sets) == 2:
                keep("both", f"{in_a} && {in_b} && {admitted}", both)
                first = f"{sa}.sparse({n}) && !({sb}.sparse({n}) && {sb}.count < {sa}.count)"
                self.put(f"    if ({first}) keep_listed({base}, {sa}, both, take_both);")
                self.put(f"    else if ({sb}.sparse({n})) keep_listed({base}, {sb}, both, take_both);")
                self.put(f"    else {dense}{words(False)}, both, take_both);")
            else:
                keep("both", admitted, both)
                if sets:
                    self.put(f"    if ({sparse}) keep_listed({base}, {sets[0]}, both, take_both); else")
                self.put(f"    {dense}{words(False)}, both, take_both);")
        else:
            value = both if sa is None and sb is None else f"{in_a} ? ({in_b} ? {both} : {left}) : {right}"
            keep("either", admitted, value)
            if sparse != "false":
                keep("rest", f"!{in_a} && {admitted}", right)
                self.put(f"    if ({sparse}) {{")
                self.put(f"        keep_listed({base}, {sa}, either, take_either);")
                self.put(f"        keep_listed({base}, {sb}, rest, take_rest);")
                self.put("    } else")
            self.put(f"    {dense}{words(True)}, either, take_either);")
        self.put("}")
        if sparse != "false":
            self._exchange(target, fresh, sparse)
        self.counted(c, target, k, listed=self._listed_text(made, f"({sparse})"))

    # -- positions by index --------------------------------------------------------------------------------

    def _extract_vector(self, q: Any, made: Any, place: Place) -> None:
        u, index = q.u, q.index
        target, values, n, c = self.set_of(made), self.values_of(made), self.n(made), self.size(made.size)
        k = self._index_text(index)
        if target is None:
            self.touch(self.operands(u), local_reads=[self._index_home(index)], local_writes=[values])
        else:
            self.touch([*self.operands(u), self._index_home(index)], [target, values])
        self.point(n)
        store = f"{values}[i] = {self.value(u, 'j')}; " if values else ""
        if target is None:
            if values is not None:
                found = f"const i64 j = {k}; return {self.value(u, 'j')};"
                self.put(f"store_each({values}, {n}, [&](i64 i) {{ {found} }});")
            return
        counter = self.counter()
        test = f"[&](i64 i) {{ const i64 j = {k}; return {self.has(u, 'j')}; }}"
        take = f"[&](i64 i) {{ {f'const i64 j = {k}; {store}' if store else ''}}}"
        word = f"[&](i64 w) {{ return valid_bits({n}, w); }}"
        listed, offsets = self._list_text(made)
        form = f"{counter}, b.c{counter}, {self.shift(c)}, {offsets}"
        self.put(f"keep_words<{listed}>(g, {target}, {form}, {n}, {word}, {test}, {take});")
        self.counted(c, target, counter, listed=self._listed_text(made, "false"))

    def _index_home(self, index: Any) -> str | None:
        return f"b.{self.home(index.array)}" if isinstance(index.array, Values) else None

    def _index_text(self, index: Any) -> str:
        """Return the text of index[i]."""
        if isinstance(index.array, Values):
            return f"i64(b.{self.home(index.array)}[i])"
        if index.array is not None:
            raise Untraceable("an index that is an array")
        return f"{self.number(index.start)} + {self.number(index.step)} * i"

    def _scatter_vector(self, q: Any, made: Any, place: Place) -> None:
        u, dup = q.u, q.dup
        target, values, c = self.set_of(made), self.values_of(made), self.size(made.size)
        assert target is not None
        assert values is not None
        at = self._index_text(q.index)
        start, sums = None, None
        distinct = q.index.array is None  # the positions of a range do not repeat
        last = dup is None or dup.expr.projection == "y"  # of repeated positions the last one counts
        if distinct:
            update = f"{values}[j] = {cast(self.value(u, 'i'), made.dtype)};"
        elif last:
            sums = self.buffer("last", "i64", (c, 1), np.int64(-1))
            update = f"atomicMax({sums} + j, i);"
        else:
            start = _start_of(dup, made.dtype, u.dtype)
            if start is None:
                raise Untraceable(f"a scatter that combines by {dup.name}")
            sums = self.buffer("sums", c_name(made.dtype), (c, 1), start)
            native = native_atomic(dup)
            name = self.operator("binary", dup)
            kind = c_name(made.dtype)
            combine = f"[=]({kind} x, {kind} y) {{ return {cast(f'{name}(x, y)', made.dtype)}; }}"
            update = f"atomic_combine_shared<{native}>({sums} + j, {cast(self.value(u, 'i'), made.dtype)}, {combine});"
        touched = [*self.operands(u), self._index_home(q.index)], [target, values, sums]
        self.touch(*touched)
        self._claim(u, made, at, update, touched)
        if sums is None:
            return
        self.barrier()
        value = cast(self.value(u, f"{sums}[i]"), made.dtype) if last else f"{sums}[i]"
        self.finish(made, sums, value, "-1" if start is None else self.held(start))

    def _claim(self, u: Any, made: Any, at: str, update: str, touched: Any) -> None:
        """Enter the position of each entry of u, whose text is `at`, in a result; `update` is executed for each."""
        target, driver, n, size, c = self.set_of(made), self.set_of(u), self.n(made), self.n(u), self.size(made.size)
        assert target is not None
        sparse = "false" if driver is None else f"{driver}.sparse({size})"
        self.put(f"clear({target}, {n});")
        self.barrier()
        self.touch(*touched)
        self.point(self.items(u))
        k = self.counter()
        shift = self.shift(c)
        self.put("{")
        claim = f"[&](i64 i, i64& j) {{ j = {at}; {update} return bit_claim({target}.words, j); }}"
        self.put(f"    const auto claim = {claim};")
        if driver is not None:
            self.put(f"    if ({sparse}) claim_listed(g, {target}, {k}, b.c{k}, {shift}, {driver}, claim); else")
        self.put("    {")
        self.put("        u64 mine = 0;")
        self.put(f"        {self.each(u)}i64 j; mine += u64(claim(i, j)) << {shift}; }});")
        self.put(f"        g.count({k}, mine);")
        self.put("    }")
        self.put("}")
        self.counted(c, target, k, listed=f"{sparse} ? 1 : 0" if driver else "0")

    # -- reductions ----------------------------------------------------------------------------------------

    def _reduce_scalar(self, q: Any, made: Any, place: Place) -> None:
        a, add = q.a, q.monoid
        kind, z = made.number.kind, c_name(add.z)
        name = self.operator("binary", add.op)
        hits, parts = self.buffer("hits", "bool", "blocks"), self.buffer("parts", z, "blocks")
        combine = f"[=]({z} x, {z} y) {{ return {cast('x' if add.is_any else f'{name}(x, y)', add.z)}; }}"
        if isinstance(a, Full):
            self.touch([], [parts], local_reads=self.operands(a))
        else:
            self.touch(self.operands(a), [parts])
        self.point(self.items(a))
        visit = self.each(a).replace("[&](i64 i) { ", "")
        each = f"[&](auto f) {{ {visit}f); }}"
        value = f"[&](i64 i) {{ return {cast(self.value(a, 'i'), add.z)}; }}"
        self.put(f"reduce_parts<{z}>({hits}, {parts}, {each}, {value}, {combine});")
        self.barrier()
        text = cast(f"combine_parts<{z}>({hits}, {parts}, {combine})", KINDS[kind])
        self.put(f"{self.number(made.number)} = {text};")
        self.touch([parts])


def _start_of(dup: Any, made: np.dtype[Any], given: np.dtype[Any]) -> Any:
    """Return e with dup(e, x) = x for all x, or None; atomics must combine the type of the result."""
    if not dup.x == dup.y == dup.z == made == given or "commutative" not in dup.laws:
        return None
    return start_value(TypedMonoid(dup, None, None))
