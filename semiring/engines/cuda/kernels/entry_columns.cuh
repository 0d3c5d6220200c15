// A block decodes the columns of consecutive entries of any number of rows into shared memory.
//
// A warp decodes a tile of the stream as if it were part of one row that begins before it, so row boundaries cost
// nothing.  If the codec restarts at rows, the first number of a row is a column, not a gap; shared memory then stores
// sums of all numbers of a tile, and `at` subtracts the sum before the row of the entry.
//
// The prologue defines the type P (offsets) and the parameters of columns.cuh.

#pragma once

#include "columns.cuh"

// Slots for COUNT entries, numbered from the beginning of the tile of the first entry.
template <int COUNT>
struct EntryColumns {
    static constexpr int SLOTS = COMPRESSED ? COUNT + int(TILE_ENTRIES) : 1;
    UJ sum[SLOTS];
    u32 heads[CODEC::RESTARTS_AT_ROWS ? SLOTS / 32 : 1];  // the slots at which rows begin

    // Any thread may call after `decode_entries`.
    DEVICE J at(int slot) const {
        UJ column = sum[slot];
        if constexpr (CODEC::RESTARTS_AT_ROWS) {
            int w = slot >> 5;
            u32 below = heads[w] & (FULL_WARP >> (31 - (slot & 31)));
            while (below == 0 && w % 4 != 0) below = heads[--w];
            const int head = 32 * w + 31 - __clz(int(below));
            if (below != 0 && head % int(TILE_ENTRIES) != 0) column -= sum[head - 1];
        }
        return J(column);
    }
};

// Decodes entries [first, first + count) of rows row0 to row1; returns the slot of the first.  The whole block calls;
// ends with a barrier.
template <int BLOCK, int COUNT>
DEVICE int decode_entries(const Columns& columns, EntryColumns<COUNT>& stage, const P* indptr, i64 row0, i64 row1,
                          i64 first, int count) {
    const int ahead = int(first % TILE_ENTRIES), end_slot = ahead + count;
    const i64 begin = first - ahead;
    if constexpr (CODEC::RESTARTS_AT_ROWS) {
        for (int w = int(threadIdx.x); w < EntryColumns<COUNT>::SLOTS / 32; w += BLOCK) stage.heads[w] = 0;
        __syncthreads();
        for (i64 o = row0 + threadIdx.x; o <= row1; o += BLOCK) {
            const i64 slot = i64(indptr[o]) - begin;
            if (slot >= 0 && slot < end_slot) atomicOr(&stage.heads[slot >> 5], 1u << (slot & 31));
        }
    }
    for (int tile = warp_in_block() * int(TILE_ENTRIES); tile < end_slot && count > 0;
         tile += BLOCK / 32 * int(TILE_ENTRIES)) {
        const int end = tile + int(TILE_ENTRIES) < end_slot ? tile + int(TILE_ENTRIES) : end_slot;
        WarpColumns walk(columns, begin + tile - 1, begin + tile, begin + end);
        while (walk.next()) {
            if (walk.inside) stage.sum[walk.p - begin] = UJ(walk.column);
        }
    }
    __syncthreads();
    return ahead;
}
