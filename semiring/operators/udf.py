"""User-defined operators: from a Python function's source to normalized text.

The function is never called. Its source is parsed, or its bytecode where no source is found. Its parameters become
the operator's variables, assignments are substituted, ``if`` and ``return`` become ``select``, and numbers from its
closure, its module or its defaults become literals with their current values.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import types
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from semiring.exceptions import InvalidType, UdfParseError
from semiring.operators.expression import Expression, normalize
from semiring.operators.normalizer import ATOM, Normalizer, Text
from semiring.operators.udf_bytecode import decompile
from semiring.operators.vocabulary import ALIASES, HELPERS, SYMBOLS, VARIABLES

__all__ = ["expression_of"]

_Function = ast.FunctionDef | ast.Lambda
# More statements than this come from branches that double repeatedly, not from a hand-written function.
_MAX_STEPS: Final = 2000


def expression_of(function: Callable[..., Any] | str, kind: str, where: str) -> Expression:
    """Return the normalized expression of a Python function or of an expression text.

    Parameters
    ----------
    function : callable or str
        A lambda or a ``def`` without loops, or the text of an expression.
    kind : {"unary", "binary", "indexunary"}
        Selects the variables. Parameters are matched by position: ``(x)``, ``(x, y)``, ``(x, i, j, k)``;
        those named ``xi xj yi yj`` (binary), or all of them if all have names of variables (indexunary), are
        matched by name.
    where : str
        The name of the operator in error messages.

    Raises
    ------
    UdfParseError
        Where an expression cannot represent the function; the message quotes the line.
    InvalidType
        Where `function` is neither a function nor a text.
    """
    if isinstance(function, str):
        return normalize(function, kind, where)
    if not isinstance(function, types.FunctionType):
        raise InvalidType(f"{where}: expected a Python function or an expression, got {function!r}")
    node, source = _definition(function.__code__, where)
    maker = Normalizer(_parameters(function, node, kind, where), where, _resolver(function), source)
    made = maker.convert(node.body) if isinstance(node, ast.Lambda) else _Statements(maker).run(node)
    return Expression(made.text)


@functools.lru_cache(maxsize=256)
def _definition(code: types.CodeType, where: str) -> tuple[_Function, str]:
    """Return the syntax tree of the function with this code, and the text of its file."""
    source = "".join(linecache.getlines(code.co_filename))
    try:
        found: list[_Function] = list(_matching_nodes(ast.parse(source), code))
    except SyntaxError:  # the file was edited since it was imported
        found = []
    # Several lambdas may share a line, and a file may have changed: choose what compiles to these instructions.
    exact = [node for node in found if isinstance(node, ast.FunctionDef) or _compiles_to(node, code)]
    if exact:
        return exact[0], source
    if (read := decompile(code)) is not None:
        return read, ""
    if len(found) == 1:
        return found[0], source
    raise UdfParseError(
        f"{where}: the source of {code.co_name} ({code.co_filename}, line {code.co_firstlineno}) cannot be found "
        "(before Python 3.13 there is none for functions typed at the prompt), and its bytecode is not a single "
        'expression; write the operator as a text instead, for example "abs(x - y)"'
    )


def _matching_nodes(tree: ast.Module, code: types.CodeType) -> Iterator[_Function]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            if code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
                yield node
        elif isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == code.co_firstlineno:
                yield node


def _compiles_to(node: ast.Lambda, code: types.CodeType) -> bool:
    """Return whether this lambda compiles to this code, whatever their line numbers."""
    # A function around it makes the variables of its closure free again.
    around = ast.Lambda(ast.arguments([], [ast.arg(name) for name in code.co_freevars], None, [], [], None, []), node)
    whole = compile(ast.fix_missing_locations(ast.Expression(around)), "<lambda>", "eval")
    outer = next(item for item in whole.co_consts if isinstance(item, types.CodeType))
    return any(isinstance(item, types.CodeType) and _same(item, code) for item in outer.co_consts)


def _same(a: types.CodeType, b: types.CodeType) -> bool:
    def content(code: types.CodeType) -> tuple[object, ...]:
        constants = [content(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
        return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars

    return content(a) == content(b)


def _parameters(function: types.FunctionType, node: _Function, kind: str, where: str) -> dict[str, Text]:
    """Map each parameter to its variable, or to the number that is its default."""
    arguments = node.args
    if arguments.vararg or arguments.kwarg:
        raise UdfParseError(f"{where}: *args and **kwargs are not allowed")
    constants = dict(function.__kwdefaults__ or {})
    given = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = function.__defaults__ or ()
    constants |= dict(zip(given[len(given) - len(defaults) :], defaults, strict=True))
    free = [name for name in given + [a.arg for a in arguments.kwonlyargs] if name not in constants]

    variables = VARIABLES[kind]
    by_name = set(variables[2:]) if kind == "binary" else set()
    if kind == "indexunary" and set(free) <= set(variables):
        by_name = set(free)
    places = iter(name for name in variables if name not in by_name)
    made: dict[str, Text] = {}
    for name in free:
        variable = name if name in by_name else next(places, None)
        if variable is None:
            expected, got = ", ".join(variables), ", ".join(free)
            raise UdfParseError(f"{where}: too many parameters; expected at most ({expected}), got ({got})")
        made[name] = Text(variable, ATOM)
    literals = Normalizer({}, where)
    for name, value in constants.items():
        if not isinstance(value, (bool, int, float, complex, np.bool_, np.number)):
            raise UdfParseError(f"{where}: the default of parameter {name!r} must be a number, got {value!r}")
        made[name] = literals.literal(value, node)
    return made


def _resolver(function: types.FunctionType) -> Callable[[str], object]:
    """Return a function that looks names up in the closure, the module and the built-ins, in this order."""
    outer = inspect.getclosurevars(function)

    def resolve(name: str) -> object:
        for scope in (outer.nonlocals, function.__globals__, vars(builtins)):
            if name in scope:
                value = scope[name]
                break
        else:
            return None
        if isinstance(value, types.ModuleType):
            return "module" if value.__name__ in ("math", "numpy") else value
        if value is builtins.round:
            return "rint"  # in a Python function `round` is Python's, ties to even
        if isinstance(value, (types.BuiltinFunctionType, np.ufunc, type)) or value is np.where:
            known = value.__name__
            return known if known in (*HELPERS, *ALIASES, *SYMBOLS, "bool", "square") else value
        return value

    return resolve


class _Statements:
    """Evaluates the statements of a function symbolically, one path at a time, to a single expression."""

    def __init__(self, maker: Normalizer) -> None:
        self.maker = maker
        self.steps = 0

    def run(self, node: ast.FunctionDef) -> Text:
        return self._block(node.body, node)

    def _block(self, statements: list[ast.stmt], function: ast.FunctionDef) -> Text:
        """Return the value that the function returns when it executes these statements."""
        maker = self.maker
        for position, statement in enumerate(statements):
            self.steps += 1
            if self.steps > _MAX_STEPS:
                maker.fail(statement, "too many branches in sequence")
            match statement:
                case ast.Return(value=ast.expr() as value):
                    return maker.convert(value)
                case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                    continue
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    maker.variables[name] = maker.convert(value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    maker.variables[name] = maker.convert(value)
                case ast.AugAssign(target=ast.Name() as target, op=operation, value=value):
                    load = ast.copy_location(ast.Name(target.id, ast.Load()), statement)
                    whole = ast.copy_location(ast.BinOp(load, operation, value), statement)
                    maker.variables[target.id] = maker.convert(whole)
                case ast.If(test=test, body=body, orelse=orelse):
                    rest = statements[position + 1 :]
                    condition, before = maker.convert(test), dict(maker.variables)
                    yes = self._block(body + rest, function)
                    maker.variables = before
                    no = self._block(orelse + rest, function)
                    return Text(f"select({condition.text}, {yes.text}, {no.text})", ATOM)
                case ast.For() | ast.While():
                    maker.fail(statement, "loops are not allowed in an operator; write it as one expression")
                case _:
                    found = type(statement).__name__.lower()
                    maker.fail(statement, f"{found!r} is not allowed, only assignments to names, if and return")
        maker.fail(function, "not every path ends with 'return value'")
