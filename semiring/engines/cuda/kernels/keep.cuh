// keep: the entries that a mask admits; of vectors, their marks.  M is the type of the mask values, which are read only
// if VALUED.

#include "keep_rows.cuh"
#include "mark.cuh"

// The mask of a matrix has rows, that of a vector presence words.
struct MaskView {
    const MP* indptr;
    const MI* indices;
    const u32* words;
    const M* values;
    M iso;
    int complement;
};

DEVICE bool admitted(const MaskView& mask, i64 i, i64 j) {
    bool listed;
    if constexpr (FORM == ROWS) {
        i64 q = i64(mask.indptr[i]);
        listed = lists_column<VALUED>(mask.indices, mask.values, mask.iso, q, i64(mask.indptr[i + 1]), j);
    } else {
        listed = is_present(mask.words, i);
        if constexpr (VALUED) listed = listed && value_at(mask.values, mask.iso, i) != M(0);
    }
    return listed != (mask.complement != 0);
}

extern "C" __global__ void keep_mark(i64 n, const u32* present, const I* indices, const MP* mask_indptr,
                                     const MI* mask_indices, const u32* mask_words, const M* mask_values, M mask_iso,
                                     int complement, u32* out, i64* count) {
    const MaskView mask{mask_indptr, mask_indices, mask_words, mask_values, mask_iso, complement};
    if constexpr (FORM != ROWS) {
        mark_entries<true>(n, present, EntryIndices<P, I>{nullptr, 0, indices}, out, count,
                           [=](i64, i64 i, i64 j) { return admitted(mask, i, j); });
    }
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS, KEEP_RESIDENT)
    keep_matrix(const KeepArguments rows, const MP* mask_indptr, const MI* mask_indices, const u32* mask_words,
                const M* mask_values, M mask_iso, int complement) {
    const MaskView mask{mask_indptr, mask_indices, mask_words, mask_values, mask_iso, complement};
    if constexpr (FORM == ROWS) keep_rows<false, true>(rows, [=](V, i64 i, i64 j) { return admitted(mask, i, j); });
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS, KEEP_RESIDENT)
    keep_count(const KeepArguments rows, const MP* mask_indptr, const MI* mask_indices, const u32* mask_words,
                const M* mask_values, M mask_iso, int complement) {
    const MaskView mask{mask_indptr, mask_indices, mask_words, mask_values, mask_iso, complement};
    if constexpr (FORM == ROWS) count_kept<false, true>(rows, [=](V, i64 i, i64 j) { return admitted(mask, i, j); });
}
