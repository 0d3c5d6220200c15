// Whether compressed rows are well formed, as semiring/formats/ccsr.py defines it: the first place where each condition
// fails.  `first` starts as all bits set; each element is lowered to the smallest offending place.  The prologue gives
// CODEC, J, AT and P.  Nothing outside the arrays is read, whatever they hold.

#include "packed_tile.cuh"
#include "varint_tile.cuh"

constexpr int WARPS = 8;

// first[0], first[1]: an offset of indptr, of at, that is less than the one before it; ends: the first and the last of
// indptr, then of at.
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

// Where the places below are written.
struct Found {
    u64* tile;    // that is not laid out as its codec demands
    u64* base;    // that does not agree with the stream
    u64* middle;  // a tile whose entry 64 has another column than the tile says
    u64* entry;   // whose column is not above the one before it in its row, or not below ncols
};

// Four columns a lane, of which the tile has `count`; bit i of `starts` says that the lane's entry i begins a row.
// Every lane calls; gives the tile's last column.
DEVICE UJ check_order(const UJ (&columns)[4], u32 starts, i64 t, int count, i64 ncols, Found found) {
    UJ before = shuffle_up(columns[3], 1);
    UJ last = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int s = 4 * lane_id() + i;
        if (s < count) {
            const bool rises = s == 0 || (starts >> i & 1u) || before < columns[i];
            if (!rises || u64(columns[i]) >= u64(ncols)) atomicMin(found.entry, u64(TILE_ENTRIES * t + s));
        }
        if (s == count - 1) last = columns[i];
        before = columns[i];
    }
    return shuffle(last, (count - 1) / 4);
}

// A packed tile's header, length and exceptions.  Every lane calls; every lane gets the answer.
DEVICE bool packed_is_laid_out(const PackedStage& stage, const TileLines& lines, i64 length, int count, u64 mask) {
    if (length < 1 || 4 * length != lines.bytes) return false;
    const u32* const words = reinterpret_cast<const u32*>(stage.lines) + lines.shift / 4;
    const u32 header = words[0];
    const u32 w = header & 63u, x = header >> 6 & 255u, h = header >> 14;
    if (x >= TILE_ENTRIES || w + h > u32(__popcll(mask))) return false;
    const u32 gaps = 1 + (count > 64 ? anchor_words(mask) : 0);
    const u32 places = gaps + u32(count + 31) / 32 * w;
    if (length != i64(places) + (x + 3) / 4 + (x * h + 31) / 32) return false;
    bool right = w < 32 ? (words[gaps] & (w == 0 ? 0u : (1u << w) - 1u)) == 0 : words[gaps] == 0;
    if (w > 32) right = right && (words[gaps + 1] & ((1u << (w - 32)) - 1u)) == 0;
    const auto place = [=](u32 e) { return words[places + e / 4] >> (8 * (e % 4)) & 255u; };
    for (u32 e = u32(lane_id()); e < x; e += 32)
        right = right && place(e) < u32(count) && (e == 0 ? 0u : place(e - 1)) < place(e);
    return __ballot_sync(FULL_WARP, !right) == 0;
}

// A varint tile's numbers: as many as entries, none too long.  Every lane calls; every lane gets the answer.
DEVICE bool varint_is_laid_out(const VarintStage& stage, const TileLines& tile, i64 length, int numbers, int count) {
    if (length != tile.bytes || numbers != count || stage.begins[count] != tile.shift + tile.bytes) return false;
    bool right = true;
    for (int s = lane_id(); s < count; s += 32) {
        const int bytes = stage.begins[s + 1] - stage.begins[s];
        right = right && bytes <= LONGEST_NUMBER;
        if constexpr (sizeof(J) == 4) {  // what does not fit into 32 bits is 0
            const u8* const line = reinterpret_cast<const u8*>(stage.lines) + stage.begins[s];
            for (int k = 4; k < bytes && k < LONGEST_NUMBER; ++k)
                right = right && (line[k] & (k == 4 ? 0x70 : 0x7f)) == 0;
        }
    }
    return __ballot_sync(FULL_WARP, !right) == 0;
}

