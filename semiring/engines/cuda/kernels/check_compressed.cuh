// Checks that compressed rows are well formed (formats/ccsr.py): the first position at which each condition fails.
// All bits of `first` are set before; each element becomes the smallest offending position.  No load is out of bounds,
// whatever the arrays contain.  The prologue defines CODEC, J, AT and P.

#include "packed_tile.cuh"
#include "varint_tile.cuh"

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

// The first position of each kind of failure.
struct Failures {
    u64* tile;    // the layout of the tile violates its codec
    u64* base;    // the anchor differs from the stream
    u64* middle;  // the anchor of entry 64 differs from its decoded column
    u64* entry;   // the column is not above its predecessor in the row, or not below ncols
};

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

// Checks the header, the length and the exceptions of a packed tile.  Every lane calls; valid in every lane.
DEVICE bool packed_is_valid(const PackedStage& stage, const TileLines& lines, i64 length, int count, u64 mask) {
    if (length < 1 || 4 * length != lines.bytes) return false;
    const u32* const words = reinterpret_cast<const u32*>(stage.lines) + lines.shift / 4;
    const u32 header = words[0];
    const u32 w = header & 63u, x = header >> 6 & 255u, h = header >> 14;
    if (x >= TILE_ENTRIES || w + h > u32(__popcll(mask))) return false;
    const u32 gaps = 1 + (count > 64 ? anchor_words(mask) : 0);
    const u32 positions = gaps + u32(count + 31) / 32 * w;
    if (length != i64(positions) + (x + 3) / 4 + (x * h + 31) / 32) return false;
    bool valid = w < 32 ? (words[gaps] & (w == 0 ? 0u : (1u << w) - 1u)) == 0 : words[gaps] == 0;
    if (w > 32) valid = valid && (words[gaps + 1] & ((1u << (w - 32)) - 1u)) == 0;
    const auto position = [=](u32 e) { return words[positions + e / 4] >> (8 * (e % 4)) & 255u; };
    for (u32 e = u32(lane_id()); e < x; e += 32)
        valid = valid && position(e) < u32(count) && (e == 0 ? 0u : position(e - 1)) < position(e);
    return __ballot_sync(FULL_WARP, !valid) == 0;
}

// Checks the count and the lengths of the numbers of a varint tile.  Every lane calls; valid in every lane.
DEVICE bool varint_is_valid(const VarintStage& stage, const TileLines& tile, i64 length, int numbers, int count) {
    if (length != tile.bytes || numbers != count || stage.begins[count] != tile.shift + tile.bytes) return false;
    bool valid = true;
    for (int s = lane_id(); s < count; s += 32) {
        const int bytes = stage.begins[s + 1] - stage.begins[s];
        valid = valid && bytes <= LONGEST_NUMBER;
        if constexpr (sizeof(J) == 4) {  // bits above 32 must be 0
            const u8* const line = reinterpret_cast<const u8*>(stage.lines) + stage.begins[s];
            for (int k = 4; k < bytes && k < LONGEST_NUMBER; ++k)
                valid = valid && (line[k] & (k == 4 ? 0x70 : 0x7f)) == 0;
        }
    }
    return __ballot_sync(FULL_WARP, !valid) == 0;
}

// Checks every tile, after the offsets have passed `check_tile_offsets`.  `first` has the order of `Failures`.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    check_tiles(const u8* stream, i64 size, const J* base, const AT* at, const P* indptr, i64 nrows, i64 ncols,
                u64 mask, i64 nvals, u64* first) {
    const Failures failed{first, first + 1, first + 2, first + 3};
    const i64 tiles = tile_count(nvals);
    RowStarts rows(indptr, nrows);
    const auto enter = [&](i64 t) { rows.enter(TILE_ENTRIES * t); };
    // Compares the last column of a tile with the first column of the next tile.
    const auto check_next = [&](i64 t, UJ last) {
        if (lane_id() == 0 && !(last < UJ(base[t + 1]))) atomicMin(failed.entry, u64(TILE_ENTRIES * (t + 1)));
    };
    if constexpr (CODEC == PACKED) {
        __shared__ PackedStage stages[WARPS];
        __shared__ u32 row_starts[WARPS][4];
        PackedStage& stage = stages[warp_in_block()];
        u32* const starts = row_starts[warp_in_block()];
        const i64 end = size - PACKED_PADDING;
        for_each_tile<PACKED_MAX_BYTES, 4>(
            {stream, 0, 4 * end}, base, at, 0, tiles, stage.lines, enter,
            [&](i64 t, const TileLines& lines, UJ anchor) {
                const int count = tile_entries(nvals, t);
                rows.mark(TILE_ENTRIES * t, count, starts);
                if (!packed_is_valid(stage, lines, i64(at[t + 1]) - i64(at[t]), count, mask)) {
                    if (lane_id() == 0) atomicMin(failed.tile, u64(t));
                    return;
                }
                UJ columns[4];
                const PackedTile tile = packed_columns(stage, lines, count, anchor, mask, columns);
                if (lane_id() == 0) columns[0] = anchor;
                if (count > 64 && lane_id() == 16 && columns[0] != tile.middle(mask)) atomicMin(failed.middle, u64(t));
                const u32 mine = starts[lane_id() / 8] >> (4 * (lane_id() % 8)) & 15u;
                const UJ last = check_order(columns, mine, t, count, ncols, failed);
                if (t + 1 < tiles && !rows.at(TILE_ENTRIES * (t + 1))) check_next(t, last);
            });
    } else {
        __shared__ VarintStage stages[WARPS];
        VarintStage& stage = stages[warp_in_block()];
        const VarintBytes bytes(stream, size);
        for_each_tile<VARINT_MAX_BYTES, 1>(
            {stream, 0, size - VARINT_PADDING}, base, at, 0, tiles, stage.lines, enter,
            [&](i64 t, const TileLines& tile, UJ anchor) {
                const int count = tile_entries(nvals, t);
                rows.mark(TILE_ENTRIES * t, count, stage.starts);
                const int numbers = varint_begins(stage, tile, count);
                if (!varint_is_valid(stage, tile, i64(at[t + 1]) - i64(at[t]), numbers, count)) {
                    if (lane_id() == 0) atomicMin(failed.tile, u64(t));
                    return;
                }
                UJ columns[4];
                varint_numbers(stage, numbers, count, columns);
                const u32 starts = lane_starts(stage);
                if (lane_id() == 0 && (starts & 1u) && columns[0] != anchor) atomicMin(failed.base, u64(t));
#pragma unroll
                for (int i = 0; i < 4; ++i)  // larger gaps could overflow the sum
                    if (u64(columns[i]) >= u64(ncols) && 4 * lane_id() + i < count)
                        atomicMin(failed.entry, u64(TILE_ENTRIES * t + 4 * lane_id() + i));
                sum_rows(columns, starts, anchor);
                const UJ last = check_order(columns, starts, t, count, ncols, failed);
                if (t + 1 < tiles && !rows.at(TILE_ENTRIES * (t + 1))) {
                    check_next(t, last);
                    if (lane_id() == 0 && last + bytes.number(i64(at[t + 1])).value != UJ(base[t + 1]))
                        atomicMin(failed.base, u64(t + 1));
                }
            });
    }
}
