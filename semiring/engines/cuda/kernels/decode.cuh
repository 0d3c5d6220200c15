// Decompresses the columns of a range of entries.
// The prologue defines CODEC, J, AT, and P, the type of row offsets (read if the codec restarts at rows).

#include "CODEC_tile.cuh"

constexpr int WARPS = 8;

// out[p - first] = the column of entry p, for first <= p < last.  `stream` is the address of element 0 of the stream,
// of which only elements [low, high) and the 16 bytes after them need to be readable.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    decode_tiles(const u8* stream, i64 low, i64 high, const J* base, const AT* at, const P* indptr, i64 nrows, u64 mask,
                 i64 nvals, i64 first, i64 last, J* out) {
    constexpr int BYTES = CODEC::ELEMENT_BYTES;
    __shared__ TileDecoder::Stage stages[WARPS];
    TileDecoder::Stage& stage = stages[warp_in_block()];
    TileDecoder decoder(indptr, nrows, mask, nvals);
    for_each_tile<TileDecoder::MAX_BYTES, BYTES>(
        {stream, BYTES * low, BYTES * high}, base, at, first / TILE_ENTRIES, tile_count(last), stage.lines,
        [&](i64 t) { decoder.enter(t); },
        [&](i64 t, const TileLines& tile, UJ anchor) {
            UJ columns[4];
            decoder.decode(t, tile, anchor, stage, columns);
            store_columns(t, columns, first, last, out);
        });
}
