// A warp processes a tile of a matrix (row_tiles.cuh), with a value for each row beside its entries.
//
// Slots of the tile are numbered from the multiple of ALIGNED positions at or before its first entry, so that accesses of
// neighboring slots are aligned.  No thread waits at a barrier of a block: tiles of different warps overlap.
//
// The prologue defines TILE, such that TILE + ALIGNED is a multiple of 32 QUAD.

#pragma once

#include "quads.cuh"
#include "row_tiles.cuh"

constexpr int ALIGNED = 32;
constexpr int WARP_SLOTS = int(TILE) + ALIGNED;
constexpr int WARP_QUADS = WARP_SLOTS / (32 * QUAD);  // of a thread
static_assert(WARP_SLOTS % (32 * QUAD) == 0 && WARP_SLOTS <= 1024, "whole quads, and a lane for each word of heads");

// The slots [begin, end) of a tile have its entries; slot s is position base + s.
struct TileSlots {
    i64 base;
    int begin, end;

    DEVICE TileSlots(const RowTile& tile) {
        begin = int(tile.first & (ALIGNED - 1));
        end = begin + tile.entries;
        base = tile.first - begin;
    }
};

// A value for each segment of consecutive slots of a warp's tile, in shared memory at the first slot of the segment, its
// head.  Every lane calls all functions but `mark`.
template <class V>
struct WarpHeads {
    static constexpr int WORDS = WARP_SLOTS / 32;
    u32 bits[WORDS];
    V values[WARP_SLOTS];

    DEVICE void clear() {
        __syncwarp();  // lanes may still read the tile before
        if (lane_id() < WORDS) bits[lane_id()] = 0;
        __syncwarp();
    }
    // Any lane calls, once for each head.
    DEVICE void mark(int slot, V value) {
        atomicOr(&bits[slot >> 5], 1u << (slot & 31));
        values[slot] = value;
    }
    // After all marks.  Returns in lane w the last head before slot 32 w; -1 if there is none.
    DEVICE int finish() const {
        __syncwarp();
        const u32 word = lane_id() < WORDS ? bits[lane_id()] : 0;
        const int head = warp_scan_max(word != 0 ? 32 * lane_id() + 31 - __clz(int(word)) : -1);
        const int below = shuffle_up(head, 1);
        return lane_id() == 0 ? -1 : below;
    }
    // The head of slot 32 * word + lane_id(); `before` is what `finish` returned.
    DEVICE int head(int word, int before) const {
        const u32 below = bits[word] & (FULL_WARP >> (31 - lane_id()));
        const int other = shuffle(before, word);
        return below != 0 ? 32 * word + 31 - __clz(int(below)) : other;
    }
    // The values of four slots, of which the first is `slot`, a multiple of four.  Slots before the first head have none.
    DEVICE Quad<V> quad(int slot, int before) const {
        const u32 word = bits[slot >> 5], from = word >> (slot & 31);
        const u32 below = word & (FULL_WARP >> (31 - (slot & 31)));
        const int other = shuffle(before, slot >> 5);
        const int head = below != 0 ? (slot | 31) - __clz(int(below)) : other;
        Quad<V> found;
        found.at[0] = values[head < 0 ? slot : head];
#pragma unroll
        for (int e = 1; e < QUAD; ++e) found.at[e] = from >> e & 1u ? values[slot + e] : found.at[e - 1];
        return found;
    }
};

// Calls use(p, low, high, values, fetch(p, count)) for each quad of positions from p, a multiple of QUAD, of which those of
// the tile are [low, high): `values` has of_row(row) for each, and `fetch` reads `count` of its positions before rows are
// known.  first_row: see row_tiles.cuh.  V has up to 8 bytes.  Every thread of the grid calls; blocks have TILE_THREADS threads.
template <class V, class P, class L, class R, class F>
DEVICE void for_each_row_quad(const P* indptr, i64 nrows, i64 n, const i64* first_row, i64 tiles, L fetch, R of_row, F use) {
    static_assert(sizeof(V) <= 8, "the values of all warps of a block fit in shared memory");
    __shared__ WarpHeads<V> shared[TILE_THREADS / 32];
    WarpHeads<V>& heads = shared[warp_in_block()];
    for (i64 number = warp_id(); number < tiles; number += warp_count()) {
        const RowTile tile(first_row, number, nrows, n);
        const TileSlots slots(tile);
        decltype(fetch(i64(0), 0)) read[WARP_QUADS];
#pragma unroll
        for (int round = 0; round < WARP_QUADS; ++round) {
            const int slot = QUAD * (32 * round + lane_id());
            const i64 p = slots.base + slot, left = n - p;
            if (slot < slots.end) read[round] = fetch(p, left < QUAD ? int(left) : QUAD);
        }
        heads.clear();
        for (i64 row = tile.row0 + lane_id(); row <= tile.row1 && row < nrows; row += 32) {
            const V value = of_row(row);
            const int start = tile.start(indptr, row);
            if (start < tile.end(indptr, row)) heads.mark(start + slots.begin, value);
        }
        const int before = heads.finish();
#pragma unroll
        for (int round = 0; round < WARP_QUADS; ++round) {
            const int slot = QUAD * (32 * round + lane_id());
            const Quad<V> values = heads.quad(slot, before);
            if (slot < slots.end && slot + QUAD > slots.begin) {
                use(slots.base + slot, slots.begin - slot, slots.end - slot, values, read[round]);
            }
        }
    }
}
