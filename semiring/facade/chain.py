"""Chains: ``A @ B @ C`` and ``a | b & c`` name no operator; an operator called on them applies to every link.

    min_plus(A @ B @ C)  =  min_plus(min_plus(A @ B) @ C)          min(a | b & c)  =  min(a | min(b & c))

A link is one ``@`` (kind "product"), or one ``|`` or ``&`` (kind "ewise"), whose operands are links of the same kind,
their ``.T``, or anything else, which is a value: a named operator (``A.mxm(B, "max_plus")``, ``A + B``,
``max_plus(A @ B)``) is final, and so is a link of the other kind.

A chain is executed when its entries are used, each link once.  After that it is a value: its operands are released, and
an operator called on it or on a chain that continues it raises InvalidValue, as it could not apply to every link.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..exceptions import InvalidType, InvalidValue

# Links in one chain, beyond which the earlier ones are executed: a loop over `x = x | y` is not meant as one chain.
_LONGEST = 64


class Chain(NamedTuple):
    """An expression that one call of an operator may rebind.

    kind: which operators it accepts (``"product"``, ``"ewise"``, ``"compare"``).  plan: from an operator, the plan with
    it in every link; None once a link was executed with its own.  links: how many there are.
    It holds the operands' stores and plans and never an object, so that there are no reference cycles.
    """

    kind: str
    plan: Callable[[Any], Any] | None
    links: int = 1

    def spent(self) -> Chain:
        """Return the same chain, executed."""
        return self._replace(plan=None)

    def then(self, operation: Callable[[Any], Any]) -> Chain:
        """Return the chain of `operation` (a transpose) of this one."""
        plan = self.plan
        return self if plan is None else self._replace(plan=lambda operator: operation(plan(operator)))

    def rebound(self, operator: Any) -> Any:
        """Return the plan with `operator` in every link; InvalidValue if a link was executed with its own."""
        if self.plan is None:
            raise InvalidValue(
                f"{operator!r}(...): a part of this chain was computed with its own operator already (it was looked "
                f"at, or has more than {_LONGEST} links); write the chain in one expression, take .dup() of a part "
                f"that is meant as a value, or name the operators, as in A.mxm(B, op)"
            )
        return self.plan(operator)


class _Operand(NamedTuple):
    """One side of a link: its store or plan with its own operator, whether it is transposed, and its chain."""

    value: Any
    transposed: bool
    chain: Chain | None

    def under(self, operator: Any) -> tuple[Any, bool]:
        """Return the side with another operator in its links."""
        return (self.value, self.transposed) if self.chain is None else (self.chain.rebound(operator), False)


def _operand(x: Any, kind: str) -> _Operand:
    chain: Chain | None = x._chain
    if chain is not None:
        if chain.kind != kind:
            chain = None
        elif chain.plan is not None and chain.links < _LONGEST:
            return _Operand(x._plan, False, chain)
        else:
            chain = chain.spent()
    value, transposed = x.operand if kind == "product" and x.ndim == 2 else (x.store, False)
    return _Operand(value, transposed, chain)


def link(kind: str, x: Any, y: Any, join: Callable[[Any, Any, Any], Any], operator: Any) -> tuple[Any, Chain]:
    """Return one link: the result of `join` for both operands under `operator`, and the chain that it ends.

    join: from two operands (store or plan, whether it is transposed, and more) and an operator.
    """
    left, right = _operand(x, kind), _operand(y, kind)
    links, spent = 1, False
    for _, _, before in (left, right):
        if before is not None:
            links, spent = links + before.links, spent or before.plan is None
    plan = None if spent else lambda by: join(left.under(by), right.under(by), by)
    return join(left, right, operator), Chain(kind, plan, links)


def linked(cls: Any, *parts: Any) -> Any:
    """`link` as a pending object of class `cls`."""
    plan, chain = link(*parts)
    made = cls._new(None, plan)
    made._chain = chain
    return made._labeled_product(*parts[1:3]) if parts[0] == "product" else made._labeled(*parts[1:3])


class WithDefaults(NamedTuple):
    """An operator with values for what is missing: ``plus(v | w, left_default=0, right_default=0)``."""

    op: Any
    left: Any
    right: Any

    def __repr__(self) -> str:
        return repr(self.op)


def with_defaults(operator: Any, options: dict[str, Any]) -> Any:
    """Return the operator for every link of a chain: itself, or with the defaults that were given.

    Raises
    ------
    InvalidType
        For one default alone, and for any other option.
    """
    if not options:
        return operator
    if options.keys() != {"left_default", "right_default"}:
        raise InvalidType(
            f"{operator!r}(...): got {', '.join(sorted(options))}; a chain takes left_default= and right_default=, both"
        )
    return WithDefaults(operator, options["left_default"], options["right_default"])
