// Warp and block primitives: shuffles of any type, reductions, scans, and words of presence bits.
// All launches are one-dimensional; a block has a multiple of 32 threads.

#pragma once

#include "types.cuh"

constexpr u32 FULL_WARP = 0xffffffffu;

DEVICE int lane_id() { return int(threadIdx.x & 31); }
DEVICE int warp_in_block() { return int(threadIdx.x >> 5); }
// 64 bits before multiplying: a grid may have more than 2^31 threads.
DEVICE i64 thread_id() { return i64(blockIdx.x) * i64(blockDim.x) + i64(threadIdx.x); }
DEVICE i64 thread_count() { return i64(gridDim.x) * i64(blockDim.x); }
DEVICE i64 warp_id() { return thread_id() >> 5; }
DEVICE i64 warp_count() { return thread_count() >> 5; }
DEVICE u32 lanes_below() { return (1u << lane_id()) - 1u; }

// --- presence words ------------------------------------------------------------------------------------

// Bit p of a bitmap.  If `words` is null, every entry is present.
DEVICE bool bit_test(const u32* words, i64 p) { return (words[p >> 5] >> (p & 31)) & 1u; }
DEVICE bool is_present(const u32* words, i64 p) { return words == nullptr || bit_test(words, p); }
// The bits of word w at positions below `size`.
DEVICE u32 valid_bits(i64 size, i64 w) {
    const i64 left = size - 32 * w;
    return left >= 32 ? FULL_WARP : left <= 0 ? 0u : (1u << left) - 1u;
}
DEVICE u32 word_at(const u32* words, i64 size, i64 w) {
    return words == nullptr ? valid_bits(size, w) : words[w];
}
// The number of bits before bit p of a bitmap, or of all bits if p is behind the last word.  ranks: of its words, and of all.
template <class R>
DEVICE i64 rank_of(const u32* marks, const R* ranks, i64 p) {
    const i64 before = i64(ranks[p >> 5]);
    const int bit = int(p & 31);
    return bit == 0 ? before : before + __popc(marks[p >> 5] & ((1u << bit) - 1u));
}
// Lane 0 writes word w, and returns the number of its bits; other lanes return 0.  Null `words` are not written.
DEVICE int write_word(u32* words, i64 w, u32 word) {
    if (lane_id() != 0 || words == nullptr) return 0;
    words[w] = word;
    return __popc(word);
}
// Sets bit i of `words` to hit(i) for every i below `size`.  Returns the bits that the thread counts.  Whole warps call.
template <class F>
DEVICE i64 write_bits(i64 size, u32* words, F hit) {
    i64 count = 0;
    for (i64 w = warp_id(); 32 * w < size; w += warp_count()) {
        const i64 i = 32 * w + lane_id();
        count += write_word(words, w, __ballot_sync(FULL_WARP, i < size && hit(i)));
    }
    return count;
}
// Value p of an operand.  If `values` is null, the operand is iso-valued.
template <class T>
DEVICE T value_at(const T* values, T iso, i64 p) {
    return values == nullptr ? iso : values[p];
}
// Element p of an index array; of start, start + step, ... if `index` is null.
template <class X>
DEVICE i64 index_at(const X* index, i64 start, i64 step, i64 p) {
    return index == nullptr ? start + step * p : i64(index[p]);
}

// --- warps: every lane of the warp must call --------------------------------------------------------------

