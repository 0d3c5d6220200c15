// Exclusive scan: out[i] = the sum of in[0 .. i), for i = 0 .. n; out[n] is the total.
// IN and OUT are integers; with POPCOUNT the number of set bits of each element is summed.

#include "semiring.cuh"

constexpr int ITEMS = 8;
constexpr i64 TILE = 256 * ITEMS;

DEVICE OUT scan_load(const IN* in, i64 n, i64 i) {
    if (i >= n) return OUT(0);
    if constexpr (POPCOUNT) return OUT(__popc(u32(in[i])));
    else return OUT(in[i]);
}

// One block of 256 threads for each tile: sums[tile] = the sum of the tile.
extern "C" __global__ void scan_tiles(i64 n, const IN* in, OUT* sums) {
    const i64 first = TILE * i64(blockIdx.x);
    OUT sum = 0;
    for (int item = 0; item < ITEMS; ++item) sum += scan_load(in, n, first + 256 * item + threadIdx.x);
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// One block of 1024 threads: replaces `sums` by its exclusive scan.
extern "C" __global__ void scan_sums(i64 tiles, OUT* sums) {
    OUT before = 0;
    for (i64 base = 0; base < tiles; base += 1024) {
        const i64 i = base + threadIdx.x;
        OUT total;
        const OUT below = block_scan_exclusive(i < tiles ? sums[i] : OUT(0), total);
        if (i < tiles) sums[i] = before + below;
        before += total;
    }
}

// One block of 256 threads for each tile; `sums` is null if there is only one tile.
extern "C" __global__ void scan_write(i64 n, const IN* in, const OUT* sums, OUT* out) {
    const i64 first = TILE * i64(blockIdx.x) + ITEMS * threadIdx.x;
    OUT items[ITEMS];
    OUT sum = 0;
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        items[item] = scan_load(in, n, first + item);
        sum += items[item];
    }
    OUT total;
    OUT running = block_scan_exclusive(sum, total) + (sums == nullptr ? OUT(0) : sums[blockIdx.x]);
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        // Element n receives the total; the tile that contains it always exists.
        if (first + item <= n) out[first + item] = running;
        running += items[item];
    }
}
