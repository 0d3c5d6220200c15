// The columns of consecutive entries, of however many rows, decoded by a block into shared memory.
//
// A warp decodes a tile of the stream as if it were part of one row that begins before it, so that rows cost nothing.
// A packed stream is made for that.  In a varint stream the first number of a row is a column, not a gap: what is in
// shared memory are sums of all numbers of a tile, and the sum in front of an entry's row is taken off again.
//
// The prologue defines the type P (offsets), and what columns.cuh asks for.

#pragma once

#include "columns.cuh"

// Room for COUNT entries, wherever in a tile the first of them lies.  A place counts entries from the beginning of that
// tile.
template <int COUNT>
struct EntryColumns {
    static constexpr int PLACES = CODEC == PLAIN ? 1 : COUNT + int(TILE_ENTRIES);
    UJ sum[PLACES];
    u32 heads[CODEC == VARINT ? PLACES / 32 : 1];  // where rows begin

    // Any thread calls, behind the barrier of `decode_entries`.
    DEVICE J at(int place) const {
        UJ column = sum[place];
        if constexpr (CODEC == VARINT) {
            int w = place >> 5;
            u32 below = heads[w] & (FULL_WARP >> (31 - (place & 31)));
            while (below == 0 && w % 4 != 0) below = heads[--w];
            const int head = 32 * w + 31 - __clz(int(below));
            if (below != 0 && head % int(TILE_ENTRIES) != 0) column -= sum[head - 1];
        }
        return J(column);
    }
};

// Entries first to first + count - 1, which lie in rows row0 to row1; gives the place of the first.  The whole block
// calls; ends with a barrier.
template <int BLOCK, int COUNT>
DEVICE int decode_entries(const Columns& columns, EntryColumns<COUNT>& stage, const P* indptr, i64 row0, i64 row1,
                          i64 first, int count) {
    const int ahead = int(first % TILE_ENTRIES), places = ahead + count;
    const i64 begin = first - ahead;
    if constexpr (CODEC == VARINT) {
        for (int w = int(threadIdx.x); w < EntryColumns<COUNT>::PLACES / 32; w += BLOCK) stage.heads[w] = 0;
        __syncthreads();
        for (i64 o = row0 + threadIdx.x; o <= row1; o += BLOCK) {
            const i64 place = i64(indptr[o]) - begin;
            if (place >= 0 && place < places) atomicOr(&stage.heads[place >> 5], 1u << (place & 31));
        }
    }
    for (int tile = warp_in_block() * int(TILE_ENTRIES); tile < places && count > 0;
         tile += BLOCK / 32 * int(TILE_ENTRIES)) {
        const int end = tile + int(TILE_ENTRIES) < places ? tile + int(TILE_ENTRIES) : places;
        WarpColumns walk(columns, begin + tile - 1, begin + tile, begin + end);
        while (walk.next()) {
            if (walk.inside) stage.sum[walk.p - begin] = UJ(walk.column);
        }
    }
    __syncthreads();
    return ahead;
}
