// Matrices side by side (concat), and matrices in another shape (reshape).
//
// The prologue defines: P and I, the types of row offsets and columns of the operands; O and J, those of the result; V, an
// unsigned integer of the size of the values, which are only moved; PART_BITS; FORM; TILE.  Entries keep their order, within a
// row (concat) or altogether (reshape).

#include "entries.cuh"
#include "warp_tiles.cuh"

constexpr int PARTS = 1 << PART_BITS;  // of a launch, at most

// A matrix, part of the result, and the column of the result at which it begins.  values[p * step] is the value of entry p.
struct Part {
    const P* indptr;
    const I* indices;
    const V* values;
    i64 step;
    i64 col;
};
// Matrices with as many rows, side by side in ascending order of their columns.
struct PartsArgument {
    Part part[PARTS];
    i64 count;
};

// out[i] = first + the entries of all parts before row i - skip, for n rows of the result: the parts begin at row `skip` and
// have nrows rows, and rows before and behind them are empty.
extern "C" __global__ void concat_offsets(const PartsArgument parts, i64 n, i64 skip, i64 nrows, i64 first, O* out) {
    for (i64 i = thread_id(); i < n; i += thread_count()) {
        const i64 row = i < skip ? 0 : i - skip < nrows ? i - skip : nrows;
        i64 before = first;
        for (int k = 0; k < parts.count; ++k) before += i64(parts.part[k].indptr[row]);
        out[i] = O(before);
    }
}

// The entries of parts side by side, n in all; `offsets` are the row offsets of the result.  A warp writes a tile of the
// result; null out_values: the columns only.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
concat_entries(const PartsArgument parts, i64 n, i64 nrows, const O* offsets, const i64* first_row, i64 tiles,
               J* out_indices, V* out_values) {
    constexpr int ROUNDS = WARP_SLOTS / 32, BATCH = ROUNDS < 8 ? ROUNDS : 8;
    __shared__ Part part[PARTS];
    __shared__ WarpHeads<i64> shared[TILE_THREADS / 32];
    for (int k = int(threadIdx.x); k < parts.count; k += TILE_THREADS) part[k] = parts.part[k];
    __syncthreads();
    WarpHeads<i64>& heads = shared[warp_in_block()];
    for (i64 number = warp_id(); number < tiles; number += warp_count()) {
        const RowTile tile(first_row, number, nrows, n);
        const TileSlots slots(tile);
        heads.clear();
        for (i64 row = tile.row0 + lane_id(); row <= tile.row1 && row < nrows; row += 32) {
            i64 slot = i64(offsets[row]) - slots.base;
            for (int k = 0; k < parts.count; ++k) {
                const i64 begin = i64(part[k].indptr[row]), length = i64(part[k].indptr[row + 1]) - begin;
                const i64 start = slot > slots.begin ? slot : slots.begin;
                // The position in the part less the slot, and the part.
                if (start < slot + length && start < slots.end) heads.mark(int(start), (begin - slot) * PARTS + k);
                slot += length;
            }
        }
        const int before = heads.finish();
#pragma unroll
        for (int batch = 0; batch < ROUNDS; batch += BATCH) {
            I columns[BATCH];
            V values[BATCH];
            i64 col[BATCH];
#pragma unroll
            for (int b = 0; b < BATCH; ++b) {
                const int slot = 32 * (batch + b) + lane_id(), head = heads.head(batch + b, before);
                if (slot < slots.begin || slot >= slots.end) continue;
                const i64 from = heads.values[head];
                const Part& source = part[int(from & (PARTS - 1))];
                const i64 p = (from >> PART_BITS) + slot;
                columns[b] = source.indices[p];
                col[b] = source.col;
                if (out_values != nullptr) values[b] = source.values[p * source.step];
            }
#pragma unroll
            for (int b = 0; b < BATCH; ++b) {
                const int slot = 32 * (batch + b) + lane_id();
                if (slot < slots.begin || slot >= slots.end) continue;
                out_indices[slots.base + slot] = J(i64(columns[b]) + col[b]);
                if (out_values != nullptr) out_values[slots.base + slot] = values[b];
            }
        }
    }
}

// out[p] = indices[p] + col: the columns of one matrix.
extern "C" __global__ void concat_columns(i64 n, const I* indices, i64 col, J* out) {
    for_each_quad<1>(
        n, [=](i64 p, int count) { return load_quad(indices + p, count); },
        [=](i64 p, int count, const Quad<I>& columns) {
            Quad<J> moved;
#pragma unroll
            for (int e = 0; e < QUAD; ++e) moved.at[e] = J(i64(columns.at[e]) + col);
            store_quad(out + p, moved, count);
        });
}

// A number modulo a constant; of 32 bits where both are.
DEVICE i64 remainder_of(i64 number, i64 divisor) {
    return ((number | divisor) >> 32) == 0 ? i64(u32(number) % u32(divisor)) : number % divisor;
}

// out[row] = the number of entries before position row * ncols, by a search in the row of the operand that holds it.
extern "C" __global__ void reshape_offsets(i64 a_nrows, i64 a_ncols, const P* indptr, const I* indices, i64 nrows,
                                           i64 ncols, P* out) {
    for (i64 row = thread_id(); row <= nrows; row += thread_count()) {
        const i64 position = row * ncols;
        i64 i = a_nrows, column = 0;
        if (a_ncols != 0) {
            column = remainder_of(position, a_ncols);
            i = ((position | a_ncols) >> 32) == 0 ? i64(u32(position) / u32(a_ncols)) : position / a_ncols;
        }
        i64 before = i64(indptr[i]);
        if (column != 0) before = lower_bound(indices, before, i64(indptr[i + 1]), column);
        out[row] = P(before);
    }
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS)
reshape_columns(i64 n, i64 a_nrows, i64 a_ncols, const P* indptr, const I* indices, i64 ncols, const i64* first_row,
                i64 tiles, J* out) {
    const auto moved = [=](i64 column) {
        if (a_ncols <= ncols) return column < ncols ? column : column - ncols;  // at most one row further
        return remainder_of(column, ncols);
    };
    // The column of the first position of a row in the result: one division for each row.
    for_each_row_quad<J>(
        indptr, a_nrows, n, first_row, tiles, [=](i64 p, int count) { return load_quad(indices + p, count); },
        [=](i64 row) { return J(row * a_ncols % ncols); },
        [=](i64 p, int low, int high, const Quad<J>& columns, const Quad<I>& read) {
            Quad<J> made;
#pragma unroll
            for (int e = 0; e < QUAD; ++e) made.at[e] = J(moved(i64(columns.at[e]) + i64(read.at[e])));
            store_part(out + p, made, low, high);
        });
}
