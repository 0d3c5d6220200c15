// The blocks that run a program: their barriers, the counters by which requests reserve places, and how the group grows
// and shrinks; program.cuh describes it.

#pragma once

#include "grid.cuh"
#include "packing.cuh"

// Counters 0 and 1: a request that found an invalid position; the time of this launch is over.
enum { INVALID, OVER, FIRST_COUNTER };
// How a program ends; a `return` has its number, and the end of the loop 0.  With HOST_PRODUCT - k the host executes product
// k, and continues at the point behind it.
enum { RUNNING = -1, FAILED = -2, YIELDED = -3, OUTGROWN = -4, HOST_PRODUCT = -5 };

// The counters as of the last barrier.  They only increase, modulo 2^64, and are never reset: the threads keep the
// number at which the last use ended.
__shared__ u64 counted[COUNTERS];
// The counters while the first block is alone.  Those of several blocks are in global memory, each in two parts, to
// which threads add in turns, a turn between two barriers: a block that is late at a barrier reads the part to which the
// others, who may be ahead, do not add.
__shared__ u64 pending[COUNTERS];
__shared__ u64* all_counters;
// What threads of this block have counted since the last barrier, which adds it to those of all blocks.
__shared__ u64 uncounted[COUNTERS];
__shared__ u64 parts_read[2][COUNTERS];
__shared__ u32 turn;
// The blocks of the group, the first of the grid; whether there is one.
__shared__ u32 active;
__shared__ bool alone;
// The barrier of the group: its counter, and what that was at the last one.
__shared__ u32* arrivals;
__shared__ u32 arrived;
// The clock when the launch began.
__shared__ i64 begun;
// Where the blocks outside of the group wait: how often it has grown, and its blocks.
__shared__ u64* gate;
__shared__ u32 grown;

// What requests call often is compiled once, not in each of them: a program has many.
#define APART __device__ __noinline__

DEVICE u64* part_of(u32 part, int k) { return all_counters + part * int(COUNTERS) + k; }

// The first half of a barrier: what threads of the group wrote and counted before is then known to the first warp.
APART void meet() {
    __syncthreads();
    if (threadIdx.x < 32) {
        const bool here = alone;
        const u32 now = turn;
        if (!here) {
            for (int k = int(threadIdx.x); k < int(COUNTERS); k += 32) {
                if (uncounted[k] == 0) continue;
                atomicAdd(part_of(now, k), uncounted[k]);
                uncounted[k] = 0;
            }
            __syncwarp();
            if (threadIdx.x == 0) {
                arrived += active;
                arrive_and_wait(arrivals, arrived);
            }
        }
        __syncwarp();
        for (int k = int(threadIdx.x); k < int(COUNTERS); k += 32) {
            if (here) {
                counted[k] = pending[k];
            } else {
                parts_read[now][k] = load_relaxed(part_of(now, k));
                counted[k] = parts_read[0][k] + parts_read[1][k];
            }
        }
        __syncwarp();
        if (threadIdx.x == 0 && !here) turn = now ^ 1u;
    }
}
// Adds the amounts of all threads of a warp to a counter.
APART void count_amounts(int k, u64 mine) {
    if (!__any_sync(FULL_WARP, mine != 0)) return;
    const u64 total = warp_sum(mine);
    if (lane_id() == 0) atomicAdd(alone ? &pending[k] : &uncounted[k], total);
}
// Reserves the amounts of all threads; returns where that of this thread begins.  The whole block calls.
APART u64 reserve_amounts(int k, u64 mine) {
    __shared__ u64 start;
    if (alone) {
        if (!__any_sync(FULL_WARP, mine != 0)) return 0;
        const u64 through = warp_scan_inclusive(mine);
        u64 first = 0;
        if (lane_id() == 31) first = atomicAdd(&pending[k], through);
        return shuffle(first, 31) + through - mine;
    }
    u64 total;
    const u64 below = block_scan_exclusive(mine, total);
    if (total == 0) return 0;
    if (threadIdx.x == 0) start = atomicAdd(part_of(turn, k), total) + parts_read[turn ^ 1u][k];
    __syncthreads();
    return start + below;
}

// What many blocks poll is alone in its cache line: words between the counters, the arrivals and the gate.
constexpr int APART_WORDS = 16;

// The blocks that run a program.  given: 2 COUNTERS counters; then, apart, the arrivals; then, apart, the gate, and the
// turn and the arrivals for blocks that join.
struct Group {
    DEVICE Group(u64* given) {
        if (threadIdx.x == 0) {
            begun = clock64();
            active = gridDim.x;
            alone = active == 1;
            all_counters = given;
            arrivals = reinterpret_cast<u32*>(given + 2 * COUNTERS + APART_WORDS);
            gate = given + 2 * COUNTERS + 2 * APART_WORDS;
            arrived = turn = grown = 0;
        }
        for (int k = int(threadIdx.x); k < int(COUNTERS); k += int(BLOCK)) {
            // The blocks begin at different times, so the first part, to which they add, is not read before a barrier.
            counted[k] = 0;
            parts_read[1][k] = load_relaxed(given + COUNTERS + k);
            uncounted[k] = 0;
            pending[k] = gridDim.x == 1 ? load_relaxed(given + k) + parts_read[1][k] : 0;
        }
        __syncthreads();
    }
    static DEVICE i64 rank() { return i64(blockIdx.x); }
    static DEVICE i64 size() { return i64(active); }

