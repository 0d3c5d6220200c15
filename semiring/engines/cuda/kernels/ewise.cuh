// Element-wise operations.  MODE is INTERSECT, UNION (a value without partner is cast) or FILL (a missing value is
// replaced).
//
// Dense vectors are processed word by word.  For sorted entries, each entry of A searches its partner in the same row
// of B.  H(p), the number of A's entries before p with a partner, determines the position of every result:
//
//     intersection  entry p of A with a partner: H(p)
//     union         entry p of A: p + (entries of B before it) - H(p); likewise the entries of B without a partner

#include "mark.cuh"
#include "rank.cuh"

constexpr i64 INTERSECT = 0;
constexpr i64 UNION = 1;
constexpr i64 FILL = 2;

DEVICE Z only_a(A a, BETA beta, i64 i, i64 j) {
    if constexpr (MODE == FILL) return combine(a, beta, i, j, i, j);
    else return cast<Z>(a);
}
DEVICE Z only_b(B b, ALPHA alpha, i64 i, i64 j) {
    if constexpr (MODE == FILL) return combine(alpha, b, i, j, i, j);
    else return cast<Z>(b);
}

extern "C" __global__ void ewise_dense(i64 size, const u32* a_words, const A* a_values, A a_iso,
                                       const u32* b_words, const B* b_values, B b_iso, ALPHA alpha, BETA beta,
                                       u32* out_words, Z* out_values, i64* count) {
    i64 written = 0;
    for (i64 w = warp_id(); 32 * w < size; w += warp_count()) {
        const i64 p = 32 * w + lane_id();
        const bool in_a = p < size && is_present(a_words, p);
        const bool in_b = p < size && is_present(b_words, p);
        const bool hit = MODE == INTERSECT ? in_a && in_b : in_a || in_b;
        if (hit && out_values != nullptr) {
            A a = a_iso;
            B b = b_iso;
            if (in_a) a = value_at(a_values, a_iso, p);
            if (in_b) b = value_at(b_values, b_iso, p);
            if (in_a && in_b) out_values[p] = combine(a, b, p, 0, p, 0);
            else out_values[p] = in_a ? only_a(a, beta, p, 0) : only_b(b, alpha, p, 0);
        }
        if (out_words != nullptr) {
            const u32 word = __ballot_sync(FULL_WARP, hit);
            if (lane_id() == 0) {
                out_words[w] = word;
                written += __popc(word);
            }
        }
    }
    if (count != nullptr) add_count(count, written);
}

// The position of the entry (i, j) among the entries of the other operand, or where it would be inserted.
template <class P, class I>
DEVICE i64 ewise_search(const P* indptr, const I* indices, i64 n, i64 i, i64 j) {
    if constexpr (FORM == LIST) return lower_bound(indices, 0, n, i);
    else return lower_bound(indices, i64(indptr[i]), i64(indptr[i + 1]), j);
}
template <class P, class I>
DEVICE bool ewise_found(const P* indptr, const I* indices, i64 n, i64 q, i64 i, i64 j) {
    if constexpr (FORM == LIST) return q < n && i64(indices[q]) == i;
    else return q < i64(indptr[i + 1]) && i64(indices[q]) == j;
}

// marks = the entries of A that have a partner in B.
extern "C" __global__ void ewise_mark(i64 nrows, i64 na, const AP* a_indptr, const I* a_indices, i64 nb,
                                      const BP* b_indptr, const I* b_indices, u32* marks) {
    mark_entries<true>(na, static_cast<const u32*>(nullptr), EntryIndices<AP, I>{a_indptr, nrows, a_indices}, marks,
                       static_cast<i64*>(nullptr), [=](i64 p, i64 i, i64 j) {
                           const i64 q = ewise_search(b_indptr, b_indices, nb, i, j);
                           return ewise_found(b_indptr, b_indices, nb, q, i, j);
                       });
}

// Writes the entries of A, combined with their partners.
extern "C" __global__ void ewise_write_a(i64 nrows, i64 na, const AP* a_indptr, const I* a_indices,
                                         const A* a_values, A a_iso, i64 nb, const BP* b_indptr,
                                         const I* b_indices, const B* b_values, B b_iso, BETA beta,
                                         const u32* marks, const R* ranks, I* out_indices, Z* out_values) {
    const auto at = [=](i64 p, i64 row) {
        const bool partner = bit_test(marks, p);
        if (MODE == INTERSECT && !partner) return;
        const i64 index = i64(a_indices[p]);
        const i64 i = FORM == LIST ? index : row;
        const i64 j = FORM == LIST ? 0 : index;
        const i64 q = ewise_search(b_indptr, b_indices, nb, i, j);
        const i64 before = rank_of(marks, ranks, p);
        const i64 to = MODE == INTERSECT ? before : p + q - before;
        out_indices[to] = I(index);
        if (out_values == nullptr) return;
        const A a = value_at(a_values, a_iso, p);
        out_values[to] = partner ? combine(a, value_at(b_values, b_iso, q), i, j, i, j) : only_a(a, beta, i, j);
    };
    if constexpr (FORM == ROWS) {
        for_each_entry(a_indptr, nrows, 0, na, at);
    } else {
        for (i64 p = thread_id(); p < na; p += thread_count()) at(p, 0);
    }
}

// Writes the entries of B without a partner: the rest of a union.
extern "C" __global__ void ewise_write_b(i64 nrows, i64 nb, const BP* b_indptr, const I* b_indices,
                                         const B* b_values, B b_iso, i64 na, const AP* a_indptr,
                                         const I* a_indices, ALPHA alpha, const u32* marks, const R* ranks,
                                         I* out_indices, Z* out_values) {
    const auto at = [=](i64 q, i64 row) {
        const i64 index = i64(b_indices[q]);
        const i64 i = FORM == LIST ? index : row;
        const i64 j = FORM == LIST ? 0 : index;
        const i64 p = ewise_search(a_indptr, a_indices, na, i, j);
        if (ewise_found(a_indptr, a_indices, na, p, i, j)) return;
        const i64 to = q + p - rank_of(marks, ranks, p);
        out_indices[to] = I(index);
        if (out_values != nullptr) out_values[to] = only_b(value_at(b_values, b_iso, q), alpha, i, j);
    };
    if constexpr (FORM == ROWS) {
        for_each_entry(b_indptr, nrows, 0, nb, at);
    } else {
        for (i64 q = thread_id(); q < nb; q += thread_count()) at(q, 0);
    }
}

extern "C" __global__ void ewise_indptr(i64 nrows, const AP* a_indptr, const BP* b_indptr, const u32* marks,
                                        const R* ranks, O* out_indptr) {
    for (i64 r = thread_id(); r <= nrows; r += thread_count()) {
        const i64 partners = rank_of(marks, ranks, i64(a_indptr[r]));
        out_indptr[r] = O(MODE == INTERSECT ? partners : i64(a_indptr[r]) + i64(b_indptr[r]) - partners);
    }
}
