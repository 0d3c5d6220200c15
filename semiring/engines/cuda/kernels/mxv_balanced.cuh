// Pull for rows of very different lengths: rows and entries are laid on one line (row ends among entries, as in a merge),
// which is cut into tiles of TILE; every block does one tile, whatever rows it touches.
// Merrill, Garland, "Merge-Based Parallel Sparse Matrix-Vector Multiplication" (SC 2016).
//
// A row that ends in a tile is written by it; what a tile knows of the row that goes on behind it is its carry, which
// `mxv_carry` adds afterwards.  Where the tiles begin depends on the pattern alone (`mxv_tiles`), and is kept with it.
// See product.cuh for the prologue; here also TILE and BLOCK.

#include "entry_columns.cuh"
#include "product.cuh"

// Entry p of plain columns, each of which is needed once; of others nothing, they are decoded into shared memory.
template <class C>
DEVICE J streamed_column(const C& columns, i64 p) {
    if constexpr (CODEC == PLAIN) return streamed(columns.indices + p);
    else return J(0);
}

// The number of rows that end before each multiple of TILE on the line.
extern "C" __global__ void mxv_tiles(const P* indptr, i64 nout, i64 nvals, i64* first_row, i64 tiles) {
    for (i64 t = thread_id(); t <= tiles; t += thread_count()) {
        const i64 at = t * TILE < nout + nvals ? t * TILE : nout + nvals;
        i64 low = at > nvals ? at - nvals : 0, high = at < nout ? at : nout;
        while (low < high) {
            const i64 middle = (low + high) / 2;
            if (i64(indptr[middle + 1]) <= at - middle - 1) low = middle + 1;
            else high = middle;
        }
        first_row[t] = low;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    mxv_balanced(PRODUCT_ARGUMENTS, i64 nvals, const i64* first_row, bool* carry_hit, Z* carry_value) {
    PRODUCT_OPERANDS
    constexpr int ROUNDS = int(TILE / BLOCK);
    __shared__ EntryColumns<int(TILE)> decoded;
    __shared__ Z values[VALUED ? TILE : 1];
    __shared__ u32 hits[ALWAYS ? 1 : TILE / 32];
    __shared__ u32 left_out[MASK == 0 ? 1 : TILE / 32];
    const int t = int(threadIdx.x);
    const i64 at = i64(blockIdx.x) * TILE;
    const i64 behind = at + TILE < nout + nvals ? at + TILE : nout + nvals;
    const i64 row0 = first_row[blockIdx.x], row1 = first_row[blockIdx.x + 1];
    const i64 p0 = at - row0;
    const int entries = int(behind - row1 - p0);
    const bool one_row = row0 == row1;

    // The entries of row o that lie in the tile, counted from its first.
    struct Span {
        int start, end;
    };
    auto span = [&](i64 o) {
        if (o < row0 || o > row1 || o >= nout) return Span{0, 0};
        const i64 start = i64(indptr[o]) - p0, end = i64(indptr[o + 1]) - p0;
        return Span{start > 0 ? int(start) : 0, end < entries ? int(end) : entries};
    };
    auto carry = [&](const Maybe<Z>& sum) {
        carry_hit[blockIdx.x] = sum.hit;
        if constexpr (VALUED) carry_value[blockIdx.x] = sum.value;
    };

    if constexpr (MASK != 0) {
        if (one_row && !mask.admits(row0)) {
            if (t == 0) carry({false, Z()});
            return;
        }
        if (t < TILE / 32) left_out[t] = 0;
        __syncthreads();
        for (i64 o = row0 + t; o <= row1 && o < nout; o += BLOCK) {
            if (mask.admits(o)) continue;
            const Span out = span(o);
            for (int w = out.start / 32; 32 * w < out.end; w++) {
                const u32 from = out.start > 32 * w ? FULL_WARP << (out.start & 31) : FULL_WARP;
                atomicOr(&left_out[w], from & valid_bits(out.end, w));
            }
        }
        __syncthreads();
    }

    // All loads of one kind stand before the first use of one, so that they wait together.
    J column[ROUNDS];
    A x[ROUNDS];
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        const int e = r * int(BLOCK) + t;
        bool taken = e < entries;
        if constexpr (MASK != 0) taken = taken && !((left_out[e / 32] >> (e & 31)) & 1u);
        column[r] = taken ? streamed_column(columns, p0 + e) : J(-1);
        x[r] = ALWAYS && taken ? a.value(p0 + e) : A();
    }
    if constexpr (CODEC != PLAIN) {
        const int place = decode_entries<int(BLOCK)>(columns, decoded, indptr, row0, row1, p0, entries);
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            if (column[r] >= 0) column[r] = decoded.at(place + r * int(BLOCK) + t);
        }
    }
    // One warp takes the rows of one presence word: a lane adds a short row, the warp a long one.
    i64 word = row0 / 32 + warp_in_block();
    Span mine = span(32 * word + lane_id());

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
            if constexpr (!ALWAYS) x[r] = a.value(p0 + r * BLOCK + t);
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

    if (one_row) {  // no row ends here
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
        if constexpr (!ALWAYS) {
            const u32 present = __ballot_sync(FULL_WARP, (hit >> r) & 1u);
            if (lane_id() == 0) hits[(r * int(BLOCK) + t) / 32] = present;
        }
    }
    __syncthreads();

    auto entry = [&](int e) {
        const bool present = ALWAYS || ((hits[e / 32] >> (e & 31)) & 1u);
        return Maybe<Z>{present, VALUED ? values[e] : Z()};
    };
    for (; 32 * word <= row1; word += BLOCK / 32, mine = span(32 * word + lane_id())) {
        const i64 o = 32 * word + lane_id();
        Maybe<Z> sum = {false, Z()};
        const bool longer = mine.end - mine.start > 32;
        if (!longer) {
            for (int e = mine.start; e < mine.end; e++) sum = join(sum, entry(e), Add());
        }
        for (u32 rows = __ballot_sync(FULL_WARP, longer); rows; rows &= rows - 1) {
            const int lane = __ffs(int(rows)) - 1;
            const int row_end = shuffle(mine.end, lane);
            Maybe<Z> part = {false, Z()};
#pragma unroll 4
            for (int e = shuffle(mine.start, lane) + lane_id(); e < row_end; e += 32) part = join(part, entry(e), Add());
            part = warp_reduce(part, Add());
            part.hit = __shfl_sync(FULL_WARP, int(part.hit), 0) != 0;
            part.value = shuffle(part.value, 0);
            if (lane_id() == lane) sum = part;
        }
        const bool ends_here = o >= row0 && o < row1;
        if constexpr (VALUED) {
            if (ends_here && sum.hit) out_values[o] = sum.value;
        }
        if (o == row1) carry(sum);
        if constexpr (!ALWAYS) {
            const u32 present = __ballot_sync(FULL_WARP, ends_here && sum.hit);
            if (lane_id() == 0 && present != 0) atomicOr(out_words + word, present);
        }
    }
}

