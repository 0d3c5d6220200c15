// Pull for rows of very different lengths: rows and entries are laid on one line (row ends among entries, as in a merge),
// which is cut into tiles of TILE; every block does one tile, whatever rows it touches.
// Merrill, Garland, "Merge-Based Parallel Sparse Matrix-Vector Multiplication" (SC 2016).
//
// A row that ends in a tile is written by it; what a tile knows of the row that goes on behind it is its carry, which
// `mxv_carry` adds afterwards.  Where the tiles begin depends on the pattern alone (`mxv_tiles`), and is kept with it.
// See product.cuh for the prologue; here also TILE and BLOCK.

#include "product.cuh"

// The number of rows that end before each multiple of TILE on the line.
extern "C" __global__ void mxv_tiles(const P* indptr, i64 nout, i64 nvals, i64* first_row, i64 tiles) {
    for (i64 t = thread_id(); t <= tiles; t += thread_count()) {
        const i64 at = t * TILE < nout + nvals ? t * TILE : nout + nvals;
        i64 low = at > nvals ? at - nvals : 0, high = at < nout ? at : nout;
        while (low < high) {
            const i64 middle = (low + high) / 2;
            if (i64(indptr[middle + 1]) <= at - middle - 1) low = middle + 1;
            else high = middle;
        }
        first_row[t] = low;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    mxv_balanced(PRODUCT_ARGUMENTS, i64 nvals, const i64* first_row, i64* carry_row, bool* carry_hit, Z* carry_value) {
    PRODUCT_OPERANDS
    constexpr bool ALWAYS = U_FULL && MASK == 0;  // every entry takes part
    constexpr int ROUNDS = int(TILE / BLOCK);
    __shared__ Z values[VALUED ? TILE : 1];
    __shared__ u32 hits[ALWAYS ? 1 : TILE / 32];
    __shared__ u32 left_out[MASK == 0 ? 1 : TILE / 32];
    const int t = int(threadIdx.x);
    const i64 at = i64(blockIdx.x) * TILE;
    const i64 behind = at + TILE < nout + nvals ? at + TILE : nout + nvals;
    const i64 row0 = first_row[blockIdx.x], row1 = first_row[blockIdx.x + 1];
    const i64 p0 = at - row0, p1 = behind - row1;
    const int entries = int(p1 - p0);

    if constexpr (MASK != 0) {
        if (t < TILE / 32) left_out[t] = 0;
        __syncthreads();
        for (i64 o = row0 + t; o <= row1 && o < nout; o += BLOCK) {
            if (mask.admits(o)) continue;
            const i64 start = i64(indptr[o]) > p0 ? i64(indptr[o]) - p0 : 0;
            const i64 end = i64(indptr[o + 1]) < p1 ? i64(indptr[o + 1]) - p0 : entries;
            for (i64 w = start / 32; 32 * w < end; w++) {
                const u32 from = start > 32 * w ? FULL_WARP << (start & 31) : FULL_WARP;
                atomicOr(&left_out[w], from & valid_bits(end, w));
            }
        }
        __syncthreads();
    }

    J column[ROUNDS];
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        const int e = r * int(BLOCK) + t;
        bool taken = e < entries;
        if constexpr (MASK != 0) taken = taken && !((left_out[e / 32] >> (e & 31)) & 1u);
        column[r] = taken ? streamed(indices + p0 + e) : J(-1);
    }
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        const int e = r * int(BLOCK) + t;
        const i64 k = i64(column[r]);
        const bool hit = k >= 0 && u.has(k);
        if constexpr (VALUED) {
            if (hit) {
                i64 o = 0;
                if constexpr (READS_O) o = upper_bound(indptr, row0, row1 + 1, p0 + e) - 1;
                values[e] = product(a, u, o, k, p0 + e);
            }
        }
        if constexpr (!ALWAYS) {
            const u32 word = __ballot_sync(FULL_WARP, hit);
            if (lane_id() == 0) hits[e / 32] = word;
        }
    }
    __syncthreads();

    // One warp takes the rows of one presence word: a lane adds a short row, the warp a long one.
    auto entry = [&](i64 e) {
        const bool hit = ALWAYS || ((hits[e / 32] >> (e & 31)) & 1u);
        return Maybe<Z>{hit, VALUED ? values[e] : Z()};
    };
    for (i64 word = row0 / 32 + warp_in_block(); 32 * word <= row1; word += BLOCK / 32) {
        const i64 o = 32 * word + lane_id();
        i64 start = 0, end = 0;
        if (o >= row0 && o <= row1 && o < nout) {
            start = i64(indptr[o]) > p0 ? i64(indptr[o]) - p0 : 0;
            end = i64(indptr[o + 1]) < p1 ? i64(indptr[o + 1]) - p0 : entries;
        }
        Maybe<Z> sum = {false, Z()};
        const bool longer = end - start > 32;
        if (!longer) {
            for (i64 e = start; e < end; e++) sum = join(sum, entry(e), Add());
        }
        for (u32 rows = __ballot_sync(FULL_WARP, longer); rows; rows &= rows - 1) {
            const int lane = __ffs(int(rows)) - 1;
            const i64 row_end = shuffle(end, lane);
            Maybe<Z> part = {false, Z()};
            for (i64 e = shuffle(start, lane) + lane_id(); e < row_end; e += 32) part = join(part, entry(e), Add());
            part = warp_reduce(part, Add());
            part.hit = __shfl_sync(FULL_WARP, int(part.hit), 0) != 0;
            part.value = shuffle(part.value, 0);
            if (lane_id() == lane) sum = part;
        }
        const bool ends_here = o >= row0 && o < row1;
        if constexpr (VALUED) {
            if (ends_here && sum.hit) out_values[o] = sum.value;
        }
        if (o == row1) {
            carry_row[blockIdx.x] = o;
            carry_hit[blockIdx.x] = sum.hit;
            if constexpr (VALUED) carry_value[blockIdx.x] = sum.value;
        }
        const u32 present = __ballot_sync(FULL_WARP, ends_here && sum.hit);
        if (lane_id() == 0 && present != 0) atomicOr(out_words + word, present);
    }
}

