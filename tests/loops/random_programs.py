"""Random programs of the constructs that are compiled, as source text."""

from __future__ import annotations

import random


class Writer:
    """Writes one program, of the vectors u and w, which may lack entries, the full f and p, and the numbers k and x."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 1
        self.loops = 0
        self.temporaries = 0
        # Vectors and Scalars that earlier statements of open blocks have bound to names.
        self.bound: list[str] = []
        self.scalars: list[str] = []
        # The share of statements of a list of vectors, and which vector it has copies of.
        self.lists = self.random.choice([0.0, 0.0, 0.2])
        self.kept = self.random.choice(["u", "w", "f"])

    def put(self, text: str) -> None:
        """Add a line."""
        self.lines.append("    " * self.indent + text)

    def pick(self, *options: str) -> str:
        """Return one of the options."""
        return self.random.choice(options)

    def number(self) -> str:
        """Return an expression of an integer that changes."""
        return self.pick("k", "k + 1", "2", "-1", "u.nvals", "k % 5", "max(k, 2)", "0", "w.nvals - k", "3 * k")

    def test(self) -> str:
        """Return a condition."""
        return self.pick(
            "k < 4", "u.nvals > 2", "w.nvals", "not u.nvals", "k % 2 == 0", "k % 3 and u.nvals",
            "u.nvals < w.nvals or k > 3", 'f.reduce("max").get(0) > 5', "u.get(1) is None", "x < 100.0",
            "0 < k < 5", 'w.reduce("plus").get(0) > k', "u.isequal(w)", "f.get(0) > 2",
            "(k, u.nvals) == (2, w.nvals)", "3 in u and k not in w", "(k, x) != (1, 2.0)",
            "u.isclose(w, rel_tol=0.5)", "w.isclose(f, abs_tol=x)", 'w.reduce("argmin").get(k) > 3',
            'f.reduce("argmax").get(0) < 5',
        )  # fmt: skip

    def mask(self) -> str:
        """Return a mask."""
        return self.pick("u.S", "w.S", "~u.S", "~w.S", "u.V", "~w.V", "f.V", "~f.V", "f.S")

    def vector(self) -> str:
        """Return an expression of a vector."""
        if self.bound and self.random.random() < 0.25:
            name = self.pick(*self.bound)
            return self.pick(name, f"{name} + w", f"{name} * 2", f"u | {name}")
        return self.pick(
            'u.vxm(A, "plus_times")', 'A.mxv(w, "min_plus")', 'w.vxm(A, "any_pair")', 'A.mxv(f, "max_second")',
            'f.vxm(A, "plus_first")', 'A.mxv(u, "any_secondi")', f'u.vxm(A, "any_pair", mask={self.mask()})',
            "u + w", "u * w", "u | w", "f - w", "f * u", 'u.ewise_add(w, "max")', 'u.ewise_mult(f, "minus")',
            'u.ewise_union(w, "minus", 1, 2)', 'u.apply("abs")', 'w.apply("plus", right=2)', "u + k", "f * 2",
            'w.apply("times", left=k)', 'u.select(">", 1)', 'w.select("<=", k)', 'u.select("rowle", 4)',
            'f.select("!=", 0)', "u.dup()", 'w.apply("rowindex")', f"w.dup(mask={self.mask()})", "u[p]", "f[p]",
            'f.apply("min", right=3)', 'u.ewise_mult(w, "eq")', "u.reduce_by(p)", 'w.reduce_by(p, "min")',
            'f.reduce_by(p, "count")', 'f.reduce_by(p, "mean")', "w.minloc_by(p)[0]", "u.maxloc_by(p)[1]",
        )  # fmt: skip

    def element(self) -> None:
        """Write a statement of single elements."""
        name, at = self.pick("u", "w", "f"), self.pick("0", "-1", "3", "k % 9", "u.nvals % 9", "k % 10")
        value = self.pick(self.number(), "u.get(2, 0)", "f.get(k % 9)", "w[1]", "f[k % 9]", "f[0] + k")
        self.put(
            self.pick(
                f"{name}[{at}] = {value}", f"{name}[{at}] << {value}", f'{name}[{at}](accum="plus") << {value}',
                f"{name}[{at}] += 1", f"f[{at}] -= {self.number()}", f"{name}[2:5] = {self.number()}",
                f"f[{at}] = f[k % 9]", f"k = k + ({at} in {name})", f"k = 1 if {at} not in {name} else k",
                f"del {name if name != 'f' else 'u'}[{at}]", f"k = k + (({at}) in {name}) ** 2",
            )
        )  # fmt: skip

    def listed(self) -> None:
        """Write a statement of a list of vectors; most add one."""
        name, target = self.kept, self.pick("u", "w")
        self.put(
            self.pick(
                f"s.append({name}.dup())", f"s.append({name}.dup())", f"s.append({name} * 2)", f"s.append({name})",
                "k = len(s) + k % 3", f"if s:\n{'    ' * (self.indent + 1)}{target}(accum='plus') << s.pop()",
                f"if len(s) > 1:\n{'    ' * (self.indent + 1)}{target}({self.mask()}) << s[k % 2]",
                f"if s:\n{'    ' * (self.indent + 1)}{target}(accum='min') << s[-1]", f"{target} << {target} + s.pop()",
            )
        )  # fmt: skip

    def bind(self) -> None:
        """Write a statement that binds an operation, or a Scalar, which later statements use, or one that uses it."""
        self.temporaries += 1
        chosen = self.random.random()
        if chosen < 0.3:
            self.put(
                self.pick(
                    "u.clear()",
                    "w = w.apply(lambda y: y + 1)",
                    "f(u.S) << u",
                    "f(w.V) << w",
                    "u = u + w",
                    "w = w - u",
                    "u = u * 2",
                    "f = f + 1",
                    "w = u | w",
                    "u = u.dup()",
                    "f = f - w",
                )
            )
        elif chosen < 0.6:
            made = self.vector()
            self.put(f"b{self.temporaries} = {made}")
            self.bound.append(f"b{self.temporaries}")
        elif chosen < 0.75 or not self.scalars:
            self.put(f"r{self.temporaries} = {self.pick('u', 'w', 'f')}.reduce('{self.pick('plus', 'max')}')")
            self.scalars.append(f"r{self.temporaries}")
        else:
            self.put(f"x = x + {self.pick(*self.scalars)}.get(0)")

    def statement(self, depth: int) -> None:
        """Write one statement."""
        kind = self.random.random()
        if self.random.random() < 0.12:
            self.bind()
            return
        if self.random.random() < 0.1:
            self.element()
            return
        if self.random.random() < self.lists:
            self.listed()
            return
        if self.random.random() < 0.05:
            self.put(
                self.pick(
                    "u, w = w, u", "u += w", "w -= 1", "f *= 2", "u += k", "k, m = k + 1, k", "f[0], f[k % 9] = f[3], k"
                )
            )
            return
        if kind < 0.3:
            accum = self.pick("", "", ', accum="plus"', ', accum="min"', ', accum="max"', ', accum="second"')
            replace = self.pick("", "", ", replace=True")
            value = self.pick(self.vector(), self.vector(), self.number(), self.number(), "u", "w")
            self.put(f"{self.pick('u', 'w')}({self.mask()}{accum}{replace}) << {value}")
        elif kind < 0.4:
            accum = self.pick('accum="plus"', 'accum="min"', 'accum="first"')
            self.put(f"{self.pick('u', 'w', 'f')}({accum}) << {self.pick(self.vector(), self.number())}")
        elif kind < 0.48:
            self.put(f"{self.pick('u', 'w')} << {self.vector()}")
        elif kind < 0.54:
            self.put(f"f({self.mask()}) << {self.pick('f + 1', 'f * 2', 'k', 'A.mxv(f).ewise_add(f)')}")
        elif kind < 0.6:
            self.temporaries += 1
            name = f"t{self.temporaries}"
            self.put(f"{name} = {self.vector()}")
            self.put(f"{self.pick('u', 'w')}({self.mask()}) << {name}")
        elif kind < 0.66:
            accum = self.pick('"min"', '"plus"')
            self.put(f"f(accum={accum})[p] << {self.pick('f', 'u', 'w')}")
        elif kind < 0.72:
            self.put(self.pick("k += 1", "k = u.nvals", "x = x * 1.5", "x = x + k", "k = min(k, 3)", "x = abs(x - 2)"))
        elif kind < 0.78:
            self.put(f"e = {self.vector()}")
            self.put('x = x + e.reduce("plus").get(0) * 0.5')
        elif kind < 0.9 and depth < 3:
            self.put(f"if {self.test()}:")
            self.block(depth + 1, leaves=True)
            if self.random.random() < 0.5:
                self.put("else:")
                self.block(depth + 1, leaves=True)
        elif depth < 2 and self.loops < 3:
            self.loop(depth)
        else:
            self.put("k += 1")

    def block(self, depth: int, *, leaves: bool = False) -> None:
        """Write an indented block."""
        self.indent += 1
        bound, scalars = len(self.bound), len(self.scalars)
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)
        if leaves and self.random.random() < 0.2:
            self.put(self.pick("break", "continue", "return u, k", "break"))
        del self.bound[bound:], self.scalars[scalars:]
        self.indent -= 1

    def loop(self, depth: int) -> None:
        """Write a loop that ends."""
        self.loops += 1
        name = f"i{self.loops}"
        if self.random.random() < 0.5:
            self.put(f"for {name} in range({self.random.randint(1, 4)}):")
            self.block(depth + 1)
        else:
            self.put(f"{name} = 0")
            self.put(f"while {name} < {self.random.randint(2, 4)} and ({self.test()}):")
            self.indent += 1
            self.put(f"{name} += 1")
            self.indent -= 1
            self.block(depth + 1)

    def text(self) -> str:
        """Return the program."""
        self.lines.append("def program(A, u, w, f, p, k, x):")
        if self.lists:
            self.put(self.pick("s = []", f"s = [{self.kept}.dup()]", f"s = [{self.kept}.dup(), {self.kept} * 2]"))
        self.loop(0)
        if self.lists:
            self.put(self.pick("for g in reversed(s):", "for g in s:"))
            self.put("    u(accum='plus') << g")
            self.put("    x = x + g.nvals")
            self.put("return u, w, f, k, x, *s")
        else:
            self.put("return u, w, f, k, x")
        return "\n".join(self.lines) + "\n"
