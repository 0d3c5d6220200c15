// Thread groups as types: the blocks among which a loop is divided.
//
//     GridRank          the blocks of any launch, without a barrier
//     CooperativeGrid   the blocks of a cooperative launch, which are all resident
//     Cluster           the blocks of a launch of one cluster
//
// A barrier in an ordinary launch would deadlock if not all blocks are resident.  GridRank therefore has no barrier: a
// loop that calls `barrier` does not compile for it.  A barrier makes the writes of all threads of the group visible to
// all of them.  (It is a release and an acquire; __syncthreads extends both to the whole block.)

#pragma once

#include "atomics.cuh"
#include "warp.cuh"

struct GridRank {
    static DEVICE i64 rank() { return i64(blockIdx.x); }
    static DEVICE i64 size() { return i64(gridDim.x); }
};

// f(i, inside) for the positions below `count`, by the blocks of a Group: the threads of a block call together, those past
// the end with `inside` false.
template <int BLOCK, class Group, class F>
DEVICE void each_by_block(i64 count, F f) {
    for (i64 first = Group::rank() * BLOCK; first < count; first += Group::size() * BLOCK) {
        const i64 i = first + threadIdx.x;
        f(i, i < count);
    }
}

// A barrier of all threads that arrive: the thread waits until `arrivals`, which it increases, has reached `target`.
DEVICE void arrive_and_wait(u32* arrivals, u32 target) {
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrivals) : "memory");
    u32 seen;
    do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrivals) : "memory");
    } while (i32(seen - target) < 0);
}

// `counter` counts arrivals, is initially 0, and is never reset; comparison by difference allows it to wrap.
struct CooperativeGrid : GridRank {
    u32* counter;
    u32 target;

    DEVICE explicit CooperativeGrid(u64* arrivals) : counter(reinterpret_cast<u32*>(arrivals)), target(0) {}

    // Every thread of every block calls.
    DEVICE void barrier() {
        __syncthreads();
        target += gridDim.x;
        if (threadIdx.x == 0) arrive_and_wait(counter, target);
        __syncthreads();
    }
};

// Before sm_90 there are no clusters; the group is one block.
#if __CUDA_ARCH__ >= 900
#define ONE_CLUSTER __cluster_dims__(8, 1, 1)
#else
#define ONE_CLUSTER
#endif

struct Cluster : GridRank {
    // Every thread of every block calls.  After divergent branches the lanes of a warp may not have converged again, so
    // these are not the `.aligned` instructions, which need a converged warp.
    DEVICE void barrier() {
#if __CUDA_ARCH__ >= 900
        asm volatile("barrier.cluster.arrive.release;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#else
        __syncthreads();
#endif
    }
};

// --- the end of a reduction to one value, without a second launch: every block stores its partial result, and the last
// block to finish combines them in the order of the blocks ---------------------------------------------------

// Whether all blocks of the grid but this one have called; what they wrote before is then visible to this one.
// `arrived` is 0 before the launch.  Every thread of the block calls.
DEVICE bool is_last_block(u64* arrived) {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();  // what the block has written is visible before the block is counted
        last = atomicAdd(arrived, u64(1)) == u64(gridDim.x) - 1;
    }
    __syncthreads();
    __threadfence();  // nothing is read before the count
    return last;
}
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
    u64* const partials = result + Stored::WORDS;
    mine = block_reduce(mine, combine);
    if (threadIdx.x == 0) Stored::store(partials + Stored::WORDS * i64(blockIdx.x), mine);
    if (!is_last_block(arrived)) return;
    // A thread combines consecutive partial results, which preserves the order of the blocks.
    const i64 share = (i64(gridDim.x) + blockDim.x - 1) / blockDim.x, first = share * threadIdx.x;
    Maybe<T> sum{false, T()};
    for (i64 b = first; b < first + share && b < i64(gridDim.x); b++) {
        sum = join(sum, Stored::load(partials + Stored::WORDS * b), combine);
    }
    sum = block_reduce(sum, combine);
    if (threadIdx.x == 0) Stored::store(result, sum);
}
