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

#include "mxm_full.cuh"

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
    Z at[R * V];
    bool hit;
};

// Adds the products of the entries p, p + E, ... before `end`, UNROLL of them, to the columns from j.
template <bool GUARDED>
DEVICE void add_products(const SpmmArguments& s, i64 i, i64 j, i64 p, i64 end, Sums& sums) {
    RowEntries<int(UNROLL), int(E), EVERY_ROW, A_VALUES, A> read;
    read.load<GUARDED>(s, p, end);
    B y[UNROLL][R][V];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        load_columns<B_VALUES, COLUMNS>(y[u], s.b_values, read.from[u], j, s.width, s.b_iso, read.in[u]);
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        if (!read.in[u]) continue;
#pragma unroll
        for (int n = 0; n < R * V; n++) {
            const i64 column = j + n / V * COLUMNS + n % V;
            const B value = y[u][n / V][n % V];
            Z z;
            if constexpr (FLIP) z = cast<Z>(multiply(value, read.x[u], column, read.k[u], read.k[u], i));
            else z = cast<Z>(multiply(read.x[u], value, i, read.k[u], read.k[u], column));
            accumulate(sums.at[n], sums.hit, z);
        }
        sums.hit = true;
    }
}

// No further product changes the sums.
DEVICE bool finished(const Sums& sums) {
    bool all = sums.hit;
#pragma unroll
    for (int n = 0; n < R * V; n++) all = all && add_is_terminal(sums.at[n]);
    return all;
}

extern "C" __global__ void __launch_bounds__(BLOCK) mxm_spmm(const SpmmArguments s) {
    const int lane = int(threadIdx.x) % LANES;
    const i64 item = i64(blockIdx.x) % s.blocks * (BLOCK / LANES) + threadIdx.x / LANES;
    const i64 j = i64(blockIdx.x) / s.blocks * (COLUMNS * R) + lane % G * V;
    RowPart part(item, s.segment_count, s.segments, s.a_indptr, s.nrows, SEGMENT);
    Z* to = nullptr;
    if (part.begin < part.end) {
        const i64 at = i64(s.c_indptr[part.i]);
        if (at != i64(s.c_indptr[part.i + 1])) to = part.segment ? s.partial + item * s.width : s.c_values + at;
    }
    const i64 end = to == nullptr || j >= s.width ? part.begin : part.end;
    Sums sums;
    sums.hit = false;
#pragma unroll
    for (int n = 0; n < R * V; n++) sums.at[n] = s.start;
    i64 p = part.begin + lane / G;
    if constexpr (EARLY) {
        for (; p < end && !finished(sums); p += UNROLL * E) add_products<true>(s, part.i, j, p, end, sums);
    } else {
        for (; p + (UNROLL - 1) * E < end; p += UNROLL * E) add_products<false>(s, part.i, j, p, end, sums);
        if (p < end) add_products<true>(s, part.i, j, p, end, sums);
    }
    __syncwarp();
    accumulate_lanes<int(G), LANES>(sums.at, sums.hit);
    if (to == nullptr || lane >= G) return;
#pragma unroll
    for (int r = 0; r < R; r++) {
        Z row[V];
#pragma unroll
        for (int v = 0; v < V; v++) row[v] = sums.at[r * V + v];
        if (j + r * COLUMNS < s.width) store_values(to + j + r * COLUMNS, row);
    }
    if constexpr (!STARTED) {
        if (part.segment && lane == 0) s.partial_hits[item] = sums.hit;
    }
}

// A block combines the segments of a long row, for the columns of a panel.
extern "C" __global__ void __launch_bounds__(BLOCK) mxm_spmm_combine(const SpmmArguments s) {
    constexpr int PARTS = int(BLOCK / G);
    __shared__ Z sums[BLOCK][V];
    __shared__ bool hits[PARTS];
    const i64 row = i64(blockIdx.x) % s.blocks, i = s.long_rows[2 * row], first = s.long_rows[2 * row + 1];
    const i64 j = i64(blockIdx.x) / s.blocks * COLUMNS + threadIdx.x % G * V;
    const i64 at = i64(s.c_indptr[i]), count = (i64(s.a_indptr[i + 1]) - i64(s.a_indptr[i]) + SEGMENT - 1) / SEGMENT;
    if (at == i64(s.c_indptr[i + 1])) return;
    const int part = int(threadIdx.x) / int(G);
    Z mine[V];
#pragma unroll
    for (int v = 0; v < V; v++) mine[v] = s.start;
    bool hit = false;
    if (j < s.width) {
        for (i64 segment = first + part; segment < first + count; segment += PARTS) {
            if constexpr (!STARTED) {
                if (!s.partial_hits[segment]) continue;
            }
            Z other[V];
            load_values(other, s.partial + segment * s.width + j);
#pragma unroll
            for (int v = 0; v < V; v++) accumulate(mine[v], hit, other[v]);
            hit = true;
        }
    }
#pragma unroll
    for (int v = 0; v < V; v++) sums[threadIdx.x][v] = mine[v];
    if (threadIdx.x % G == 0) hits[part] = hit;
    for (int half = PARTS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (part < half && (STARTED || hits[part + half])) {
#pragma unroll
            for (int v = 0; v < V; v++) {
                accumulate(mine[v], hit, sums[threadIdx.x + half * G][v]);
                sums[threadIdx.x][v] = mine[v];
            }
            hit = true;
        }
        __syncthreads();
        if (part < half && threadIdx.x % G == 0) hits[part] = hit;
    }
    if (part == 0 && j < s.width) store_values(s.c_values + at + j, mine);
}
