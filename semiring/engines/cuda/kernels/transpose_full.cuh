// The transpose of a dense matrix, in tiles of SIDE x SIDE values that pass through shared memory.
// The prologue defines the type V, an unsigned integer of the width of a value.

#include "semiring.cuh"

constexpr int SIDE = 32;
constexpr int ROWS_AT_ONCE = 8;

// across: tiles along a row of the matrix.
extern "C" __global__ void __launch_bounds__(SIDE * ROWS_AT_ONCE)
    transpose_full(const V* values, i64 nrows, i64 ncols, i64 across, V* out) {
    __shared__ V tile[SIDE][SIDE + 1];  // one more: the threads of a warp write to different banks
    const int x = int(threadIdx.x) % SIDE, y = int(threadIdx.x) / SIDE;
    const i64 i0 = i64(blockIdx.x) / across * SIDE, j0 = i64(blockIdx.x) % across * SIDE;
    for (int r = y; r < SIDE; r += ROWS_AT_ONCE) {
        if (i0 + r < nrows && j0 + x < ncols) tile[x][r] = values[(i0 + r) * ncols + j0 + x];
    }
    __syncthreads();
    for (int r = y; r < SIDE; r += ROWS_AT_ONCE) {
        if (j0 + r < ncols && i0 + x < nrows) out[(j0 + r) * nrows + i0 + x] = tile[r][x];
    }
}