    // The blocks for a request of so many items.
    static DEVICE u32 blocks_for(i64 items) {
        if (items <= i64(ALONE_MOST)) return 1;
        return items <= i64(SOME_MOST) && u32(SOME_BLOCKS) < gridDim.x ? u32(SOME_BLOCKS) : gridDim.x;
    }
    // The items of an iteration from which on the group keeps its blocks, and the blocks for fewer.  A block that is alone
    // has 1: iterations without any item may have no barrier, and only behind one does it see that its time is over.
    static DEVICE i64 least() {
        if (alone) return 1;
        return active > u32(SOME_BLOCKS) ? i64(SOME_LEAST) : i64(ALONE_LEAST);
    }
    static DEVICE u32 fewer(i64 work) { return work < i64(ALONE_LEAST) ? 1u : u32(SOME_BLOCKS); }

    // Every thread calls.  What threads of the group wrote and counted before is then known to all; the first thread of
    // each block executes `then` in between.
    template <class F>
    static DEVICE void barrier(F then) {
        meet();
        if (threadIdx.x == 0) then();
        __syncthreads();
    }
    static DEVICE void barrier() {
        meet();
        __syncthreads();
    }
    // Executes `then` between two barriers of the block: for what its threads share.
    template <class F>
    static DEVICE void change(F then) {
        __syncthreads();
        if (threadIdx.x == 0) then();
        __syncthreads();
    }
    static DEVICE void count(int k, u64 mine) { count_amounts(k, mine); }
    static DEVICE u64 reserve(int k, u64 mine) { return reserve_amounts(k, mine); }
    // Ends the launch at the next barrier after its time; the first thread looks at the clock.
    static DEVICE void watch() {
        if (blockIdx.x == 0 && threadIdx.x == 0 && clock64() - begun > i64(WATCHED_CYCLES)) {
            if (alone) pending[OVER] = 1;
            else atomicAdd(part_of(turn, OVER), 1);
        }
    }
    // The first blocks go on without the others; a barrier of the group precedes.
    static DEVICE void part(u32 left) {
        __syncthreads();
        if (threadIdx.x == 0) {
            active = left;
            alone = left == 1;
        }
        for (int k = int(threadIdx.x); k < int(COUNTERS); k += int(BLOCK)) pending[k] = counted[k];
        __syncthreads();
    }
    // The group continues with more blocks, which read the state that the first one stores.
    template <class S, class Numbers, class Buffers>
    static DEVICE void join(S* stored, const Numbers& numbers, const Buffers& buffers, u32 blocks) {
        __syncthreads();
        if (blockIdx.x == 0) {
            save(stored, numbers, buffers);
            if (alone) store_counters();
            if (threadIdx.x == 0) store_relaxed(gate + 1, u64(turn) << 32 | arrived);
            __syncthreads();
            if (threadIdx.x == 0) {
                __threadfence();
                store_relaxed(gate, u64(grown + 1) << 32 | blocks);
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            active = blocks;
            alone = false;
            grown += 1;
        }
        __syncthreads();
        barrier();
    }
    // Waits until the group grows to this block.
    static DEVICE void wait() {
        if (threadIdx.x == 0) {
            u64 seen;
            do {
                __nanosleep(500);
                seen = load_relaxed(gate);
            } while (u32(seen >> 32) == grown || u32(seen) <= blockIdx.x);
            __threadfence();
            grown = u32(seen >> 32);
            active = u32(seen);
            alone = false;
            const u64 at = load_relaxed(gate + 1);
            arrived = u32(at);
            turn = u32(at >> 32);
        }
        __syncthreads();
        // The other part changes only behind the next barrier.
        for (int k = int(threadIdx.x); k < int(COUNTERS); k += int(BLOCK)) {
            parts_read[turn ^ 1u][k] = load_relaxed(part_of(turn ^ 1u, k));
        }
        barrier();
    }
    // Stores the counters of the first block, which was alone.
    static DEVICE void store_counters() {
        for (int k = int(threadIdx.x); k < int(COUNTERS); k += int(BLOCK)) {
            store_relaxed(part_of(turn, k), pending[k] - parts_read[turn ^ 1u][k]);
        }
    }
    // Stores the state: the numbers that every thread has, and what the block shares.
    template <class S, class Numbers, class Buffers>
    static DEVICE void save(S* stored, const Numbers& numbers, const Buffers& buffers) {
        if (threadIdx.x == 0) stored->numbers = numbers;
        copy_words(&stored->buffers, &buffers);
    }
    // Reads it.
    template <class S, class Numbers, class Buffers>
    static DEVICE void load(const S* stored, Numbers& numbers, Buffers& buffers) {
        numbers = stored->numbers;
        __syncthreads();
        copy_words(&buffers, &stored->buffers);
        __syncthreads();
    }
    template <class T>
    static DEVICE void copy_words(T* to, const T* from) {
        for (int k = int(threadIdx.x); k < int(sizeof(T) / 8); k += int(BLOCK)) {
            reinterpret_cast<u64*>(to)[k] = reinterpret_cast<const u64*>(from)[k];
        }
    }
};
