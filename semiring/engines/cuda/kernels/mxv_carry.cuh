// Completes the rows that span several tiles of a product.
// See product.cuh for the prologue; here also TILE (steps of the merge path a tile) and BLOCK.

#pragma once

#include "product.cuh"

// Adds the carries of the row whose run of tiles begins with tile t to the sum of the tile in which the row ends; a run
// ends with its row.  The thread reduces a short run, its warp a long one: the whole warp calls, with consecutive t.
DEVICE void add_carry(i64 t, const P* indptr, const i64* first_row, const bool* hit, const Z* value, i64 tiles,
                      u32* out_words, Z* out_values, i64 nout) {
    constexpr int SHORT_RUN = 4;
    auto part = [&](i64 t) { return Maybe<Z>{hit[t], VALUED ? value[t] : Z()}; };
    i64 o = nout, length = 0;
    if (t < tiles) {
        const i64 row = first_row[t + 1];
        if (row < nout && (t == 0 || first_row[t] != row)) {
            o = row;
            length = (i64(indptr[o + 1]) + o) / TILE - t;
        }
    }
    const Maybe<Z> sum = reduce_ranges<Z, SHORT_RUN>(t, t + length, part, Add());
    if (!sum.hit) return;
    if constexpr (VALUED) {
        const bool found = UNMASKED_FULL ? i64(indptr[o + 1]) + o > (t + length) * TILE : bit_test(out_words, o);
        out_values[o] = found ? Z(add(sum.value, out_values[o])) : sum.value;
    }
    if constexpr (!UNMASKED_FULL) atomicOr(out_words + (o >> 5), 1u << (o & 31));
}
