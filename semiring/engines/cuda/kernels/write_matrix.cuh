// The whole write of a matrix,  C<M, replace> accum= T.  The entries of the result are
//
//     the entries of T that the mask admits; with an accumulator, combined with those of C at the same positions
//     the entries of C that the mask does not admit, unless `replace` is set
//     with an accumulator, the entries of C that the mask admits and that T lacks
//
// `marks` has one bit for each entry of C and, from the next word on, for each entry of T: whether it is in the result.
// Without a mask T has no bits, because all its entries are.  `ranks` is the exclusive scan of the bits.  An entry is
// written to the sum of two ranks: its own in its operand, and that of the position where a search for it in the same
// row of the other operand ends.  So the work is divided evenly, however skewed the rows are.

#include "mark.cuh"

template <class P>
DEVICE i64 search_row(const P* indptr, const I* indices, i64 i, i64 j) {
    return lower_bound(indices, i64(indptr[i]), i64(indptr[i + 1]), j);
}
// Returns whether q, the result of `search_row`, is an entry at (i, j).
template <class P>
DEVICE bool is_entry(const P* indptr, const I* indices, i64 q, i64 i, i64 j) {
    return q < i64(indptr[i + 1]) && i64(indices[q]) == j;
}

// M is the type of the mask's values, read only if VALUED.
DEVICE bool admitted(const MP* indptr, const I* indices, const M* values, M iso, int complement, i64 i, i64 j) {
    if constexpr (!MASKED) return true;
    i64 q = i64(indptr[i]);
    const bool listed = lists_column<VALUED>(indices, values, iso, q, i64(indptr[i + 1]), j);
    return listed != (complement != 0);
}

// A template, so that `accumulate` need not be declared without an accumulator.
template <class X, class Y>
DEVICE C combined(X c, Y t, i64 i, i64 j) {
    if constexpr (ACCUMULATED) return cast<C>(accumulate(c, t, i, j, i, j));
    else return cast<C>(t);
}

// The number of marked entries of T before q.
DEVICE i64 rank_in_t(const u32* marks, const R* ranks, i64 nc, i64 q) {
    if constexpr (!MASKED) return q;
    const i64 words = (nc + 31) / 32;
    return rank_of(marks + words, ranks + words, q) - i64(ranks[words]);
}

// Marks the entries of C.
extern "C" __global__ void write_mark_c(i64 nrows, i64 nc, const CP* c_indptr, const I* c_indices,
                                        const TP* t_indptr, const I* t_indices, const MP* mask_indptr,
                                        const I* mask_indices, const M* mask_values, M mask_iso, int complement,
                                        int replace, u32* marks) {
    mark_entries<true>(nc, static_cast<const u32*>(nullptr), EntryIndices<CP, I>{c_indptr, nrows, c_indices}, marks,
                       static_cast<i64*>(nullptr), [=](i64 p, i64 i, i64 j) {
                           if (!admitted(mask_indptr, mask_indices, mask_values, mask_iso, complement, i, j))
                               return replace == 0;
                           if constexpr (!ACCUMULATED) return false;
                           const i64 q = search_row(t_indptr, t_indices, i, j);
                           return !is_entry(t_indptr, t_indices, q, i, j);
                       });
}

// Marks the entries of T; launched only with a mask.
extern "C" __global__ void write_mark_t(i64 nrows, i64 nc, i64 nt, const TP* t_indptr, const I* t_indices,
                                        const MP* mask_indptr, const I* mask_indices, const M* mask_values,
                                        M mask_iso, int complement, u32* marks) {
    mark_entries<true>(nt, static_cast<const u32*>(nullptr), EntryIndices<TP, I>{t_indptr, nrows, t_indices},
                       marks + (nc + 31) / 32, static_cast<i64*>(nullptr), [=](i64 q, i64 i, i64 j) {
                           return admitted(mask_indptr, mask_indices, mask_values, mask_iso, complement, i, j);
                       });
}

// Writes the marked entries of C to their positions.  `out_values` is null if the result is iso-valued.
extern "C" __global__ void write_from_c(i64 nrows, i64 nc, const CP* c_indptr, const I* c_indices,
                                        const C* c_values, C c_iso, const TP* t_indptr, const I* t_indices,
                                        const u32* marks, const R* ranks, I* out_indices, C* out_values) {
    for_each_entry(c_indptr, nrows, 0, nc, [=](i64 p, i64 i) {
        if (!bit_test(marks, p)) return;
        const I j = c_indices[p];
        const i64 q = search_row(t_indptr, t_indices, i, i64(j));
        const i64 to = rank_of(marks, ranks, p) + rank_in_t(marks, ranks, nc, q);
        out_indices[to] = j;
        if (out_values != nullptr) out_values[to] = value_at(c_values, c_iso, p);
    });
}

// Writes the marked entries of T, combined with those of C, to their positions.
extern "C" __global__ void write_from_t(i64 nrows, i64 nc, const CP* c_indptr, const I* c_indices,
                                        const C* c_values, C c_iso, i64 nt, const TP* t_indptr,
                                        const I* t_indices, const T* t_values, T t_iso, const u32* marks,
                                        const R* ranks, I* out_indices, C* out_values) {
    for_each_entry(t_indptr, nrows, 0, nt, [=](i64 q, i64 i) {
        if (MASKED && !bit_test(marks + (nc + 31) / 32, q)) return;
        const I j = t_indices[q];
        const i64 p = search_row(c_indptr, c_indices, i, i64(j));
        const i64 to = rank_of(marks, ranks, p) + rank_in_t(marks, ranks, nc, q);
        out_indices[to] = j;
        if (out_values == nullptr) return;
        const T t = value_at(t_values, t_iso, q);
        const bool both = ACCUMULATED && is_entry(c_indptr, c_indices, p, i, i64(j));
        out_values[to] = both ? combined(value_at(c_values, c_iso, p), t, i, i64(j)) : cast<C>(t);
    });
}

extern "C" __global__ void write_offsets(i64 nrows, i64 nc, const CP* c_indptr, const TP* t_indptr,
                                         const u32* marks, const R* ranks, O* out_indptr) {
    for (i64 r = thread_id(); r <= nrows; r += thread_count())
        out_indptr[r] =
            O(rank_of(marks, ranks, i64(c_indptr[r])) + rank_in_t(marks, ranks, nc, i64(t_indptr[r])));
}
