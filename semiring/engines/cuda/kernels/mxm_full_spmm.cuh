// mxm of a sparse matrix and full rows:  c(i, j) = (+)_k a(i, k) (x) b(k, j), all columns j of a row at once.
//
// G lanes hold the columns of a panel, V consecutive values a lane, R times; E such groups process different entries of
// the row, UNROLL each at once.  Rows with more than SEGMENT entries are divided into segments, whose partial sums the
// second kernel combines in the order of the row.  Rows that are empty in the result are not computed.
//
// The prologue defines the semiring; the types AP, AI, A (offsets, columns, values of the sparse matrix), BP, B, CP
// (offsets and values of the full one, offsets of the result); the constants of mxm_full.cuh; G, E, V, R, UNROLL,
// SEGMENT, BLOCK; FLIP (the product is b (x) a: the row of the result is its column); EARLY (sums often become
// terminal); EVERY_ROW (no row of b is empty); A_VALUES, B_VALUES (products read the arrays of values).

#include "mxm_full_entries.cuh"

struct SpmmArguments {
    const AP* a_indptr;
    const AI* a_indices;
    const A* a_values;
    A a_iso;
    const BP* b_indptr;
    const B* b_values;
    B b_iso;
    const CP* c_indptr;
    Z* c_values;
    Z start;
    i64 nrows;
    i64 width;
    i64 blocks;  // of a panel
    i64 segment_count;
    const i64* segments;  // the row and the first entry of each
    const i64* long_rows;  // the row and the first segment of each
    Z* partial;  // a row of sums for each segment
    u8* partial_hits;
};

constexpr int LANES = int(G * E);
constexpr int COLUMNS = int(G * V);

struct Sums {
    Pack<Z, V> at[R];
    bool hit;
};

// Adds the products of the entries p, p + E, ... before `end`, UNROLL of them, to the columns from j.
template <bool GUARDED>
DEVICE void add_products(const SpmmArguments& s, i64 i, i64 j, i64 p, i64 end, Sums& sums) {
    RowEntries read;
    read.load<GUARDED>(s, p, end);
    Pack<B, V> y[UNROLL][R];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
#pragma unroll
        for (int r = 0; r < R; r++) {
            if constexpr (B_VALUES) {
                if (read.in[u] && (R == 1 || j + r * COLUMNS < s.width)) y[u][r].load(s.b_values + read.from[u] + j + r * COLUMNS);
            } else {
                y[u][r].fill(s.b_iso);
            }
        }
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        if (!read.in[u]) continue;
#pragma unroll
        for (int r = 0; r < R; r++) {
#pragma unroll
            for (int v = 0; v < V; v++) {
                const i64 column = j + r * COLUMNS + v;
                Z z;
                if constexpr (FLIP) z = cast<Z>(multiply(y[u][r].at[v], read.x[u], column, read.k[u], read.k[u], i));
                else z = cast<Z>(multiply(read.x[u], y[u][r].at[v], i, read.k[u], read.k[u], column));
                accumulate(sums.at[r].at[v], sums.hit, z);
            }
        }
        sums.hit = true;
    }
}

// No further product changes the sums.
DEVICE bool finished(const Sums& sums) {
    bool all = sums.hit;
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
        for (int v = 0; v < V; v++) all = all && add_is_terminal(sums.at[r].at[v]);
    }
    return all;
}

