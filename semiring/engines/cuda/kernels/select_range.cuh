// select by a range of columns in each row, as tril does: the entries of a row that are kept are adjacent.
//
// Types: P of row offsets, I of columns.

#include "row_tiles.cuh"

// Kept are the columns [low + i * low_step, high + i * high_step) of row i.  words: see lookback.cuh.
struct RangeArguments {
    i64 nrows;
    i64 ncols;
    const P* indptr;
    const I* indices;
    i64 low;
    i64 low_step;
    i64 high;
    i64 high_step;
    P* starts;
    P* offsets;
    u64* words;
};

// starts[i] = the position of the first entry of row i in its range; offsets[i] = the number of entries in the ranges of
// the rows before; words[0] = that of all rows.
extern "C" __global__ void __launch_bounds__(TILE_THREADS) range_offsets(const RangeArguments q) {
    i64 lengths[TILE_ROUNDS];
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const i64 i = i64(blockIdx.x) * TILE + tile_slot(round);
        lengths[round] = 0;
        if (i >= q.nrows) continue;
        const i64 begin = i64(q.indptr[i]), end = i64(q.indptr[i + 1]);
        const i64 low = q.low + i * q.low_step, high = q.high + i * q.high_step;
        const i64 first = low <= 0 ? begin : lower_bound(q.indices, begin, end, low);
        const i64 last = high >= q.ncols ? end : lower_bound(q.indices, first, end, high);
        lengths[round] = last - first;
        q.starts[i] = P(first);
    }
    write_offsets(q.nrows, lengths, q.offsets, q.words);
}
