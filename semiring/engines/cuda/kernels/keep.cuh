// keep: marks the entries that a mask admits.  M is the type of the mask values, which are read only if VALUED.

#include "mark.cuh"

extern "C" __global__ void keep_mark(i64 n, const u32* present, const P* indptr, i64 nrows, const I* indices,
                                     const MP* mask_indptr, const MI* mask_indices, const u32* mask_words,
                                     const M* mask_values, M mask_iso, int complement, u32* out, i64* count) {
    mark_entries<true>(n, present, EntryIndices<P, I>{indptr, nrows, indices}, out, count, [=](i64 p, i64 i, i64 j) {
        i64 q = i;
        bool listed;
        if constexpr (FORM == ROWS) {
            const i64 end = i64(mask_indptr[i + 1]);
            q = lower_bound(mask_indices, i64(mask_indptr[i]), end, j);
            listed = q < end && i64(mask_indices[q]) == j;
        } else {
            listed = is_present(mask_words, i);
        }
        if constexpr (VALUED) listed = listed && value_at(mask_values, mask_iso, q) != M(0);
        return listed != (complement != 0);
    });
}