extern "C" __global__ void __launch_bounds__(BLOCK) mxm_spmm(const SpmmArguments s) {
    const int lane = int(threadIdx.x) % LANES;
    const i64 item = i64(blockIdx.x) % s.blocks * (BLOCK / LANES) + threadIdx.x / LANES;
    const i64 j = i64(blockIdx.x) / s.blocks * (COLUMNS * R) + lane % G * V;
    i64 i = item - s.segment_count, begin = 0, end = 0;
    Z* to = nullptr;
    if (item < s.segment_count) {
        i = s.segments[2 * item];
        begin = s.segments[2 * item + 1];
        end = i64(s.a_indptr[i + 1]);
        end = end < begin + SEGMENT ? end : begin + SEGMENT;
        if (i64(s.c_indptr[i]) != i64(s.c_indptr[i + 1])) to = s.partial + item * s.width;
    } else if (i < s.nrows) {
        begin = i64(s.a_indptr[i]);
        end = i64(s.a_indptr[i + 1]);
        const i64 at = i64(s.c_indptr[i]);
        if (end - begin <= SEGMENT && at != i64(s.c_indptr[i + 1])) to = s.c_values + at;
    }
    if (to == nullptr || j >= s.width) end = begin;
    Sums sums;
    sums.hit = false;
#pragma unroll
    for (int r = 0; r < R; r++) sums.at[r].fill(s.start);
    i64 p = begin + lane / G;
    if constexpr (EARLY) {
        for (; p < end && !finished(sums); p += UNROLL * E) add_products<true>(s, i, j, p, end, sums);
    } else {
        for (; p + (UNROLL - 1) * E < end; p += UNROLL * E) add_products<false>(s, i, j, p, end, sums);
        if (p < end) add_products<true>(s, i, j, p, end, sums);
    }
    __syncwarp();
#pragma unroll
    for (int delta = int(G); delta < LANES; delta *= 2) {
        const bool other_hit = lane_hit(sums.hit, delta);
#pragma unroll
        for (int r = 0; r < R; r++) {
#pragma unroll
            for (int v = 0; v < V; v++) accumulate_lane(sums.at[r].at[v], sums.hit, other_hit, delta);
        }
        if constexpr (!STARTED) sums.hit = sums.hit || other_hit;
    }
    if (to == nullptr || lane >= G) return;
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (j + r * COLUMNS < s.width) sums.at[r].store(to + j + r * COLUMNS);
    }
    if constexpr (!STARTED) {
        if (item < s.segment_count && lane == 0) s.partial_hits[item] = sums.hit;
    }
}

// A block combines the segments of a long row, for the columns of a panel.
extern "C" __global__ void __launch_bounds__(BLOCK) mxm_spmm_combine(const SpmmArguments s) {
    constexpr int PARTS = int(BLOCK / G);
    __shared__ Pack<Z, V> sums[BLOCK];
    __shared__ bool hits[PARTS];
    const i64 row = i64(blockIdx.x) % s.blocks, i = s.long_rows[2 * row], first = s.long_rows[2 * row + 1];
    const i64 j = i64(blockIdx.x) / s.blocks * COLUMNS + threadIdx.x % G * V;
    const i64 at = i64(s.c_indptr[i]), count = (i64(s.a_indptr[i + 1]) - i64(s.a_indptr[i]) + SEGMENT - 1) / SEGMENT;
    if (at == i64(s.c_indptr[i + 1])) return;
    const int part = int(threadIdx.x) / int(G);
    Pack<Z, V> mine;
    mine.fill(s.start);
    bool hit = false;
    if (j < s.width) {
        for (i64 segment = first + part; segment < first + count; segment += PARTS) {
            if constexpr (!STARTED) {
                if (!s.partial_hits[segment]) continue;
            }
            Pack<Z, V> other;
            other.load(s.partial + segment * s.width + j);
#pragma unroll
            for (int v = 0; v < V; v++) accumulate(mine.at[v], hit, other.at[v]);
            hit = true;
        }
    }
    sums[threadIdx.x] = mine;
    if (threadIdx.x % G == 0) hits[part] = hit;
    for (int half = PARTS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (part < half && (STARTED || hits[part + half])) {
#pragma unroll
            for (int v = 0; v < V; v++) accumulate(mine.at[v], hit, sums[threadIdx.x + half * G].at[v]);
            hit = true;
            sums[threadIdx.x] = mine;
        }
        __syncthreads();
        if (part < half && threadIdx.x % G == 0) hits[part] = hit;
    }
    if (part == 0 && j < s.width) mine.store(s.c_values + at + j);
}
