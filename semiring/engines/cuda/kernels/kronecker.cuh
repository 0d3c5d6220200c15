// kronecker: C(i r + k, j c + l) = combine(A(i, j), B(k, l)), where B has r rows and c columns.
//
// The prologue defines: AP, AI, A and BP, BI, B, the types of row offsets, columns and values of both operands; P and J,
// the types of row offsets and columns of the result; combine; FORM.  Row i r + k of the result holds, for each entry
// of row i of A, all entries of row k of B, so its columns ascend and every position follows from the row offsets.

#include "entries.cuh"

// a / b for a >= 0 and b > 0, by a 32-bit division where both fit: it takes a third of the instructions.
DEVICE i64 quotient(i64 a, i64 b) {
    if (((a | b) >> 32) == 0) return i64(u32(a) / u32(b));
    return a / b;
}

// out[row] = the number of entries before a row of the result; out has nrows + 1 elements.
extern "C" __global__ void kronecker_offsets(i64 nrows, const AP* a_indptr, i64 b_nrows, const BP* b_indptr, P* out) {
    const i64 b_nvals = i64(b_indptr[b_nrows]);
    for (i64 row = thread_id(); row <= nrows; row += thread_count()) {
        const i64 i = b_nrows == 0 ? 0 : quotient(row, b_nrows);
        const i64 begin = i64(a_indptr[i]);
        i64 before = begin * b_nvals;
        if (row < nrows) before += (i64(a_indptr[i + 1]) - begin) * i64(b_indptr[row - i * b_nrows]);
        out[row] = P(before);
    }
}

// A thread writes entry p of the result; neighbouring threads write neighbouring entries.  Null out_values: columns
// only.
extern "C" __global__ void kronecker_entries(i64 n, i64 nrows, const P* indptr, const AP* a_indptr,
                                             const AI* a_indices, const A* a_values, A a_iso, i64 b_nrows,
                                             i64 b_ncols, const BP* b_indptr, const BI* b_indices,
                                             const B* b_values, B b_iso, J* out_indices, combine_z* out_values) {
    for_each_entry(indptr, nrows, 0, n, [=](i64 p, i64 row) {
        const i64 i = quotient(row, b_nrows), k = row - i * b_nrows;
        const i64 begin = i64(b_indptr[k]), length = i64(b_indptr[k + 1]) - begin;
        const i64 within = p - i64(indptr[row]), block = quotient(within, length);
        const i64 pa = i64(a_indptr[i]) + block, pb = begin + within - block * length;
        const i64 j = i64(a_indices[pa]), l = i64(b_indices[pb]);
        out_indices[p] = J(j * b_ncols + l);
        if (out_values == nullptr) return;
        A x = a_iso;
        B y = b_iso;
        if constexpr (combine_reads_x) x = value_at(a_values, a_iso, pa);
        if constexpr (combine_reads_y) y = value_at(b_values, b_iso, pb);
        out_values[p] = combine(x, y, i, j, k, l);
    });
}
