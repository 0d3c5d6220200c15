"""The kernel of a program in plain Python: thousands of programs are checked without a compilation of each."""

from __future__ import annotations

import ast
import inspect
import math
from typing import Any

import numpy as np

from semiring.engines.cpu import closure_push, expression_numba, program_support, tuning
from semiring.engines.shared.direction import Work, prefers_pull


def _value_at(values: Any, p: Any) -> Any:
    return values[p] if isinstance(values, np.ndarray) else values


def _trailing_zeros(word: Any) -> int:
    return (int(word) & -int(word)).bit_length() - 1


def _put(values: Any, p: Any, value: Any) -> None:
    if values is not None:
        values[p] = value


def _position(indices: Any, p: Any) -> Any:
    return np.int64(p) if indices is None else np.int64(indices[p])


class _Helpers:
    """The compiled helpers as the functions that they were compiled from."""

    @staticmethod
    def function(name: str, dtype: Any) -> Any:
        """Return the helper in Python."""
        found = expression_numba.function(name, dtype)
        return getattr(found, "py_func", found)


def _definitions(text: str, scope: dict[str, Any]) -> None:
    """Execute a module without its imports."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    exec(compile(tree, "<interpreted>", "exec"), scope)


def kernel(text: str) -> Any:
    """Return the function of a generated text."""
    same = lambda function: function  # noqa: E731
    scope: dict[str, Any] = {
        "np": np, "math": math, "Any": Any, "kernel": same, "inlined": same, "device": same,
        "expression_numba": _Helpers,
        "stopped": lambda control: False, "trailing_zeros": _trailing_zeros, "value_at": _value_at, "Work": Work,
        "prefers_pull": prefers_pull, "COSTS": tuning.COSTS, "COUNTED_SHARE": tuning.COUNTED_SHARE,
        "prefetch": lambda array, index: None, "rolled": lambda index: index, "put": _put, "position": _position,
        "SPAN": closure_push.SPAN, "_SPARE": closure_push._SPARE, "BLOCK": 3,  # rows in several parts
    }  # fmt: skip
    for copied in (closure_push.copy_block, closure_push._copy, closure_push._copy_part):
        _definitions(inspect.getsource(copied.py_func), scope)
    _definitions(inspect.getsource(program_support), scope)
    _definitions(text, scope)
    program = scope["program"]

    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return program(*arguments)

    return run