// Consecutive tiles may carry parts of one row; where the row ends tells how many.  The thread of the first of them adds up
// a short run, its warp a long one, to what the tile that ends the row found of it, if anything.
extern "C" __global__ void __launch_bounds__(BLOCK) mxv_carry(const P* indptr, const i64* first_row, const bool* hit,
                                                              const Z* value, i64 tiles, u32* out_words, Z* out_values,
                                                              i64 nout) {
    constexpr int SHORT_RUN = 4;
    auto part = [&](i64 t) { return Maybe<Z>{hit[t], VALUED ? value[t] : Z()}; };
    const i64 t = thread_id();
    i64 o = nout, length = 0;
    if (t < tiles) {
        const i64 row = first_row[t + 1];
        if (row < nout && (t == 0 || first_row[t] != row)) {
            o = row;
            length = (i64(indptr[o + 1]) + o) / TILE - t;
        }
    }
    Maybe<Z> sum = {false, Z()};
#pragma unroll
    for (int s = 0; s < SHORT_RUN; s++) {
        if (s < length && length <= SHORT_RUN) sum = join(sum, part(t + s), Add());
    }
    for (u32 runs = __ballot_sync(FULL_WARP, length > SHORT_RUN); runs; runs &= runs - 1) {
        const int lane = __ffs(int(runs)) - 1;
        const i64 first = shuffle(t, lane), last = first + shuffle(length, lane);
        Maybe<Z> parts = {false, Z()};
#pragma unroll 4
        for (i64 s = first + lane_id(); s < last; s += 32) parts = join(parts, part(s), Add());
        parts = warp_reduce(parts, Add());
        parts.hit = __shfl_sync(FULL_WARP, int(parts.hit), 0) != 0;
        parts.value = shuffle(parts.value, 0);
        if (lane_id() == lane) sum = parts;
    }
    if (!sum.hit) return;
    if constexpr (VALUED) {
        const bool found = ALWAYS ? i64(indptr[o + 1]) + o > (t + length) * TILE : bit_test(out_words, o);
        out_values[o] = found ? Z(add(sum.value, out_values[o])) : sum.value;
    }
    if constexpr (!ALWAYS) atomicOr(out_words + (o >> 5), 1u << (o & 31));
}
