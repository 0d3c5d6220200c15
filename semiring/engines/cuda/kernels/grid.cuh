// Teams: all blocks of a grid, or of one cluster, that go through a loop together inside one launch.
// A barrier also makes what every thread of the team wrote before it visible to all of them after it.

#pragma once

#include "warp.cuh"

// Every block of a cooperative launch (all are resident, so waiting for each other is safe).
// `counter` counts arrivals, starts at 0, and is never reset: it is compared by difference, so it may wrap.
struct GridTeam {
    u32* counter;
    u32 target;

    DEVICE explicit GridTeam(u32* arrivals) : counter(arrivals), target(0) {}
    static DEVICE i64 rank() { return i64(blockIdx.x); }
    static DEVICE i64 size() { return i64(gridDim.x); }

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

// Every block of the one cluster that is launched; before sm_90 there are no clusters, and the team is one block.
#if __CUDA_ARCH__ >= 900
#define ONE_CLUSTER __cluster_dims__(8, 1, 1)
#else
#define ONE_CLUSTER
#endif

struct ClusterTeam {
    static DEVICE i64 rank() { return i64(blockIdx.x); }
    static DEVICE i64 size() { return i64(gridDim.x); }

    // Every thread of every block calls.
    DEVICE void barrier() {
#if __CUDA_ARCH__ >= 900
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
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
