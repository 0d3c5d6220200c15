// An index of an extraction: an array, or start, start + step, ...  The prologue defines X, the type of the array.

#pragma once

#include "semiring.cuh"

DEVICE i64 index_at(const X* index, i64 start, i64 step, i64 p) {
    return index == nullptr ? start + step * p : i64(index[p]);
}
