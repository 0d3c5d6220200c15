// Arrays of values and of indices, apart from any store: comparison, assignment at indices, permutations, sorts of few keys,
// searches, indices that repeat, offsets.

#include "atomics.cuh"
#include "warp.cuh"

// *differ becomes 1 unless a[p] = b[p] for every p; NaN equals NaN.  With CLOSE, finite values also agree where
// |a[p] - b[p]| <= absolute + relative |b[p]|.  A thread that reads an outdated 0 does work in vain.
extern "C" __global__ void arrays_differ(i64 n, const A* a, const B* b, f64 relative, f64 absolute, u32* differ) {
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        if (load_relaxed(differ) != 0) return;
        const Z x = cast<Z>(a[p]), y = cast<Z>(b[p]);
        if (x == y || (x != x && y != y)) continue;
        if constexpr (CLOSE) {
            const f64 left = cast<f64>(a[p]), right = cast<f64>(b[p]);
            if (op::isfinite(left) && op::isfinite(right) && fabs(left - right) <= absolute + relative * fabs(right)) continue;
        }
        store_relaxed(differ, 1u);
    }
}

// out[at[p]] = values[p]; the indices are distinct.
extern "C" __global__ void arrays_scatter(i64 n, const I* at, const A* values, A* out) {
    for (i64 p = thread_id(); p < n; p += thread_count()) out[i64(at[p])] = values[p];
}

// *wrong becomes 1 unless each number below n occurs once in the array; the words of the n bits are 0 before.
extern "C" __global__ void arrays_permutation(i64 n, const I* array, u32* words, u32* wrong) {
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        const i64 i = i64(array[p]);
        const u32 bit = 1u << (i & 31);
        if (i < 0 || i >= n || (atomicOr(words + (i >> 5), bit) & bit) != 0) store_relaxed(wrong, 1u);
    }
}

// numbered[p] = (keys[p], p), the position in the low `bits` bits.
extern "C" __global__ void arrays_number(i64 n, const I* keys, int bits, u64* numbered) {
    for (i64 p = thread_id(); p < n; p += thread_count()) numbered[p] = u64(keys[p]) << bits | u64(p);
}

// The keys of sorted numbered keys, and the values of their positions.
extern "C" __global__ void arrays_ordered(i64 n, const u64* numbered, int bits, const A* values, I* keys, A* out) {
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        const u64 found = numbered[p];
        keys[p] = I(found >> bits);
        out[p] = values[found & ((u64(1) << bits) - 1)];
    }
}

// out[p] = how many elements of a sorted array are less than wanted[p], or with `right` not greater.
extern "C" __global__ void arrays_search(i64 n, i64 size, const I* sorted, const I* wanted, int right, i64* out) {
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        const I x = wanted[p];
        out[p] = partition_point(i64(0), size, [=](i64 at) { return right ? !(x < sorted[at]) : sorted[at] < x; });
    }
}

// out[p] = (first + p) mod period.
extern "C" __global__ void arrays_cyclic(i64 n, i64 first, i64 period, I* out) {
    for (i64 p = thread_id(); p < n; p += thread_count()) out[p] = I((first + p) % period);
}

// out[p] = offsets[p] - begin.
extern "C" __global__ void arrays_rebased(i64 n, const A* offsets, i64 begin, I* out) {
    for (i64 p = thread_id(); p < n; p += thread_count()) out[p] = I(cast<i64>(offsets[p]) - begin);
}
