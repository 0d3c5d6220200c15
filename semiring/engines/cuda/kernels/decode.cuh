// Decompresses the columns of a range of entries.
// The prologue defines CODEC, J, AT, and P, the type of row offsets (read by varint only).

#include "columns.cuh"
#include "packed_tile.cuh"
#include "varint_tile.cuh"

constexpr int WARPS = 8;

// out[p - first] = the column of entry p, for first <= p < last.  `stream` is the address of element 0 of the stream,
// of which only elements [low, high) and the 16 bytes after them need to be readable.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    decode_tiles(const u8* stream, i64 low, i64 high, const J* base, const AT* at, const P* indptr, i64 nrows, u64 mask,
                 i64 nvals, i64 first, i64 last, J* out) {
    const i64 begin = first / TILE_ENTRIES, end = tile_count(last);
    if constexpr (CODEC == PACKED) {
        __shared__ PackedStage stages[WARPS];
        PackedStage& stage = stages[warp_in_block()];
        const auto nothing = [](i64) {};
        for_each_tile<PACKED_MAX_BYTES, 4>(
            {stream, 4 * low, 4 * high}, base, at, begin, end, stage.lines, nothing,
            [&](i64 t, const TileLines& tile, UJ anchor) {
                UJ columns[4];
                packed_columns(stage, tile, tile_entries(nvals, t), anchor, mask, columns);
                store_columns(t, columns, first, last, out);
            });
    } else {
        __shared__ VarintStage stages[WARPS];
        VarintStage& stage = stages[warp_in_block()];
        RowStarts rows(indptr, nrows);
        for_each_tile<VARINT_MAX_BYTES, 1>(
            {stream, low, high}, base, at, begin, end, stage.lines,
            [&](i64 t) { rows.enter(TILE_ENTRIES * t); },
            [&](i64 t, const TileLines& tile, UJ anchor) {
                const int count = tile_entries(nvals, t);
                rows.mark(TILE_ENTRIES * t, count, stage.starts);
                const int found = varint_begins(stage, tile, count);
                UJ columns[4];
                varint_numbers(stage, found, count, columns);
                sum_rows(columns, lane_starts(stage), anchor);
                store_columns(t, columns, first, last, out);
            });
    }
}
