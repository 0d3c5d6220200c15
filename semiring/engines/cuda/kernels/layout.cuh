// Matrices side by side (concat), and matrices in another shape (reshape).
//
// The prologue defines: P and I, the types of row offsets and columns of the operand; A, of its values; O, J and Z, those
// of the result.  Entries keep their order, within a row (concat) or altogether (reshape).

#include "entries.cuh"

// out[i] = first + the entries of a tile before row i - skip, for n rows of the result: the tile is the only one in its
// rows, and rows before and behind it are empty.
extern "C" __global__ void concat_offsets(i64 n, i64 skip, i64 nrows, const P* indptr, i64 first, O* out) {
    for (i64 i = thread_id(); i < n; i += thread_count()) {
        const i64 row = i < skip ? 0 : i - skip < nrows ? i - skip : nrows;
        out[i] = O(first + i64(indptr[row]));
    }
}

// lengths[i] += the length of row i of a tile.
extern "C" __global__ void concat_lengths(i64 nrows, const P* indptr, O* lengths) {
    for (i64 i = thread_id(); i < nrows; i += thread_count()) lengths[i] += O(indptr[i + 1] - indptr[i]);
}

constexpr int AT_ONCE = 4;  // entries of a thread whose loads overlap

// An entry as it is copied, and where to.
struct Moved {
    J column;
    A value;
    i64 to;
};

// Copies the entries of a tile to the first free positions of their rows, free[row].  Null free: the entries of the
// tile are neighbours in the result, from position `first`.  Null out_indices, out_values: not copied.
extern "C" __global__ void concat_entries(i64 n, i64 nrows, const P* indptr, const I* indices, const A* values, A iso,
                                          i64 col, const O* free, i64 first, J* out_indices, Z* out_values) {
    const auto load = [=](i64 p, i64 to) {
        Moved entry{J(), iso, to};
        if (out_indices != nullptr) entry.column = J(i64(__ldcs(indices + p)) + col);
        if (out_values != nullptr) entry.value = value_at(values, iso, p);
        return entry;
    };
    const auto store = [=](const Moved& entry) {
        if (out_indices != nullptr) out_indices[entry.to] = entry.column;
        if (out_values != nullptr) out_values[entry.to] = cast<Z>(entry.value);
    };
    if (free != nullptr) {
        for_each_entry<AT_ONCE>(
            indptr, nrows, 0, n, [=](i64 p, i64 row) { return load(p, i64(free[row]) + p - i64(indptr[row])); },
            [=](i64, i64, const Moved& entry) { store(entry); });
        return;
    }
    for (i64 base = thread_id(); base < n; base += AT_ONCE * thread_count()) {
        Moved entries[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const i64 p = base + k * thread_count();
            if (p < n) entries[k] = load(p, first + p);
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const i64 p = base + k * thread_count();
            if (p < n) store(entries[k]);
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

extern "C" __global__ void reshape_columns(i64 n, i64 a_nrows, i64 a_ncols, const P* indptr, const I* indices,
                                           const J* columns, i64 ncols, J* out) {
    for_each_entry<2 * AT_ONCE>(
        indptr, a_nrows, 0, n, [=](i64 p, i64 row) { return i64(columns[row]) + i64(__ldcs(indices + p)); },
        [=](i64 p, i64, i64 column) {
            if (a_ncols <= ncols) out[p] = J(column < ncols ? column : column - ncols);  // at most one row further
            else out[p] = J(((column | ncols) >> 32) == 0 ? i64(u32(column) % u32(ncols)) : column % ncols);
        });
}
