// mxm by expansion: every product A(i, k) (x) B(k, j) becomes a key (i, j) and a value; a stable sort makes those of
// one position adjacent, k ascending.  Products are numbered in the order of A's entries, and `offsets` is the scan of
// the number of products of each entry.  A batch is a range of rows.

#include "entries.cuh"

extern "C" __global__ void mxm_count(i64 n, const AI* a_indices, const BP* b_indptr, i64* products) {
    for (i64 p = thread_id(); p < n; p += thread_count()) {
        const i64 k = i64(a_indices[p]);
        products[p] = i64(b_indptr[k + 1]) - i64(b_indptr[k]);
    }
}

// bounds[b] = (first row, first entry, first product) of batch b: the first row whose products begin at or past
// b * limit; bounds[batches] is the end of the last batch.
extern "C" __global__ void mxm_bounds(i64 batches, i64 limit, i64 nrows, const AP* a_indptr, const i64* offsets,
                                   i64* bounds) {
    for (i64 b = thread_id(); b <= batches; b += thread_count()) {
        const auto before = [=](i64 i) { return offsets[i64(a_indptr[i])] < b * limit; };
        const i64 row = b == batches ? nrows : partition_point(i64(0), nrows, before);
        bounds[3 * b] = row;
        bounds[3 * b + 1] = i64(a_indptr[row]);
        bounds[3 * b + 2] = offsets[i64(a_indptr[row])];
    }
}

// body(t, p, k, q, i, j) for product t of a batch: entry p of A in column k, entry q of B in column j.
template <class F>
DEVICE void for_each_product(i64 nrows, const AP* a_indptr, const AI* a_indices, i64 entries, const i64* offsets,
                             i64 begin, i64 end, const BP* b_indptr, const BI* b_indices, F body) {
    for_each_entry(offsets, entries, begin, end, [=](i64 product, i64 p) {
        const i64 k = i64(a_indices[p]);
        const i64 q = i64(b_indptr[k]) + product - offsets[p];
        const i64 i = upper_bound(a_indptr, 0, nrows + 1, p) - 1;
        body(product - begin, p, k, q, i, i64(b_indices[q]));
    });
}

// marks = the products of a batch whose position the mask admits; marks must be 0.
extern "C" __global__ void mxm_mark(i64 nrows, const AP* a_indptr, const AI* a_indices, i64 entries,
                                    const i64* offsets, i64 begin, i64 end, const BP* b_indptr,
                                    const BI* b_indices, const MP* mask_indptr, const MI* mask_indices,
                                    const M* mask_values, M mask_iso, int complement, u32* marks) {
    for_each_product(nrows, a_indptr, a_indices, entries, offsets, begin, end, b_indptr, b_indices,
                     [=](i64 t, i64 p, i64 k, i64 q, i64 i, i64 j) {
                         i64 at = i64(mask_indptr[i]);
                         const bool listed = lists_column<VALUED>(mask_indices, mask_values, mask_iso, at,
                                                                  i64(mask_indptr[i + 1]), j);
                         if (listed != (complement != 0)) atomicOr(marks + (t >> 5), 1u << (t & 31));
                     });
}

// keys and values of the products of a batch, or with `marks` of those that are marked.
extern "C" __global__ void mxm_expand(i64 nrows, const AP* a_indptr, const AI* a_indices, const A* a_values,
                                      A a_iso, i64 entries, const i64* offsets, i64 begin, i64 end,
                                      const BP* b_indptr, const BI* b_indices, const B* b_values, B b_iso,
                                      const u32* marks, const i64* ranks, i64 first_row, int bits, u64* keys,
                                      add_z* values) {
    for_each_product(nrows, a_indptr, a_indices, entries, offsets, begin, end, b_indptr, b_indices,
                     [=](i64 t, i64 p, i64 k, i64 q, i64 i, i64 j) {
                         if (marks != nullptr && !bit_test(marks, t)) return;
                         const i64 to = marks == nullptr ? t : rank_of(marks, ranks, t);
                         keys[to] = u64(i - first_row) << bits | u64(j);
                         if (values == nullptr) return;
                         A a = a_iso;
                         B b = b_iso;
                         if constexpr (multiply_reads_x) a = value_at(a_values, a_iso, p);
                         if constexpr (multiply_reads_y) b = value_at(b_values, b_iso, q);
                         values[to] = cast<add_z>(multiply(a, b, i, k, k, j));
                     });
}
