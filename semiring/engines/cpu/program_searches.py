"""The text of comparisons of vectors of two types or within a tolerance, and of the extreme entry of each group."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...formats import Bitmap
from ..programs.lifetimes import Place
from ..programs.program import Compute, Values
from ..programs.traced import Number
from .program_numbers import Numbers
from .program_requests import Requests


class Searches(Requests, Numbers):
    """Writes steps that other engines may lack (`engines.programs.program.OPTIONAL`)."""

    optional: ClassVar[frozenset[str]] = frozenset({"close", "locate_groups"})

    def _compute(self, step: Compute) -> None:
        if step.op == "close":
            self._close(self.number(step.result), *step.operands)
        else:
            super()._compute(step)

    def _close(self, made: str, a: Any, b: Any, relative: Any, absolute: Any) -> None:
        """Compare the entries of two vectors; relative: None for equal values."""
        c = self.size(a.size)
        limits = [
            self._exact_float(limit) if isinstance(limit, Number) else self.constant(np.float64(limit))
            for limit in (relative, absolute)
            if limit is not None
        ]
        counts = [f"{self.home(x.words)}n" if isinstance(x, Bitmap) else f"n{c}" for x in (a, b)]
        self.put(f"{made} = {counts[0]} == {counts[1]}")
        self.put(f"if {made}:")
        self.indent += 1
        self._each(a, "i_")
        if isinstance(b, Bitmap):
            self.put(f"if not ({self._has(b.words, 'i_')}):")
            self.put_at(self.indent + 1, f"{made} = False")
            self.put_at(self.indent + 1, "break")
        self.put(f"x_ = {self._value(a, 'i_')}")
        self.put(f"y_ = {self._value(b, 'i_')}")
        nan = " or (x_ != x_ and y_ != y_)" if a.dtype.kind == b.dtype.kind == "f" else ""
        self.put(f"if not (x_ == y_{nan}):")
        self.indent += 1
        if limits:
            self.put("x_f = np.float64(x_)")
            self.put("y_f = np.float64(y_)")
            near = f"abs(x_f - y_f) <= {limits[1]} + {limits[0]} * abs(y_f)"
            self.put(f"if not (math.isfinite(x_f) and math.isfinite(y_f) and {near}):")
            self.put_at(self.indent + 1, f"{made} = False")
            self.put_at(self.indent + 1, "break")
        else:
            self.put(f"{made} = False")
            self.put("break")
        self.indent -= 3

    def _locate_groups(self, q: Any, made: Any, place: Place) -> None:
        """w(g) = min of u(p) with index[p] = g, p(g) = the first such p; every number is chosen before NaN."""
        u = q.u
        c, s, v = self._fresh(made.values, always=True)
        assert s is not None
        at = f"V{c}_int64[np.uintp({self.home(made.positions.values)} + k_)]"
        k = self._position_text(q.index, self.size(u.size))
        self._each(u, "i_", sort=True)
        self.put(f"k_ = {k}")
        self.put(f"if not ({self._has(made.values.words, 'k_')}):")
        self.indent += 1
        self._insert(c, s, "k_")
        self._set(made.values, c, v, "k_", self._value(u, "i_"))
        self.put(f"{at} = i_")
        self.indent -= 1
        if isinstance(u.values, Values):
            best = f"V{c}_{u.dtype.name}[np.uintp({v} + k_)]"
            x, y = ("np.int64(x_)", "np.int64(y_)") if u.dtype.kind == "b" else ("x_", "y_")
            better = f"{x} {'>' if q.largest else '<'} {y}"
            if u.dtype.kind == "f":
                better = f"{better} or (y_ != y_ and x_ == x_)"
            self.put("else:")
            self.indent += 1
            self.put(f"x_ = {self._value(u, 'i_')}")
            self.put(f"y_ = {best}")
            self.put(f"if {better}:")
            self.put_at(self.indent + 1, f"{best} = x_")
            self.put_at(self.indent + 1, f"{at} = i_")
            self.indent -= 1
        self.indent -= 1
        self._counted(c, s, "1")
