// A stable radix sort of keys with a payload, 8 bits a pass.
//
// In a pass, `sort_histogram` counts the digits of each tile, a scan over (digit, tile) converts counts to positions,
// and `sort_scatter` moves every element to its position.  KEY is u32 or u64, V an unsigned integer of the payload's
// size, R the type of positions.  Blocks have 256 threads; a tile is 4096 elements, 512 for each warp.

#include "semiring.cuh"

constexpr int WARPS = 8;
constexpr int ROUNDS = 16;
constexpr i64 TILE = WARPS * ROUNDS * 32;

DEVICE u32 digit_of(KEY key, int shift) { return u32(key >> shift) & 255u; }

extern "C" __global__ void sort_histogram(i64 n, const KEY* keys, int shift, i64 tiles, R* counts) {
    __shared__ u32 digits[256];
    digits[threadIdx.x] = 0;
    __syncthreads();
    const i64 first = TILE * i64(blockIdx.x);
    for (int round = 0; round < ROUNDS; ++round) {
        const i64 p = first + 256 * round + threadIdx.x;
        if (p < n) atomicAdd(digits + digit_of(keys[p], shift), 1u);
    }
    __syncthreads();
    counts[i64(threadIdx.x) * tiles + blockIdx.x] = R(digits[threadIdx.x]);
}

extern "C" __global__ void sort_scatter(i64 n, const KEY* keys, const V* payload, int shift, i64 tiles,
                                        const R* positions, KEY* out_keys, V* out_payload) {
    __shared__ u32 counts[WARPS][256];  // of each warp and digit: first the count, then the exclusive scan over warps
    __shared__ R begins[256];
    u32* const mine = counts[warp_in_block()];
    for (int d = lane_id(); d < 256; d += 32) mine[d] = 0;
    __syncwarp();
    const i64 first = TILE * i64(blockIdx.x) + i64(ROUNDS) * 32 * warp_in_block();
    KEY held[ROUNDS];
#pragma unroll
    for (int round = 0; round < ROUNDS; ++round) {
        const i64 p = first + 32 * round + lane_id();
        if (p < n) {
            held[round] = keys[p];
            atomicAdd(mine + digit_of(held[round], shift), 1u);
        }
    }
    __syncthreads();
    u32 before = 0;
    for (int w = 0; w < WARPS; ++w) {
        const u32 count = counts[w][threadIdx.x];
        counts[w][threadIdx.x] = before;
        before += count;
    }
    begins[threadIdx.x] = positions[i64(threadIdx.x) * tiles + blockIdx.x];
    __syncthreads();
#pragma unroll
    for (int round = 0; round < ROUNDS; ++round) {
        const i64 p = first + 32 * round + lane_id();
        // Lanes past the end vote with a digit that no key has.
        const u32 digit = p < n ? digit_of(held[round], shift) : 256u;
        const u32 peers = __match_any_sync(FULL_WARP, digit);
        if (p < n) {
            const i64 to = i64(begins[digit]) + mine[digit] + __popc(peers & lanes_below());
            out_keys[to] = held[round];
            if (payload != nullptr) out_payload[to] = payload[p];
        }
        __syncwarp();
        if (p < n && (peers & lanes_below()) == 0) mine[digit] += __popc(peers);
        __syncwarp();
    }
}
