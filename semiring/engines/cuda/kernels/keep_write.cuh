// The second of two passes over the entries of a matrix: writes those that the first has marked.

#include "keep_rows.cuh"

// Blocks of a multiprocessor that registers are limited for: they hold a column and a value for each round.
constexpr int WRITE_RESIDENT = sizeof(I) + sizeof(V) <= 8 ? 8 : 4;

extern "C" __global__ void __launch_bounds__(TILE_THREADS, WRITE_RESIDENT) keep_write(const KeepArguments k) {
    __shared__ TileMarks kept;
    const i64 number = i64(blockIdx.x);
    if (threadIdx.x < TILE_WORDS) kept.bits[threadIdx.x] = k.marks[number * TILE_WORDS + threadIdx.x];
    const RowTile tile(k.first_row, number, k.nrows, k.n);
    const i64 before = i64(k.words[number]);
    __syncthreads();
    if (threadIdx.x < 32) kept.count();
    __syncthreads();
    write_kept(k, tile, kept, number, before);
}
