// Rows of a product of matrices by their number of products, so that each is computed by the method of its size.
//
// The prologue defines the types AP, AI, BP (offsets and columns of A, offsets of B), R (numbers of rows); and the constants LISTS, MERGED, SMALL, MEDIUM, LARGE, LARGEST (see
// tuning.py).

#include "semiring.cuh"

// Classes of rows: without products; merged; in the table of a warp; in a table of a block, of three sizes; longer.
constexpr int CLASSES = 7;
constexpr int TABLES = 2;  // the first class whose rows are listed
// The size of a longer row: sizes are numbers of products, up to this one.
constexpr u32 MOST = 0xffff;
// Entries of a row of A above which it is longer, although its products are not counted.
constexpr i64 COUNTED = 4096;
constexpr int ROW_BY_LANE = 32;

DEVICE int class_of(u32 size, i64 entries) {
    if (size == 0) return 0;
    if (size <= MERGED && entries <= LISTS) return 1;
    return size <= SMALL ? 2 : size <= MEDIUM ? 3 : size <= LARGE ? 4 : size <= LARGEST ? 5 : 6;
}

// sizes = the products of each row; totals[3 c] += the rows of class c, totals[3 c + 1] += their entries in A,
// totals[3 c + 2] += their products; totals[3 CLASSES] += the rows whose products are estimated, from COUNTED entries.
extern "C" __global__ void mxm_bins(i64 nrows, const AP* a_indptr, const AI* a_indices, const BP* b_indptr, u16* sizes,
                                    u64* totals) {
    i64 rows[CLASSES] = {}, entries[CLASSES] = {}, products[CLASSES] = {}, estimated = 0;
    for (i64 first = 32 * warp_id(); first < nrows; first += 32 * warp_count()) {
        const i64 i = first + lane_id();
        const i64 begin = i < nrows ? i64(a_indptr[i]) : 0, end = i < nrows ? i64(a_indptr[i + 1]) : 0;
        const bool shared = end - begin > ROW_BY_LANE;
        i64 sum = 0;
        if (!shared) {
#pragma unroll 4
            for (i64 p = begin; p < end; p++) {
                const i64 k = i64(a_indices[p]);
                sum += i64(b_indptr[k + 1]) - i64(b_indptr[k]);
            }
        }
        for_long_rows(shared, begin, end, [&](int lane, i64 from, i64 row_end) {
            const i64 length = row_end - from;
            const i64 counted = length < COUNTED ? length : COUNTED;
            i64 mine = 0;
#pragma unroll 4
            for (i64 t = lane_id(); t < counted; t += 32) {
                const i64 at = length <= COUNTED ? t : i64(f64(t) / f64(counted) * f64(length));
                const i64 k = i64(a_indices[from + at]);
                mine += i64(b_indptr[k + 1]) - i64(b_indptr[k]);
            }
            mine = warp_sum(mine);
            if (length > COUNTED) mine = i64(f64(mine) / f64(counted) * f64(length));
            if (lane_id() == lane) sum = mine;
        });
        if (i >= nrows) continue;
        const bool guessed = end - begin > COUNTED;
        const u32 size = guessed || sum > i64(MOST) ? MOST : u32(sum);
        sizes[i] = u16(size);
        const int kind = class_of(size, end - begin);
        estimated += guessed;
#pragma unroll
        for (int c = 0; c < CLASSES; c++) {
            rows[c] += kind == c;
            entries[c] += kind == c ? end - begin : 0;
            products[c] += kind == c ? sum : 0;
        }
    }
#pragma unroll
    for (int c = 0; c < CLASSES; c++) {
        const i64 sums[] = {block_sum(rows[c]), block_sum(entries[c]), block_sum(products[c])};
        if (threadIdx.x != 0 || sums[0] == 0) continue;
        for (int t = 0; t < 3; t++) atomicAdd(totals + 3 * c + t, u64(sums[t]));
    }
    estimated = block_sum(estimated);
    if (threadIdx.x == 0 && estimated != 0) atomicAdd(totals + 3 * CLASSES, u64(estimated));
}

// The rows from class TABLES on, listed one class after the other.  totals: of mxm_bins.  `filled` is initially 0.
extern "C" __global__ void mxm_bins_list(i64 nrows, const AP* a_indptr, const u16* sizes, const u64* totals,
                                         u64* filled, R* list) {
    u64 starts[CLASSES] = {};
#pragma unroll
    for (int c = TABLES + 1; c < CLASSES; c++) starts[c] = starts[c - 1] + totals[3 * (c - 1)];
    for (i64 first = 32 * warp_id(); first < nrows; first += 32 * warp_count()) {
        const i64 i = first + lane_id();
        const int kind = i < nrows ? class_of(sizes[i], i64(a_indptr[i + 1]) - i64(a_indptr[i])) : 0;
#pragma unroll
        for (int c = TABLES; c < CLASSES; c++) {
            const u64 at = starts[c] + warp_append(filled + c, kind == c);
            if (kind == c) list[at] = R(i);
        }
    }
}
