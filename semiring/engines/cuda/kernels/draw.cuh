// Generated graphs.  Random numbers are those of engines/shared/draw_numpy.py, bit for bit.
//
// The prologue defines O, the type of row offsets, and J, that of column indices.  A key is row << bits | column.

#include "entries.cuh"

// Output `counter` of SplitMix64 from the state `sequence` (`sequence_key` of draw_numpy.py).
DEVICE u64 random_bits(u64 counter, u64 sequence) { return mixed(counter * 0x9e3779b97f4a7c15ull + sequence); }

// keys = the keys of edges 0 .. count - 1, and behind each that of the other direction if `symmetric`.  `kept` counts the
// edges that are not loops, which are then packed in any order; null: loops are kept, and nothing is counted.
// edge(e, row, column) sets the ends of an edge.  Whole warps call.
template <class F>
DEVICE void write_keys(i64 count, int bits, bool symmetric, u64* kept, u64* keys, F edge) {
    for (i64 w = warp_id(); 32 * w < count; w += warp_count()) {
        const i64 e = 32 * w + lane_id();
        u64 row = 0, column = 0;
        if (e < count) edge(u64(e), row, column);
        const bool mine = e < count && (kept == nullptr || row != column);
        const u64 at = kept == nullptr ? u64(e) : warp_append(kept, mine);
        if (!mine) continue;
        keys[symmetric ? 2 * at : at] = row << bits | column;
        if (symmetric) keys[2 * at + 1] = column << bits | row;
    }
}

// R-MAT edges first .. first + count - 1 on 2^bits vertices.  A level picks a quadrant by 32 random bits: `one`, `two` and
// `three` are the probabilities of the first, the first two and the first three, in units of 2^-32.  If `order` is not null,
// it holds the final number of each vertex.
extern "C" __global__ void draw_rmat(i64 first, i64 count, int bits, u64 one, u64 two, u64 three, u64 sequence,
                                     const i64* order, bool symmetric, u64* kept, u64* keys) {
    const u64 words = bits < 2 ? 1 : u64(bits + 1) / 2;  // of random bits for an edge; each serves two levels
    write_keys(count, bits, symmetric, kept, keys, [=](u64 e, u64& row, u64& column) {
        u64 word = 0;
        for (int level = 0; level < bits; level++) {
            word = level % 2 == 0 ? random_bits((u64(first) + e) * words + u64(level / 2), sequence) : word >> 32;
            const u64 drawn = word & 0xffffffffull;
            const bool low_half = drawn >= two;
            const bool right_half = (drawn >= one) ^ low_half ^ (drawn >= three);
            row |= u64(low_half) << level;
            column |= u64(right_half) << level;
        }
        if (order == nullptr) return;
        row = u64(order[row]);
        column = u64(order[column]);
    });
}

// Edges first .. first + count - 1 between uniform random vertices below n.
extern "C" __global__ void draw_uniform(i64 first, i64 count, int bits, u64 n, u64 sequence, bool symmetric, u64* kept,
                                        u64* keys) {
    write_keys(count, bits, symmetric, kept, keys, [=](u64 e, u64& row, u64& column) {
        const u64 counter = 2 * (u64(first) + e);
        row = random_bits(counter, sequence) % n;
        column = random_bits(counter + 1, sequence) % n;
    });
}

// out[i] = random number i.
extern "C" __global__ void draw_numbers(i64 n, u64 sequence, u64* out) {
    for (i64 i = thread_id(); i < n; i += thread_count()) out[i] = random_bits(u64(i), sequence);
}

// weights[p] = low + a random number below `span`, a function of the ends of entry p without their order.  The first row and
// column are `top` and `left` of a graph of n vertices.
extern "C" __global__ void draw_weights(i64 nvals, const O* indptr, i64 nrows, const J* indices, i64 top, i64 left, u64 n,
                                        u64 sequence, u64 span, int low, int* weights) {
    for_each_entry(indptr, nrows, 0, nvals, [=](i64 p, i64 r) {
        const u64 row = u64(top + r), column = u64(left + i64(indices[p]));
        const u64 pair = row < column ? row * n + column : column * n + row;
        weights[p] = int(random_bits(pair, sequence) % span) + low;
    });
}

// An axis of a lattice: `stride` between neighbors, and `period` = stride * side.
struct Axis {
    i64 stride, period;

    // How many points below x have a neighbor at distance -stride.
    DEVICE i64 below(i64 x) const {
        if (period == 0) return 0;
        const i64 rest = x % period - stride;
        return x / period * (period - stride) + (rest > 0 ? rest : 0);
    }
};

// The rows [top, bottom) and columns [left, right) of a lattice of up to three axes; with fewer, the first sides are 1.
// Point x has a neighbor at distance -stride in these columns if it has any and left + stride <= x < right + stride; and one
// at +stride if left <= x + stride < right and x + stride has one at -stride.  The entries of all rows before a row are thus
// sums of `below`; `base` is the sum for row `top`.  A thread writes a row.
extern "C" __global__ void draw_lattice(i64 side, i64 stride0, i64 stride1, i64 top, i64 bottom, i64 left, i64 right,
                                        i64 base, O* indptr, J* indices) {
    const Axis axes[3] = {{stride0, stride0 * side}, {stride1, stride0}, {1, stride1}};
    for (i64 x = top + thread_id(); x <= bottom; x += thread_count()) {
        i64 at = -base;
        for (const Axis axis : axes) {
            at += axis.below(op::max(left + axis.stride, op::min(x, right + axis.stride)));
            at += axis.below(op::max(op::max(axis.stride, left), op::min(x + axis.stride, right)));
        }
        indptr[x - top] = O(at);
        if (x == bottom) break;
        for (int a = 0; a < 3; a++) {
            const i64 to = x - axes[a].stride;
            if (x % axes[a].period >= axes[a].stride && left <= to && to < right) indices[at++] = J(to - left);
        }
        for (int a = 2; a >= 0; a--) {
            const i64 to = x + axes[a].stride;
            const bool any = x % axes[a].period < axes[a].period - axes[a].stride;
            if (any && left <= to && to < right) indices[at++] = J(to - left);
        }
    }
}

// Vertex 0 and its leaves.
extern "C" __global__ void draw_star(i64 leaves, O* indptr, J* indices) {
    for (i64 p = thread_id(); p <= 2 * leaves || p <= leaves + 1; p += thread_count()) {
        if (p < 2 * leaves) indices[p] = J(p < leaves ? p + 1 : 0);
        if (p <= leaves + 1) indptr[p] = O(p == 0 ? 0 : leaves + p - 1);
    }
}
