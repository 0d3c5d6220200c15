// The most frequent value in a sample of a full vector of labels: the component that connected components skip.
//
// The prologue defines the type F (nonnegative labels).

#include "warp.cuh"

typedef unsigned_of<sizeof(F)> FrequentBits;

constexpr int FREQUENT_DRAWS = 1024;
constexpr int FREQUENT_SLOTS = 2 * FREQUENT_DRAWS;

// *out = the value.  One block of FREQUENT_DRAWS threads, each of which draws one entry; n > 0.
extern "C" __global__ void __launch_bounds__(FREQUENT_DRAWS) frequent_value(const F* values, i64 n, F* out) {
    __shared__ FrequentBits value[FREQUENT_SLOTS];  // a hash table with linear probing
    __shared__ unsigned count[FREQUENT_SLOTS];
    __shared__ u64 best;
    constexpr FrequentBits FREE = ~FrequentBits(0);
    for (int slot = threadIdx.x; slot < FREQUENT_SLOTS; slot += FREQUENT_DRAWS) {
        value[slot] = FREE;
        count[slot] = 0;
    }
    if (threadIdx.x == 0) best = 0;
    __syncthreads();

    const u64 draw = mixed(0x9e3779b97f4a7c15ull * (threadIdx.x + 1) + u64(n));
    const FrequentBits mine = FrequentBits(values[i64(__umul64hi(draw, u64(n)))]);
    int slot = int(mixed(u64(mine)) % FREQUENT_SLOTS);
    for (;; slot = (slot + 1) % FREQUENT_SLOTS) {
        const FrequentBits found = atomicCAS(value + slot, FREE, mine);
        if (found == FREE || found == mine) break;
    }
    atomicAdd(count + slot, 1u);
    __syncthreads();

    for (int at = threadIdx.x; at < FREQUENT_SLOTS; at += FREQUENT_DRAWS) {
        if (count[at] > 0) atomicMax(&best, u64(count[at]) << 32 | u64(at));
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = F(value[int(best & 0xffffffffull)]);
}
