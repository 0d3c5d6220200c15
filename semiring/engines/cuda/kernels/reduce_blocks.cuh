// The end of a reduction to one value, without a second launch: every block stores its partial result, and the last
// block to finish combines them in the order of the blocks.

#pragma once

#include "atomics.cuh"
#include "warp.cuh"

// Whether there is a value, and its bytes, in one word or two.
template <class T>
struct Partial {
    static constexpr int WORDS = 1 + (int(sizeof(T)) + 7) / 8;

    static DEVICE void store(u64* to, Maybe<T> value) {
        to[0] = value.hit;
        to[WORDS - 1] = 0;
        memcpy(to + 1, &value.value, sizeof(T));
    }
    // All partial results are complete; a relaxed load reads them from L2, where the fences made them visible.
    static DEVICE Maybe<T> load(const u64* from) {
        Maybe<T> made{load_relaxed(from) != 0, T()};
        u64 words[WORDS - 1];
#pragma unroll
        for (int w = 0; w < WORDS - 1; w++) words[w] = made.hit ? load_relaxed(from + 1 + w) : 0;
        memcpy(&made.value, words, sizeof(T));
        return made;
    }
};

// Combines the values of all threads of the grid.  `result` has a `Partial` for the result, then one for each block.
// `arrived` is 0 before the launch.  The whole grid calls.
template <class T, class F>
DEVICE void reduce_blocks(Maybe<T> mine, F combine, u64* result, u64* arrived) {
    typedef Partial<T> Stored;
    __shared__ bool last;
    u64* const partials = result + Stored::WORDS;
    mine = block_reduce(mine, combine);
    if (threadIdx.x == 0) {
        Stored::store(partials + Stored::WORDS * i64(blockIdx.x), mine);
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
        sum = join(sum, Stored::load(partials + Stored::WORDS * b), combine);
    }
    sum = block_reduce(sum, combine);
    if (threadIdx.x == 0) Stored::store(result, sum);
}
