"""Device functions on rows: balanced shares of rows, searching, comparing and sorting within one."""

from __future__ import annotations

import numpy as np

from .compile import device, inlined

# The steps of a merge in the time of a binary search, most of whose branches are mispredicted (measured on rows of
# Kronecker graphs: the time is about the same from 8 to 32).
_SEARCH_COST = 16
# The longest range that is sorted by insertion (reasoned: a few cache lines).
_SHORT = 24


@device
def share(indptr, part, parts):
    """Return the first row of a part; parts hold about equally many entries and rows."""
    nrows = indptr.size - 1
    if part <= 0:
        return 0
    if part >= parts:
        return nrows
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
def share_words(indptr, part, parts):
    """Return the first word of presence bits of a part, as `share`: no two parts write one word."""
    if part >= parts:
        return (indptr.size - 1 + 31) >> 5
    return share(indptr, part, parts) >> 5


@inlined
def lower_bound(indices, low, high, value):
    """Return the first position in [low, high) whose index is not below `value`.

    The number of steps depends on the length alone, and no branch on the indices, which would be unpredictable.
    """
    first, length = np.int64(low), np.int64(high) - np.int64(low)
    while length > 1:
        half = length >> 1
        first += half * (indices[np.uintp(first + half - 1)] < value)
        length -= half
    return first + (length == 1 and indices[np.uintp(first)] < value)


@inlined
def lopsided(few, many):
    """Return whether searching for each of a few indices costs less than a merge with many."""
    return few * _SEARCH_COST < many


@inlined
def common(a, p, p_end, b, r, r_end):
    """Return the number of indices that two sorted ranges share; the merge has no branch that depends on them.

    Rows often begin alike, where one is a part of the other; branches are predicted there, and cost less than a merge.
    """
    if lopsided(p_end - p, r_end - r):
        return _common_of_few(a, p, p_end, b, r, r_end)
    if lopsided(r_end - r, p_end - p):
        return _common_of_few(b, r, r_end, a, p, p_end)
    count = equal_run(a, p, p_end, b, r, r_end)
    p += count
    r += count
    while p < p_end and r < r_end:
        j, k = a[np.uintp(p)], b[np.uintp(r)]
        count += j == k
        p += j <= k
        r += k <= j
    return count


@inlined
def equal_run(a, p, p_end, b, r, r_end):
    """Return the number of first indices in which two ranges agree."""
    most = min(p_end - p, r_end - r)
    count = 0
    while count < most and a[np.uintp(p + count)] == b[np.uintp(r + count)]:
        count += 1
    return count


@inlined
def _common_of_few(few, p, p_end, many, r, r_end):
    count = 0
    while p < p_end and r < r_end:
        r = lower_bound(many, r, r_end, few[p])
        count += r < r_end and many[r] == few[p]
        p += 1
    return count


@inlined
def sort_range(keys, low, high):
    """Sort keys[low:high]; a short range by insertion, without the memory of `_sort_long`."""
    if high - low > _SHORT:
        _sort_long(keys, low, high)
    else:
        _insertion_sort(keys, low, high)


@inlined
def _insertion_sort(keys, low, high):
    for i in range(low + 1, high):
        key = keys[i]
        j = i
        while j > low and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


@device
def _sort_long(keys, low, high):
    """Sort keys[low:high]: quicksort on an explicit stack, heapsort where it goes deep, insertion at the end."""
    stack = np.empty((64, 3), np.int64)
    top = 0
    depth = 0
    size = high - low
    while size > 0:
        depth += 2
        size >>= 1
    while True:
        if high - low > _SHORT and depth > 0:
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
        if high - low > _SHORT:
            _heapsort(keys, low, high)
        else:
            _insertion_sort(keys, low, high)
        if top == 0:
            return
        top -= 1
        low, high, depth = stack[top, 0], stack[top, 1], stack[top, 2]


@device
def _heapsort(keys, low, high):
    count = high - low
    for start in range(count // 2 - 1, -1, -1):
        _sift(keys, low, start, count)
    for last in range(count - 1, 0, -1):
        keys[low], keys[low + last] = keys[low + last], keys[low]
        _sift(keys, low, 0, last)


@device
def _sift(keys, low, at, count):
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
