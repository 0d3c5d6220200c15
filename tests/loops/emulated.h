// Enough of CUDA for the text of a program to run on a CPU: a block is an operating-system thread, its threads are
// fibers that give way at barriers and at exchanges between the lanes of a warp.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <ucontext.h>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static thread_local
#define __CUDA_ARCH__ 700
#define THREADS EMULATED_BLOCK

struct Dimension { unsigned x; };
struct uint4 { unsigned x, y, z, w; };
struct Warp { unsigned long long slot[2][32]; int count = 0; unsigned generation = 0; };
struct Fibers {
    ucontext_t scheduler, context[THREADS];
    bool done[THREADS];
    int running, arrived = 0, votes[2] = {0, 0};
    unsigned generation = 0;
    Warp warps[THREADS / 32];
};
static thread_local Fibers* fibers;
static thread_local Dimension blockIdx;
static Dimension gridDim, blockDim = {THREADS};
struct ThreadIndex {
    struct { operator unsigned() const { return unsigned(fibers->running); } } x;
};
static ThreadIndex threadIdx;

static void give_way() { swapcontext(&fibers->context[fibers->running], &fibers->scheduler); }
static int vote(int value) {
    const unsigned mine = fibers->generation;
    fibers->votes[mine & 1] += value;
    if (++fibers->arrived == THREADS) {
        fibers->arrived = 0;
        fibers->votes[(mine + 1) & 1] = 0;
        fibers->generation++;
    } else {
        while (fibers->generation == mine) give_way();
    }
    return fibers->votes[mine & 1];
}
static void __syncthreads() { vote(0); }
static int __syncthreads_or(int value) { return vote(value != 0) != 0; }
static int __syncthreads_count(int value) { return vote(value != 0); }
static const unsigned long long* all_lanes(unsigned long long value) {
    Warp& warp = fibers->warps[fibers->running / 32];
    const unsigned mine = warp.generation;
    warp.slot[mine & 1][fibers->running % 32] = value;
    if (++warp.count == 32) {
        warp.count = 0;
        warp.generation++;
    } else {
        while (warp.generation == mine) give_way();
    }
    return warp.slot[mine & 1];
}
static void __syncwarp(unsigned = 0xffffffffu) { all_lanes(0); }
static unsigned __ballot_sync(unsigned, int value) {
    const unsigned long long* values = all_lanes(value != 0);
    unsigned bits = 0;
    for (int lane = 0; lane < 32; lane++) bits |= unsigned(values[lane] != 0) << lane;
    return bits;
}
template <class T>
static unsigned __match_any_sync(unsigned, T value) {
    const unsigned long long* values = all_lanes((unsigned long long)value);
    unsigned bits = 0;
    for (int lane = 0; lane < 32; lane++) bits |= unsigned(values[lane] == (unsigned long long)value) << lane;
    return bits;
}
static int __any_sync(unsigned mask, int value) { return __ballot_sync(mask, value) != 0; }
static int __all_sync(unsigned mask, int value) { return __ballot_sync(mask, value) == mask; }
template <class T>
static T lane_value(T value, int lane) {
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof(T));
    bits = all_lanes(bits)[lane & 31];
    memcpy(&value, &bits, sizeof(T));
    return value;
}
// Lanes that are not converged are alone.
static unsigned __activemask() { return 1u << (fibers->running % 32); }
template <class T> static T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
    if (mask == __activemask()) return value;
    return lane_value(value, (fibers->running % 32 & ~(width - 1)) | (lane & (width - 1)));
}
template <class T> static T __shfl_xor_sync(unsigned, T value, int mask) { return lane_value(value, (fibers->running % 32) ^ mask); }
template <class T> static T __shfl_up_sync(unsigned, T value, int delta) {
    const int lane = fibers->running % 32;
    return lane_value(value, lane < delta ? lane : lane - delta);
}
template <class T> static T __shfl_down_sync(unsigned, T value, int delta) {
    const int lane = fibers->running % 32;
    return lane_value(value, lane + delta > 31 ? lane : lane + delta);
}
static int __popc(unsigned bits) { return __builtin_popcount(bits); }
static int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
static int __ffs(int bits) { return __builtin_ffs(bits); }
static int __ffsll(long long bits) { return __builtin_ffsll(bits); }
static unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return unsigned(((unsigned long long)(high) << 32 | low) >> (shift & 31));
}
static int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz(unsigned(bits)); }
template <class T> static T __ldcs(const T* at) { return *at; }
static double __dmul_rn(double a, double b) { volatile double made = a * b; return made; }
// The time is the number of looks at the clock.
static long long clock64() {
    static std::atomic<long long> looks{0};
    return looks++;
}
static void __nanosleep(unsigned) { std::this_thread::yield(); }
static void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
static unsigned long long __cvta_generic_to_shared(const void* at) { return (unsigned long long)(at); }

template <class T, class V> static T atomicAdd(T* at, V value) {
    if constexpr (std::is_floating_point<T>::value) {
        T old;
        __atomic_load(at, &old, __ATOMIC_SEQ_CST);
        for (T sum = old + T(value); !__atomic_compare_exchange(at, &old, &sum, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);) sum = old + T(value);
        return old;
    } else return __atomic_fetch_add(at, T(value), __ATOMIC_SEQ_CST);
}
template <class T, class V> static T atomicOr(T* at, V value) { return __atomic_fetch_or(at, T(value), __ATOMIC_SEQ_CST); }
template <class T, class V> static T atomicAnd(T* at, V value) { return __atomic_fetch_and(at, T(value), __ATOMIC_SEQ_CST); }
template <class T, class V> static T atomicCAS(T* at, T seen, V value) {
    T wanted = T(value);
    __atomic_compare_exchange(at, &seen, &wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return seen;
}
template <class T, class V> static T atomicMin(T* at, V value) {
    T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (T(value) < old && !__atomic_compare_exchange_n(at, &old, T(value), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
    return old;
}
template <class T, class V> static T atomicMax(T* at, V value) {
    T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (old < T(value) && !__atomic_compare_exchange_n(at, &old, T(value), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
    return old;
}
template <class T, class V> static T atomicExch(T* at, V value) { return __atomic_exchange_n(at, T(value), __ATOMIC_SEQ_CST); }
template <class T> static T emulated_load(const T* at) { return *(const volatile T*)at; }

// Runs body() in THREADS fibers of each of `blocks` threads.
template <class F>
static void launch(unsigned blocks, F body) {
    static F* current;
    current = &body;
    gridDim.x = blocks;
    std::vector<std::thread> all;
    for (unsigned b = 0; b < blocks; b++) {
        all.emplace_back([b] {
            blockIdx.x = b;
            fibers = new Fibers;
            std::vector<char> stacks(size_t(THREADS) << 16);
            for (int t = 0; t < THREADS; t++) {
                fibers->done[t] = false;
                getcontext(&fibers->context[t]);
                fibers->context[t].uc_stack.ss_sp = stacks.data() + (size_t(t) << 16);
                fibers->context[t].uc_stack.ss_size = 1 << 16;
                fibers->context[t].uc_link = &fibers->scheduler;
                makecontext(&fibers->context[t], (void (*)()) + [] { (*current)(); fibers->done[fibers->running] = true; }, 0);
            }
            for (int left = THREADS; left > 0;) {
                left = 0;
                for (int t = 0; t < THREADS; t++) {
                    if (fibers->done[t]) continue;
                    left++;
                    fibers->running = t;
                    swapcontext(&fibers->scheduler, &fibers->context[t]);
                }
            }
            delete fibers;
        });
    }
    for (auto& thread : all) thread.join();
}
