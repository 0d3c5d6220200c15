"""Decompilation of a function without source, such as one typed at the prompt before Python 3.13.

The instructions are executed symbolically. The stack and the local variables hold syntax trees; at a conditional jump
both paths are followed to their ``return``, and the two results are joined in one conditional expression. Loops are
not supported, so every path ends. The result is the lambda that the source defines, up to the order in which
conditions nest.
"""

from __future__ import annotations

import ast
import copy
import dis
import types
from typing import Final

__all__ = ["decompile"]

# More instructions than this, over all paths through the function, come from branches that double repeatedly.
_MAX_STEPS: Final = 2000
_NULL: Final = ast.Name("NULL", ast.Load())  # what calls keep on the stack beside the function
_UNARY: Final[dict[str, type[ast.unaryop]]] = {
    "UNARY_NEGATIVE": ast.USub,
    "UNARY_POSITIVE": ast.UAdd,
    "UNARY_INVERT": ast.Invert,
    "UNARY_NOT": ast.Not,
}
_UNARY_POSITIVE_INTRINSIC: Final = 5  # how 3.12 and later write +x
_IGNORED: Final = {"RESUME", "NOP", "CACHE", "EXTENDED_ARG", "PRECALL", "COPY_FREE_VARS", "TO_BOOL"}
_LOADS: Final = {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_LOAD_FAST", "LOAD_GLOBAL", "LOAD_DEREF"}


class _Unsupported(Exception):
    """An instruction that an expression cannot represent."""


def decompile(code: types.CodeType) -> ast.Lambda | None:
    """Return the lambda that these instructions compute, or None where an expression cannot represent them.

    Supported are the instructions of Python 3.11 to 3.13 for arithmetic, comparisons (chained ones too),
    conditions, ``and or not``, assignments to local names and calls with positional arguments.
    """
    try:
        body = _Machine(code).run(0, [], {})
    except (_Unsupported, IndexError):  # an empty stack: misread instructions of another Python version
        return None
    names = [ast.arg(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    first, second = code.co_posonlyargcount, code.co_argcount
    variadic = ast.arg("args") if code.co_flags & 0x0C else None
    arguments = ast.arguments(
        posonlyargs=names[:first],
        args=names[first:second],
        vararg=variadic,
        kwonlyargs=names[second:],
        kw_defaults=[None] * (len(names) - second),
        kwarg=None,
        defaults=[],
    )
    return ast.fix_missing_locations(ast.Lambda(arguments, body))


class _Machine:
    """Runs instructions on stacks of syntax trees."""

    def __init__(self, code: types.CodeType) -> None:
        self.instructions = list(dis.get_instructions(code))
        self.index = {instruction.offset: i for i, instruction in enumerate(self.instructions)}
        self.steps = 0

    def run(self, at: int, stack: list[ast.expr], known: dict[str, ast.expr]) -> ast.expr:
        """Return the result of the function from instruction `at` on, for this stack and these local variables."""
        while True:
            self.steps += 1
            if self.steps > _MAX_STEPS:
                raise _Unsupported
            instruction = self.instructions[at]
            name = instruction.opname
            at += 1
            if name == "RETURN_VALUE":
                return stack.pop()
            if name == "RETURN_CONST":
                return ast.Constant(instruction.argval)
            if name == "JUMP_FORWARD":
                at = self.index[instruction.argval]
            elif "JUMP" in name:
                return self._branch(instruction, at, stack, known)
            else:
                _step(instruction, stack, known)

    def _branch(
        self, instruction: dis.Instruction, following: int, stack: list[ast.expr], known: dict[str, ast.expr]
    ) -> ast.expr:
        """Follow both paths of a conditional jump."""
        name = instruction.opname
        on_true = name.endswith(("IF_TRUE", "IF_TRUE_OR_POP"))
        if not on_true and not name.endswith(("IF_FALSE", "IF_FALSE_OR_POP")):
            raise _Unsupported
        if self.index[instruction.argval] < following:
            raise _Unsupported  # backwards: a loop
        test = stack.pop()
        kept = [*stack, test] if name.endswith("OR_POP") else list(stack)
        jumped = self.run(self.index[instruction.argval], kept, dict(known))
        passed = self.run(following, list(stack), dict(known))
        if jumped is test:  # the jump returns what it tested: 'and', 'or', a chain of comparisons
            return ast.BoolOp(ast.Or() if on_true else ast.And(), [test, passed])
        return ast.IfExp(test, jumped, passed) if on_true else ast.IfExp(test, passed, jumped)


def _step(instruction: dis.Instruction, stack: list[ast.expr], known: dict[str, ast.expr]) -> None:
    """Execute one instruction that does not jump: change the stack or the local variables."""
    name, value, argument = instruction.opname, instruction.argval, instruction.arg or 0
    if name in _IGNORED:
        return
    if name in _LOADS:
        null = name == "LOAD_GLOBAL" and argument & 1
        stack.extend([_NULL] if null else [])
        for variable in value if isinstance(value, tuple) else (value,):
            # A new node each time: `_branch` uses identity to detect that the tested value stayed on the stack.
            stack.append(copy.copy(known.get(variable) or ast.Name(variable, ast.Load())))
    elif name == "LOAD_CONST":
        stack.append(ast.Constant(value))
    elif name in ("LOAD_ATTR", "LOAD_METHOD"):
        made = ast.Attribute(stack.pop(), value, ast.Load())
        method = name == "LOAD_METHOD" or (instruction.opcode in _ATTR_WITH_FLAG and argument & 1)
        stack.extend([_NULL, made] if method else [made])
    elif name == "PUSH_NULL":
        stack.append(_NULL)
    elif name == "STORE_FAST":
        known[value] = stack.pop()
    elif name == "STORE_FAST_LOAD_FAST":
        known[value[0]] = stack.pop()
        stack.append(copy.copy(known.get(value[1]) or ast.Name(value[1], ast.Load())))
    elif name == "POP_TOP":
        stack.pop()
    elif name == "COPY":
        stack.append(stack[-argument])
    elif name == "SWAP":
        stack[-argument], stack[-1] = stack[-1], stack[-argument]
    elif name in _UNARY or (name == "CALL_INTRINSIC_1" and argument == _UNARY_POSITIVE_INTRINSIC):
        stack.append(ast.UnaryOp(_UNARY.get(name, ast.UAdd)(), stack.pop()))
    elif name == "BINARY_SUBSCR" or (name == "BINARY_OP" and instruction.argrepr == "[]"):
        index, whole = stack.pop(), stack.pop()
        stack.append(ast.Subscript(whole, index, ast.Load()))
    elif name == "BUILD_TUPLE":
        stack.append(ast.Tuple([stack.pop() for _ in range(argument)][::-1], ast.Load()))
    elif name == "BINARY_OP":
        right, left = stack.pop(), stack.pop()
        stack.append(ast.BinOp(left, _operation(instruction.argrepr.rstrip("=")), right))
    elif name == "COMPARE_OP":
        right, left = stack.pop(), stack.pop()
        stack.append(ast.Compare(left, [_comparison(value)], [right]))
    elif name == "CALL":
        arguments = [stack.pop() for _ in range(argument)][::-1]
        function = [item for item in (stack.pop(), stack.pop()) if item is not _NULL]
        if len(function) != 1:
            raise _Unsupported
        stack.append(ast.Call(function[0], arguments, []))
    else:
        raise _Unsupported


# From 3.12 on LOAD_ATTR does what LOAD_METHOD did, when the lowest bit of its argument is set.
_ATTR_WITH_FLAG: Final = set() if "LOAD_METHOD" in dis.opmap and "PRECALL" in dis.opmap else {dis.opmap["LOAD_ATTR"]}


def _operation(symbol: str) -> ast.operator:
    tree = ast.parse(f"a {symbol} b", mode="eval").body
    assert isinstance(tree, ast.BinOp)
    return tree.op


def _comparison(symbol: str) -> ast.cmpop:
    tree = ast.parse(f"a {symbol} b", mode="eval").body
    assert isinstance(tree, ast.Compare)
    return tree.ops[0]
