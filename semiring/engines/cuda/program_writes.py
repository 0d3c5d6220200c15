"""The CUDA text of writes: C<M, replace> accum= T."""

from __future__ import annotations

from typing import Any

from ...formats import Bitmap, Full
from ..programs.lifetimes import Place, halves
from ..programs.program import Values
from ..programs.traced import Untraceable
from ..requests.operands import Mask, simplified
from ..shared.iso_results import POSITIONS
from .program_products import Products
from .program_text import cast


class Writes(Products):
    """Writes the updates of vectors."""

    def _taken(self, part: Any, others: list[Any], place: Place) -> bool:
        """Return whether a result may take the buffer of a part of its target."""
        return part is not None and self.lifetimes.dead(part, place) and not any(part is other for other in others)

    def _write_vector(self, q: Any, made: Any, place: Place) -> None:
        """C<M, replace> accum= T; the buffers of C become those of the result where nothing reads C later."""
        old, t, mask, accum = q.c, q.t, simplified(q.mask), q.accum
        if accum is not None and accum.uses & POSITIONS:
            raise Untraceable("an accumulator that reads positions")
        s_old = old.words if isinstance(old, Bitmap) else None
        v_old = old.values if isinstance(old.values, Values) else None
        # The entries of C that the mask does not admit are removed: nothing else changes.
        removes = (
            accum is None and q.replace and isinstance(mask, Mask) and isinstance(old, Bitmap)
            and getattr(t, "words", None) is s_old and t.values is old.values and t.dtype == made.dtype
        )  # fmt: skip
        others = [part for item in ([] if removes else [t]) for part in halves(item)]
        others += halves(mask.store) if isinstance(mask, Mask) else []
        if isinstance(made, Bitmap) and self._taken(s_old, others, place):
            self.homes[id(made.words)] = self.home(s_old)
            self.in_place.add(id(made))
        made_values = made.values if isinstance(made.values, Values) else None
        if made_values is not None and self._taken(v_old, others, place) and v_old.dtype == made.dtype:  # type: ignore[union-attr]
            self.homes[id(made_values)] = self.home(v_old)
            self.in_place.add(id(made))
        self.lifetimes.kept += [getattr(made, "words", None), made_values]
        target, values, n, c = self.set_of(made), self.values_of(made), self.n(made), self.size(made.size)
        source = self.set_of(old)
        set_in_place, values_in_place = target == source, values == self.values_of(old)
        # What becomes of a position: its value if C has an entry, and if T is written to it.
        had_value = "" if values is None or values_in_place else f"{values}[i] = {self.value(old, 'i')}; "
        put = self._put_text(made, old, t, accum, values)
        admitted = self.admits(mask, "i")
        in_t = self.has(t, "i")
        reads = [*self.operands(old, t), *self.masked(mask)]
        if target is None:
            self._write_to_full(q, made, mask, (admitted, in_t, had_value, put), reads)
            return
        if removes and set_in_place and (values is None or values_in_place):
            self._remove(mask, made, target)
            return
        listed_mask = isinstance(mask, Mask) and not mask.complement and isinstance(mask.store, Bitmap)
        # Whether entries of C may be deleted where the driver has none.
        deletes = (q.replace and mask is not True) or (accum is None and isinstance(t, Bitmap) and not listed_mask)
        in_place = set_in_place and (values is None or values_in_place)
        driver = self._driver(t, mask, accum)
        visits = driver if in_place and not deletes and driver == self.set_of(t) else None
        self.touch(reads, [target, values], visits=visits)

        def change(admitted: str, in_t: str) -> str:
            return (
                f"[&](i64 i, bool had) {{ if ({admitted}) {{ if ({in_t}) {{ {put}return true; }} "
                + ("if (had) { " + had_value + "} return had; }" if accum is not None else "return false; }")
                + (" return false; }" if q.replace else " if (had) { " + had_value + "} return had; }")
            )

        by_mask = (
            isinstance(mask, Mask) and mask.structural and not mask.complement and driver == self.set_of(mask.store)
        )
        sparse = "false"
        if in_place and driver is not None:
            sparse = f"{driver}.sparse({n})" + (f" && {source}.sparse({n})" if deletes else "")
            self.prefer_list(driver, n)
            if deletes:
                self.prefer_list(source, n)
        self.point(f"(({sparse}) ? {driver}.count : {n})" if sparse != "false" else n)
        k = self.counter(2)
        words = "(const u32*)nullptr" if source is None else f"{source}.words"  # null: of a full vector
        dense = f"change_words(g, {target}, {words}, {k}, {self.shift(c)}, {n}, change);"
        self.put("{")
        if sparse == "false" or deletes:
            self.put(f"    const auto change = {change(admitted, in_t)};")
        if sparse == "false":
            self.put(f"    {dense}")
        else:
            base, listed = f"g, {target}, {k}, b.c{k}, {self.shift(c)}", self._listed(made)
            # What visits the driver's entries need not test for them.
            known = change("true" if by_mask else admitted, "true" if driver == self.set_of(t) else in_t)
            self.put(f"    const auto visit = {known};")
            self.put(f"    if ({sparse}) {{")
            self.put(f"        change_listed<{listed}>({base}, {driver}, visit);")
            if deletes:
                # Entries of C that no entry of the driver visits; those that it visits are the same afterwards.
                visited = f"{driver}.has(i)"
                gone = f"[&](i64 i, bool had) {{ return had && ({visited} || change(i, had)); }}"
                self.put(f"        change_listed<{listed}>({base}, {source}, {gone});")
                self.put(f"    }} else {dense}")
            else:
                self.put(f"    }} else change_along(g, {target}, {k}, {self.shift(c)}, {n}, {driver}, visit);")
        self.put("}")
        self._changed(made, target, k, c, sparse)
        everywhere = by_mask and (in_t == "true" or driver == self.set_of(t))
        if (
            set_in_place
            and driver is not None
            and not q.replace
            and (everywhere or (mask is True and accum is not None))
        ):
            self.changing[target] = 1, driver

    def _listed(self, made: Any) -> str:
        """Return the text of whether a list of the entries of a result is of use."""
        return str(self.lifetimes.followed(made.words)).lower()

    def _changed(self, made: Any, target: str, k: int, c: int, sparse: str) -> None:
        """Assign the number of entries behind the next barrier, from those added and removed."""
        shift = self.shift(c)
        added, gone = (f"i64((counted[{n}] - b.c{n}) >> {shift})" for n in (k, k + 1))
        # A list from which entries were removed still has the others.
        self.later(
            f"{{ const bool along = {sparse}; const i64 added = {added}, gone = {gone}, was = {target}.listed; "
            f"const bool reduced = gone != 0 || was == REDUCED; "
            f"{target}.listed = !({self._listed(made)} && along) || was == 0 || (added != 0 && was == REDUCED) ? 0 "
            f": reduced ? REDUCED : 1; "
            f"if ({target}.listed == REDUCED && was != REDUCED) {target}.edges = {target}.count + added; "
            f"{target}.count = (along ? {target}.count : 0) + added - gone; "
            f"b.c{k} = counted[{k}]; b.c{k + 1} = counted[{k + 1}]; }}",
            target,
        )

    def _remove(self, mask: Any, made: Any, target: str) -> None:
        """Remove in place the entries that a mask does not admit."""
        n, c = self.n(made), self.size(made.size)
        self.touch([target, *self.masked(mask)], [target])
        driver, sparse = self.set_of(mask.store) if mask.structural and mask.complement else None, "false"
        if driver is not None:
            self.prefer_list(driver, n)
            sparse = f"{driver}.sparse({n})"
        self.point(n if driver is None else f"({sparse} ? {driver}.count : {n})")
        k = self.counter(2)
        if driver is not None:
            removed = "[&](i64, bool) { return false; }"
            base = f"g, {target}, {k}, b.c{k}, {self.shift(c)}"
            self.put(f"if ({sparse}) change_listed<false>({base}, {driver}, {removed}); else")
        kept = f"[&](i64 i, bool had) {{ return had && {self.admits(mask, 'i')}; }}"
        self.put(f"change_words(g, {target}, {target}.words, {k}, {self.shift(c)}, {n}, {kept});")
        self._changed(made, target, k, c, sparse)
        if driver is not None:
            self.changing[target] = 2, driver

    def _driver(self, t: Any, mask: Any, accum: Any) -> str | None:
        """Return the positions outside of which a write changes nothing, deletions aside."""
        listed = isinstance(mask, Mask) and not mask.complement and isinstance(mask.store, Bitmap)
        if listed and (isinstance(t, Full) or accum is None):
            return self.set_of(mask.store)
        return self.set_of(t)

    def _put_text(self, made: Any, old: Any, t: Any, accum: Any, values: str | None) -> str:
        """Return the statements that write an entry of T, where `had` says whether C has one."""
        if values is None:
            return ""
        alone = cast(self.value(t, "i"), made.dtype)
        if accum is None:
            return f"{values}[i] = {alone}; "
        combined = cast(self.binary(accum, self.value(old, "i"), self.value(t, "i")), made.dtype)
        return f"{values}[i] = had ? {combined} : {alone}; "

    def _write_to_full(
        self, q: Any, made: Any, mask: Any, texts: tuple[str, str, str, str], reads: list[str | None]
    ) -> None:
        """The result has entries everywhere."""
        admitted, in_t, had_value, put = texts
        values, n = self.values_of(made), self.n(made)
        if values is None:
            self.put(";")
            return
        had = self.has(q.c, "i")
        rest = f"else if (had) {{ {had_value}}} " if had_value else ""
        change = f"[&](i64 i) {{ const bool had = {had}; if ({admitted} && {in_t}) {{ {put}}} {rest}}}"
        driver = self._driver(q.t, mask, q.accum) if not had_value and had == "true" else None
        if driver is None:
            self.touch(local_reads=reads, local_writes=[values])
        else:
            self.touch(reads, [values], visits=driver)
            self.prefer_list(driver, n)
        self.point(n if driver is None else f"({driver}.sparse({n}) ? {driver}.count : {n})")
        visit = f"each_position({n}, " if driver is None else f"each_entry({driver}, {n}, "
        self.put(f"{visit}{change});")
