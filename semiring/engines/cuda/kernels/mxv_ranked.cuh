// Pull of a full vector over ranked columns (ranked.cuh): the values of the first TABLE ranks are in shared memory, where
// most gathers of a skewed graph are served; the others read the second-level cache.
//
// The merge path of row ends and entries is partitioned into tiles of TILE steps, as in mxv_balanced.cuh.  One block a
// multiprocessor is resident; each of its warps processes every so-many-th tile, and loads the entries of its next tile
// before it reduces the rows of this one.
// Loads in flight occupy lines of the first-level cache, which shares its memory with the table: with a larger table, the
// gathers from the second-level cache wait for lines.
// See product.cuh for the prologue; here also TILE, BLOCK, and TABLE, a multiple of 16.

#include "mxv_tile.cuh"

static_assert(UNMASKED_FULL && VALUED && READS_U && !READS_O && !COMPRESSED, "what the host chooses this kernel for");

constexpr int ROUNDS = int(TILE) / 32;

// The entries of a tile, ROUNDS a lane.
struct EntryTile : RowTile {
    J rank[ROUNDS];
    A x[ROUNDS];

    EntryTile() = default;
    DEVICE EntryTile(const J* ranks, const Matrix& a, const RowTile& tile) : RowTile(tile) {
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            const int e = 32 * r + lane_id();
            rank[r] = e < entries ? load_streaming(ranks + first + e) : J(0);
            x[r] = e < entries ? a.value(first + e) : A();
        }
    }
};

extern "C" __global__ void __launch_bounds__(BLOCK, 1)
    mxv_ranked(const P* indptr, const J* ranks, const A* a_values, A a_iso, const U* u_values, Z* out_values, i64 nout,
               i64 nvals, const i64* first_row, bool* carry_hit, Z* carry_value, i64 tiles) {
    extern __shared__ uint4 shared[];
    U* const table = reinterpret_cast<U*>(shared);
    Z* const values = reinterpret_cast<Z*>(table + TABLE) + TILE * warp_in_block();
    const Matrix a = {a_values, a_iso};
    for (int r = int(threadIdx.x); r < TABLE; r += int(BLOCK)) table[r] = u_values[r];
    __syncthreads();

    EntryTile next;
    if (warp_id() < tiles) next = EntryTile(ranks, a, RowTile(first_row, warp_id(), nout, nvals));
    for (i64 number = warp_id(); number < tiles; number += warp_count()) {
        const RowTile tile = next;
        const auto span = [&](i64 o) { return tile.span(indptr, o, nout); };
        U y[ROUNDS];
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            y[r] = next.rank[r] < J(TABLE) ? table[next.rank[r]] : u_values[next.rank[r]];
        }
        i64 o = tile.row0 + lane_id();
        TileSpan mine = span(o);
        __syncwarp();  // lanes may still read the values of the tile before
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) values[32 * r + lane_id()] = product(next.x[r], y[r], 0, 0);
        __syncwarp();
        const i64 ahead = number + warp_count();
        if (ahead < tiles) next = EntryTile(ranks, a, RowTile(first_row, ahead, nout, nvals));

        for (i64 first = tile.row0; first <= tile.row1; first += 32, o += 32, mine = span(o)) {
            const auto entry = [&](int e) { return Maybe<Z>{true, values[e]}; };
            const Maybe<Z> sum = reduce_ranges<Z, 32>(mine.start, mine.end, entry, Add());
            if (o < tile.row1 && sum.hit) out_values[o] = sum.value;
            if (o == tile.row1) {
                carry_hit[number] = sum.hit;
                carry_value[number] = sum.value;
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    mxv_ranked_carry(const P* indptr, const i64* first_row, const bool* hit, const Z* value, i64 tiles, u32* out_words,
                     Z* out_values, i64 nout) {
    add_carry(thread_id(), indptr, first_row, hit, value, tiles, out_words, out_values, nout);
}
