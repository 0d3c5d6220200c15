// mxm of small matrices:  t(i, j) = (+)_k A(i, k) (x) B(k, j),  accumulated in one slot for each position (i, j).
//
// A warp computes a row (Gustavson): for each entry A(i, k), in ascending k, its lanes process the entries of row k of
// B.  The columns within a row of B are distinct, so no two lanes combine into one slot at a time: sums need no
// atomics, and their order is that of k.  `marks` holds one presence bit for each slot; a row has `words` of them.
//
// The prologue defines the parameters of mxm_operands.cuh.

#include "grid.cuh"
#include "mxm_operands.cuh"

struct DenseArguments {
    i64 words;  // presence words of a row
    u32* marks;
    u32* admitted;
    Z* slots;
    u64* state;  // the number of blocks that have finished; the number of entries of the result
    int* indptr;
};

// The products of row i, combined in its slots.  The whole warp calls.
DEVICE void accumulate_row(const ProductArguments& s, i64 i, u32* marks, Z* slots) {
    for (i64 p = i64(s.a_indptr[i]); p < i64(s.a_indptr[i + 1]); p++) {
        const i64 k = i64(s.a_indices[p]);
        const A x = left_value(s, p);
        const i64 end = i64(s.b_indptr[k + 1]);
        for (i64 q = i64(s.b_indptr[k]) + lane_id(); q < end; q += 32) {
            const i64 j = i64(s.b_indices[q]);
            const u32 bit = 1u << (j & 31);
            const bool repeated = atomicOr(marks + (j >> 5), bit) & bit;
            if constexpr (KEEPS) {
                const Z z = product(s, x, q, i, k, j);
                slots[j] = repeated ? add(slots[j], z) : z;
            }
        }
        __syncwarp();  // the next row of B may combine into the same slots from other lanes
    }
}

// Deletes the marks that the mask does not admit.  The whole warp calls.
DEVICE void apply_mask(const ProductArguments& s, i64 i, i64 words, u32* marks, u32* admitted) {
    for (i64 p = i64(s.mask_indptr[i]) + lane_id(); p < i64(s.mask_indptr[i + 1]); p += 32) {
        if constexpr (VALUED) {
            if (value_at(s.mask_values, s.mask_iso, p) == M(0)) continue;
        }
        const i64 j = i64(s.mask_indices[p]);
        atomicOr(admitted + (j >> 5), 1u << (j & 31));
    }
    __syncwarp();
    for (i64 w = lane_id(); w < words; w += 32) {
        const u32 bits = load_relaxed(admitted + w);
        marks[w] = load_relaxed(marks + w) & (COMPLEMENT ? ~bits : bits);
    }
    __syncwarp();
}

// The slots and marks of all rows; then the row offsets of the result, by the last block that finishes.  `state`,
// `marks` and `admitted` must be 0.  Marks are read relaxed: L1 may hold lines from before the atomics of the warp.
extern "C" __global__ void mxm_dense(const ProductArguments s, const DenseArguments t) {
    for (i64 i = warp_id(); i < s.nrows; i += warp_count()) {
        u32* const marks = t.marks + i * t.words;
        accumulate_row(s, i, marks, t.slots + i * t.words * 32);
        if constexpr (MASKED) apply_mask(s, i, t.words, marks, t.admitted + i * t.words);
        int count = 0;
        for (i64 w = lane_id(); w < t.words; w += 32) count += __popc(load_relaxed(marks + w));
        count = warp_sum(count);
        if (lane_id() == 0) t.indptr[i + 1] = count;
    }
    if (!is_last_block(t.state)) return;
    int before = 0;
    for (i64 first = 0; first < s.nrows; first += blockDim.x) {
        const i64 i = first + threadIdx.x;
        const int mine = i < s.nrows ? load_relaxed(t.indptr + i + 1) : 0;
        int total;
        const int below = block_scan_exclusive(mine, total);
        if (i < s.nrows) t.indptr[i + 1] = before + below + mine;
        before += total;
    }
    if (threadIdx.x == 0) {
        t.indptr[0] = 0;
        t.state[1] = u64(before);
    }
}

// The marked slots as compressed rows.  A warp moves a row, a lane a word of it.
extern "C" __global__ void mxm_dense_rows(i64 nrows, i64 words, const u32* marks, const Z* slots, const int* indptr,
                                          int* indices, Z* values) {
    for (i64 i = warp_id(); i < nrows; i += warp_count()) {
        i64 to = i64(indptr[i]);
        for (i64 first = 0; first < words; first += 32) {
            const i64 w = first + lane_id();
            u32 bits = w < words ? marks[i * words + w] : 0;
            const int count = __popc(bits), upto = warp_scan_inclusive(count);
            i64 at = to + upto - count;
            for (; bits; bits &= bits - 1, at++) {
                const i64 j = 32 * w + __ffs(int(bits)) - 1;
                indices[at] = int(j);
                if constexpr (KEEPS) values[at] = slots[i * words * 32 + j];
            }
            to += shuffle(upto, 31);
        }
    }
}
