// outside: the entries outside a region rows x columns; of vectors, their marks.

#include "keep_rows.cuh"
#include "mark.cuh"

// A set of indices: a bitmap, or `count` sorted numbers, or start, start + step, ... with `count` members (step > 0).
struct Members {
    const u32* words;
    const u64* sorted;
    i64 start, step, count;

    DEVICE bool has(i64 i) const {
        if (words != nullptr) return bit_test(words, i);
        if (sorted != nullptr) {
            const i64 at = lower_bound(sorted, 0, count, i);
            return at < count && i64(sorted[at]) == i;
        }
        const i64 offset = i - start;
        return offset >= 0 && offset % step == 0 && offset / step < count;
    }
};

// The rows and columns of a region; a vector has only rows.
#define REGION                                                                                                       \
    const u32 *row_words, const u64 *row_sorted, i64 row_start, i64 row_step, i64 row_count, const u32 *col_words,    \
        const u64 *col_sorted, i64 col_start, i64 col_step, i64 col_count

extern "C" __global__ void outside_mark(i64 n, const u32* present, const I* indices, REGION, u32* out, i64* count) {
    const Members rows{row_words, row_sorted, row_start, row_step, row_count};
    if constexpr (FORM != ROWS) {
        mark_entries<true>(n, present, EntryIndices<P, I>{nullptr, 0, indices}, out, count,
                           [=](i64, i64 i, i64) { return !rows.has(i); });
    }
}

struct OutsideRegion {
    Members rows, cols;
    DEVICE bool operator()(V, i64 i, i64 j) const { return !(rows.has(i) && cols.has(j)); }
};

extern "C" __global__ void __launch_bounds__(TILE_THREADS, KEEP_RESIDENT)
    outside_rows(const KeepArguments kept, REGION) {
    const Members rows{row_words, row_sorted, row_start, row_step, row_count};
    const Members cols{col_words, col_sorted, col_start, col_step, col_count};
    if constexpr (FORM == ROWS) keep_rows<false, true>(kept, OutsideRegion{rows, cols});
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS, KEEP_RESIDENT)
    outside_count(const KeepArguments kept, REGION) {
    const Members rows{row_words, row_sorted, row_start, row_step, row_count};
    const Members cols{col_words, col_sorted, col_start, col_step, col_count};
    if constexpr (FORM == ROWS) count_kept<false, true>(kept, OutsideRegion{rows, cols});
}

// Sets the bits of an array of indices, which may repeat.
extern "C" __global__ void outside_members(i64 n, const I* members, u32* words) {
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        const i64 i = i64(members[p]);
        atomicOr(words + (i >> 5), 1u << (i & 31));
    }
}