// `value` after move(word) of each of its words of up to 8 bytes.
template <class T, class F>
DEVICE T by_words(T value, F move) {
    constexpr int LOWEST_BIT = int(sizeof(T)) & -int(sizeof(T)), BYTES = LOWEST_BIT < 8 ? LOWEST_BIT : 8;
    unsigned_of<BYTES> words[sizeof(T) / BYTES];
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (int w = 0; w < int(sizeof(T)) / BYTES; w++) {
        words[w] = unsigned_of<BYTES>(move(choose<BYTES == 8, u64, u32>(words[w])));
    }
    memcpy(&value, words, sizeof(T));
    return value;
}
template <class T>
DEVICE T shuffle_xor(T value, int mask) {
    return by_words(value, [=](auto word) { return __shfl_xor_sync(FULL_WARP, word, mask); });
}
template <class T>
DEVICE T shuffle_down(T value, int delta) {
    return by_words(value, [=](auto word) { return __shfl_down_sync(FULL_WARP, word, delta); });
}
template <class T>
DEVICE T shuffle_up(T value, int delta) {
    return by_words(value, [=](auto word) { return __shfl_up_sync(FULL_WARP, word, delta); });
}
template <class T>
DEVICE T shuffle(T value, int lane) {
    return by_words(value, [=](auto word) { return __shfl_sync(FULL_WARP, word, lane); });
}

// A value and whether it is present.  A lane without a value does not contribute, so no identity is needed.
template <class T>
struct Maybe {
    bool hit;
    T value;
};
template <class T, class F>
DEVICE Maybe<T> join(Maybe<T> a, Maybe<T> b, F combine) {
    if (!a.hit) return b;
    if (b.hit) a.value = combine(a.value, b.value);
    return a;
}

// Combines the values of each LANES neighboring lanes, lower lanes on the left; valid in the first of them.
template <int LANES, class T, class F>
DEVICE Maybe<T> group_reduce(Maybe<T> mine, F combine) {
#pragma unroll
    for (int delta = 1; delta < LANES; delta *= 2) {
        Maybe<T> other;
        other.hit = __shfl_down_sync(FULL_WARP, int(mine.hit), delta) != 0 && lane_id() % LANES + delta < LANES;
        other.value = shuffle_down(mine.value, delta);
        mine = join(mine, other, combine);
    }
    return mine;
}
// Of all values of a warp; valid in lane 0.
template <class T, class F>
DEVICE Maybe<T> warp_reduce(Maybe<T> mine, F combine) {
    return group_reduce<32>(mine, combine);
}
// Combines the values of each LANES neighboring lanes by a commutative function; valid in all of them.
template <int LANES, class T, class F>
DEVICE T combine_lanes(T mine, F combine) {
#pragma unroll
    for (int mask = LANES / 2; mask > 0; mask /= 2) mine = combine(mine, shuffle_xor(mine, mask));
    return mine;
}
// The sum over a warp; valid in every lane.
template <class T>
DEVICE T warp_sum(T value) {
    return combine_lanes<32>(value, [](T a, T b) { return a + b; });
}
// The greatest value of a warp; valid in every lane.
template <class T>
DEVICE T warp_max(T value) {
    return combine_lanes<32>(value, [](T a, T b) { return b > a ? b : a; });
}
// The bitwise or over a warp; valid in every lane.
DEVICE u32 warp_or(u32 bits) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(FULL_WARP, bits);
#else
    return combine_lanes<32>(bits, [](u32 a, u32 b) { return a | b; });
#endif
}
// Transposes 32 x 32 bits: bit b of the result of lane l is bit l of the word of lane b.
DEVICE u32 warp_transpose(u32 word) {
    u32 kept = 0x0000ffffu;  // the bits whose number has the bit `apart` clear
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2, kept ^= kept << apart) {
        const u32 other = __shfl_xor_sync(FULL_WARP, word, apart);
        word = lane_id() & apart ? (word & ~kept) | ((other >> apart) & kept)
                                 : (word & kept) | ((other & kept) << apart);
    }
    return word;
}
// The inclusive prefix sum over the lanes, or their maximum up to each; valid in every lane.
template <class T, class F>
DEVICE T warp_scan_inclusive(T value, F combine) {
#pragma unroll
    for (int delta = 1; delta < 32; delta *= 2) {
        const T below = shuffle_up(value, delta);
        if (lane_id() >= delta) value = combine(value, below);
    }
    return value;
}
template <class T>
DEVICE T warp_scan_inclusive(T value) {
    return warp_scan_inclusive(value, [](T a, T b) { return T(a + b); });
}
template <class T>
DEVICE T warp_scan_max(T value) {
    return warp_scan_inclusive(value, [](T a, T b) { return b > a ? b : a; });
}

