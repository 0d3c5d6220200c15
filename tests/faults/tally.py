"""The counts of a fault campaign."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

# Outcomes that a campaign may have; every one but these is a failure.
PASSED = frozenset({"ok", "refused", "oracle died", "not run"})
_SHOWN = 20


@dataclass
class Tally:
    """Trials by outcome, and descriptions of the first failed ones.

    Outcomes: ``"ok"`` (the correct result), ``"refused"`` (the documented error), ``"oracle died"`` (the other program
    crashed, so that nothing was compared); ``"not run"`` (its time was over); and as failures ``"wrong"``,
    ``"raw"`` (an exception that is neither a `SemiringError` nor documented), ``"died"`` (a crash) and ``"hung"``.
    kinds: the trials that were compared, by operation, of a campaign that counts them.
    """

    campaign: str
    seed: int
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, outcome: str, trial: str = "", kind: str = "") -> None:
        """Count one trial; `trial` describes it well enough to repeat it."""
        self.outcomes[outcome] += 1
        if kind:
            self.kinds[kind] += 1
        if outcome not in PASSED and len(self.failures) < _SHOWN:
            self.failures.append(f"{outcome}: {trial}")

    def merge(self, other: Tally) -> None:
        """Add the trials of another tally of the same campaign."""
        self.outcomes.update(other.outcomes)
        self.kinds.update(other.kinds)
        self.failures = [*self.failures, *other.failures][:_SHOWN]

    @property
    def failed(self) -> int:
        """The number of trials that failed."""
        return sum(count for outcome, count in self.outcomes.items() if outcome not in PASSED)

    def __str__(self) -> str:
        counts = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(self.outcomes.items()))
        lines = [f"{self.campaign} (seed {self.seed}): {self.outcomes.total():,} trials; {counts or 'none'}"]
        if self.kinds:
            lines.append(
                "  by operation: " + ", ".join(f"{kind} {count:,}" for kind, count in sorted(self.kinds.items()))
            )
        return "\n".join([*lines, *(f"  {failure}" for failure in self.failures)])
