// outside: marks the entries outside a region rows x columns.

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

extern "C" __global__ void outside_mark(i64 n, const u32* present, const P* indptr, i64 nrows, const I* indices,
                                        const u32* row_words, const u64* row_sorted, i64 row_start, i64 row_step,
                                        i64 row_count, const u32* col_words, const u64* col_sorted, i64 col_start,
                                        i64 col_step, i64 col_count, u32* out, i64* count) {
    const Members rows{row_words, row_sorted, row_start, row_step, row_count};
    const Members cols{col_words, col_sorted, col_start, col_step, col_count};
    mark_entries<true>(n, present, EntryIndices<P, I>{indptr, nrows, indices}, out, count, [=](i64 p, i64 i, i64 j) {
        if constexpr (FORM == ROWS) return !(rows.has(i) && cols.has(j));
        else return !rows.has(i);
    });
}

// Sets the bits of an array of indices, which may repeat.
extern "C" __global__ void outside_members(i64 n, const I* members, u32* words) {
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        const i64 i = i64(members[p]);
        atomicOr(words + (i >> 5), 1u << (i & 31));
    }
}
