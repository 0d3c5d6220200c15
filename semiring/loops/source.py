"""Rewriting of a function whose loops are compiled.

Two functions are made of its syntax tree.  In the *dispatching* one a call that runs the program precedes each
outermost loop, and the loop itself is executed only if there is none.  The *traced* one of each loop is straight-line
code: control flow is calls of the tracer, which opens and closes blocks of the program; all else is the user's code.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import itertools
import linecache
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from ..engines.programs.traced import Untraceable
from ..exceptions import NotSupported
from .keys import Outside, Variables
from .rewriter import TRACER, Rewriter, assigned_names, called_names, parsed_expression, refused, set_line

ENTER, RESULT, REST, VALUE, LAMBDA = "__sr_enter", "__sr_result", "__sr_rest", "__sr_value", "__sr_lambda"


@dataclass(eq=False)
class Site:
    """A loop: an outermost one, or one that runs where those around it are not compiled.

    line: in the file.  variables: the local ones that it mentions.  assigned: those that it sets.  later: those that
    are read after it.  traced: the function of the tracer and these variables; or the reason why there is none.
    outside: what it reads beside its variables: changes of it are changes of the program.
    over: the variable whose items a loop with others in it has; unless it is a list of vectors, the loop is Python's.
    restarts: whether a program may begin after the first iteration.
    static: variables whose numbers are constants of a program.
    called: variables that are called, and not assigned.
    """

    line: int
    variables: Variables
    assigned: tuple[str, ...]
    later: frozenset[str]
    traced: Callable[..., Any] | Untraceable
    outside: Outside
    over: str | None = None
    restarts: bool = False
    static: frozenset[str] = frozenset()
    called: tuple[str, ...] = ()


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
    tree, path = parsed(function)
    local = set(function.__code__.co_varnames) | set(function.__code__.co_cellvars)
    sites: list[Site] = []
    body = _with_sites(tree.body, tree, local, function, path, sites)
    made = copy.copy(tree)
    made.body, made.decorator_list = body, []
    return Source(_function(made, function, path, {ENTER: enter, REST: rest}), sites)


def parsed(function: types.FunctionType) -> tuple[ast.FunctionDef, str]:
    """Return the syntax tree of a function, and its file; of a lambda, that of a function that returns its value.

    Raises
    ------
    NotSupported
        Where the source is not available.
    """
    path, first = function.__code__.co_filename, function.__code__.co_firstlineno
    try:
        lines = _lines(function)
        if function.__name__ == "<lambda>":
            return _lambda(function, lines), path
        text = "".join(inspect.getblock(lines[first - 1 :]))
        tree = ast.parse(textwrap.dedent(text))
    except (OSError, TypeError, SyntaxError) as error:
        raise NotSupported(
            f"sr.compile reads the source of a function, and that of {function.__qualname__!r} is not available "
            f"({error}): define it in a file or in a cell of a notebook"
        ) from error
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if len(found) != 1:
        raise NotSupported("sr.compile decorates functions defined by def, which are neither lambdas nor coroutines")
    ast.increment_lineno(tree, first - 1)
    indentation = len(text) - len(text.lstrip())
    for node in ast.walk(tree) if indentation else ():  # the positions of a lambda identify it
        if isinstance(node, (ast.stmt, ast.expr, ast.arg)):
            node.col_offset += indentation
            node.end_col_offset = (node.end_col_offset or 0) + indentation
    return found[0], path


def _lines(function: types.FunctionType) -> list[str]:
    """Return the lines of a function's file; OSError if they are not available.

    `inspect.getsource` examines every module, and by that imports those that CuPy imports when they are used.
    """
    lines = linecache.getlines(function.__code__.co_filename, function.__globals__)
    if len(lines) < function.__code__.co_firstlineno:
        raise OSError("could not get source code")
    return lines


def _lambda(function: types.FunctionType, lines: list[str]) -> ast.FunctionDef:
    """Return the tree of a lambda: the innermost one at its line around the positions of its code."""
    code = function.__code__
    positions = [(a, b, c, d) for a, b, c, d in code.co_positions() if a and b and c is not None and d]
    first = min(((line, column) for line, _, column, _ in positions), default=None)
    last = max(((line, column) for _, line, _, column in positions), default=None)
    found: list[ast.Lambda] = []
    for node in ast.walk(_syntax_tree("".join(lines))):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            body: Any = node.body
            around = first is None or (body.lineno, body.col_offset) <= first
            if around and (last is None or last <= (body.end_lineno, body.end_col_offset)):
                found.append(node)
    if not found or (len(found) > 1 and first is None):
        raise OSError(f"no lambda at line {code.co_firstlineno}")
    node = copy.deepcopy(found[-1])  # `walk` yields inner ones after those around them
    names = [*node.args.posonlyargs, *node.args.args]
    if tuple(item.arg for item in names) != code.co_varnames[: code.co_argcount]:
        raise OSError("the file has changed")
    made = _definition(LAMBDA, node.args, [ast.copy_location(ast.Return(node.body), node.body)])
    return ast.copy_location(made, node)


@functools.lru_cache(maxsize=4)
def _syntax_tree(text: str) -> ast.Module:
    return ast.parse(text)


def _function(
    tree: ast.FunctionDef, original: types.FunctionType, path: str, extra: dict[str, Any]
) -> types.FunctionType:
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


def _with_sites(
    statements: list[ast.stmt],
    tree: ast.FunctionDef,
    local: set[str],
    function: types.FunctionType,
    path: str,
    sites: list[Site],
    outer: ast.stmt | None = None,
    result: str | None = None,
) -> list[ast.stmt]:
    """Return statements in which each loop is preceded by the call of its program.

    outer, result: the outermost loop that contains the statements, and the name of the result of the program of the
    loop around them.  They run only where that loop is not compiled.
    """
    made: list[ast.stmt] = []
    for statement in statements:
        if isinstance(statement, (ast.While, ast.For)):
            inner = any(isinstance(node, (ast.While, ast.For)) for part in statement.body for node in ast.walk(part))
            if inner and isinstance(statement, ast.For) and not _is_counted(statement):
                # A loop of Python over other objects: the loops in it are compiled.
                around = copy.copy(statement)
                around.body = _with_sites(around.body, tree, local, function, path, sites, outer or statement, result)
                made.append(around)
                continue
            number = len(sites)
            site = _site(statement, tree, local, function, path, outer)
            sites.append(site)
            if inner and isinstance(statement, ast.For) and isinstance(statement.iter, ast.Name):
                site.over = statement.iter.id
            name = f"{RESULT}{number}"
            body = statement.body
            if inner:
                body = _with_sites(body, tree, local, function, path, sites, outer or statement, name)
            made += _dispatch(statement, number, site, body, name, result)
        elif isinstance(statement, (ast.If, ast.With, ast.Try)):
            changed = copy.copy(statement)
            for part in ("body", "orelse", "finalbody"):
                if getattr(changed, part, None):
                    parts = _with_sites(getattr(changed, part), tree, local, function, path, sites, outer, result)
                    setattr(changed, part, parts)
            made.append(changed)
        else:
            made.append(statement)
    return made


def _is_counted(loop: ast.For) -> bool:
    """Return whether a loop may be over numbers or over a list of vectors."""
    if isinstance(loop.iter, ast.Name):
        return True
    if isinstance(loop.iter, ast.Call):
        return isinstance(loop.iter.func, ast.Name) and loop.iter.func.id in ("range", "reversed")
    return False


def _dispatch(
    loop: ast.While | ast.For, number: int, site: Site, body: list[ast.stmt], result: str, outer: str | None
) -> list[ast.stmt]:
    """Return the call of the program of a loop, and the loop for the iterations that the program leaves.

    outer: the result of the loop around it, of which a program that has left iterations leaves those of this loop, too.
    """
    bound = "".join(
        f"    if {name!r} in {result}.names:\n        {name} = {result}.names[{name!r}]\n" for name in site.assigned
    )
    text = (
        f"{result} = {ENTER}({number}, locals()){'' if outer is None else f' if {outer} is None else None'}\n"
        f"if {result} is not None:\n{bound}    if {result}.returned:\n        return {result}.value\n"
        f"if {result} is None or {result}.done is not None:\n    pass\n"
    )
    made = ast.parse(text).body
    for statement in made:
        set_line(statement, loop.lineno)
    loop = copy.copy(loop)
    loop.body = body
    if isinstance(loop, ast.While) and not loop.orelse:
        site.restarts = True
        # Variables may have their types only after the first iteration: then the program begins with the second.
        tried = ast.parse(
            f"if {result} is not None and {result}.again:\n"
            f"    if {result}.again == 1:\n        {result} = {result}._replace(again=2)\n    else:\n"
            + textwrap.indent(
                f"{result} = {ENTER}({number}, locals(), False)\n"
                f"if {result} is not None:\n{bound}    if {result}.returned:\n        return {result}.value\n"
                f"    if {result}.done is None:\n        break\n    continue\n",
                "        ",
            )
        ).body
        set_line(tried[0], loop.lineno)
        loop.body = [*tried, *body]
    if isinstance(loop, ast.For):
        rest = ast.Call(parsed_expression(REST), [parsed_expression(result), loop.iter], [])
        loop.iter = ast.copy_location(rest, loop.iter)
    made[-1].body = [loop]  # type: ignore[attr-defined]
    return made


def rest(result: Any, values: Any) -> Any:
    """Return what a for loop iterates over, without the iterations that its program has done."""
    return values if result is None else itertools.islice(values, result.done, None)


def _site(
    loop: ast.While | ast.For,
    tree: ast.FunctionDef,
    local: set[str],
    function: types.FunctionType,
    path: str,
    outer: ast.stmt | None,
) -> Site:
    mentioned = {node.id for node in ast.walk(loop) if isinstance(node, ast.Name)}
    names = tuple(sorted(mentioned & local))
    assigned = tuple(sorted(assigned_names([loop]) & local))
    # The next iteration of a loop around it reads what precedes it, too.
    last = (loop.end_lineno or loop.lineno) if outer is None else outer.lineno - 1
    later = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno > last
    }
    traced: Callable[..., Any] | Untraceable
    try:
        body = Rewriter(local, tree).block([copy.deepcopy(loop)])
        others = sorted(assigned_names([loop]) - local)
        if others:
            raise refused(loop, f"an assignment to {others[0]}, which is no variable of the function")
        arguments = ast.arguments([], [ast.arg(TRACER), *map(ast.arg, names)], None, [], [], None, [])
        body.append(ast.parse("return None").body[0])
        node = _definition("__sr_traced", arguments, body)
        traced = _function(_located(node, loop.lineno), _bare(function), path, {})
    except Untraceable as reason:
        traced = reason
    outside = Outside(function, sorted(mentioned - local))
    package = (function.__module__ or "").partition(".")[0]
    called = tuple(sorted(called_names(loop) & local - set(assigned)))
    return Site(loop.lineno, Variables(names, package), assigned, frozenset(later), traced, outside, called=called)


def inlined(function: types.FunctionType, variables: tuple[str, ...] = ()) -> types.FunctionType:
    """Return the traced form of a whole function, which a traced loop calls: its first argument is the tracer.

    variables: names of the module that become free variables of it.
    """
    tree, path = parsed(function)
    local = set(function.__code__.co_varnames) | set(function.__code__.co_cellvars)
    tree = copy.deepcopy(tree)
    *statements, last = tree.body
    if isinstance(last, ast.Return) and not any(map(_returns, statements)):
        value = last.value or ast.Constant(None)
    elif any(map(_returns, tree.body)):
        statements, value = _items_apart(_without_returns(tree.body, function.__name__))
        local |= {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    else:
        statements, value = tree.body, ast.Constant(None)
    rewriter = Rewriter(local, tree)
    body = rewriter.block(statements)
    end = ast.Return(rewriter.visit(value))
    arguments = copy.deepcopy(tree.args)
    arguments.posonlyargs.insert(0, ast.arg(TRACER))
    node = _definition(tree.name, arguments, [*body, end])
    return _function(_located(node, tree.lineno), function, path, dict.fromkeys(variables))


def _returns(statement: ast.AST) -> bool:
    """Return whether a statement of a function returns from it."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return False
    return isinstance(statement, ast.Return) or any(map(_returns, ast.iter_child_nodes(statement)))