// The offsets have passed.  first: as `Found`, in its order.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    check_tiles(const u8* stream, i64 size, const J* base, const AT* at, const P* indptr, i64 nrows, i64 ncols,
                u64 mask, i64 nvals, u64* first) {
    const Found found{first, first + 1, first + 2, first + 3};
    const i64 tiles = tile_count(nvals);
    RowStarts rows(indptr, nrows);
    const auto enter = [&](i64 t) { rows.enter(TILE_ENTRIES * t); };
    // The last column of a tile and the first one of the next.
    const auto check_next = [&](i64 t, UJ last) {
        if (lane_id() == 0 && !(last < UJ(base[t + 1]))) atomicMin(found.entry, u64(TILE_ENTRIES * (t + 1)));
    };
    if constexpr (CODEC == PACKED) {
        __shared__ PackedStage stages[WARPS];
        __shared__ u32 row_starts[WARPS][4];
        PackedStage& stage = stages[warp_in_block()];
        u32* const starts = row_starts[warp_in_block()];
        const i64 end = size - PACKED_PADDING;
        for_each_tile<PACKED_MOST, 4>(
            {stream, 0, 4 * end}, base, at, 0, tiles, stage.lines, enter,
            [&](i64 t, const TileLines& lines, UJ anchor) {
                const int count = tile_entries(nvals, t);
                rows.mark(TILE_ENTRIES * t, count, starts);
                if (!packed_is_laid_out(stage, lines, i64(at[t + 1]) - i64(at[t]), count, mask)) {
                    if (lane_id() == 0) atomicMin(found.tile, u64(t));
                    return;
                }
                UJ columns[4];
                const PackedTile tile = packed_columns(stage, lines, count, anchor, mask, columns);
                if (lane_id() == 0) columns[0] = anchor;
                if (count > 64 && lane_id() == 16 && columns[0] != tile.middle(mask)) atomicMin(found.middle, u64(t));
                const u32 mine = starts[lane_id() / 8] >> (4 * (lane_id() % 8)) & 15u;
                const UJ last = check_order(columns, mine, t, count, ncols, found);
                if (t + 1 < tiles && !rows.at(TILE_ENTRIES * (t + 1))) check_next(t, last);
            });
    } else {
        __shared__ VarintStage stages[WARPS];
        VarintStage& stage = stages[warp_in_block()];
        const VarintBytes bytes(stream, size);
        for_each_tile<VARINT_MOST, 1>(
            {stream, 0, size - VARINT_PADDING}, base, at, 0, tiles, stage.lines, enter,
            [&](i64 t, const TileLines& tile, UJ anchor) {
                const int count = tile_entries(nvals, t);
                rows.mark(TILE_ENTRIES * t, count, stage.starts);
                const int numbers = varint_begins(stage, tile, count);
                if (!varint_is_laid_out(stage, tile, i64(at[t + 1]) - i64(at[t]), numbers, count)) {
                    if (lane_id() == 0) atomicMin(found.tile, u64(t));
                    return;
                }
                UJ columns[4];
                varint_numbers(stage, numbers, count, columns);
                const u32 starts = lane_starts(stage);
                if (lane_id() == 0 && (starts & 1u) && columns[0] != anchor) atomicMin(found.base, u64(t));
#pragma unroll
                for (int i = 0; i < 4; ++i)  // a gap that large would let the sum pass 2^32 or 2^64
                    if (u64(columns[i]) >= u64(ncols) && 4 * lane_id() + i < count)
                        atomicMin(found.entry, u64(TILE_ENTRIES * t + 4 * lane_id() + i));
                sum_rows(columns, starts, anchor);
                const UJ last = check_order(columns, starts, t, count, ncols, found);
                if (t + 1 < tiles && !rows.at(TILE_ENTRIES * (t + 1))) {
                    check_next(t, last);
                    if (lane_id() == 0 && last + bytes.number(i64(at[t + 1])).value != UJ(base[t + 1]))
                        atomicMin(found.base, u64(t + 1));
                }
            });
    }
}
