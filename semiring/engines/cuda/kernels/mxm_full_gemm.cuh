// mxm of dense matrices:  c(i, j) = (+)_k a(i, k) (x) b(k, j), in tiles of TILE x TILE results.
//
// A block reads DEPTH columns of a and rows of b at a time into shared memory; a thread computes 4 x 4 results.  Where
// there are few tiles, several blocks share one: each sums over a range of k, and the second kernel combines the sums.
//
// The prologue defines the semiring; the types A and B (values); the constants of mxm_full.cuh; A_VALUES, B_VALUES
// (products read the arrays of values).

#include "mxm_full.cuh"

constexpr int TILE = 64;
constexpr int DEPTH = 16;
constexpr int EACH = 4;
constexpr int SIDE = TILE / EACH;  // threads along a side of the tile

struct GemmArguments {
    const A* a_values;
    A a_iso;
    const B* b_values;
    B b_iso;
    Z* c_values;
    Z start;
    i64 nrows;
    i64 inner;
    i64 ncols;
    i64 a_stride;  // the length of the rows of a
    i64 across;  // tiles along a row of the result
    i64 tiles;
    i64 range;  // the number of k of a block, a multiple of DEPTH; its sums are stored nrows * ncols after the last one's
};

extern "C" __global__ void __launch_bounds__(SIDE * SIDE) mxm_gemm(const GemmArguments s) {
    // One column more than needed: threads that read the same k of different rows use different banks.
    __shared__ A a_tile[DEPTH][TILE + 1];
    __shared__ B b_tile[DEPTH][TILE];
    const int tx = int(threadIdx.x) % SIDE, ty = int(threadIdx.x) / SIDE;
    const i64 tile = i64(blockIdx.x) % s.tiles, part = i64(blockIdx.x) / s.tiles;
    const i64 i0 = tile / s.across * TILE, j0 = tile % s.across * TILE;
    const i64 first = part * s.range, last = first + s.range < s.inner ? first + s.range : s.inner;
    Z sum[EACH][EACH];
#pragma unroll
    for (int r = 0; r < EACH; r++) {
#pragma unroll
        for (int c = 0; c < EACH; c++) sum[r][c] = s.start;
    }
    for (i64 k0 = first; k0 < last; k0 += DEPTH) {
        const int depth = last - k0 < DEPTH ? int(last - k0) : DEPTH;
        for (int at = int(threadIdx.x); at < TILE * DEPTH; at += SIDE * SIDE) {
            const i64 i = i0 + at / DEPTH, k = k0 + at % DEPTH;
            A x = s.a_iso;
            if constexpr (A_VALUES) {
                if (i < s.nrows && k < last) x = s.a_values[i * s.a_stride + k];
            }
            a_tile[at % DEPTH][at / DEPTH] = x;
        }
        for (int at = int(threadIdx.x); at < TILE * DEPTH; at += SIDE * SIDE) {
            const i64 k = k0 + at / TILE, j = j0 + at % TILE;
            B y = s.b_iso;
            if constexpr (B_VALUES) {
                if (k < last && j < s.ncols) y = s.b_values[k * s.ncols + j];
            }
            b_tile[at / TILE][at % TILE] = y;
        }
        __syncthreads();
        bool all = true;
        for (int d = 0; d < depth; d++) {
            const i64 k = k0 + d;
#pragma unroll
            for (int r = 0; r < EACH; r++) {
#pragma unroll
                for (int c = 0; c < EACH; c++) {
                    const int row = ty + SIDE * r, column = tx + SIDE * c;
                    const Z z = cast<Z>(multiply(a_tile[d][row], b_tile[d][column], i0 + row, k, k, j0 + column));
                    accumulate(sum[r][c], k > first, z);
                }
            }
        }
        if constexpr (add_has_terminal) {
#pragma unroll
            for (int r = 0; r < EACH; r++) {
#pragma unroll
                for (int c = 0; c < EACH; c++) all = all && add_is_terminal(sum[r][c]);
            }
            if (__syncthreads_and(all)) break;
        } else {
            __syncthreads();
        }
    }
#pragma unroll
    for (int r = 0; r < EACH; r++) {
#pragma unroll
        for (int c = 0; c < EACH; c++) {
            const i64 i = i0 + ty + SIDE * r, j = j0 + tx + SIDE * c;
            if (i < s.nrows && j < s.ncols) s.c_values[(part * s.nrows + i) * s.ncols + j] = sum[r][c];
        }
    }
}

// c = the sum of `parts` arrays of `count` values, one after the other in `partial`.
extern "C" __global__ void mxm_gemm_combine(const Z* partial, i64 count, i64 parts, Z* c) {
    for (i64 at = thread_id(); at < count; at += thread_count()) {
        Z sum = partial[at];
        for (i64 part = 1; part < parts; part++) sum = add(sum, partial[part * count + at]);
        c[at] = sum;
    }
}
