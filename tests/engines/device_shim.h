// Runs device functions on the CPU: a warp is 32 threads, and what lanes exchange goes through an array between two
// barriers.  Included in front of kernel text, by tests; only what they need of CUDA is here.

#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#define __device__
#define __forceinline__ inline
#define __shared__ static

struct Index {
    unsigned x = 0;
};
inline thread_local Index threadIdx, blockIdx;
inline Index blockDim{32}, gridDim{1};

namespace shim {
inline std::barrier warp_barrier(32);
inline unsigned long long exchanged[32];

template <class T>
T from_lane(T value, int lane) {
    std::memcpy(exchanged + threadIdx.x, &value, sizeof(T));
    warp_barrier.arrive_and_wait();
    T got;
    std::memcpy(&got, exchanged + (lane & 31), sizeof(T));
    warp_barrier.arrive_and_wait();
    return got;
}

// Calls `body` in 32 lanes.
template <class F>
void warp(F body) {
    std::vector<std::thread> lanes;
    for (unsigned lane = 0; lane < 32; ++lane)
        lanes.emplace_back([=] {
            threadIdx.x = lane;
            body();
        });
    for (std::thread& lane : lanes) lane.join();
}
}  // namespace shim

template <class T>
T __shfl_sync(unsigned, T value, int lane) {
    return shim::from_lane(value, lane);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
    return shim::from_lane(value, int(threadIdx.x) ^ mask);
}
template <class T>
T __shfl_up_sync(unsigned, T value, int delta) {
    const int lane = int(threadIdx.x) - delta;
    return shim::from_lane(value, lane < 0 ? int(threadIdx.x) : lane);
}
template <class T>
T __shfl_down_sync(unsigned, T value, int delta) {
    const int lane = int(threadIdx.x) + delta;
    return shim::from_lane(value, lane > 31 ? int(threadIdx.x) : lane);
}
inline unsigned __ballot_sync(unsigned, bool bit) {
    unsigned bits = 0;
    for (int lane = 0; lane < 32; ++lane) bits |= unsigned(shim::from_lane(int(bit), lane)) << lane;
    return bits;
}
inline void __syncwarp() { shim::warp_barrier.arrive_and_wait(); }
inline void __syncthreads() { shim::warp_barrier.arrive_and_wait(); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

// In place of atomics.cuh, whose loads and stores are PTX.
template <class T>
T load_relaxed(const T* address) {
    return std::atomic_ref<T>(*const_cast<T*>(address)).load(std::memory_order_relaxed);
}
template <class T>
T load_weak(const T* address) {
    return load_relaxed(address);
}
template <class T>
void store_relaxed(T* address, T value) {
    std::atomic_ref<T>(*address).store(value, std::memory_order_relaxed);
}
template <class T>
T atomicCAS(T* address, T expected, T wanted) {
    std::atomic_ref<T>(*address).compare_exchange_strong(expected, wanted, std::memory_order_relaxed);
    return expected;
}
