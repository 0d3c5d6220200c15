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

// ranks, and what is written: null in the launches that mark.  out_values: null if the result is iso-valued.
struct WriteArguments {
    i64 nrows;
    i64 nc;  // the entries of C, of T
    i64 nt;
    const CP* c_indptr;
    const I* c_indices;
    const C* c_values;
    C c_iso;
    const TP* t_indptr;
    const I* t_indices;
    const T* t_values;
    T t_iso;
    const MP* mask_indptr;
    const I* mask_indices;
    const M* mask_values;  // read only if VALUED
    M mask_iso;
    bool complement;
    bool replace;
    u32* marks;
    const R* ranks;
    I* out_indices;
    C* out_values;
};

template <class P>
DEVICE i64 search_row(const P* indptr, const I* indices, i64 i, i64 j) {
    return lower_bound(indices, i64(indptr[i]), i64(indptr[i + 1]), j);
}
// Returns whether q, the result of `search_row`, is an entry at (i, j).
template <class P>
DEVICE bool is_entry(const P* indptr, const I* indices, i64 q, i64 i, i64 j) {
    return q < i64(indptr[i + 1]) && i64(indices[q]) == j;
}

DEVICE bool admitted(const WriteArguments& s, i64 i, i64 j) {
    if constexpr (!MASKED) return true;
    i64 q = i64(s.mask_indptr[i]);
    const i64 end = i64(s.mask_indptr[i + 1]);
    return lists_column<VALUED>(s.mask_indices, s.mask_values, s.mask_iso, q, end, j) != s.complement;
}

// A template, so that `accumulate` need not be declared without an accumulator.
template <class X, class Y>
DEVICE C combined(X c, Y t, i64 i, i64 j) {
    if constexpr (ACCUMULATED) return cast<C>(accumulate(c, t, i, j, i, j));
    else return cast<C>(t);
}

// The position in the result of the marked entries of C and T before p and q.
DEVICE i64 position_of(const WriteArguments& s, i64 p, i64 q) {
    const i64 of_c = rank_of(s.marks, s.ranks, p);
    if constexpr (!MASKED) return of_c + q;
    const i64 words = (s.nc + 31) / 32;
    return of_c + rank_of(s.marks + words, s.ranks + words, q) - i64(s.ranks[words]);
}

extern "C" __global__ void write_mark_c(const WriteArguments s) {
    const EntryIndices<CP, I> entries{s.c_indptr, s.nrows, s.c_indices};
    mark_entries<true>(s.nc, static_cast<const u32*>(nullptr), entries, s.marks, static_cast<i64*>(nullptr),
                       [=](i64, i64 i, i64 j) {
                           if (!admitted(s, i, j)) return !s.replace;
                           if constexpr (!ACCUMULATED) return false;
                           return !is_entry(s.t_indptr, s.t_indices, search_row(s.t_indptr, s.t_indices, i, j), i, j);
                       });
}

// Launched only with a mask.
extern "C" __global__ void write_mark_t(const WriteArguments s) {
    const EntryIndices<TP, I> entries{s.t_indptr, s.nrows, s.t_indices};
    mark_entries<true>(s.nt, static_cast<const u32*>(nullptr), entries, s.marks + (s.nc + 31) / 32,
                       static_cast<i64*>(nullptr), [=](i64, i64 i, i64 j) { return admitted(s, i, j); });
}

// Writes the marked entries of C to their positions.
extern "C" __global__ void write_from_c(const WriteArguments s) {
    for_each_entry(s.c_indptr, s.nrows, 0, s.nc, [=](i64 p, i64 i) {
        if (!bit_test(s.marks, p)) return;
        const I j = s.c_indices[p];
        const i64 to = position_of(s, p, search_row(s.t_indptr, s.t_indices, i, i64(j)));
        s.out_indices[to] = j;
        if (s.out_values != nullptr) s.out_values[to] = value_at(s.c_values, s.c_iso, p);
    });
}

// Writes the marked entries of T, combined with those of C, to their positions.
extern "C" __global__ void write_from_t(const WriteArguments s) {
    for_each_entry(s.t_indptr, s.nrows, 0, s.nt, [=](i64 q, i64 i) {
        if (MASKED && !bit_test(s.marks + (s.nc + 31) / 32, q)) return;
        const I j = s.t_indices[q];
        const i64 p = search_row(s.c_indptr, s.c_indices, i, i64(j)), to = position_of(s, p, q);
        s.out_indices[to] = j;
        if (s.out_values == nullptr) return;
        const T t = value_at(s.t_values, s.t_iso, q);
        const bool both = ACCUMULATED && is_entry(s.c_indptr, s.c_indices, p, i, i64(j));
        s.out_values[to] = both ? combined(value_at(s.c_values, s.c_iso, p), t, i, i64(j)) : cast<C>(t);
    });
}

extern "C" __global__ void write_offsets(const WriteArguments s, O* out_indptr) {
    for (i64 r = thread_id(); r <= s.nrows; r += thread_count())
        out_indptr[r] = O(position_of(s, i64(s.c_indptr[r]), i64(s.t_indptr[r])));
}