// Calls body(lane) by the whole warp for each lane with `mine`, in ascending order.
template <class F>
DEVICE void for_each_lane(bool mine, F body) {
    for (u32 lanes = __ballot_sync(FULL_WARP, mine); lanes; lanes &= lanes - 1) body(__ffs(int(lanes)) - 1);
}
// Each lane has a range.  Calls body(lane, begin, end) by the whole warp for each lane with `longer`, with its range.
template <class I, class F>
DEVICE void for_long_rows(bool longer, I begin, I end, F body) {
    for_each_lane(longer, [&](int lane) { body(lane, shuffle(begin, lane), shuffle(end, lane)); });
}
// Sets the sum of one lane to the sum of all lanes, each of which has a part.
template <class T, class F>
DEVICE void join_parts(Maybe<T>& sum, int lane, Maybe<T> part, F combine) {
    part = warp_reduce(part, combine);
    part.hit = shuffle(part.hit, 0);
    part.value = shuffle(part.value, 0);
    if (lane_id() == lane) sum = join(sum, part, combine);
}
// Combines element(p) for p in the range of each lane, [begin, end): the lane those of a range of up to SHORT, the whole
// warp those of a longer one, in any order.
template <class T, int SHORT, class I, class E, class F>
DEVICE Maybe<T> reduce_ranges(I begin, I end, E element, F combine) {
    Maybe<T> sum = {false, T()};
    const bool longer = end - begin > SHORT;
    if constexpr (SHORT <= 4) {  // the loads of all elements overlap
#pragma unroll
        for (int s = 0; s < SHORT; s++) {
            if (!longer && begin + s < end) sum = join(sum, element(begin + s), combine);
        }
    } else if (!longer) {
        for (I p = begin; p < end; p++) sum = join(sum, element(p), combine);
    }
    for_long_rows(longer, begin, end, [&](int lane, I first, I last) {
        Maybe<T> part = {false, T()};
#pragma unroll 4
        for (I p = first + lane_id(); p < last; p += 32) part = join(part, element(p), combine);
        join_parts(sum, lane, part, combine);
    });
    return sum;
}
// The number that *count had before the lane, if `mine`, added 1 to it; one atomic for the warp.
template <class T>
DEVICE T warp_append(T* count, bool mine) {
    const u32 lanes = __ballot_sync(FULL_WARP, mine);
    if (lanes == 0) return 0;
    T before = 0;
    if (lane_id() == 0) before = atomicAdd(count, T(__popc(lanes)));
    return shuffle(before, 0) + T(__popc(lanes & lanes_below()));
}

// --- blocks: every thread of the block must call ----------------------------------------------------------

// The number that *count had before the thread, if `mine`, added 1 to it; one atomic for the block: atomics of many warps on
// one address are executed one after the other.  Synchronizes the block three times.
template <class T>
DEVICE T block_append(T* count, bool mine) {
    __shared__ u32 counts[32];
    __shared__ T start;
    const u32 lanes = __ballot_sync(FULL_WARP, mine);
    __syncthreads();  // an earlier call may still be reading
    if (lane_id() == 0) counts[warp_in_block()] = __popc(lanes);
    __syncthreads();
    u32 below = 0, total = 0;
    for (int warp = 0; warp < int(blockDim.x >> 5); warp++) {
        if (warp < warp_in_block()) below += counts[warp];
        total += counts[warp];
    }
    if (total == 0) return 0;
    if (threadIdx.x == 0) start = atomicAdd(count, T(total));
    __syncthreads();
    return start + T(below + __popc(lanes & lanes_below()));
}

