"""Rewriting of a function whose loops are compiled.

Two functions are made of its syntax tree.  In the *dispatching* one a call that runs the program precedes each
outermost loop, and the loop itself is executed only if there is none.  The *traced* one of each loop is straight-line
code: control flow is calls of the tracer, which opens and closes blocks of the program; all else is the user's code.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from ..engines.traced import Untraceable
from ..exceptions import NotSupported

ENTER, TRACER, RESULT, REST, TEST = "__sr_enter", "__sr", "__sr_result", "__sr_rest", "__sr_test"


@dataclass(eq=False)
class Site:
    """An outermost loop.

    line: in the file.  names: the local variables that it mentions.  assigned: those that it sets.  later: those that
    are read after it.  traced: the function of the tracer and these variables; or the reason why there is none.
    """

    line: int
    names: tuple[str, ...]
    assigned: tuple[str, ...]
    later: frozenset[str]
    traced: Callable[..., Any] | Untraceable
    # What the function sees beside its variables: changes of it are changes of the program.
    outside: tuple[str, ...] = ()


@dataclass(eq=False)
class Source:
    """The dispatching function, and the loops."""

    function: Callable[..., Any]
    sites: list[Site]


def rewritten(function: types.FunctionType, enter: Callable[[int, dict[str, Any]], Any]) -> Source:
    """Return the rewritten function; `enter` runs the program of a loop, or returns None.

    Raises
    ------
    NotSupported
        Where the source is not available.
    """
    tree, path = _parsed(function)
    local = set(function.__code__.co_varnames) | set(function.__code__.co_cellvars)
    sites: list[Site] = []
    body = _with_sites(tree.body, tree, local, function, path, sites, top=True)
    made = copy.copy(tree)
    made.body, made.decorator_list = body, []
    return Source(_function(made, function, path, {ENTER: enter, REST: rest}), sites)


def _parsed(function: types.FunctionType) -> tuple[ast.FunctionDef, str]:
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError) as error:
        raise NotSupported(
            f"sr.compile reads the source of a function, and that of {function.__qualname__!r} is not available "
            f"({error}): define it in a file or in a cell of a notebook"
        ) from error
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if len(found) != 1:
        raise NotSupported("sr.compile decorates functions defined by def, which are neither lambdas nor coroutines")
    ast.increment_lineno(tree, first - 1)
    return found[0], inspect.getsourcefile(function) or "<unknown>"


def _function(
    tree: ast.FunctionDef, original: types.FunctionType, path: str, extra: dict[str, Any]
) -> Callable[..., Any]:
    """Return a function of this tree in the namespace of the original; `extra`: further free variables."""
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
    cells |= {name: types.CellType(value) for name, value in extra.items()}
    outer = _definition(
        "__sr_outer", ast.arguments([], [ast.arg(name) for name in cells], None, [], [], None, []), [tree]
    )
    module = ast.fix_missing_locations(ast.Module([outer], []))
    outer_code = next(item for item in compile(module, path, "exec").co_consts if isinstance(item, types.CodeType))
    code = next(item for item in outer_code.co_consts if isinstance(item, types.CodeType) and item.co_name == tree.name)
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, original.__globals__, original.__name__, original.__defaults__, closure)
    made.__kwdefaults__, made.__annotations__ = original.__kwdefaults__, original.__annotations__
    return made


def _definition(name: str, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    made: Any = ast.FunctionDef(name, arguments, body, [])
    made.type_params = []  # a field from Python 3.12 on
    return cast(ast.FunctionDef, made)


def _moved(tree: ast.AST, line: int) -> None:
    """Set the line of all nodes."""
    for part in ast.walk(tree):
        if isinstance(part, (ast.stmt, ast.expr, ast.arg)):
            part.lineno = part.end_lineno = line
            part.col_offset = part.end_col_offset = 0


def _with_sites(
    statements: list[ast.stmt],
    tree: ast.FunctionDef,
    local: set[str],
    function: types.FunctionType,
    path: str,
    sites: list[Site],
    *,
    top: bool = False,
) -> list[ast.stmt]:
    """Return statements in which each outermost loop is preceded by the call of its program."""
    made: list[ast.stmt] = []
    for statement in statements:
        if isinstance(statement, (ast.While, ast.For)):
            number = len(sites)
            site = _site(statement, tree, local, function, path)
            sites.append(site)
            made += _dispatch(statement, number, site)
        elif isinstance(statement, (ast.If, ast.With, ast.Try)):
            changed = copy.copy(statement)
            for part in ("body", "orelse", "finalbody"):
                if getattr(changed, part, None):
                    inner = _with_sites(getattr(changed, part), tree, local, function, path, sites)
                    setattr(changed, part, inner)
            made.append(changed)
        else:
            made.append(statement)
    return made


def _dispatch(loop: ast.While | ast.For, number: int, site: Site) -> list[ast.stmt]:
    """Return the call of the program of a loop, and the loop for the iterations that the program leaves."""
    bound = "".join(
        f"    if {name!r} in {RESULT}.names:\n        {name} = {RESULT}.names[{name!r}]\n" for name in site.assigned
    )
    text = (
        f"{RESULT} = {ENTER}({number}, locals())\n"
        f"if {RESULT} is not None:\n{bound}    if {RESULT}.returned:\n        return {RESULT}.value\n"
        f"if {RESULT} is None or {RESULT}.done is not None:\n    pass\n"
    )
    made = ast.parse(text).body
    for statement in made:
        _moved(statement, loop.lineno)
    if isinstance(loop, ast.For):
        loop = copy.copy(loop)
        rest = ast.Call(_expression(REST), [_expression(RESULT), loop.iter], [])
        loop.iter = ast.copy_location(rest, loop.iter)
    made[-1].body = [loop]  # type: ignore[attr-defined]
    return made


def rest(result: Any, values: Any) -> Any:
    """Return what a for loop iterates over, without the iterations that its program has done."""
    return values if result is None else values[result.done :]


def _site(
    loop: ast.While | ast.For, tree: ast.FunctionDef, local: set[str], function: types.FunctionType, path: str
) -> Site:
    mentioned = {node.id for node in ast.walk(loop) if isinstance(node, ast.Name)}
    names = tuple(sorted(mentioned & local))
    assigned = tuple(sorted(_assigned([loop]) & local))
    end = loop.end_lineno or loop.lineno
    later = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno > end
    }
    traced: Callable[..., Any] | Untraceable
    try:
        body = _Rewriter(local, tree).block([copy.deepcopy(loop)])
        outer = sorted(_assigned([loop]) - local)
        if outer:
            raise _refused(loop, f"an assignment to {outer[0]}, which is no variable of the function")
        arguments = ast.arguments([], [ast.arg(TRACER), *map(ast.arg, names)], None, [], [], None, [])
        body.append(ast.parse("return None").body[0])
        node = _definition("__sr_traced", arguments, body)
        traced = _function(_located(node, loop.lineno), _bare(function), path, {})
    except Untraceable as reason:
        traced = reason
    return Site(loop.lineno, names, assigned, frozenset(later), traced, tuple(sorted(mentioned - local)))


def inlined(function: types.FunctionType) -> Callable[..., Any]:
    """Return the traced form of a whole function, which a traced loop calls: its first argument is the tracer."""
    tree, path = _parsed(function)
    local = set(function.__code__.co_varnames) | set(function.__code__.co_cellvars)
    tree = copy.deepcopy(tree)
    *statements, last = tree.body
    value = None
    if isinstance(last, ast.Return):
        value = last.value
    else:
        statements.append(last)
    if any(isinstance(node, ast.Return) for statement in statements for node in ast.walk(statement)):
        raise Untraceable(f"a call of {function.__name__}, which returns before its last line")
    rewriter = _Rewriter(local, tree)
    body = rewriter.block(statements)
    end = ast.Return(ast.Constant(None) if value is None else rewriter.visit(value))
    arguments = copy.deepcopy(tree.args)
    arguments.posonlyargs.insert(0, ast.arg(TRACER))
    node = _definition(tree.name, arguments, [*body, end])
    made = _function(_located(node, tree.lineno), function, path, {})
    return made


def _bare(function: types.FunctionType) -> types.FunctionType:
    """Return the function without defaults."""
    bare = types.FunctionType(function.__code__, function.__globals__, function.__name__, None, function.__closure__)
    return bare


def _located(node: ast.FunctionDef, line: int) -> ast.FunctionDef:
    for part in ast.walk(node):
        if isinstance(part, (ast.stmt, ast.expr, ast.arg)) and not hasattr(part, "lineno"):
            part.lineno = part.end_lineno = line
            part.col_offset = part.end_col_offset = 0
    return node


def _assigned(statements: Iterable[ast.AST]) -> set[str]:
    """Return the names that statements set."""
    return {
        node.id
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del))
    }


def _expression(text: str) -> Any:
    return ast.parse(text, mode="eval").body


def _statement(text: str, line: int) -> ast.stmt:
    made = ast.parse(text).body[0]
    _moved(made, line)
    return made


_EXPRESSIONS = (
    ast.NamedExpr, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Await, ast.Yield, ast.YieldFrom,
    ast.Lambda,
)  # fmt: skip
_NAMES_OF = {
    ast.NamedExpr: "an assignment expression", ast.Lambda: "a lambda", ast.With: "with", ast.Try: "try",
    ast.FunctionDef: "a definition", ast.Delete: "del", ast.Import: "an import", ast.ImportFrom: "an import",
    ast.Global: "global", ast.Nonlocal: "nonlocal", ast.ClassDef: "a definition", ast.Match: "match",
}  # fmt: skip


def _refused(node: ast.AST, what: str | None = None) -> Untraceable:
    shown = what or _NAMES_OF.get(type(node), f"a {type(node).__name__}")
    return Untraceable(f"line {getattr(node, 'lineno', '?')}: {shown}")


class _Rewriter(ast.NodeTransformer):
    """Makes straight-line code: see the module."""

    def __init__(self, local: set[str], tree: ast.AST) -> None:
        self.local = local
        self.tests = 0
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
        return sorted(_assigned(statements) & self.local)

    def _bind(self, names: list[str], call: str, line: int) -> ast.stmt:
        target = f"({', '.join(names)},) = " if names else ""
        return _statement(target + call, line)

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        line = node.lineno
        match node:
            case ast.While(test=test, body=body, orelse=orelse):
                if orelse:
                    raise _refused(node, "else of a loop")
                names = self._names([node])
                read = self._read_outside(node, names)
                opened = self._bind(names, f"{TRACER}.loop({line}, {names!r}, {read!r}, locals())", line)
                tested = _statement(f"{TRACER}.test(0)", line)
                tested.value.args = [self.visit(test)]  # type: ignore[attr-defined]
                return [opened, tested, *self.block(body), self._closed(names, line)]
            case ast.For(target=ast.Name(id=target), iter=ast.Call(func=function, args=args, keywords=[]), body=body):
                if node.orelse:
                    raise _refused(node, "else of a loop")
                names = self._names([node])
                read = self._read_outside(node, names)
                opened = self._bind(names, f"{TRACER}.for_loop({line}, {names!r}, {read!r}, locals())", line)
                call = opened.value  # type: ignore[attr-defined]
                call.args += [self.visit(function), *map(self.visit, args)]
                counted = _statement(f"{target} = {TRACER}.counter()", line)
                return [opened, counted, *self.block(body), self._closed(names, line)]
            case ast.For():
                raise _refused(node, "a for loop over anything but range(...)")
            case ast.If(test=test, body=body, orelse=orelse):
                return self._branch(node, test, body, orelse)
            case ast.Break():
                return [_statement(f"{TRACER}.leave('break', locals())", line)]
            case ast.Continue():
                return [_statement(f"{TRACER}.leave('continue', locals())", line)]
            case ast.Return(value=value):
                made = _statement(f"{TRACER}.give(locals(), None)", line)
                if value is not None:
                    made.value.args[1] = self.visit(value)  # type: ignore[attr-defined]
                return [made]
            case ast.Raise():
                return [_statement(f"{TRACER}.fail()", line)]
            case ast.Assert(test=test):
                made = _statement(f"{TRACER}.check(0)", line)
                made.value.args = [self.visit(test)]  # type: ignore[attr-defined]
                return [made]
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr() | ast.Pass():
                return self._simple(node)
        raise _refused(node)

    def _closed(self, names: list[str], line: int) -> ast.stmt:
        return self._bind(names, f"{TRACER}.end_loop(locals())", line)

    def _simple(self, node: Any) -> list[ast.stmt]:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            for part in ast.walk(target) if target is not None else ():
                if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                    raise _refused(node, "an assignment to an attribute")
                if isinstance(part, ast.Starred):
                    raise _refused(node, "a starred assignment")
                stored = isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
                if stored and (part is not target or isinstance(node, ast.AugAssign)):
                    raise _refused(node, "an assignment to an element within another")
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Subscript) for target in node.targets):
            if len(node.targets) > 1:
                raise _refused(node, "an assignment to several targets")
            made = _statement(f"{TRACER}.set_item(0, 1, 2)", node.lineno)
            element: Any = node.targets[0]
            parts = [element.value, element.slice, node.value]
            made.value.args = [self.visit(part) for part in parts]  # type: ignore[attr-defined]
            return [made]
        return [self.generic_visit(node)]  # type: ignore[list-item]

    def _branch(self, node: ast.If, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> list[ast.stmt]:
        line, names = node.lineno, self._names([*body, *orelse])
        self.tests += 1
        variable = f"{TEST}{self.tests}"
        decided = _statement(f"{variable} = {TRACER}.decide(0)", line)
        decided.value.args = [self.visit(test)]  # type: ignore[attr-defined]
        outer = _statement(
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
            raise _refused(node)
        return super().generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """f(x) -> tracer.call(f, x)."""
        self.generic_visit(node)
        return ast.copy_location(ast.Call(_expression(f"{TRACER}.call"), [node.func, *node.args], node.keywords), node)

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
        return ast.copy_location(ast.Call(_expression(f"{TRACER}.negate"), [node.operand], []), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """A if t else b -> tracer.choose(t, lambda: a, lambda: b)."""
        self.generic_visit(node)
        made = self._lazy("choose", [node.body, node.orelse])
        made.args.insert(0, node.test)
        return ast.copy_location(made, node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """A is None -> tracer.is_none(lambda: a); a < b < c -> a < b and b < c."""
        operands = [node.left, *node.comparators]
        if len(node.ops) > 1:
            pairs: list[ast.expr] = [
                ast.copy_location(ast.Compare(copy.deepcopy(a), [op], [copy.deepcopy(b)]), node)
                for a, op, b in zip(operands[:-1], node.ops, operands[1:], strict=True)
            ]
            return self.visit(ast.copy_location(ast.BoolOp(ast.And(), pairs), node))  # type: ignore[no-any-return]
        none = isinstance(operands[1], ast.Constant) and operands[1].value is None
        self.generic_visit(node)
        if none and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            made = self._lazy("is_none", [node.left])
            if isinstance(node.ops[0], ast.IsNot):
                made = ast.Call(_expression(f"{TRACER}.negate"), [made], [])
            return ast.copy_location(made, node)
        return node

    @staticmethod
    def _lazy(name: str, operands: list[ast.expr]) -> ast.Call:
        empty = ast.arguments([], [], None, [], [], None, [])
        later: list[ast.expr] = [ast.Lambda(empty, operand) for operand in operands]
        return ast.Call(_expression(f"{TRACER}.{name}"), later, [])