def _always_returns(statements: list[ast.stmt]) -> bool:
    last = statements[-1] if statements else None
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, ast.Return)


def _without_returns(statements: list[ast.stmt], name: str) -> list[ast.stmt]:
    """Return statements that assign what they would return: what follows an ``if`` that returns is its other branch."""
    for at, statement in enumerate(statements):
        before, rest = statements[:at], statements[at + 1 :]
        if isinstance(statement, ast.Return):
            value = statement.value or ast.Constant(None)
            return [*before, ast.copy_location(ast.Assign([ast.Name(VALUE, ast.Store())], value), statement)]
        if not _returns(statement):
            continue
        if not isinstance(statement, ast.If):
            raise Untraceable(f"a call of {name}, which returns from within a loop")
        made = copy.copy(statement)
        if _always_returns(statement.body):
            made.body = _without_returns(statement.body, name)
            made.orelse = _without_returns([*statement.orelse, *rest], name)
        elif _always_returns(statement.orelse):
            made.body = _without_returns([*statement.body, *rest], name)
            made.orelse = _without_returns(statement.orelse, name)
        else:
            raise Untraceable(f"a call of {name}, which returns on some paths through an if")
        return [*before, made]
    line = statements[-1].lineno if statements else 1
    end: Any = ast.parse(f"{VALUE} = None").body[0]
    set_line(end, line)
    return [*statements, end]


def _items_apart(statements: list[ast.stmt]) -> tuple[list[ast.stmt], ast.expr]:
    """Return statements that assign what they would return, and that value; of tuples of one length the items."""
    assigned = [
        node
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == VALUE
    ]
    lengths = {len(node.value.elts) if isinstance(node.value, ast.Tuple) else None for node in assigned}
    length = lengths.pop()
    if lengths or length is None:
        return statements, ast.Name(VALUE, ast.Load())
    names = [f"{VALUE}{number}" for number in range(length)]
    for node in assigned:
        target = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
        node.targets = [ast.copy_location(target, node)]
    return statements, ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())


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
