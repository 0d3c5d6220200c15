"""The same request with its matrices in other storage kinds: compressed, listed rows, bitmaps, pinned, in host memory.

The request and the seed of the run (`tests.sampling`) determine the storage kinds, so that a failing call fails again.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from typing import Any
from unittest.mock import patch

import numpy as np

from semiring.devices import Device
from semiring.engines import registry
from semiring.engines.requests.operands import Index, Mask, Rows, Spec
from semiring.engines.requests.storage import Encode
from semiring.engines.rows import bounds
from semiring.engines.rows.slices import uncompressed
from semiring.exceptions import InvalidValue
from semiring.formats import (
    CODECS,
    CSR,
    FORMATS,
    PLACEMENTS,
    AnyPattern,
    BitmapPattern,
    CompressedPattern,
    HyperPattern,
    Pattern,
    Placement,
    Store,
)
from semiring.formats.hypersparse import with_all_rows
from semiring.memory.arrays import to_host
from semiring.storage.compression import convert
from tests import sampling

# A matrix with more positions, of which few have entries, is not made a bitmap.
MOST_POSITIONS = 1 << 24
# Entries and rows of a slice: the drawn matrices then have up to three.
SMALL = 40
# One request in so many runs again in other storage kinds; all of them under --exhaustive.  On the CPU each needs
# additional kernels, whose compilation takes longer than their run.
_ONE_IN = {"cpu": 32}
_USUALLY_ONE_IN = 6
KINDS: tuple[tuple[str | None, Placement], ...] = tuple(
    (codec, placement) for codec in (None, *CODECS) for placement in PLACEMENTS if codec or placement != "device"
)
# The formats that every structure can have, besides the storage kinds above.
_DRAWN_FORMATS = (HyperPattern.format, BitmapPattern.format)
# The formats without a codec, other than rows with their columns.
OTHER_FORMATS = tuple(name for name, kind in FORMATS.items() if not kind.HAS_CODEC and name != Pattern.format)


@contextmanager
def small_slices(size: int = SMALL) -> Iterator[None]:
    """Slices so small that small matrices have several."""
    with patch.object(bounds, "SLICE", size):
        yield


def is_chosen(spec: Spec, engine: str) -> bool:
    """Whether the request runs in other storage kinds too: it has a matrix, and is in the sample."""
    if isinstance(engine, Device):  # the parts of a grid are moved by the processes
        return False
    return bool(_patterns(spec)) and (sampling.exhaustive or seed_of(spec) % _ONE_IN.get(engine, _USUALLY_ONE_IN) == 0)


def seed_of(spec: Spec) -> int:
    """A number that depends on the structures in a request and on the seed of the run."""
    seed = zlib.crc32(spec.name.encode(), sampling.seed)
    for pattern in _patterns(spec):
        seed = zlib.crc32(to_host(pattern.indices).tobytes(), zlib.crc32(to_host(pattern.indptr).tobytes(), seed))
    return seed


def in_other_kinds(spec: Spec, engine: str) -> Spec:
    """The request with each of its matrices in a storage kind drawn at random, on the engine's device."""
    return _in_other_kinds(spec, engine, np.random.default_rng(seed_of(spec)))  # type: ignore[no-any-return]


def in_kind(a: CSR, codec: str | None, placement: Placement, engine: str) -> CSR:
    """The matrix, which is uncompressed and device-resident, in another storage kind; on a grid each of its blocks."""
    if isinstance(engine, Device):
        grid = engine.executor.grid
        return grid.with_part(a, in_kind(grid.part(a), codec, placement, grid.engine))  # type: ignore[no-any-return]
    return _placed(replace(a, pattern=_encoded(a.pattern, codec, engine), cache={}), placement)


def in_format(a: CSR, format: str, placement: Placement, engine: str) -> CSR:
    """The matrix, which is uncompressed and device-resident, in another format, if its structure has that form.

    On a grid each of its blocks whose structure has it.
    """
    if isinstance(engine, Device):
        grid = engine.executor.grid
        return grid.with_part(a, in_format(grid.part(a), format, placement, grid.engine))  # type: ignore[no-any-return]
    if format != BitmapPattern.format or a.nrows * a.ncols <= MOST_POSITIONS:
        with suppress(InvalidValue):
            a = convert(a, format)
    return _placed(replace(a, cache={}), placement)


def as_uncompressed(store: Store, engine: str) -> Store:
    """The store, decoded and copied to device memory if it is a matrix in another storage kind."""
    return uncompressed(with_all_rows(store), engine, "test") if isinstance(store, CSR) else store


def _patterns(item: Any) -> list[Pattern]:
    if isinstance(item, CSR):
        item = item.pattern
    if isinstance(item, Pattern):
        return [item]
    if isinstance(item, Rows):
        return _patterns(item.get()) if item.ready else []
    if isinstance(item, (Spec, Mask, Index)):
        return [pattern for part in fields(item) for pattern in _patterns(getattr(item, part.name))]
    return []


def _in_other_kinds(item: Any, engine: str, rng: np.random.Generator) -> Any:
    if isinstance(item, CSR) and not item.kind.uncompressed:
        return item  # it is in another storage kind already
    if isinstance(item, CSR):
        drawn = int(rng.integers(len(KINDS) + len(_DRAWN_FORMATS)))
        if drawn >= len(KINDS):
            return in_format(item, _DRAWN_FORMATS[drawn - len(KINDS)], "device", engine)
        return in_kind(item, *KINDS[drawn], engine)
    if isinstance(item, Pattern):
        bare = CSR(item, np.dtype(np.bool_), None, np.bool_(True))
        return _in_other_kinds(bare, engine, rng).pattern
    if isinstance(item, Rows):
        made = _in_other_kinds(item.get(), engine, rng) if item.ready else item.get()  # derived: uncompressed
        return Rows(made if item.ready else None, lambda: made)
    if isinstance(item, (Spec, Mask, Index)):
        return replace(
            item, **{part.name: _in_other_kinds(getattr(item, part.name), engine, rng) for part in fields(item)}
        )
    return item


def _encoded(pattern: AnyPattern, codec: Any, engine: str) -> AnyPattern:
    if codec is None:
        return replace(pattern, facts={})
    encoded: CompressedPattern = registry.run(Encode(pattern, codec), engine)
    return encoded


def _placed(a: CSR, placement: Placement) -> CSR:
    if a.device == "cuda":
        from semiring.formats.placement import place

        return place(a, placement)
    return replace(a, pattern=replace(a.pattern, placement=placement), cache={})