// Consecutive tiles may carry parts of one row.  The thread of the first of them adds up a short run, the
// block a long one.
extern "C" __global__ void __launch_bounds__(BLOCK)
    mxv_carry(const i64* row, const bool* hit, const Z* value, i64 tiles, u32* out_words, Z* out_values, i64 nout) {
    __shared__ i64 long_runs[BLOCK];
    __shared__ int long_count;
    constexpr i64 SHORT_RUN = 32;
    auto part = [&](i64 t) { return Maybe<Z>{hit[t], VALUED ? value[t] : Z()}; };
    auto deliver = [&](i64 o, Maybe<Z> sum) {
        if (!sum.hit) return;
        if constexpr (VALUED) out_values[o] = bit_test(out_words, o) ? Z(add(sum.value, out_values[o])) : sum.value;
        atomicOr(out_words + (o >> 5), 1u << (o & 31));
    };
    if (threadIdx.x == 0) long_count = 0;
    __syncthreads();
    const i64 t = thread_id();
    if (t < tiles && row[t] < nout && (t == 0 || row[t - 1] != row[t])) {
        if (t + SHORT_RUN < tiles && row[t + SHORT_RUN] == row[t]) {
            long_runs[atomicAdd(&long_count, 1)] = t;
        } else {
            Maybe<Z> sum = part(t);
            for (i64 s = t + 1; s < tiles && row[s] == row[t]; s++) sum = join(sum, part(s), Add());
            deliver(row[t], sum);
        }
    }
    __syncthreads();
    for (int run = 0; run < long_count; run++) {
        const i64 first = long_runs[run], o = row[first];
        const i64 end = upper_bound(row, first, tiles, o);
        Maybe<Z> sum = {false, Z()};
        for (i64 s = first + threadIdx.x; s < end; s += BLOCK) sum = join(sum, part(s), Add());
        sum = block_reduce(sum, Add());
        if (threadIdx.x == 0) deliver(o, sum);
    }
}

extern "C" __global__ void mxv_count(const u32* words, i64 word_count, u64* count) {
    i64 counted = 0;
    for (i64 w = thread_id(); w < word_count; w += thread_count()) counted += __popc(words[w]);
    add_count(count, counted);
}
