// extract: whole rows.  A block copies the entries of a tile of the result (row_tiles.cuh).
//
// Types: P of row offsets of the matrix, O of those of the result, I of columns; V is an unsigned integer of the size
// of the values, which are only moved.

#include "row_tiles.cuh"

// offsets[p] = the number of entries of the rows index[0] to index[p - 1], for p = 0 to n; words[0] = that of all.  A block
// processes TILE rows.  words: see lookback.cuh.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    extract_offsets(i64 n, const X* index, i64 start, i64 step, const P* indptr, O* offsets, u64* words) {
    const i64 first = i64(blockIdx.x) * TILE;
    i64 lengths[TILE_ROUNDS];
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const i64 p = first + tile_slot(round);
        lengths[round] = 0;
        if (p >= n) continue;
        const i64 i = index_at(index, start, step, p);
        lengths[round] = i64(indptr[i + 1]) - i64(indptr[i]);
    }
    write_offsets(n, lengths, offsets, words);
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    extract_rows(i64 n, const X* index, i64 start, i64 step, const P* indptr, const I* indices, const V* values,
                 const O* offsets, i64 total, const i64* first_row, I* out_indices, V* out_values) {
    copy_rows(
        n, total, offsets, first_row, out_indices, out_values,
        [=](i64 r, i64 shift) { return i64(indptr[index_at(index, start, step, r)]) - shift; },
        [=](i64 from, int slot, I& column, V& value) {
            column = indices[from + slot];
            if (values != nullptr) value = values[from + slot];
        });
}
