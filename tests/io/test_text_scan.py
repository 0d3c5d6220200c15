from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.exceptions import InvalidFormat
from semiring.io import text_parts, text_scan
from semiring.io.text_scan import INTEGER, REAL, Column, character_classes, line_of_row, scan_lists, scan_table
from tests.io.arrays import text

CLASSES = character_classes(b",", b"#")
REALS = (Column("value", REAL),)
INTEGERS = (Column("value", INTEGER),)


@settings(deadline=None)
@given(st.lists(st.floats(), max_size=20))
def test_decimals_are_rounded_correctly(values: list[float]) -> None:
    table = scan_table(text("\n".join(map(repr, values))), 0, 1, REALS, CLASSES, name="f")
    np.testing.assert_array_equal(table.reals[0], values)


@settings(deadline=None)
@given(st.from_regex(r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,2})?", fullmatch=True))
def test_any_spelling_of_a_decimal_is_what_python_makes_of_it(word: str) -> None:
    assert scan_table(text(word), 0, 1, REALS, CLASSES, name="f").reals[0, 0] == float(word)


@settings(deadline=None)
@given(st.text(alphabet="0123456789+-.eEnaif_x", min_size=1, max_size=8))
def test_what_is_no_number_is_refused(word: str) -> None:
    try:
        expected: float | None = None if "_" in word else float(word)
    except ValueError:
        expected = None
    if expected is None or (np.isinf(expected) and "i" not in word):
        with pytest.raises(InvalidFormat, match="f:1: expected a number"):
            scan_table(text(word), 0, 1, REALS, CLASSES, name="f")
    else:
        found = scan_table(text(word), 0, 1, REALS, CLASSES, name="f").reals[0, 0]
        np.testing.assert_array_equal(found, expected)


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), 2**64 - 1), min_size=1, max_size=20))
def test_integers_are_exact(values: list[int]) -> None:
    table = scan_table(text("\n".join(map(str, values))), 0, 1, INTEGERS, CLASSES, name="f")
    assert [bits % 2**64 for bits in table.ints[0].tolist()] == [value % 2**64 for value in values]
    assert table.negative == (min(values) < 0)
    assert table.large == (max(values) >= 2**63)


@pytest.mark.parametrize("word", [str(2**64), str(-(2**63) - 1), "9" * 40, "-" + "9" * 40])
def test_integers_beyond_64_bits_are_refused(word: str) -> None:
    with pytest.raises(InvalidFormat, match="f:1: expected value from"):
        scan_table(text(word), 0, 1, INTEGERS, CLASSES, name="f")


@pytest.mark.parametrize("line", ["1,,2", "1,2,", ",1,2"])
def test_empty_fields_are_refused(line: str) -> None:
    with pytest.raises(InvalidFormat, match=r"f:1: .*empty field"):
        scan_table(text(line), 0, 1, INTEGERS * 2, CLASSES, name="f")


def test_lines_are_counted_through_blanks_and_comments() -> None:
    content = text("# c\n\n1\n\n# c\r\n 2 \n3")
    assert scan_table(content, 0, 1, INTEGERS, CLASSES, name="f").ints.tolist() == [[1, 2, 3]]
    assert [line_of_row(content, 0, 1, row, INTEGERS, CLASSES) for row in range(3)] == [3, 6, 7]


@pytest.mark.parametrize("size", [1, 3, 40])
@pytest.mark.parametrize("ending", ["", "\n"])
def test_slices_of_lists_change_nothing(monkeypatch: pytest.MonkeyPatch, size: int, ending: str) -> None:
    content = text("1 2 3\n# c\n\n4\n\n50 60" + ending)
    seen: list[float] = []
    expected = scan_lists(content, 0, 1, 5, CLASSES, name="f")
    assert expected.numbers.tolist() == [1, 2, 3, 4, 50, 60]
    assert expected.offsets.tolist() == [0, 3, 3, 4, 4, 6]
    assert expected.lines.tolist() == [1, 3, 4, 5, 6]
    monkeypatch.setattr(text_scan, "_SLICE_BYTES", size)
    found = scan_lists(content, 0, 1, 5, CLASSES, name="f", progress=lambda _, share: seen.append(share))
    for part in ("numbers", "offsets", "lines"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
    assert seen == sorted(seen)
    assert seen[-1] == 1
    assert len(seen) == 1 if size == 40 else len(seen) > 3
    with pytest.raises(InvalidFormat, match="f:6: expected integers from 0"):
        scan_lists(text("1 2 3\n# c\n\n4\n\n50 x" + ending), 0, 1, 5, CLASSES, name="f")


@pytest.mark.parametrize("counted", [1, 2, 1 << 20])
@pytest.mark.parametrize("content", ["", "\n", "a", "a\n", "a\nb", "\n\n", "ab\ncd\n"])
def test_lines_are_counted_with_the_last(monkeypatch: pytest.MonkeyPatch, content: str, counted: int) -> None:
    monkeypatch.setattr(text_parts, "COUNTED_BYTES", counted)
    assert text_parts.line_count(text(content), 0) == len(content.splitlines())
    assert text_parts.line_count(text(content), len(content)) == 0


def test_slices_and_pauses_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(7).random(500)
    content = text("\n".join(map(repr, values.tolist())))
    seen: list[float] = []
    monkeypatch.setattr(text_scan, "_SLICE_BYTES", 100)
    monkeypatch.setattr(text_scan, "_HARD_ROWS", 3)
    table = scan_table(content, 0, 1, REALS, CLASSES, name="f", progress=lambda _, share: seen.append(share))
    np.testing.assert_array_equal(table.reals[0], values)
    assert seen == sorted(seen)
    assert seen[-1] >= 1.0 - 1e-3
