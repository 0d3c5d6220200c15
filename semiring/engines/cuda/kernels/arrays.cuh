// Arrays of values and of indices, apart from any store: comparison, assignment at indices, permutations.

#include "atomics.cuh"

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
