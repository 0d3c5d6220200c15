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

#include "warp.cuh"

struct GridRank {
    static DEVICE i64 rank() { return i64(blockIdx.x); }
    static DEVICE i64 size() { return i64(gridDim.x); }
};

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

    DEVICE explicit CooperativeGrid(u32* arrivals) : counter(arrivals), target(0) {}

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
