// The end of a reduction to one value, without a second launch: every block stores its partial result, and the last
// block to finish combines them in the order of the blocks.

#pragma once

#include "atomics.cuh"
#include "warp.cuh"

// Combines the values of all threads of the grid.  `result` has 2 + 2 * gridDim.x words: [0] whether there is a value,
// [1] its bits, then the same for each block.  `arrived` is 0 before the launch.  The whole grid calls.
template <class T, class F>
DEVICE void reduce_blocks(Maybe<T> mine, F combine, u64* result, u64* arrived) {
    typedef unsigned_of<sizeof(T)> Bits;
    __shared__ bool last;
    u64* const partials = result + 2;
    mine = block_reduce(mine, combine);
    if (threadIdx.x == 0) {
        partials[2 * i64(blockIdx.x)] = mine.hit;
        partials[2 * i64(blockIdx.x) + 1] = u64(from_bits<Bits>(mine.value));
        // Makes the partial result visible to every block before the block is counted.
        __threadfence();
        last = atomicAdd(arrived, u64(1)) == u64(gridDim.x) - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();  // no partial result is read before the count
    // A thread combines consecutive partial results, which preserves the order of the blocks.
    const i64 share = (i64(gridDim.x) + blockDim.x - 1) / blockDim.x, first = share * threadIdx.x;
    Maybe<T> sum{false, T()};
    for (i64 b = first; b < first + share && b < i64(gridDim.x); b++) {
        // All partial results are complete; a relaxed load reads them from L2, where the fences made them visible.
        if (load_relaxed(partials + 2 * b) == 0) continue;
        sum = join(sum, Maybe<T>{true, from_bits<T>(Bits(load_relaxed(partials + 2 * b + 1)))}, combine);
    }
    sum = block_reduce(sum, combine);
    if (threadIdx.x == 0) {
        result[0] = sum.hit;
        result[1] = u64(from_bits<Bits>(sum.value));
    }
}
