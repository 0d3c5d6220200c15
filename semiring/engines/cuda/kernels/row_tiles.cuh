// Tiles of a matrix: the merge path of entries and row ends, TILE steps each, so that neither long nor empty rows make
// one tile larger than another.  Blocks of TILE_THREADS threads process one tile.
// Merrill, Garland, "Merge-Based Parallel Sparse Matrix-Vector Multiplication" (SC 2016).
//
// The prologue defines TILE.

#pragma once

#include "heads.cuh"
#include "lookback.cuh"

constexpr int TILE_THREADS = 256;
constexpr int TILE_ROUNDS = TILE < TILE_THREADS ? 1 : int(TILE) / TILE_THREADS;  // a smaller tile is that of a warp
constexpr int TILE_WORDS = int(TILE) / 32;

// The slots [start, end) of a row in a tile.
struct TileSpan {
    int start, end;
};
// The entries of a tile, and the rows [row0, row1) that end in it.  Later entries belong to row1.
struct RowTile {
    i64 row0, row1, first;
    int entries;

    RowTile() = default;
    DEVICE RowTile(const i64* first_row, i64 tile, i64 nrows, i64 n) {
        const i64 at = tile * TILE, end = at + TILE < nrows + n ? at + TILE : nrows + n;
        row0 = first_row[tile];
        row1 = first_row[tile + 1];
        first = at - row0;
        entries = int(end - row1 - first);
    }
    // The first slot of row r in the tile, and the slot after its last; equal if it has no entry in the tile.
    template <class P>
    DEVICE int start(const P* indptr, i64 r) const {
        const i64 slot = i64(indptr[r]) - first;
        return slot > 0 ? int(slot) : 0;
    }
    template <class P>
    DEVICE int end(const P* indptr, i64 r) const {
        const i64 slot = i64(indptr[r + 1]) - first;
        return slot < entries ? int(slot) : entries;
    }
    // Both; none for a row that is not in the tile.
    template <class P>
    DEVICE TileSpan span(const P* indptr, i64 r, i64 nrows) const {
        if (r < row0 || r > row1 || r >= nrows) return {0, 0};
        return {start(indptr, r), end(indptr, r)};
    }
};

// The slot that a thread processes in a round, and its word of 32 slots: a warp processes consecutive slots, and 32
// adjacent ones in a round.
DEVICE int tile_word(int round) { return warp_in_block() * TILE_ROUNDS + round; }
DEVICE int tile_slot(int round) { return 32 * tile_word(round) + lane_id(); }

// Marks the slots at which rows of the tile begin with the number of the row, from row0.  Every thread of the block
// calls, between `clear` with its barrier and `finish`.
template <class P>
DEVICE void mark_rows(TileHeads<u16, int(TILE)>& heads, const RowTile& tile, const P* indptr, i64 nrows) {
    for (i64 r = tile.row0 + threadIdx.x; r <= tile.row1 && r < nrows; r += TILE_THREADS) {
        const int start = tile.start(indptr, r);
        if (start < tile.end(indptr, r)) heads.mark(start, u16(r - tile.row0));
    }
}

// One bit for each slot of a tile, and the number of bits before each word.
struct TileMarks {
    u32 bits[TILE_WORDS];
    int below[TILE_WORDS + 1];

    // The sum of the bits of all words.  The first warp calls after a barrier; valid in every lane.
    DEVICE int count() {
        int sum = 0;
        for (int base = 0; base < TILE_WORDS; base += 32) {
            const int w = base + lane_id();
            const int mine = w < TILE_WORDS ? __popc(bits[w]) : 0;
            const int inclusive = warp_scan_inclusive(mine);
            if (w < TILE_WORDS) below[w] = sum + inclusive - mine;
            sum += shuffle(inclusive, 31);
        }
        if (lane_id() == 0) below[TILE_WORDS] = sum;
        return sum;
    }
    // The number of bits before a slot, at most TILE; any thread calls after `count` and a barrier.
    DEVICE int rank(int slot) const {
        const int bit = slot & 31, before = below[slot >> 5];
        return bit == 0 ? before : before + __popc(bits[slot >> 5] & ((1u << bit) - 1u));
    }
};

// Offsets of rows from their lengths, in one pass: a block processes TILE rows.
// offsets[p] = the sum of the lengths of rows 0 to p - 1, for p = 0 to n; words[0] = that of all.  lengths: those of the
// rows blockIdx.x * TILE + tile_slot(round), 0 from row n on.  words: see lookback.cuh.  Every thread calls.
template <class O>
DEVICE void write_offsets(i64 n, i64 (&lengths)[TILE_ROUNDS], O* offsets, u64* words) {
    __shared__ i64 warp_sums[TILE_THREADS / 32];
    const i64 tile = i64(blockIdx.x), first = tile * TILE;
    i64 sum = 0;  // of the warp
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const i64 inclusive = warp_scan_inclusive(lengths[round]);
        lengths[round] = sum + inclusive - lengths[round];
        sum += shuffle(inclusive, 31);
    }
    if (lane_id() == 0) warp_sums[warp_in_block()] = sum;
    __syncthreads();
    i64 below = 0, all = 0;
    for (int w = 0; w < TILE_THREADS / 32; w++) {
        if (w == warp_in_block()) below = all;
        all += warp_sums[w];
    }
    const bool last = first + TILE >= n;
    const i64 earlier = Lookback{words}.before_block(tile, all, last), before = earlier + below;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const i64 p = first + tile_slot(round);
        if (p < n) offsets[p] = O(before + lengths[round]);
    }
    if (last && threadIdx.x == 0) offsets[n] = O(earlier + all);
}

// Copies rows of entries to a result of n rows and `total` entries: a block for each tile of it.  source(r, shift) returns
// where row r comes from, in which `shift` is the slot of its first entry, negative if it begins before the tile;
// load(from, slot, column, value) reads the entry of a slot.  Null out_values: the result is iso-valued.
template <class O, class I, class V, class F, class L>
DEVICE void copy_rows(i64 n, i64 total, const O* offsets, const i64* first_row, I* out_indices, V* out_values, F source,
                      L load) {
    __shared__ TileHeads<i64, int(TILE)> heads;
    const RowTile tile(first_row, i64(blockIdx.x), n, total);
    heads.clear();
    __syncthreads();
    for (i64 r = tile.row0 + threadIdx.x; r <= tile.row1 && r < n; r += TILE_THREADS) {
        const int slot = tile.start(offsets, r);
        if (slot < tile.end(offsets, r)) heads.mark(slot, source(r, i64(offsets[r]) - tile.first));
    }
    heads.finish();
    I columns[TILE_ROUNDS];
    V values[TILE_ROUNDS];
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        columns[round] = I(0);
        values[round] = V(0);
        if (slot < tile.entries) load(heads.at(slot), slot, columns[round], values[round]);
    }
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int slot = tile_slot(round);
        if (slot >= tile.entries) continue;
        out_indices[tile.first + slot] = columns[round];
        if (out_values != nullptr) out_values[tile.first + slot] = values[round];
    }
}
