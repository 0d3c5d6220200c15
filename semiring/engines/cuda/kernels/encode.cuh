// Compresses columns, one warp a tile: first the size of each tile, then, after a scan of the sizes, the stream.
// The prologue defines CODEC, J, AT, and P, the type of row offsets (read by varint only).

#include "packed_encode.cuh"
#include "varint_encode.cuh"

constexpr int WARPS = 8;

// sizes[t] = the elements of tile t in the stream; widths[t] = its bit width (packed).  Both may be null.
// *total += the sum of all sizes.  `before` is the column before the first entry, or -1.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    encode_sizes(const J* indices, const P* indptr, i64 nrows, u64 mask, i64 nvals, i64 before, u32* sizes, u8* widths,
                 u64* total) {
    const i64 tiles = tile_count(nvals);
    u64 sum = 0;
    if constexpr (CODEC == PACKED) {
        __shared__ u32 lengths[WARPS][PACKED_LENGTHS];
        for (i64 t = warp_id(); t < tiles; t += warp_count()) {
            UJ gaps[CHUNKS];
            packed_differences(indices, nvals, t, mask, gaps);
            const PackedChoice choice =
                packed_choice(gaps, tile_entries(nvals, t), anchor_words(mask), lengths[warp_in_block()]);
            if (widths != nullptr && lane_id() == 0) {
                sizes[t] = choice.words;
                widths[t] = u8(choice.width);
            }
            sum += choice.words;
        }
    } else {
        __shared__ u32 starts[WARPS][4];
        for_each_row_marked(indptr, nrows, nvals, starts[warp_in_block()], [&](i64 t) {
            u32 size = 0;
#pragma unroll
            for (int c = 0; c < CHUNKS; ++c)
                size += varint_number(indices, indptr, nvals, before, starts[warp_in_block()], t, c).bytes;
            size = warp_sum(size);
            if (sizes != nullptr && lane_id() == 0) sizes[t] = size;
            sum += size;
        });
    }
    sum = block_sum(lane_id() == 0 ? sum : u64(0));
    if (total != nullptr && threadIdx.x == 0 && sum != 0) atomicAdd(total, sum);
}

// Writes `base` and the stream without its padding.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    encode_write(const J* indices, const P* indptr, i64 nrows, u64 mask, i64 nvals, i64 before, const AT* at,
                 const u8* widths, J* base, u8* stream) {
    if constexpr (CODEC == PACKED) {
        __shared__ u32 words[WARPS][PACKED_MAX_WORDS];
        const i64 tiles = tile_count(nvals);
        for (i64 t = warp_id(); t < tiles; t += warp_count()) {
            UJ gaps[CHUNKS];
            packed_differences(indices, nvals, t, mask, gaps);
            if (lane_id() == 0) base[t] = indices[TILE_ENTRIES * t];
            u32* const to = reinterpret_cast<u32*>(stream) + i64(at[t]);
            packed_write(indices, gaps, t, tile_entries(nvals, t), widths[t], anchor_words(mask),
                         words[warp_in_block()], u32(at[t + 1] - at[t]), to);
        }
    } else {
        __shared__ u32 starts[WARPS][4];
        __shared__ VarintLine lines[WARPS];
        for_each_row_marked(indptr, nrows, nvals, starts[warp_in_block()], [&](i64 t) {
            if (lane_id() == 0) base[t] = indices[TILE_ENTRIES * t];
            varint_write(indices, indptr, nvals, before, starts[warp_in_block()], t, stream + i64(at[t]),
                         lines[warp_in_block()]);
        });
    }
}
