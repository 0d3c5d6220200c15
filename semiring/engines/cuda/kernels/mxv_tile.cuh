// Pull for rows of very different lengths: the merge path of row ends and entries is partitioned into tiles of TILE
// steps, and a block processes one tile at a time.
// Merrill, Garland, "Merge-Based Parallel Sparse Matrix-Vector Multiplication" (SC 2016).
//
// The tile in which a row ends writes the row.  The partial sum of a row that continues after a tile is the carry of
// the tile; `add_carry` adds the carries.  The partition (rows.cuh) depends on the pattern and
// is cached with it.
// See product.cuh for the prologue; here also TILE and BLOCK.

#pragma once

#include "entry_columns.cuh"
#include "product.cuh"
#include "row_tiles.cuh"

// The column of entry p if columns are uncompressed; compressed columns are decoded into shared memory instead.
template <class C>
DEVICE J load_uncompressed(const C& columns, i64 p) {
    if constexpr (!COMPRESSED) return load_streaming(columns.indices + p);
    else return J(0);
}

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

// Shared memory of a tile.
struct TileStage {
    EntryColumns<int(TILE)> decoded;
    Z values[VALUED ? TILE : 1];
    u32 hits[UNMASKED_FULL ? 1 : TILE / 32];
    u32 rejected[MASK == 0 ? 1 : TILE / 32];
};

// Reduces the rows that end in a tile, and stores its carry.  The whole block calls.
template <class Admits>
DEVICE void balanced_tile(TileStage& stage, i64 number, const P* indptr, const Columns& columns, const Matrix& a,
                          const Vector& u, const Admits& mask, u32* out_words, Z* out_values, i64 nout, i64 nvals,
                          const i64* first_row, bool* carry_hit, Z* carry_value) {
    constexpr int ROUNDS = int(TILE / BLOCK);
    auto& decoded = stage.decoded;
    auto& values = stage.values;
    auto& hits = stage.hits;
    auto& rejected = stage.rejected;
    const int t = int(threadIdx.x);
    const RowTile tile(first_row, number, nout, nvals);
    const i64 row0 = tile.row0, row1 = tile.row1, p0 = tile.first;
    const int entries = tile.entries;
    const bool one_row = row0 == row1;
    const auto span = [&](i64 o) { return tile.span(indptr, o, nout); };
    const auto carry = [&](const Maybe<Z>& sum) {
        carry_hit[number] = sum.hit;
        if constexpr (VALUED) carry_value[number] = sum.value;
    };

    if constexpr (MASK != 0) {
        if (one_row && !mask.admits(row0)) {
            if (t == 0) carry({false, Z()});
            return;
        }
        if (t < TILE / 32) rejected[t] = 0;
        __syncthreads();
        for (i64 o = row0 + t; o <= row1 && o < nout; o += BLOCK) {
            if (mask.admits(o)) continue;
            const TileSpan out = span(o);
            for (int w = out.start / 32; 32 * w < out.end; w++) {
                const u32 from = out.start > 32 * w ? FULL_WARP << (out.start & 31) : FULL_WARP;
                atomicOr(&rejected[w], from & valid_bits(out.end, w));
            }
        }
        __syncthreads();
    }

    // All loads of one kind precede their first use, so that they overlap.
    J column[ROUNDS];
    A x[ROUNDS];
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        const int e = r * int(BLOCK) + t;
        bool needed = e < entries;
        if constexpr (MASK != 0) needed = needed && !((rejected[e / 32] >> (e & 31)) & 1u);
        column[r] = needed ? load_uncompressed(columns, p0 + e) : J(-1);
        x[r] = UNMASKED_FULL && needed ? a.value(p0 + e) : A();
    }
    if constexpr (COMPRESSED) {
        const int first_slot = decode_entries<int(BLOCK)>(columns, decoded, indptr, row0, row1, p0, entries);
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            if (column[r] >= 0) column[r] = decoded.at(first_slot + r * int(BLOCK) + t);
        }
    }
    // One warp processes the rows of one presence word: a lane reduces a short row, the warp a long one.
    i64 word = row0 / 32 + warp_in_block();
    TileSpan mine = span(32 * word + lane_id());

    Z z[ROUNDS];
    u32 hit = 0;
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        if (column[r] >= 0 && u.has(i64(column[r]))) hit |= 1u << r;
    }
    U y[ROUNDS];
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        y[r] = U();
        if ((hit >> r) & 1u) {
            y[r] = u.value(i64(column[r]));
            if constexpr (!UNMASKED_FULL) x[r] = a.value(p0 + r * BLOCK + t);
        }
    }
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        z[r] = Z();
        if ((hit >> r) & 1u) {
            i64 o = 0;
            if constexpr (READS_O) o = one_row ? row0 : upper_bound(indptr, row0, row1 + 1, p0 + r * BLOCK + t) - 1;
            z[r] = product(x[r], y[r], o, i64(column[r]));
        }
    }

    if (one_row) {  // no row ends in the tile
        Maybe<Z> sum = {false, Z()};
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) sum = join(sum, Maybe<Z>{((hit >> r) & 1u) != 0, z[r]}, Add());
        sum = block_reduce(sum, Add());
        if (t == 0) carry(sum);
        return;
    }
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        if constexpr (VALUED) values[r * int(BLOCK) + t] = z[r];
        if constexpr (!UNMASKED_FULL) {
            const u32 present = __ballot_sync(FULL_WARP, (hit >> r) & 1u);
            if (lane_id() == 0) hits[(r * int(BLOCK) + t) / 32] = present;
        }
    }
    __syncthreads();

    auto entry = [&](int e) {
        const bool present = UNMASKED_FULL || ((hits[e / 32] >> (e & 31)) & 1u);
        return Maybe<Z>{present, VALUED ? values[e] : Z()};
    };
    for (; 32 * word <= row1; word += BLOCK / 32, mine = span(32 * word + lane_id())) {
        const i64 o = 32 * word + lane_id();
        const Maybe<Z> sum = reduce_ranges<Z, 32>(mine.start, mine.end, entry, Add());
        const bool ends_here = o >= row0 && o < row1;
        if constexpr (VALUED) {
            if (ends_here && sum.hit) out_values[o] = sum.value;
        }
        if (o == row1) carry(sum);
        if constexpr (!UNMASKED_FULL) {
            const u32 present = __ballot_sync(FULL_WARP, ends_here && sum.hit);
            if (lane_id() == 0 && present != 0) atomicOr(out_words + word, present);
        }
    }
}
