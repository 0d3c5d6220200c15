"""The straight-line form of statements: control flow becomes calls of the tracer."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from typing import Any, cast

from ..engines.programs.traced import Untraceable

TRACER, TEST, ITEM = "__sr", "__sr_test", "__sr_item"


def set_line(tree: ast.AST, line: int) -> None:
    """Set the line of all nodes."""
    for part in ast.walk(tree):
        if isinstance(part, (ast.stmt, ast.expr, ast.arg)):
            part.lineno = part.end_lineno = line
            part.col_offset = part.end_col_offset = 0


def assigned_names(statements: Iterable[ast.AST]) -> set[str]:
    """Return the names that statements set."""
    return {
        node.id
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del))
    }


def parsed_expression(text: str) -> Any:
    """Return the tree of an expression."""
    return ast.parse(text, mode="eval").body


def parsed_statement(text: str, line: int) -> ast.stmt:
    """Return the tree of a statement at a line."""
    made = ast.parse(text).body[0]
    set_line(made, line)
    return made


# The functions of `operator` for augmented assignments.
_IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.Div: "itruediv", ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod", ast.Pow: "ipow", ast.MatMult: "imatmul", ast.BitOr: "ior", ast.BitAnd: "iand",
    ast.BitXor: "ixor", ast.LShift: "ilshift", ast.RShift: "irshift",
}  # fmt: skip
_EXPRESSIONS = (
    ast.NamedExpr, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Await, ast.Yield, ast.YieldFrom,
    ast.Lambda,
)  # fmt: skip
_NAMES_OF = {
    ast.NamedExpr: "an assignment expression", ast.Lambda: "a lambda", ast.With: "with", ast.Try: "try",
    ast.FunctionDef: "a definition", ast.Delete: "del", ast.Import: "an import", ast.ImportFrom: "an import",
    ast.Global: "global", ast.Nonlocal: "nonlocal", ast.ClassDef: "a definition", ast.Match: "match",
}  # fmt: skip


def refused(node: ast.AST, what: str | None = None) -> Untraceable:
    """Return the error for a statement or an expression that is not compiled."""
    shown = what or _NAMES_OF.get(type(node), f"a {type(node).__name__}")
    return Untraceable(f"line {getattr(node, 'lineno', '?')}: {shown}")


def calls_while_loop(node: ast.Call) -> bool:
    """Return whether a call is one of `while_loop`, by its name."""
    function = node.func
    return (isinstance(function, ast.Attribute) and function.attr == "while_loop") or (
        isinstance(function, ast.Name) and function.id == "while_loop"
    )


def called_names(tree: ast.AST) -> set[str]:
    """Return the names that are called, also by an inner while_loop."""
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found += [node.func, *(call_arguments(node) if calls_while_loop(node) else ())]
    return {item.id for item in found if isinstance(item, ast.Name)}


def call_arguments(node: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call, positional and named ones."""
    return [*node.args, *(item.value for item in node.keywords)]


def _has_elements(target: Any) -> bool:
    """Return whether a target is a tuple of names and elements, of which one is an element."""
    return (
        isinstance(target, ast.Tuple)
        and all(isinstance(part, (ast.Name, ast.Subscript)) for part in target.elts)
        and any(isinstance(part, ast.Subscript) for part in target.elts)
    )


