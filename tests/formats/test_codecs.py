"""The contract of every codec, on every engine: the layout of `semiring.formats.ccsr`, and nothing else is accepted."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.engines import registry
from semiring.engines.requests.storage import CheckCompressed, Encode, MeasureCompressed, Slices
from semiring.engines.rows.encoding import Encoder, measured
from semiring.exceptions import InvalidFormat
from semiring.formats import CODECS, CSR, TILE, Codec, CompressedPattern, Pattern, Placement, index_dtype
from semiring.formats.ccsr import compressed_nbytes
from semiring.formats.codecs import DEFINITIONS
from semiring.memory.arrays import to_device, to_host
from tests.compare import device_for

pytestmark = pytest.mark.one_process("formats, codecs and placements are of parts")

ARRAYS = ("indptr", "base", "at", "stream")
# Columns of 1, 31, 32 and 33 bits, and the most: types and widths change in between.
WIDTHS = (1, 2, 7, 300, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, 1 << 33, 1 << 60)
codecs = pytest.mark.parametrize("codec", CODECS)


def pattern_of(ncols: int, rows: list[Any]) -> Pattern:
    """The pattern of the given rows of columns."""
    indptr = np.cumsum([0, *(len(row) for row in rows)])
    indices = np.concatenate([np.zeros(0, np.int64), *(np.asarray(row, np.int64) for row in rows)])
    return Pattern(
        len(rows),
        ncols,
        indptr.astype(index_dtype(indices.size)),
        indices.astype(index_dtype(ncols)),
        {"symmetric": False},
    )


@st.composite
def patterns(draw: Any, most: int = 700) -> Pattern:
    """Rows of every length, empty ones among them; columns spread, dense, or at the end of the range."""
    ncols, rng = draw(st.sampled_from(WIDTHS)), np.random.default_rng(draw(st.integers(0, 2**20)))
    rows: list[Any] = []
    left = draw(st.sampled_from((0, 1, 31, 32, 33, 64, 65, 127, 128, 129, 256, most)))
    while left > 0:
        wanted = min(left, int(rng.choice([0, 1, 2, 5, 40, 200, left])), ncols)
        kind = rng.integers(3)
        start = int(rng.integers(ncols - wanted + 1)) if kind else ncols - wanted
        spread = np.unique(rng.integers(0, ncols, wanted))
        row = spread if kind == 2 else start + np.arange(wanted)
        rows.append(row)
        left -= max(len(row), 1)
    rows += [[]] * int(rng.integers(3))
    return pattern_of(ncols, rows)


def on_device(pattern: Any, engine: str) -> Any:
    return pattern.to("cuda" if engine == "cuda" else "cpu")


def encoded(pattern: Pattern, codec: Codec, engine: str, before: int = -1) -> CompressedPattern:
    """The compressed pattern of an engine, in host memory."""
    made: CompressedPattern = registry.run(Encode(on_device(pattern, engine), codec, before), engine)
    return made.to("cpu")


def decoded(pattern: CompressedPattern, engine: str, bounds: tuple[int, ...] | None = None) -> np.ndarray[Any, Any]:
    """The columns as an engine decodes them, slice by slice."""
    there = CSR(on_device(pattern, engine), np.dtype(np.bool_), None, np.bool_(True))
    bounds = (0, pattern.nrows) if bounds is None else bounds
    parts = [np.zeros(0, index_dtype(pattern.ncols))]
    for first, last, part in zip(bounds, bounds[1:], slices(there, bounds, engine), strict=False):
        assert part.shape == (last - first, pattern.ncols)
        begin, end = int(pattern.indptr[first]), int(pattern.indptr[last])
        assert part.indptr.dtype == index_dtype(end - begin)
        np.testing.assert_array_equal(to_host(part.indptr), pattern.indptr[first : last + 1] - begin)
        parts.append(to_host(part.indices).copy())
    assert {part.dtype for part in parts} == {parts[0].dtype}
    return np.concatenate(parts)


def slices(a: CSR, bounds: tuple[int, ...], engine: str) -> Any:
    return registry.run(Slices(a, bounds, tuple(range(len(bounds) - 1))), engine)


def check(pattern: CompressedPattern, engine: str) -> None:
    registry.run(CheckCompressed(on_device(pattern, engine)), engine)


def assert_same(a: CompressedPattern, b: CompressedPattern) -> None:
    assert (a.nrows, a.ncols, a.nvals, a.codec) == (b.nrows, b.ncols, b.nvals, b.codec)
    for name in ARRAYS:
        one, other = getattr(a, name), getattr(b, name)
        assert one.dtype == other.dtype, name
        np.testing.assert_array_equal(one, other, err_msg=name)


def assert_contract(pattern: Pattern, codec: Codec, engine: str) -> CompressedPattern:
    """Check all properties of a pattern and its compressed pattern; return the latter."""
    made = encoded(pattern, codec, engine)
    assert_same(made, encoded(pattern, codec, "reference"))
    np.testing.assert_array_equal(made.base, pattern.indices[::TILE])
    assert made.stream.size == int(made.at[-1]) + DEFINITIONS[codec].padding
    assert not made.stream[made.at[-1] :].any()
    assert registry.run(MeasureCompressed(on_device(pattern, engine), codec), engine) == made.nbytes
    assert compressed_nbytes(*made_shape(made), codec, int(made.at[-1])) == made.nbytes
    check(made, engine)
    np.testing.assert_array_equal(decoded(made, engine), pattern.indices)
    return made


def made_shape(made: CompressedPattern) -> tuple[int, int, int]:
    return made.nrows, made.ncols, made.nvals


@pytest.mark.costly
@codecs
@given(pattern=patterns(), seed=st.integers(0, 2**20))
def test_round_trip(codec: Codec, engine: str, pattern: Pattern, seed: int) -> None:
    made = assert_contract(pattern, codec, engine)
    cuts = np.random.default_rng(seed).integers(0, pattern.nrows + 1, 3).tolist()
    bounds = (0, *sorted(cuts), pattern.nrows)
    np.testing.assert_array_equal(decoded(made, engine, bounds), pattern.indices)


@codecs
@pytest.mark.parametrize("rows", [[], [[]], [[], [], []], [[0]], [[], [0, 1], [], [], [1], []]])
def test_small_and_empty(codec: Codec, engine: str, rows: list[list[int]]) -> None:
    made = assert_contract(pattern_of(2, rows), codec, engine)
    assert made.at.dtype == np.uint32
    assert made.at[0] == 0


@codecs
def test_a_row_of_many_tiles(codec: Codec, engine: str) -> None:
    rng = np.random.default_rng(3)
    row = np.unique(rng.integers(0, 1 << 22, 128 * 24))
    assert_contract(pattern_of(1 << 22, [[5], row, [], row[::3], [7]]), codec, engine)


@codecs
def test_many_threads_work_at_once(codec: Codec, engine: str) -> None:
    if engine == "reference":
        pytest.skip("the specification has one thread")
    rng = np.random.default_rng(4)
    row = np.unique(rng.integers(0, 1 << 24, 400_000))
    rows = [row, [], *np.array_split(row, 9_000), row[::5]]
    pattern = pattern_of(1 << 24, rows)
    made = encoded(pattern, codec, engine)
    check(made, engine)
    np.testing.assert_array_equal(decoded(made, engine, (0, 1, 4_000, 9_002, 9_003)), pattern.indices)
    # Tiles are independent except for a row that continues: parts encoded separately are the same.
    part = pattern_of(1 << 24, [row[: 128 * 9]])
    np.testing.assert_array_equal(encoded(part, codec, "reference").at, made.at[:10])
    wrong = made.stream.copy()
    wrong[made.at[1_000]] ^= 255
    with pytest.raises(InvalidFormat):
        check(replace(made, stream=wrong), engine)


@pytest.mark.costly
@codecs
@pytest.mark.parametrize("ncols", WIDTHS)
def test_the_last_columns(codec: Codec, engine: str, ncols: int) -> None:
    ends = sorted({column for column in (0, 1, ncols - 2, ncols - 1) if 0 <= column < ncols})
    dense = np.arange(max(0, ncols - 200), ncols)
    made = assert_contract(pattern_of(ncols, [ends] * 40 + [dense] + [ends[-1:]] * 100), codec, engine)
    assert made.base.dtype == (np.int32 if ncols < 1 << 31 else np.int64)


def leb128(number: int) -> bytes:
    """Base 128, little-endian, the top bit of a byte marks that more follow."""
    groups = [number >> shift & 0x7F for shift in range(0, max(number.bit_length(), 1), 7)]
    return bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])


@given(pattern=patterns())
def test_varint_is_leb128_of_the_gaps(engine: str, pattern: Pattern) -> None:
    expected = b""
    for begin, end in pairwise(pattern.indptr.tolist()):
        row = pattern.indices[begin:end].tolist()
        expected += b"".join(leb128(number) for number in [*row[:1], *(b - a for a, b in pairwise(row))])
    made = encoded(pattern, "varint", engine)
    assert made.stream.tobytes() == expected + bytes(16)


def test_packed_words_by_hand(engine: str) -> None:
    # Gaps 2, 1 and 4.  Width 0 takes a header, a word of places and one of three high parts of 3 bits; width 3 needs 4.
    made = encoded(pattern_of(16, [[3, 5, 6, 10]]), "packed", engine)
    assert made.stream.tolist() == [0 + 64 * 3 + 16384 * 3, 1 | 2 << 8 | 3 << 16, 2 | 1 << 3 | 4 << 6, 0, 0, 0, 0]
    # Across rows the gap is modulo 2^4: 0 - 15 is 1, and 9 - 15 is 10, the one exception, at place 64: 0 and 5 times 2.
    # The column of entry 64 follows the header.
    made = encoded(pattern_of(16, [range(16)] * 4 + [[9]]), "packed", engine)
    header = 1 + 64 * 1 + 16384 * 3
    assert made.stream.tolist() == [header, 9, 0xFFFFFFFE, 0xFFFFFFFF, 0, 64, 5, 0, 0, 0, 0]


@given(pattern=patterns(), before=st.integers(0, 5))
def test_a_row_that_continues(engine: str, pattern: Pattern, before: int) -> None:
    for codec in CODECS:
        first = pattern.indices[0] if pattern.nvals else 0
        if first > before:
            assert_same(encoded(pattern, codec, engine, before), encoded(pattern, codec, "reference", before))


@codecs
@given(pattern=patterns(), seed=st.integers(0, 2**20))
@settings(max_examples=40)
def test_fed_in_slices(codec: Codec, engine: str, pattern: Pattern, seed: int) -> None:
    whole, rng = encoded(pattern, codec, engine), np.random.default_rng(seed)
    cuts = [0, *sorted(rng.integers(0, pattern.nrows + 1, int(rng.integers(8))).tolist()), pattern.nrows]
    parts = [
        (pattern.indptr[a : b + 1] - pattern.indptr[a], pattern.indices[pattern.indptr[a] : pattern.indptr[b]])
        for a, b in pairwise(cuts)
    ]
    used = measured(parts, pattern.ncols, codec, engine)
    assert used == int(whole.at[-1])
    offsets = to_device(pattern.indptr, device_for(engine))
    places: tuple[tuple[Placement, int | None], ...] = (
        ("device", None), ("device", used), ("pinned", used), ("host", None),
    )  # fmt: skip
    for placement, known in places:
        encoder = Encoder(pattern.ncols, codec, engine, offsets, placement=placement, used=known)
        for part in parts:
            encoder.feed(part)
        made = encoder.finish()
        assert made.placement == placement
        assert_same(made.to("cpu"), whole)


# -- malformed streams ---------------------------------------------------------------------------------


def example(codec: Codec, engine: str) -> CompressedPattern:
    """Two tiles and a part of one, with exceptions, rows across tiles, and the column of entry 64."""
    rng = np.random.default_rng(5)
    row = np.unique(rng.integers(0, 4000, 190))
    return encoded(pattern_of(4001, [[0, 4000], [], row, np.arange(9), row[::4], [3999]]), codec, engine)


def assert_refused_or_sound(pattern: CompressedPattern, engine: str) -> bool:
    """True if it is refused; else it decodes to ascending columns in range, as the specification does."""
    try:
        check(pattern, engine)
    except InvalidFormat:
        return True
    columns = decoded(pattern, engine)
    np.testing.assert_array_equal(columns, decoded(pattern, "reference"))
    for begin, end in pairwise(pattern.indptr.tolist()):
        row = columns[begin:end].astype(np.int64)
        assert (row >= 0).all()
        assert (row < pattern.ncols).all()
        assert (np.diff(row) > 0).all()
    return False


@codecs
def test_every_prefix_is_refused(codec: Codec, engine: str) -> None:
    whole = example(codec, engine)
    for name in ARRAYS:
        array = getattr(whole, name)
        for length in range(array.size):
            with pytest.raises(InvalidFormat):
                check(replace(whole, **{name: array[:length].copy()}), engine)
    # The same prefixes, as a file might claim them: with offsets cut off at their end.
    for length in range(0, int(whole.at[-1]), 7):
        cut = np.concatenate([whole.stream[:length], np.zeros(DEFINITIONS[codec].padding, whole.stream.dtype)])
        with pytest.raises(InvalidFormat):
            check(replace(whole, stream=cut, at=np.minimum(whole.at, np.uint32(length))), engine)


@codecs
@pytest.mark.parametrize("name", ARRAYS)
def test_every_flipped_bit_is_refused_or_sound(codec: Codec, engine: str, name: str) -> None:
    whole = example(codec, engine)
    array = getattr(whole, name)
    kept = 0
    for byte in range(array.nbytes):
        for bit in range(8):
            wrong = array.copy()
            wrong.view(np.uint8)[byte] ^= 1 << bit
            kept += not assert_refused_or_sound(replace(whole, **{name: wrong}), engine)
    if name in ("base", "at"):
        assert kept == 0, "every bit of these is determined by the others"


@codecs
@given(seed=st.integers(0, 2**20))
def test_garbage_is_refused_or_sound(codec: Codec, engine: str, seed: int) -> None:
    rng, whole = np.random.default_rng(seed), example(codec, engine)
    wrong = {}
    for name in ARRAYS:
        array = getattr(whole, name).copy()
        if rng.random() < 0.5:
            places = rng.integers(0, array.size, int(rng.integers(1, 5)))
            array[places] = rng.integers(0, 1 << 63, places.size).astype(array.dtype)
        wrong[name] = array
    assert_refused_or_sound(replace(whole, **wrong), engine)


@codecs
def test_other_types_and_sizes_are_refused(codec: Codec, engine: str) -> None:
    whole = example(codec, engine)
    for name in ARRAYS:
        with pytest.raises(InvalidFormat, match=name):
            check(replace(whole, **{name: getattr(whole, name).astype(np.int16)}), engine)
    with pytest.raises(InvalidFormat):
        check(replace(whole, nvals=whole.nvals + 1), engine)
    with pytest.raises(InvalidFormat):
        check(replace(whole, ncols=4000), engine)
