"""The group with the most weight among the entries of each row."""

from __future__ import annotations

from ...formats import Full
from ..registry import implements
from ..requests.graphs import Vote
from .dense import densify


@implements(Vote, engine="reference")
def vote(q: Vote) -> Full:
    """t(i) = argmax over G of sum of a(i, j) for label(j) = G, less rate mass(i) total(G)."""
    a, present = densify(q.a)
    labels = densify(q.labels)[0]
    mass, totals = (None if store is None else densify(store)[0] for store in (q.mass, q.totals))
    votes = None if q.rows is None else densify(q.rows)[0]
    made = labels.copy()
    for i in range(q.a.nrows):
        if votes is not None and not votes[i]:
            continue
        own = int(labels[i])
        sums: dict[int, float] = {own: 0.0} if q.keep and 0 <= own < labels.size else {}
        for j in present[i].nonzero()[0]:
            group = int(labels[j])
            if 0 <= group < labels.size:
                sums[group] = sums.get(group, 0.0) + float(a[i, j])
        if mass is not None and totals is not None:
            for group in sums:
                other = float(totals[group]) - (float(mass[i]) if group == own else 0.0)
                sums[group] -= q.rate * float(mass[i]) * other
        # NaN equals nothing, itself neither.
        scores = {group: score for group, score in sums.items() if score == score}
        if not scores:
            continue
        best = max(scores.values())
        if not (q.keep and scores.get(own, -float("inf")) == best):
            made[i] = min(group for group, score in scores.items() if score == best)
    return Full(q.labels.size, q.labels.dtype, made)
