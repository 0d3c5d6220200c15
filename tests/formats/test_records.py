"""Records: made like dataclasses, and attributes that are computed once."""

from __future__ import annotations

import pickle
from dataclasses import field, fields, replace
from typing import Any, ClassVar

import pytest

from semiring.formats.records import derived, record


@record
class Rows:
    """Fields of every kind."""

    count: int
    step: int = 2
    facts: dict[str, int] = field(default_factory=dict)
    format: str = field(default="rows", init=False)

    invariant: ClassVar[str] = "count >= 0"

    @derived
    def doubled(self) -> list[int]:
        """Twice the count."""
        return [2 * self.count]


def test_a_record_is_a_dataclass_compared_by_identity() -> None:
    made = Rows(3, facts={"a": 1})
    assert (made.count, made.step, made.facts, made.format) == (3, 2, {"a": 1}, "rows")
    assert [item.name for item in fields(Rows)] == ["count", "step", "facts", "format"]
    assert made != Rows(3, facts={"a": 1})
    assert replace(made, count=4).count == 4
    assert repr(made) == "Rows(count=3, step=2, facts={'a': 1}, format='rows')"
    assert hash(made) == object.__hash__(made)


def test_each_record_has_facts_of_its_own() -> None:
    one, other = Rows(1), Rows(1)
    one.facts["a"] = 1
    assert other.facts == {}


@pytest.mark.parametrize("arguments", [{}, {"count": 1, "unknown": 2}, {"count": 1, "format": "csr"}])
def test_wrong_arguments(arguments: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Rows(**arguments)


def test_the_constructor_asserts_the_invariant() -> None:
    with pytest.raises(AssertionError):
        Rows(-1)


def test_a_derived_attribute_is_computed_once() -> None:
    made = Rows(3)
    assert made.doubled == [6]
    assert made.doubled is made.doubled
    assert replace(made, count=4).doubled == [8]
    assert Rows.doubled.__doc__ == "Twice the count."


def test_a_pickle_has_the_fields_and_nothing_that_is_derived() -> None:
    made = Rows(3)
    made.facts.update(one=1, many=[1, 2, 3])  # type: ignore[dict-item]
    assert made.doubled == [6]
    restored = pickle.loads(pickle.dumps(made))
    assert vars(restored) == {"count": 3, "step": 2, "facts": {"one": 1}}
    assert made.facts == {"one": 1, "many": [1, 2, 3]}
    assert (restored.doubled, restored.format) == ([6], "rows")
