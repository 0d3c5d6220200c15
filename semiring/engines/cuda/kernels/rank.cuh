// The number of marks before a position.

#pragma once

#include "semiring.cuh"

// `ranks` has one element more than `marks` has words; p may be the position after the last.  Any thread may call.
template <class R>
DEVICE i64 rank_of(const u32* marks, const R* ranks, i64 p) {
    const i64 before = i64(ranks[p >> 5]);
    const int bit = int(p & 31);
    return bit == 0 ? before : before + __popc(marks[p >> 5] & ((1u << bit) - 1u));
}
