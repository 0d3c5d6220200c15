"""Chains: ``A @ B @ C`` and ``a | b & c`` name no operator, and one that is called on them applies to every link.

    min_plus(A @ B @ C)  =  min_plus(min_plus(A @ B) @ C)          min(a | b & c)  =  min(a | min(b & c))

A link is one ``@`` (kind "product"), or one ``|`` or ``&`` (kind "ewise"), whose operands are links of the same kind,
their ``.T``, or anything else, which is a value: a named operator (``A.mxm(B, "max_plus")``, ``A + B``,
``max_plus(A @ B)``) is settled, and so is a link of the other kind.

A chain is carried out when it is looked at, each link once.  After that it is a value: its operands are released, so no
operator can be called on it or on a chain that continues it (InvalidValue), rather than reach some of the links only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..exceptions import InvalidValue

# Links in one chain, beyond which the earlier ones are carried out: a loop over `x = x | y` is no chain that one wrote.
_LONGEST = 64


class Chain(NamedTuple):
    """An expression that one call of an operator may rebind.

    kind: which operators it accepts (``"product"``, ``"ewise"``, ``"compare"``).  plan: from an operator, the plan with
    it in every link; None once a link was carried out with its own.  links: how many there are.
    It holds the operands' stores and plans and never an object, so that nothing refers to itself.
    """

    kind: str
    plan: Callable[[Any], Any] | None
    links: int = 1

    def spent(self) -> Chain:
        """The same chain, carried out."""
        return self._replace(plan=None)

    def then(self, operation: Callable[[Any], Any]) -> Chain:
        """The chain of `operation` (a transpose) of this one."""
        plan = self.plan
        return self if plan is None else self._replace(plan=lambda operator: operation(plan(operator)))

    def rebound(self, operator: Any) -> Any:
        """The plan with `operator` in every link; InvalidValue where a link was carried out with its own."""
        if self.plan is None:
            raise InvalidValue(
                f"{operator!r}(...): a part of this chain was computed with its own operator already (it was looked "
                f"at, or has more than {_LONGEST} links); write the chain in one expression, take .dup() of a part "
                f"that is meant as a value, or name the operators, as in A.mxm(B, op)"
            )
        return self.plan(operator)


class _Operand(NamedTuple):
    """One side of a link: its store or plan with its own operator, whether it is meant transposed, and its chain."""

    value: Any
    transposed: bool
    chain: Chain | None

    def under(self, operator: Any) -> tuple[Any, bool]:
        """The side with another operator in its links."""
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
    """One link: what `join` makes of both operands under `operator`, and the chain that it ends.

    join: from two operands (store or plan, whether it is meant transposed, and more) and an operator.
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
    return made
