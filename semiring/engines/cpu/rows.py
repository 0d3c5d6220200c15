"""Device functions on rows: balanced shares of rows, searching and sorting within one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import device


@device
def share(indptr: Any, part: int, parts: int) -> int:
    """Return the first row of a part; parts hold about equally many entries and rows."""
    nrows = indptr.size - 1
    if part <= 0:
        return 0
    if part >= parts:
        return nrows  # type: ignore[no-any-return]
    bound = (np.int64(indptr[nrows]) + nrows) * part // parts
    low, high = 0, nrows
    while low < high:
        middle = (low + high) >> 1
        if np.int64(indptr[middle]) + middle < bound:
            low = middle + 1
        else:
            high = middle
    return low


@device
def share_words(indptr: Any, part: int, parts: int) -> int:
    """Return the first word of presence bits of a part, as `share`: no two parts write one word."""
    if part >= parts:
        return (indptr.size - 1 + 31) >> 5  # type: ignore[no-any-return]
    return share(indptr, part, parts) >> 5  # type: ignore[no-any-return]


@device
def lower_bound(indices: Any, low: Any, high: Any, value: Any) -> int:
    """Return the first position in [low, high) whose index is not below `value`."""
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low  # type: ignore[no-any-return]


@device
def sort_range(keys: Any, low: int, high: int) -> None:
    """Sort keys[low:high]: quicksort on an explicit stack, heapsort where it goes deep, insertion at the end."""
    stack = np.empty((64, 3), np.int64)
    top = 0
    depth = 0
    size = high - low
    while size > 0:
        depth += 2
        size >>= 1
    while True:
        if high - low > 24 and depth > 0:
            depth -= 1
            middle = (low + high) >> 1
            a, b, c = keys[low], keys[middle], keys[high - 1]
            pivot = max(min(a, b), min(max(a, b), c))
            i, j = low, high - 1
            while i <= j:
                while keys[i] < pivot:
                    i += 1
                while keys[j] > pivot:
                    j -= 1
                if i <= j:
                    keys[i], keys[j] = keys[j], keys[i]
                    i += 1
                    j -= 1
            # The larger part is pushed to the stack, which then never holds more than 64.
            if j + 1 - low > high - i:
                stack[top, 0], stack[top, 1], stack[top, 2] = low, j + 1, depth
                low = i
            else:
                stack[top, 0], stack[top, 1], stack[top, 2] = i, high, depth
                high = j + 1
            top += 1
            continue
        if high - low > 24:
            _heapsort(keys, low, high)
        else:
            for i in range(low + 1, high):
                key = keys[i]
                j = i
                while j > low and keys[j - 1] > key:
                    keys[j] = keys[j - 1]
                    j -= 1
                keys[j] = key
        if top == 0:
            return
        top -= 1
        low, high, depth = stack[top, 0], stack[top, 1], stack[top, 2]


@device
def _heapsort(keys: Any, low: int, high: int) -> None:
    count = high - low
    for start in range(count // 2 - 1, -1, -1):
        _sift(keys, low, start, count)
    for last in range(count - 1, 0, -1):
        keys[low], keys[low + last] = keys[low + last], keys[low]
        _sift(keys, low, 0, last)


@device
def _sift(keys: Any, low: int, at: int, count: int) -> None:
    while True:
        child = 2 * at + 1
        if child >= count:
            return
        if child + 1 < count and keys[low + child + 1] > keys[low + child]:
            child += 1
        if keys[low + at] >= keys[low + child]:
            return
        keys[low + at], keys[low + child] = keys[low + child], keys[low + at]
        at = child
