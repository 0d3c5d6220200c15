"""Rewriting of a function whose loops are compiled.

Two functions are made of its syntax tree.  In the *dispatching* one a call that runs the program precedes each
outermost loop, and the loop itself is executed only if there is none.  The *traced* one of each loop is straight-line
code: control flow is calls of the tracer, which opens and closes blocks of the program; all else is the user's code.
"""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from ..engines.traced import Untraceable
from ..exceptions import NotSupported
from .keys import Outside, Variables
from .rewriter import TRACER, Rewriter, assigned_names, parsed_expression, refused, set_line

ENTER, RESULT, REST = "__sr_enter", "__sr_result", "__sr_rest"


@dataclass(eq=False)
class Site:
    """An outermost loop.

    line: in the file.  variables: the local ones that it mentions.  assigned: those that it sets.  later: those that
    are read after it.  traced: the function of the tracer and these variables; or the reason why there is none.
    outside: what it reads beside its variables: changes of it are changes of the program.
    """

    line: int
    variables: Variables
    assigned: tuple[str, ...]
    later: frozenset[str]
    traced: Callable[..., Any] | Untraceable
    outside: Outside


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
        set_line(statement, loop.lineno)
    if isinstance(loop, ast.For):
        loop = copy.copy(loop)
        rest = ast.Call(parsed_expression(REST), [parsed_expression(RESULT), loop.iter], [])
        loop.iter = ast.copy_location(rest, loop.iter)
    made[-1].body = [loop]  # type: ignore[attr-defined]
    return made


def rest(result: Any, values: Any) -> Any:
    """Return what a for loop iterates over, without the iterations that its program has done."""
    return values if result is None else itertools.islice(values, result.done, None)


def _site(
    loop: ast.While | ast.For, tree: ast.FunctionDef, local: set[str], function: types.FunctionType, path: str
) -> Site:
    mentioned = {node.id for node in ast.walk(loop) if isinstance(node, ast.Name)}
    names = tuple(sorted(mentioned & local))
    assigned = tuple(sorted(assigned_names([loop]) & local))
    end = loop.end_lineno or loop.lineno
    later = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno > end
    }
    traced: Callable[..., Any] | Untraceable
    try:
        body = Rewriter(local, tree).block([copy.deepcopy(loop)])
        outer = sorted(assigned_names([loop]) - local)
        if outer:
            raise refused(loop, f"an assignment to {outer[0]}, which is no variable of the function")
        arguments = ast.arguments([], [ast.arg(TRACER), *map(ast.arg, names)], None, [], [], None, [])
        body.append(ast.parse("return None").body[0])
        node = _definition("__sr_traced", arguments, body)
        traced = _function(_located(node, loop.lineno), _bare(function), path, {})
    except Untraceable as reason:
        traced = reason
    outside = Outside(function, sorted(mentioned - local))
    return Site(loop.lineno, Variables(names), assigned, frozenset(later), traced, outside)


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
    rewriter = Rewriter(local, tree)
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
