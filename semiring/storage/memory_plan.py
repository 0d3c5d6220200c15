"""Check that a matrix fits at its placement, report what would fit otherwise, and choose the placement of ``"auto"``.

Estimates of compressed sizes come from a sample of rows; they are exact for a matrix that is compressed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..config import checked_device, engine_for
from ..devices import dispatched, in_parts
from ..engines import registry
from ..engines.requests.operations import ImportCSR
from ..engines.requests.storage import MeasureCompressed
from ..exceptions import InvalidValue, OutOfMemory, SemiringError
from ..formats import CODECS, CSR, PLACEMENTS, AnyPattern, Array, Pattern, Placement, device_of, index_dtype
from ..formats.placement import place
from ..memory.allocation import allocating, free_memory, require
from ..memory.arrays import to_device, to_host

# A traversal needs about this many bytes a row besides the matrix; other operations, a share of the free memory.
_WORK_BYTES_A_ROW = 24
_WORK_SHARE = 4
# The sample of an estimate: the number of runs of rows, and the approximate entries of each.
_SAMPLES = 32
_SAMPLE_ENTRIES = 1 << 16


def checked_placement(placement: Any) -> Placement | None:
    """Return `placement`, or None for ``"auto"``; InvalidValue for anything else."""
    if placement == "auto":
        return None
    if placement not in PLACEMENTS:
        raise InvalidValue(f"a placement is {', '.join(map(repr, PLACEMENTS))} or 'auto', got {placement!r}")
    return placement  # type: ignore[no-any-return]


def uncompressed_nbytes(nrows: int, ncols: int, nvals: int, itemsize: int) -> int:
    """Return the bytes of an uncompressed matrix; itemsize: of a value, 0 where all entries share one."""
    entries = nvals * (index_dtype(ncols).itemsize + itemsize)
    return (nrows + 1) * index_dtype(nvals).itemsize + entries


def automatic(device: str, nrows: int, near: int, entries: int) -> Placement:
    """Return the placement that ``"auto"`` selects on `device`.

    ``"device"`` if all fits with a reserve for operations: 24 bytes a row, or a quarter of the free memory if that is
    more.  Otherwise ``"pinned"`` if the entries fit in host memory, else ``"host"``.

    Parameters
    ----------
    device : ``"cpu"`` or ``"cuda"``
    nrows : number of rows
    near : bytes that reside in device memory at every placement (offsets, anchors)
    entries : bytes of columns, or of the compressed stream, and of values
    """
    if device == "cpu":
        return "device"
    free = free_memory(device)
    if free is None or near + entries + max(_WORK_BYTES_A_ROW * nrows, free // _WORK_SHARE) <= free:
        return "device"
    host = free_memory("cpu")
    return "pinned" if host is None or entries <= host else "host"


def moved(store: CSR, placement: str | None, device: str | None, operation: str = "to") -> CSR:
    """Return the matrix with this placement of its entries, for `device`; itself if they have it already.

    Parameters
    ----------
    placement : one of `PLACEMENTS`, or ``"auto"``; None: unchanged, or ``"device"`` if the device changes
    device : None: unchanged
    operation : the public operation, for messages

    Raises
    ------
    InvalidValue, NotSupported
    OutOfMemory
        If it does not fit there; the message reports what would.
    """
    target = store.device if device is None else checked_device(device)
    if target != store.device and in_parts(target, store.device):
        made = store.to(target)
        return made if placement is None else moved(made, placement, None, operation)
    return moved_whole(store, placement, target, operation)


@dispatched()
def moved_whole(store: CSR, placement: str | None, target: str, operation: str) -> CSR:
    """Return a matrix of this process at another placement or on another of its devices; see `moved`."""
    if placement is None:
        placement = store.placement if target == store.device else "device"
    chosen = destined(operation, store, placement, target)
    if target == store.device and chosen == store.placement:
        return store
    if store.device == target == "cuda" and store.placement == "device":  # entries on the host are not copied
        require(operation, "cpu", entries_nbytes(store), hint='keep placement="device", or compress the matrix first')
    with allocating(operation, target):
        return place(store, chosen, target)


def destined(operation: str, store: CSR, placement: str, device: str) -> Placement:
    """Return the placement to which `moved` moves the entries of a matrix; InvalidValue, OutOfMemory as `moved`."""
    entries = entries_nbytes(store)
    near = 0 if device == store.device else store.nbytes - entries
    more = 0 if device == store.device and store.placement == "device" else entries  # bytes not yet there
    chosen = checked_placement(placement) or automatic(device, store.pattern.offset_rows, near, more)
    if device == store.device and chosen == store.placement:
        return chosen
    needed = _needed(store, chosen, device)
    free = free_memory(device) if needed else None
    if free is not None and needed > free:
        message = what_fits(*store.shape, store.nvals, _itemsize(store), lambda: measured(store), device, near)
        raise OutOfMemory(f"{operation}: {message}", asked_bytes=needed, free_bytes=free)
    return chosen


def arriving(
    indptr: Array,
    indices: Array,
    values: Array,
    ncols: int,
    dtype: np.dtype[Any],
    device: str,
    placement: Placement | None,
) -> Placement:
    """Return the placement for compressed rows that are to become a matrix; OutOfMemory if they do not fit there.

    values: an array, or one value of dimension 0.  placement: None for ``"auto"``.
    """
    nrows, nvals = int(indptr.size) - 1, int(indices.size)
    itemsize = dtype.itemsize if values.ndim else 0
    whole, near = uncompressed_nbytes(nrows, ncols, nvals, itemsize), (nrows + 1) * index_dtype(nvals).itemsize
    chosen = automatic(device, nrows, near, whole - near) if placement is None else placement
    if device == "cuda" and device_of(indices) == "cpu":
        needed, free = whole if chosen == "device" else near, free_memory(device)
        if free is not None and needed > free:
            message = what_fits(
                nrows, ncols, nvals, itemsize, lambda: estimated(indptr, indices, ncols, device), device, near
            )
            raise OutOfMemory(f"from_csr: {message}", asked_bytes=needed, free_bytes=free)
    return chosen


def entries_nbytes(store: CSR) -> int:
    """Return the bytes that a placement affects: columns or compressed stream, and values."""
    columns = 0 if store.pattern.ENTRIES is None else store.pattern.entries.nbytes
    return int(columns + (0 if store.values is None else store.values.nbytes))


def _needed(store: CSR, placement: Placement, device: str) -> int:
    """Return the bytes that a move adds to the memory of the device; arrays that reside there are not counted."""
    entries = entries_nbytes(store)
    if device == "cpu":
        return 0
    near = 0 if store.device == device else store.nbytes - entries
    return near + (entries if placement == "device" else 0)


def _itemsize(store: CSR) -> int:
    return 0 if store.values is None else int(store.dtype.itemsize)


# -- what would fit --------------------------------------------------------------------------------------


def what_fits(
    nrows: int,
    ncols: int,
    nvals: int,
    itemsize: int,
    measure: Callable[[], Mapping[str, int]] | None = None,
    device: str = "cuda",
    near: int = 0,
) -> str:
    """Return a sentence for OutOfMemory: the bytes that each storage kind needs, the bytes free, and the remedies.

    Parameters
    ----------
    nrows, ncols, nvals : shape and number of entries
    itemsize : bytes of a value, 0 where all entries share one
    measure : returns the bytes of the compressed structure by codec (see `estimated`); called only before an error
    device : where it does not fit
    near : bytes that reside there at every placement: row offsets, and the tiles of compressed rows

    Returns
    -------
    str
        "the matrix needs 28,900,000,000 bytes uncompressed, about 9,400,000,000 as varint; free are ...; what works: "
    """
    whole, free = uncompressed_nbytes(nrows, ncols, nvals, itemsize), free_memory(device)
    sizes = {} if measure is None else {codec: size + nvals * itemsize for codec, size in measure().items()}
    parts = [f"{whole:,} bytes uncompressed", *(f"about {size:,} as {codec}" for codec, size in sizes.items())]
    known = "" if free is None else f"; free are {free:,} bytes on {device}"
    needs = f"the matrix needs {', '.join(parts)}{known}"
    if free is not None and near > free:
        return f'{needs}; of these {near:,} (row offsets) are stored there in every placement; what works: device="cpu"'
    advice = ['placement="pinned" (read in host memory)', 'placement="host" (streamed)', 'placement="auto"']
    fitting = [codec for codec, size in sizes.items() if free is not None and size <= free]
    if fitting:
        best = min(fitting, key=lambda codec: sizes[codec])
        advice.insert(0, f'placement="host" and then .compress("{best}").to(placement="device")')
    elif sizes:
        best = min(sizes, key=lambda codec: sizes[codec])
        advice.append(f'.compress("{best}") for less to read')
    return f"{needs}; what works: {', '.join(advice)}"


def measured(store: CSR) -> dict[str, int]:
    """Return the bytes of the structure by codec: estimated for uncompressed rows, else exact."""
    pattern = store.pattern
    if isinstance(pattern, Pattern):
        return estimated(pattern.indptr, pattern.indices, pattern.ncols, store.device)
    return {} if pattern.codec is None else {pattern.codec: pattern.nbytes}


def estimated(indptr: Array, indices: Array, ncols: int, device: str) -> dict[str, int]:
    """Estimate the bytes of compressed rows by codec, from up to 32 runs of entries; only of measurable codecs.

    Parameters
    ----------
    indptr, indices : CSR arrays, in any memory; rows may be unsorted
    ncols : number of columns
    device : where the sample is measured

    Notes
    -----
    Cost: 2 million entries at most, and a copy of the offsets.  Synchronizes.
    """
    nrows, nvals = int(indptr.size) - 1, int(indices.size)
    try:
        sample = _sample(to_host(indptr), indices, ncols, device)
        sizes = {codec: registry.run(MeasureCompressed(sample, codec), engine_for(device)) for codec in CODECS}
    except (SemiringError, MemoryError):  # no estimate for malformed rows, or if measuring fails
        return {}
    offsets = (nrows + 1) * index_dtype(nvals).itemsize
    grown = nvals / max(sample.nvals, 1)
    return {codec: offsets + int((size - sample.indptr.nbytes) * grown) for codec, size in sizes.items()}


def _sample(indptr: np.ndarray[Any, Any], indices: Array, ncols: int, device: str) -> AnyPattern:
    """Return runs of entries with their rows, as one uncompressed pattern with sorted rows."""
    nvals = int(indices.size)
    whole = nvals <= _SAMPLES * _SAMPLE_ENTRIES
    begins = [0] if whole else [nvals * k // _SAMPLES for k in range(_SAMPLES)]
    length = nvals if whole else _SAMPLE_ENTRIES
    lengths, columns = [], []
    for begin in begins:
        end = begin + length
        first = max(int(np.searchsorted(indptr, begin, "right")) - 1, 0)
        last = int(np.searchsorted(indptr, end, "left"))
        lengths.append(np.diff(np.clip(indptr[first : last + 1], begin, end)))
        columns.append(to_host(indices[begin:end]))
    offsets = np.concatenate([[0], *lengths]).cumsum()
    rows, cols = (to_device(array, device) for array in (offsets, np.concatenate(columns)))
    spec = ImportCSR(offsets.size - 1, ncols, np.dtype(bool), rows, cols, None, np.bool_(True), None)
    made: CSR = registry.run(spec, engine_for(device))
    return made.pattern
