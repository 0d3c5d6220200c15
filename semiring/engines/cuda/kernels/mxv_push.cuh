// Push: the entries of u are multiplied by their columns, and atomics combine the products.
// See mxv_scatter.cuh for the prologue (the matrix is by columns of M here).

#include "mxv_scatter.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    mxv_list(const P* indptr, const J* u_indices, const u32* u_words, const U* u_values, U u_iso, i64 items, J* row,
             P* start, P* before, Carried* carried, u64* listed, i64 shift, i64 capacity, u32* out_words, i64 nout) {
    const Packing packing = {int(shift)};
    const Append to = {row, start, before, listed, 0};
    list_entries(packing, indptr, u_indices, u_words, u_values, u_iso, items, to, carried, capacity, out_words, nout);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    mxv_push(PRODUCT_ARGUMENTS, J* row, P* start, P* before, const Carried* carried, const u64* listed, i64 shift,
             u64* count) {
    const Matrix a = {a_values, a_iso};
    const Mask mask = {mask_words, mask_values};
    const RowList list = {row, start, before, 0, *listed};
    add_count(count, push_entries({int(shift)}, indptr, open_columns(indices), a, mask, list, carried, out_words,
                                  out_values));
}
