// A matrix whose rows are those of one of two matrices: the rows index[p] are rows p of `a`, all others those of `c`.
//
// Types: P of the row offsets of c, Q of those of a, O of those of the result, I of columns, N of numbers of rows; V is an
// unsigned integer of the size of the values, which are only moved.

#include "row_tiles.cuh"

// from[r] = the p with index[p] = r; the bits of all others are set.  *repeats is 1 if an index repeats.
extern "C" __global__ void replace_sources(i64 n, const X* index, i64 start, i64 step, N* from, i64* repeats) {
    for (i64 p = thread_id(); p < n; p += thread_count())
        if (atomicExch(from + index_at(index, start, step, p), N(p)) != N(-1)) *repeats = 1;
}

// offsets = the row offsets of the result; words[0] = the number of its entries.  A block processes TILE rows.  words: see
// lookback.cuh.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    replace_offsets(i64 nrows, const N* from, const P* c_indptr, const Q* a_indptr, O* offsets, u64* words) {
    const i64 first = i64(blockIdx.x) * TILE;
    i64 lengths[TILE_ROUNDS];
    N source[TILE_ROUNDS];
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const i64 r = first + tile_slot(round);
        source[round] = r < nrows ? from[r] : N(-1);
        lengths[round] = r < nrows ? i64(c_indptr[r + 1]) - i64(c_indptr[r]) : 0;
    }
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const N p = source[round];
        if (p != N(-1)) lengths[round] = i64(a_indptr[i64(p) + 1]) - i64(a_indptr[i64(p)]);
    }
    write_offsets(nrows, lengths, offsets, words);
}

// A block copies the entries of a tile of the result.  `out_values` is null if it is iso-valued.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    replace_rows(i64 nrows, const N* from, const P* c_indptr, const I* c_indices, const V* c_values, V c_iso,
                 const Q* a_indptr, const I* a_indices, const V* a_values, V a_iso, const O* offsets, i64 total,
                 const i64* first_row, I* out_indices, V* out_values) {
    copy_rows(
        nrows, total, offsets, first_row, out_indices, out_values,
        [=](i64 r, i64 shift) {  // twice the position in the matrix less the slot; one more for the rows of a
            const N p = from[r];
            const i64 begin = p == N(-1) ? i64(c_indptr[r]) : i64(a_indptr[i64(p)]);
            return 2 * (begin - shift) + (p == N(-1) ? 0 : 1);
        },
        [=](i64 head, int slot, I& column, V& value) {
            const bool of_a = (head & 1) != 0;
            const i64 p = (head >> 1) + slot;
            column = (of_a ? a_indices : c_indices)[p];
            if (out_values != nullptr) value = value_at(of_a ? a_values : c_values, of_a ? a_iso : c_iso, p);
        });
}
