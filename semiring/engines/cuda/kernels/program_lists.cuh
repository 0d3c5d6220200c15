// The lists of vectors of a program: entries of all vectors one behind another, and offsets of the vectors.

#pragma once

#include "program.cuh"

// store(p, i) for the entries of u, where p numbers them from 0; k counts the entries of a bitmap.
template <class S, class F>
DEVICE void enumerate_entries(Group& g, const S& u, int k, u64 base, i64 size, F store) {
    if (u.sparse(size)) {
        for (i64 q = group_thread(); q < u.count; q += group_threads()) store(q, i64(u.list[q]));
        return;
    }
    const i64 words = (size + 31) / 32;
    each_by_block<BLOCK, Group>(words, [&](i64 w, bool inside) {
        const u32 bits = inside ? u.words[w] : 0u;
        const u64 place = g.reserve(k, u64(__popc(bits))) - base;
        // The lanes store the entries of one word after another, so that neighbors write to neighboring memory.
        for (u32 left = __ballot_sync(FULL_WARP, bits != 0); left; left &= left - 1) {
            const int lane = __ffs(int(left)) - 1;
            const u32 word = shuffle(bits, lane);
            const u64 begin = shuffle(place, lane);
            const u32 below = word & ((1u << lane_id()) - 1u);
            if ((word >> lane_id()) & 1u) store(i64(begin) + __popc(below), 32 * (w - lane_id() + lane) + lane_id());
        }
    });
}

// Enters vector `at` of a list in an empty u, whose count is already that of the vector; values: those of u.
template <class S, class I, class T>
DEVICE void enter_item(const S& u, const I* indices, const T* from, const i64* offsets, i64 at, T* values) {
    const i64 begin = offsets[at];
    for (i64 q = group_thread(); q < u.count; q += group_threads()) {
        const i64 i = i64(indices[begin + q]);
        u.list[q] = i;
        bit_set(u.words, i);
        values[i] = from[begin + q];
    }
}
