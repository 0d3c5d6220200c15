// Checks that compressed rows are well formed (formats/ccsr.py): the first position at which each condition fails.
// All bits of `first` are set before; each element becomes the smallest offending position.  No load is out of bounds,
// whatever the arrays contain.  The prologue defines CODEC, J, AT and P.

#include "CODEC_tile.cuh"

constexpr int WARPS = 8;

// first[0], first[1]: an offset of indptr, of at, that is less than its predecessor; ends: the first and the last
// offset of indptr, then of at.
extern "C" __global__ void check_tile_offsets(const P* indptr, i64 nrows, const AT* at, i64 tiles, u64* first,
                                              i64* ends) {
    for (i64 r = thread_id(); r < nrows; r += thread_count())
        if (indptr[r + 1] < indptr[r]) atomicMin(first, u64(r + 1));
    for (i64 t = thread_id(); t < tiles; t += thread_count())
        if (at[t + 1] < at[t]) atomicMin(first + 1, u64(t + 1));
    if (thread_id() == 0) {
        ends[0] = i64(indptr[0]);
        ends[1] = i64(indptr[nrows]);
        ends[2] = i64(at[0]);
        ends[3] = i64(at[tiles]);
    }
}

// Checks `count` columns of a tile, four a lane; bit i of `starts` is set if entry i of the lane begins a row.
// Every lane calls; returns the last column of the tile in every lane.
DEVICE UJ check_order(const UJ (&columns)[4], u32 starts, i64 t, int count, i64 ncols, Failures failed) {
    UJ before = shuffle_up(columns[3], 1);
    UJ last = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int s = 4 * lane_id() + i;
        if (s < count) {
            const bool ascending = s == 0 || (starts >> i & 1u) || before < columns[i];
            if (!ascending || u64(columns[i]) >= u64(ncols)) atomicMin(failed.entry, u64(TILE_ENTRIES * t + s));
        }
        if (s == count - 1) last = columns[i];
        before = columns[i];
    }
    return shuffle(last, (count - 1) / 4);
}

// Checks every tile, after the offsets have passed `check_tile_offsets`.  `first` has the order of `Failures`.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    check_tiles(const u8* stream, i64 size, const J* base, const AT* at, const P* indptr, i64 nrows, i64 ncols,
                u64 mask, i64 nvals, u64* first) {
    __shared__ TileChecker::Stage stages[WARPS];
    TileChecker::Stage& stage = stages[warp_in_block()];
    const Failures failed{first, first + 1, first + 2, first + 3};
    const CheckInput input{stream, size, mask, ncols, failed};
    const TileChecker checker{input};
    const i64 tiles = tile_count(nvals);
    RowStarts rows(indptr, nrows);
    constexpr int BYTES = CODEC::ELEMENT_BYTES;
    for_each_tile<TileChecker::MAX_BYTES, BYTES>(
        {stream, 0, BYTES * (size - CODEC::PADDING)}, base, at, 0, tiles, stage.lines,
        [&](i64 t) { rows.enter(TILE_ENTRIES * t); },
        [&](i64 t, const TileLines& tile, UJ anchor) {
            const int count = tile_entries(nvals, t);
            rows.mark(TILE_ENTRIES * t, count, stage.starts);
            const u32 starts = lane_starts(stage.starts);
            UJ columns[4];
            if (!checker.decode(t, tile, i64(at[t + 1]) - i64(at[t]), count, anchor, starts, stage, columns)) {
                if (lane_id() == 0) atomicMin(failed.tile, u64(t));
                return;
            }
            const UJ last = check_order(columns, starts, t, count, ncols, failed);
            // Compares the last column of a tile with the first one of the next, which is in the same row.
            if (t + 1 < tiles && !rows.at(TILE_ENTRIES * (t + 1)) && lane_id() == 0) {
                if (!(last < UJ(base[t + 1]))) atomicMin(failed.entry, u64(TILE_ENTRIES * (t + 1)));
                if (!checker.continues(last, i64(at[t + 1]), UJ(base[t + 1]))) atomicMin(failed.base, u64(t + 1));
            }
        });
}
