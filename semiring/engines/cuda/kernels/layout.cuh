// Matrices side by side (concat), and matrices in another shape (reshape).
//
// The prologue defines: P and I, the types of row offsets and columns of the operand; A, of its values; O, J and Z, those
// of the result.  Entries keep their order, within a row (concat) or altogether (reshape).

#include "entries.cuh"

// lengths[i] += the length of row i of a tile.
extern "C" __global__ void concat_lengths(i64 nrows, const P* indptr, O* lengths) {
    for (i64 i = thread_id(); i < nrows; i += thread_count()) lengths[i] += O(indptr[i + 1] - indptr[i]);
}

constexpr int AT_ONCE = 4;  // entries of a thread whose loads overlap

// Copies the entries of a tile to the first free positions of their rows, free[row].  Null free: the entries of the
// tile are neighbours in the result, from position `first`.  Null out_values: columns only.
extern "C" __global__ void concat_entries(i64 n, i64 nrows, const P* indptr, const I* indices, const A* values, A iso,
                                          i64 col, const O* free, i64 first, J* out_indices, Z* out_values) {
    if (free != nullptr) {
        for_each_entry(indptr, nrows, 0, n, [=](i64 p, i64 row) {
            const i64 to = i64(free[row]) + p - i64(indptr[row]);
            out_indices[to] = J(i64(indices[p]) + col);
            if (out_values != nullptr) out_values[to] = cast<Z>(value_at(values, iso, p));
        });
        return;
    }
    for (i64 begin = thread_id(); begin < n; begin += AT_ONCE * thread_count()) {
        I columns[AT_ONCE];
        A found[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const i64 p = begin + k * thread_count();
            columns[k] = p < n ? indices[p] : I(0);
            found[k] = p < n && out_values != nullptr ? value_at(values, iso, p) : iso;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const i64 p = begin + k * thread_count();
            if (p >= n) break;
            out_indices[first + p] = J(i64(columns[k]) + col);
            if (out_values != nullptr) out_values[first + p] = cast<Z>(found[k]);
        }
    }
}

// out[row] = the number of entries before position row * ncols, by a search in the row of the operand that holds it.
extern "C" __global__ void reshape_offsets(i64 a_nrows, i64 a_ncols, const P* indptr, const I* indices, i64 nrows,
                                           i64 ncols, P* out) {
    for (i64 row = thread_id(); row <= nrows; row += thread_count()) {
        const i64 position = row * ncols, i = a_ncols == 0 ? a_nrows : position / a_ncols;
        i64 before = i64(indptr[a_nrows]);
        if (i < a_nrows) before = lower_bound(indices, i64(indptr[i]), i64(indptr[i + 1]), position - i * a_ncols);
        out[row] = P(before);
    }
}

// out[row] = the column of position (row, 0) of the operand in the result: one division of 64 bits for each row.
extern "C" __global__ void reshape_rows(i64 a_nrows, i64 a_ncols, i64 ncols, J* out) {
    for (i64 row = thread_id(); row < a_nrows; row += thread_count()) out[row] = J(row * a_ncols % ncols);
}

extern "C" __global__ void reshape_columns(i64 n, i64 a_nrows, const P* indptr, const I* indices, const J* columns,
                                           i64 ncols, J* out) {
    for_each_entry(indptr, a_nrows, 0, n, [=](i64 p, i64 row) {
        const i64 column = i64(columns[row]) + i64(indices[p]);
        out[p] = J(((column | ncols) >> 32) == 0 ? i64(u32(column) % u32(ncols)) : column % ncols);
    });
}
