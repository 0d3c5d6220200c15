// The rows of a sparse matrix for products with full rows: segments of long rows, and the rows of the result.
//
// The prologue defines the types P (offsets of the sparse matrix), I (its columns), BP (offsets of the full matrix, or of
// the mask), R (ranks), C (offsets of the result); and the constant SEGMENT, the entries of a segment.

#include "semiring.cuh"

// Lists the rows with more than SEGMENT entries as (row, first segment), and their segments as (row, first entry).
// state: the numbers of long rows and of segments.  The order is arbitrary; the segments of a row are consecutive.
extern "C" __global__ void mxm_full_segments(const P* indptr, i64 nrows, u64* state, i64* long_rows, i64* segments) {
    for (i64 base = 32 * warp_id(); base < nrows; base += 32 * warp_count()) {
        const i64 i = base + lane_id();
        const i64 begin = i < nrows ? i64(indptr[i]) : 0, end = i < nrows ? i64(indptr[i + 1]) : 0;
        const bool large = end - begin > SEGMENT;
        i64 first = 0;
        if (large) {
            first = i64(atomicAdd(state + 1, u64((end - begin + SEGMENT - 1) / SEGMENT)));
            const i64 slot = i64(atomicAdd(state, u64(1)));
            long_rows[2 * slot] = i;
            long_rows[2 * slot + 1] = first;
        }
        for_long_rows(large, begin, end, [&](int lane, i64 row_begin, i64 row_end) {
            const i64 to = shuffle(first, lane);
            for (i64 s = lane_id(); row_begin + s * SEGMENT < row_end; s += 32) {
                segments[2 * (to + s)] = base + lane;
                segments[2 * (to + s) + 1] = row_begin + s * SEGMENT;
            }
        });
    }
}

// words: the rows in which an entry has a column k whose row of the full matrix is not empty.
extern "C" __global__ void mxm_full_hits(const P* indptr, const I* indices, i64 nrows, const BP* b_indptr, u32* words) {
    for (i64 w = warp_id(); 32 * w < nrows; w += warp_count()) {
        u32 word = 0;
        for (i64 i = 32 * w; i < nrows && i < 32 * w + 32; i++) {
            const i64 end = i64(indptr[i + 1]);
            bool hit = false;
            for (i64 base = i64(indptr[i]); base < end && !hit; base += 32) {
                const i64 p = base + lane_id();
                const i64 k = p < end ? i64(indices[p]) : -1;
                hit = __any_sync(FULL_WARP, k >= 0 && b_indptr[k] != b_indptr[k + 1]);
            }
            word |= u32(hit) << (i & 31);
        }
        if (lane_id() == 0) words[w] = word;
    }
}

// words: the rows of a product under a mask of which all columns are computed: those of `present` for which the mask has
// an entry for `share` columns or fewer, or, if it has any, whose row of the sparse matrix exceeds a segment.
extern "C" __global__ void mxm_full_whole(const P* indptr, const BP* mask_indptr, const u32* present, i64 nrows,
                                          i64 width, i64 share, u32* words) {
    write_bits(nrows, words, [=](i64 i) {
        const i64 entries = i64(mask_indptr[i + 1]) - i64(mask_indptr[i]);
        const bool many = entries * share >= width || i64(indptr[i + 1]) - i64(indptr[i]) > SEGMENT;
        return entries > 0 && many && bit_test(present, i);
    });
}

// The offsets of a matrix of `width` columns whose marked rows are full, the others empty.
extern "C" __global__ void mxm_full_offsets(const u32* words, const R* ranks, i64 nrows, i64 width, C* indptr) {
    for (i64 i = thread_id(); i <= nrows; i += thread_count()) indptr[i] = C(rank_of(words, ranks, i) * width);
}
