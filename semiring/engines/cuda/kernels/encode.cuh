// Compresses columns, one warp a tile: first the size of each tile, then, after a scan of the sizes, the stream.
// The prologue defines CODEC, J, AT, and P, the type of row offsets (read if the codec restarts at rows).

#include "CODEC_encode.cuh"

constexpr int WARPS = 8;

// sizes[t] = the elements of tile t in the stream; widths[t] = its bit width, if the codec has one.  Both may be null.
// *total += the sum of all sizes.  `before` is the column before the first entry, or -1.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    encode_sizes(const J* indices, const P* indptr, i64 nrows, u64 mask, i64 nvals, i64 before, u32* sizes, u8* widths,
                 u64* total) {
    __shared__ TileEncoder::SizeStage stages[WARPS];
    TileEncoder::SizeStage& stage = stages[warp_in_block()];
    const EncoderInput input{indices, indptr, nrows, mask, nvals, before};
    const TileEncoder encoder{input};
    u64 sum = 0;
    encoder.for_each_tile(stage, [&](i64 t) {
        const TileSize size = encoder.size(t, stage);
        if (sizes != nullptr && lane_id() == 0) {
            sizes[t] = size.elements;
            if constexpr (TileEncoder::HAS_WIDTHS) widths[t] = u8(size.width);
        }
        sum += size.elements;
    });
    sum = block_sum(lane_id() == 0 ? sum : u64(0));
    if (total != nullptr && threadIdx.x == 0 && sum != 0) atomicAdd(total, sum);
}

// Writes `base` and the stream without its padding.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    encode_write(const J* indices, const P* indptr, i64 nrows, u64 mask, i64 nvals, i64 before, const AT* at,
                 const u8* widths, J* base, u8* stream) {
    __shared__ TileEncoder::WriteStage stages[WARPS];
    TileEncoder::WriteStage& stage = stages[warp_in_block()];
    const EncoderInput input{indices, indptr, nrows, mask, nvals, before};
    const TileEncoder encoder{input};
    encoder.for_each_tile(stage, [&](i64 t) {
        if (lane_id() == 0) base[t] = indices[TILE_ENTRIES * t];
        encoder.write(t, at, widths, stream, stage);
    });
}
