"""The expression language of operators: one text that is valid in Python and in C++.

An operator is an expression such as ``min(x, y)`` or ``abs(x - y)``. Its *normal form* is
evaluated unchanged by every engine: NumPy and numba as Python, CUDA as C++. So the normal form uses only what the
two languages share:

- the variables of the operator's kind (:data:`VARIABLES`);
- integer and floating literals, without suffixes (the imaginary literal ``2j`` becomes ``cmplx(0.0, 2.0)``);
- ``-a``, ``a + b``, ``a - b``, ``a * b``, one comparison at a time, parentheses;
- calls of the functions in :data:`HELPERS`, which each engine defines;
- fields ``x.a`` and elements ``x[0]`` of records, tuples and dicts, which `semiring.operators.records` rewrites to
  expressions on numbers once the types are known.

Users may write more: :func:`normalize` rewrites ``/ // % ** & | ^ ~ << >>``, ``and or not``,
chained comparisons, conditional expressions and the functions of ``math`` and NumPy into that form.

Arithmetic and comparisons follow C++: integers narrower than 32 bits (and bool) are computed as 32-bit
integers, mixed operands are converted to the wider type (unsigned at equal width), integers are converted to floats
beside floats, reals to complex numbers beside complex ones; a floating literal is a double. A function whose arguments
have one type computes in that type (bool in 32 bits), so that ``div(x, 0)`` of int8 is 127; arguments of several types
are converted as operands are. The result is cast to the operator's type, a complex one to its real part if that type is
real. `semiring.engines.shared.expression_numpy` implements these rules in NumPy.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final
from weakref import WeakValueDictionary

from semiring.exceptions import UdfParseError
from semiring.operators.normalizer import ATOM, COMPARISONS, Normalizer, Text
from semiring.operators.vocabulary import HELPERS, VARIABLES, Helper

__all__ = ["HELPERS", "VARIABLES", "Expression", "Helper", "normalize"]


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """What an operator computes: a syntax tree, and its text in normal form.

    There is one object for each text, and one text for each tree: equal expressions are identical, and are compared
    and hashed as objects are. Properties are computed once for each expression.

    Parameters
    ----------
    text : str
        Normal form, as `normalize` returns it.

    Examples
    --------
    >>> Expression("min(x, y)") is Expression("min(x, y)"), Expression("min(x, y)").order
    (True, -1)
    """

    text: str

    def __new__(cls, text: str) -> Expression:
        """Return the expression of this text, which is made if there is none."""
        found = _known.get(text)
        if found is None:
            with _lock:  # of several threads that make it, all get one object
                found = _known.get(text)
                if found is None:
                    found = _known[text] = object.__new__(cls)
        return found

    @classmethod
    def of(cls, tree: ast.expr, names: Mapping[str, str] = MappingProxyType({})) -> Expression:
        """Return the expression of a tree in normal form.

        names: for variables that are replaced, other ones or non-negative integers.
        """
        variables = {name: Text(names.get(name, name), ATOM) for name in _variables(tree)}
        return cls(Normalizer(variables, "expression").convert(tree).text)

    def renamed(self, names: Mapping[str, str]) -> Expression:
        """Return the expression with variables replaced, as by `of`; fields keep their names.

        Examples
        --------
        >>> Expression("x.y + y").renamed({"x": "k", "y": "x"}).text
        'k.y + x'
        """
        return Expression.of(self.tree, names)

    @cached_property
    def tree(self) -> ast.expr:
        """The syntax tree, which is not to be changed."""
        return ast.parse(self.text, mode="eval").body

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables that it reads, in the order in which they first occur.

        Examples
        --------
        >>> Expression("max(x, 1e3) + yj").variables
        ('x', 'yj')
        """
        return _variables(self.tree)

    @cached_property
    def uses(self) -> frozenset[str]:
        """The variables that it reads."""
        return frozenset(self.variables)

    @cached_property
    def is_addition(self) -> bool:
        """Whether it is ``x + y``."""
        return self.text == "x + y"

    @cached_property
    def is_multiplication(self) -> bool:
        """Whether it is ``x * y``."""
        return self.text == "x * y"

    @cached_property
    def order(self) -> int:
        """1 of ``max(x, y)``, -1 of ``min(x, y)``, 0 of any other expression."""
        return {"max(x, y)": 1, "min(x, y)": -1}.get(self.text, 0)

    @cached_property
    def projection(self) -> str | None:
        """The variable that it returns unchanged: x of ``first`` and ``identity``; None if it computes a value."""
        return self.tree.id if isinstance(self.tree, ast.Name) else None

    @cached_property
    def translation(self) -> str | None:
        """The variable v of ``v`` and of ``v + c`` with an integer c; None of any other expression."""
        match self.tree:
            case ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=ast.Constant(value=int())):
                return name
        return self.projection

    @cached_property
    def diagonal_condition(self) -> str | None:
        """The sign of ``j <= i + k`` and other comparisons of j with i + k; None of any other expression."""
        match self.tree:
            case ast.Compare(ast.Name("j"), [sign], [ast.BinOp(ast.Name("i"), ast.Add(), ast.Name("k"))]):
                return COMPARISONS[type(sign)]
        return None

    @cached_property
    def has_records(self) -> bool:
        """Whether it reads fields or makes records."""
        return any(isinstance(node, _RECORD_SYNTAX) for node in ast.walk(self.tree))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __reduce__(self) -> tuple[type[Expression], tuple[str]]:
        return Expression, (self.text,)


_lock: Final = threading.Lock()
_known: Final[WeakValueDictionary[str, Expression]] = WeakValueDictionary()
_RECORD_SYNTAX: Final = (ast.Attribute, ast.Subscript, ast.Tuple, ast.Dict)


def _variables(tree: ast.expr) -> tuple[str, ...]:
    """Return the names in a tree that are not functions, in the order in which they first occur."""
    found: dict[str, None] = {}
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            found[node.id] = None
        else:
            pending += reversed(node.args if isinstance(node, ast.Call) else list(ast.iter_child_nodes(node)))
    return tuple(found)


def normalize(text: str, kind: str, where: str = "expression") -> Expression:
    """Return the normal form of an expression written by a user.

    Parameters
    ----------
    text : str
        A Python expression over the variables of `kind`; functions may be written ``sqrt(x)``,
        ``math.sqrt(x)`` or ``np.sqrt(x)``.
    kind : {"unary", "binary", "indexunary"}
        Selects the variables: see :data:`VARIABLES`.
    where : str
        The name of the operator in error messages.

    Raises
    ------
    UdfParseError
        Where the text is not an expression, or uses a construct that is not part of the language.

    Examples
    --------
    >>> normalize("x / y if 0 < x <= 1 else abs(x) ** 2", "binary").text
    'select(land(0 < x, x <= 1), truediv(x, y), pow(abs(x), 2))'
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise UdfParseError(f"{where}: {text!r} is not an expression: {error.msg}") from None
    except ValueError as error:  # a null character
        raise UdfParseError(f"{where}: {text!r} is not an expression: {error}") from None
    variables = {name: Text(name, ATOM) for name in VARIABLES[kind]}
    modules = {"math", "np", "numpy"}
    maker = Normalizer(variables, where, lambda name: "module" if name in modules else None, text.strip())
    return Expression(maker.convert(tree.body).text)