class Rewriter(ast.NodeTransformer):
    """Makes straight-line code: see the module."""

    def __init__(self, local: set[str], tree: ast.AST) -> None:
        self.local = local
        self.tests = 0
        self._inline: set[int] = set()  # lambdas that are called, not operators
        self._reads = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]

    def _read_outside(self, loop: ast.stmt, names: list[str]) -> list[str]:
        """Return the names that the function reads outside of a loop."""
        last = loop.end_lineno or loop.lineno
        return sorted({node.id for node in self._reads if not loop.lineno <= node.lineno <= last} & set(names))

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Return the rewritten statements, up to the first that leaves the block."""
        made: list[ast.stmt] = []
        for statement in statements:
            made += self._statement(statement)
            if isinstance(statement, (ast.Break, ast.Continue, ast.Return, ast.Raise)):
                break
        return made

    def _names(self, statements: list[ast.stmt]) -> list[str]:
        return sorted(assigned_names(statements) & self.local)

    def _bind(self, names: list[str], call: str, line: int) -> ast.stmt:
        target = f"({', '.join(names)},) = " if names else ""
        return parsed_statement(target + call, line)

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        line = node.lineno
        match node:
            case ast.While(test=test, body=body, orelse=orelse):
                if orelse:
                    raise refused(node, "else of a loop")
                names = self._names([node])
                read = self._read_outside(node, names)
                opened = self._bind(names, f"{TRACER}.loop({line}, {names!r}, {read!r}, locals())", line)
                tested = parsed_statement(f"{TRACER}.test(0)", line)
                tested.value.args = [self.visit(test)]  # type: ignore[attr-defined]
                return [opened, tested, *self.block(body), self._closed(names, line)]
            case ast.For(target=ast.Name(id=target), iter=ast.Call(func=function, args=args, keywords=[]), body=body):
                if node.orelse:
                    raise refused(node, "else of a loop")
                names = self._names([node])
                read = self._read_outside(node, names)
                opened = self._bind(names, f"{TRACER}.for_loop({line}, {names!r}, {read!r}, locals())", line)
                call = opened.value  # type: ignore[attr-defined]
                call.args += [self.visit(function), *map(self.visit, args)]
                counted = parsed_statement(f"{target} = {TRACER}.counter()", line)
                return [opened, counted, *self.block(body), self._closed(names, line)]
            case ast.For(target=ast.Name(id=target), iter=ast.Name(), body=body, orelse=[]):
                names = self._names([node])
                read = self._read_outside(node, names)
                opened = self._bind(names, f"{TRACER}.for_loop({line}, {names!r}, {read!r}, locals(), iter)", line)
                opened.value.args.append(node.iter)  # type: ignore[attr-defined]
                counted = parsed_statement(f"{target} = {TRACER}.counter()", line)
                return [opened, counted, *self.block(body), self._closed(names, line)]
            case ast.For():
                raise refused(node, "a for loop over anything but range(...)")
            case ast.If(test=test, body=body, orelse=orelse):
                return self._branch(node, test, body, orelse)
            case ast.Break():
                return [parsed_statement(f"{TRACER}.leave('break', locals())", line)]
            case ast.Continue():
                return [parsed_statement(f"{TRACER}.leave('continue', locals())", line)]
            case ast.Return(value=value):
                made = parsed_statement(f"{TRACER}.give(locals(), None)", line)
                if value is not None:
                    made.value.args[1] = self.visit(value)  # type: ignore[attr-defined]
                return [made]
            case ast.Raise():
                return [parsed_statement(f"{TRACER}.fail()", line)]
            case ast.Assert(test=test):
                made = parsed_statement(f"{TRACER}.check(0)", line)
                made.value.args = [self.visit(test)]  # type: ignore[attr-defined]
                return [made]
            case ast.Delete(targets=targets) if all(isinstance(target, ast.Subscript) for target in targets):
                return [self._deletion(target) for target in targets]
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr() | ast.Pass():
                return self._simple(node)
        raise refused(node)

    def _closed(self, names: list[str], line: int) -> ast.stmt:
        return self._bind(names, f"{TRACER}.end_loop(locals())", line)

    def _simple(self, node: Any) -> list[ast.stmt]:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
            return [self._augmented(node, node.target)]
        value = getattr(node, "value", None)
        if isinstance(value, ast.List) and not value.elts and all(isinstance(target, ast.Name) for target in targets):
            node.value = ast.copy_location(parsed_expression(f"{TRACER}.new_list()"), value)
            return [node]
        if isinstance(node, ast.Assign) and len(targets) == 1 and _has_elements(targets[0]):
            return self._unpacked(node, targets[0])
        for target in targets:
            for part in ast.walk(target) if target is not None else ():
                if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                    raise refused(node, "an assignment to an attribute")
                if isinstance(part, ast.Starred):
                    raise refused(node, "a starred assignment")
                if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) and part is not target:
                    raise refused(node, "an assignment to an element within another")
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Subscript) for target in node.targets):
            if len(node.targets) > 1:
                raise refused(node, "an assignment to several targets")
            made = parsed_statement(f"{TRACER}.set_item(0, 1, 2)", node.lineno)
            element: Any = node.targets[0]
            args = [self.visit(element.value), self._key(element.slice), self.visit(node.value)]
            made.value.args = args  # type: ignore[attr-defined]
            return [made]
        return [self.generic_visit(node)]  # type: ignore[list-item]

    def _deletion(self, target: Any) -> ast.stmt:
        """Del v[i] -> tracer.delete(v, i)."""
        made = parsed_statement(f"{TRACER}.delete(0, 1)", target.lineno)
        made.value.args = [self.visit(target.value), self._key(target.slice)]  # type: ignore[attr-defined]
        return made

    def _augmented(self, node: ast.AugAssign, target: ast.Subscript) -> ast.stmt:
        """v[i] += x -> tracer.augment("iadd", v, i, lambda: x)."""
        made = self._lazy("augment", [self.visit(node.value)])
        made.args[:0] = [ast.Constant(_IN_PLACE[type(node.op)]), self.visit(target.value), self._key(target.slice)]
        return ast.copy_location(ast.Expr(made), node)

    def _unpacked(self, node: ast.Assign, target: Any) -> list[ast.stmt]:
        """v[i], a = x -> item0, item1 = tracer.items(x); tracer.set_item(v, i, item0); a = item1."""
        line, names = node.lineno, [f"{ITEM}{number}" for number, _ in enumerate(target.elts)]
        first = self._bind(names, f"{TRACER}.items(0)", line)
        first.value.args = [self.visit(node.value)]  # type: ignore[attr-defined]
        made = [first]
        for part, name in zip(target.elts, names, strict=True):
            single = ast.copy_location(ast.Assign([part], ast.Name(name, ast.Load())), node)
            made += self._simple(single)
        return [*made, parsed_statement(f"del {', '.join(names)}", line)]

    def _key(self, key: ast.expr) -> ast.expr:
        """Return what is in brackets as an expression."""
        if isinstance(key, ast.Slice):
            parts = [part or ast.Constant(None) for part in (key.lower, key.upper, key.step)]
            key = ast.Call(parsed_expression("slice"), parts, [])
        return cast(ast.expr, self.visit(key))

    def _branch(self, node: ast.If, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> list[ast.stmt]:
        line, names = node.lineno, self._names([*body, *orelse])
        self.tests += 1
        variable = f"{TEST}{self.tests}"
        decided = parsed_statement(f"{variable} = {TRACER}.decide(0)", line)
        decided.value.args = [self.visit(test)]  # type: ignore[attr-defined]
        outer = parsed_statement(
            f"if {variable} is True:\n    pass\nelif {variable} is False:\n    pass\nelse:\n    pass", line
        )
        assert isinstance(outer, ast.If)
        inner: Any = outer.orelse[0]
        empty: list[ast.stmt] = [ast.copy_location(ast.Pass(), node)]
        outer.body = self.block(copy.deepcopy(body)) or empty
        inner.body = self.block(copy.deepcopy(orelse)) or empty
        inner.orelse = [
            self._bind(names, f"{TRACER}.then({variable}, {names!r}, locals())", line),
            *self.block(body),
            self._bind(names, f"{TRACER}.otherwise(locals())", line),
            *self.block(orelse),
            self._bind(names, f"{TRACER}.end_if(locals())", line),
        ]
        return [decided, outer]

    # -- expressions ---------------------------------------------------------------------------------------

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Rewrite the parts of a node; an expression that is not supported is refused."""
        if isinstance(node, _EXPRESSIONS):
            raise refused(node)
        return super().generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Return an operator of the user as it is; one that reads variables is refused."""
        if id(node) in self._inline:
            return self._inlined(node)
        read = {part.id for part in ast.walk(node.body) if isinstance(part, ast.Name)}
        own = {argument.arg for argument in node.args.args}
        if read & self.local - own or node.args.defaults:
            raise refused(node, "a lambda that reads variables of the function")
        return node

    def _inlined(self, node: ast.Lambda) -> ast.AST:
        """Return a lambda that an inner while_loop calls, as a traced form: it reads the variables as they are then."""
        before = self.local, self._inline
        self.local = self.local | {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
        self._inline = set()
        node.body = self._evaluated_once(self.visit(node.body))
        self.local, self._inline = before
        return ast.copy_location(ast.Call(parsed_expression(f"{TRACER}.inline"), [node], []), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """f(x) -> tracer.call(f, x)."""
        if calls_while_loop(node):
            return self._inner_while_loop(node)
        self.generic_visit(node)
        return ast.copy_location(
            ast.Call(parsed_expression(f"{TRACER}.call"), [node.func, *node.args], node.keywords), node
        )

    def _inner_while_loop(self, node: ast.Call) -> ast.AST:
        """while_loop(lambda v: a, body, state) -> tracer.while_loop(locals(), while_loop, Inline(lambda v: a), ...)."""
        before, self._inline = self._inline, set(map(id, call_arguments(node)))
        self.generic_visit(node)
        self._inline = before
        made: ast.Call = parsed_expression(f"{TRACER}.while_loop({node.lineno}, locals(), 0)")
        made.args[2:] = [node.func, *node.args]
        made.keywords = node.keywords
        return ast.copy_location(made, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """A and b -> tracer.both(lambda: a, lambda: b)."""
        self.generic_visit(node)
        name = "both" if isinstance(node.op, ast.And) else "either"
        return ast.copy_location(self._lazy(name, node.values), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Not a -> tracer.negate(a)."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return ast.copy_location(ast.Call(parsed_expression(f"{TRACER}.negate"), [node.operand], []), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """A if t else b -> tracer.choose(t, lambda: a, lambda: b)."""
        self.generic_visit(node)
        made = self._lazy("choose", [node.body, node.orelse])
        made.args.insert(0, node.test)
        return ast.copy_location(made, node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """A is None -> tracer.is_none(lambda: a); a < b < c -> a < b and b < c; a in b -> tracer.contains(a, b)."""
        operands = [node.left, *node.comparators]
        if len(node.ops) > 1:
            pairs: list[ast.expr] = [
                ast.copy_location(ast.Compare(copy.deepcopy(a), [op], [copy.deepcopy(b)]), node)
                for a, op, b in zip(operands[:-1], node.ops, operands[1:], strict=True)
            ]
            return self.visit(ast.copy_location(ast.BoolOp(ast.And(), pairs), node))  # type: ignore[no-any-return]
        none = isinstance(operands[1], ast.Constant) and operands[1].value is None
        self.generic_visit(node)
        op, operands = node.ops[0], [node.left, *node.comparators]
        if none and isinstance(op, (ast.Is, ast.IsNot)):
            made = self._lazy("is_none", [node.left])
        elif isinstance(op, (ast.In, ast.NotIn)):
            made = ast.Call(parsed_expression(f"{TRACER}.contains"), operands, [])
        elif isinstance(op, (ast.Eq, ast.NotEq)) and any(isinstance(part, ast.Tuple) for part in operands):
            made = ast.Call(parsed_expression(f"{TRACER}.equal"), operands, [])
        else:
            return node
        if isinstance(op, (ast.IsNot, ast.NotIn, ast.NotEq)):
            made = ast.Call(parsed_expression(f"{TRACER}.negate"), [made], [])
        return ast.copy_location(made, node)

    @staticmethod
    def _lazy(name: str, operands: list[ast.expr]) -> ast.Call:
        empty = ast.arguments([], [], None, [], [], None, [])
        later: list[ast.expr] = [ast.Lambda(empty, Rewriter._evaluated_once(operand)) for operand in operands]
        return ast.Call(parsed_expression(f"{TRACER}.{name}"), later, [])

    @staticmethod
    def _evaluated_once(node: ast.expr) -> ast.expr:
        """Return an expression that becomes the body of a lambda: its ``locals()`` are not those of the function."""
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and ast.unparse(part.func) == f"{TRACER}.while_loop":
                raise refused(part, "a while_loop within a lambda or a condition; assign its result to a variable")
        return node