// The sum over a block; valid in thread 0.  Synchronizes the block twice.
template <class T>
DEVICE T block_sum(T value) {
    __shared__ T partial[32];
    value = warp_sum(value);
    __syncthreads();  // an earlier call may still be reading
    if (lane_id() == 0) partial[warp_in_block()] = value;
    __syncthreads();
    if (threadIdx.x >= 32) return value;
    return warp_sum(threadIdx.x < (blockDim.x >> 5) ? partial[threadIdx.x] : T(0));
}
// *count += the sum of `mine` over the block, unless `count` is null.  Synchronizes the block twice.
template <class T>
DEVICE void add_count(T* count, i64 mine) {
    typedef unsigned_of<sizeof(T)> Bits;
    if (count == nullptr) return;
    mine = block_sum(mine);
    if (threadIdx.x == 0 && mine != 0) atomicAdd(reinterpret_cast<Bits*>(count), Bits(mine));
}
// Combines all values of a block, lower threads on the left; valid in thread 0.  Synchronizes the block twice.
template <class T, class F>
DEVICE Maybe<T> block_reduce(Maybe<T> mine, F combine) {
    __shared__ T values[32];
    __shared__ bool hits[32];
    mine = warp_reduce(mine, combine);
    __syncthreads();  // an earlier call may still be reading
    if (lane_id() == 0) {
        values[warp_in_block()] = mine.value;
        hits[warp_in_block()] = mine.hit;
    }
    __syncthreads();
    if (threadIdx.x >= 32) return mine;
    const bool inside = threadIdx.x < (blockDim.x >> 5);
    Maybe<T> partial;
    partial.hit = inside && hits[threadIdx.x];
    partial.value = inside ? values[threadIdx.x] : T();
    return warp_reduce(partial, combine);
}
// The exclusive prefix sum over the threads of a block, and in `total` the sum over all; both are valid in every
// thread.  Synchronizes the block three times.
template <class T>
DEVICE T block_scan_exclusive(T value, T& total) {
    __shared__ T sums[33];
    const T inclusive = warp_scan_inclusive(value);
    const int warps = int(blockDim.x >> 5);
    __syncthreads();  // an earlier call may still be reading
    if (lane_id() == 31) sums[warp_in_block()] = inclusive;
    __syncthreads();
    if (threadIdx.x < 32) {
        const T mine = lane_id() < warps ? sums[lane_id()] : T(0);
        const T scanned = warp_scan_inclusive(mine);
        sums[lane_id()] = scanned - mine;
        if (lane_id() == 31) sums[32] = scanned;
    }
    __syncthreads();
    total = sums[32];
    return sums[warp_in_block()] + inclusive - value;
}

// --- searches in sorted arrays --------------------------------------------------------------------------

// The first position in [low, high) for which before(position) is false, `high` if there is none; positions for which it
// is true come first.
template <class I, class F>
DEVICE I partition_point(I low, I high, F before) {
    while (low < high) {
        const I middle = low + (high - low) / 2;
        if (before(middle)) low = middle + 1;
        else high = middle;
    }
    return low;
}
// The first position in [low, high) whose element is >= (lower_bound) or > (upper_bound) `key`; high if none is.
template <class T>
DEVICE i64 lower_bound(const T* sorted, i64 low, i64 high, i64 key) {
    return partition_point(low, high, [=](i64 p) { return i64(sorted[p]) < key; });
}
template <class T>
DEVICE i64 upper_bound(const T* sorted, i64 low, i64 high, i64 key) {
    return partition_point(low, high, [=](i64 p) { return i64(sorted[p]) <= key; });
}
// Whether column j is among the columns [at, end) of a row, with a nonzero value if VALUED; `at` becomes its position, or
// that of the next column.
template <bool VALUED, class I, class V>
DEVICE bool lists_column(const I* indices, const V* values, V iso, i64& at, i64 end, i64 j) {
    at = lower_bound(indices, at, end, j);
    bool listed = at < end && i64(indices[at]) == j;
    if constexpr (VALUED) listed = listed && value_at(values, iso, at) != V(0);
    return listed;
}
// The first position in [low, high) whose element is > `key`, high if none is; 32 probes a step.
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
