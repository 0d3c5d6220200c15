// Thread groups: the blocks among which a loop is divided, as types.
//
//     GridRank          the blocks of any launch; there is no barrier
//     CooperativeGrid   the blocks of a cooperative launch, which are all resident
//     Cluster           the blocks of the one cluster that is launched
//
// A barrier of an ordinary launch would deadlock as soon as its blocks are not all resident, so a GridRank has none: a
// loop that calls `barrier` does not compile for it.  A barrier makes what every thread of the group wrote before it
// visible to all of them after it.  (It is a release and an acquire; __syncthreads extends both to the whole block.)

#pragma once

#include "warp.cuh"

struct GridRank {
    static DEVICE i64 rank() { return i64(blockIdx.x); }
    static DEVICE i64 size() { return i64(gridDim.x); }
};

// `counter` counts arrivals, starts at 0, and is never reset: it is compared by difference, so it may wrap.
struct CooperativeGrid : GridRank {
    u32* counter;
    u32 target;

    DEVICE explicit CooperativeGrid(u32* arrivals) : counter(arrivals), target(0) {}

    // Every thread of every block calls.
    DEVICE void barrier() {
        __syncthreads();
        target += gridDim.x;
        if (threadIdx.x == 0) {
            asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
            u32 seen;
            do {
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
            } while (i32(seen - target) < 0);
        }
        __syncthreads();
    }
};

// Before sm_90 there are no clusters, and the group is one block.
#if __CUDA_ARCH__ >= 900
#define ONE_CLUSTER __cluster_dims__(8, 1, 1)
#else
#define ONE_CLUSTER
#endif

struct Cluster : GridRank {
    // Every thread of every block calls.  Callers come here from branches that only some lanes took, and nothing makes
    // the lanes of a warp converge again; so these are not the `.aligned` instructions, which need a converged warp.
    DEVICE void barrier() {
#if __CUDA_ARCH__ >= 900
        asm volatile("barrier.cluster.arrive.release;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#else
        __syncthreads();
#endif
    }
};

// The first position in [low, high) whose element is above `key`, else high, by 32 probes at a time.
// Every lane of the warp calls with the same arguments; valid in every lane.
template <class T>
DEVICE i64 warp_upper_bound(const T* sorted, i64 low, i64 high, i64 key) {
    while (low < high) {
        const i64 step = (high - low + 31) / 32;
        const i64 probe = low + step * (lane_id() + 1) - 1;
        const bool passed = probe < high && i64(sorted[probe]) <= key;
        low += step * __popc(__ballot_sync(FULL_WARP, passed));
        high = low + step - 1 < high ? low + step - 1 : high;
    }
    return low;
}
