// local_moving: what surrounds the votes of a part of the rows (engines/requests/graphs.py, vote.cuh).
//
// The prologue defines the types P (offsets), I (columns), L (labels) and R (numbers of rows), and the constants SCORED
// (there are masses) and LONG (the longest row that a warp marks alone).

#include "semiring.cuh"

DEVICE bool is_group(L label, i64 n) { return u64(i64(label)) < u64(n); }

// totals is cleared before the launch.
extern "C" __global__ void moving_totals(i64 n, const L* labels, const f64* mass, f64* totals) {
    for (i64 i = thread_id(); i < n; i += thread_count())
        if (is_group(labels[i], n)) atomicAdd(totals + labels[i], mass[i]);
}

// votes(i): whether row i votes in this part; following(i) = false for these.
extern "C" __global__ void moving_choose(i64 n, const bool* active, i64 key, i64 parts, i64 part, bool* votes,
                                         bool* following) {
    for (i64 i = thread_id(); i < n; i += thread_count()) {
        const bool chosen = active[i] && i64(f64(parts) * op::random(i, i64(0), key)) == part;
        votes[i] = chosen;
        if (chosen) following[i] = false;
    }
}

// Moves the rows whose wanted group differs, with their masses; afterwards votes(i): whether row i has moved.
extern "C" __global__ void moving_commit(i64 n, const L* wanted, const f64* mass, L* labels, f64* totals, bool* votes,
                                         u64* moves) {
    i64 moved = 0;
#pragma unroll 1
    for (i64 i = thread_id(); i < n; i += thread_count()) {
        if (!votes[i]) continue;
        const L old = labels[i], group = wanted[i];
        votes[i] = old != group;
        if (old == group) continue;
        if constexpr (SCORED) {
            if (is_group(old, n)) atomicAdd(totals + old, -mass[i]);
            atomicAdd(totals + group, mass[i]);
        }
        labels[i] = group;
        moved++;
    }
    add_count(moves, moved);
}

DEVICE void mark(const I* indices, i64 begin, i64 end, i64 step, L label, const L* labels, bool* following) {
    for (i64 p = begin; p < end; p += step) {
        const I j = indices[p];
        if (labels[j] != label) following[j] = true;
    }
}
// following(j) = true for the neighbors j of rows that have moved, outside their new groups.  A warp for each row of
// up to LONG entries.
extern "C" __global__ void moving_mark(i64 n, const P* indptr, const I* indices, const bool* moved, const L* labels,
                                       bool* following) {
    for (i64 first = thread_id() - lane_id(); first < n; first += thread_count()) {
        const i64 i = first + lane_id();
        const bool mine = i < n && moved[i] && i64(indptr[i + 1]) - i64(indptr[i]) <= LONG;
        for_each_lane(mine, [&](int lane) {
            const i64 row = first + lane;
            mark(indices, i64(indptr[row]) + lane_id(), i64(indptr[row + 1]), 32, labels[row], labels, following);
        });
    }
}
// The same for longer rows: `slices` blocks each.
extern "C" __global__ void moving_mark_long(i64 count, const R* rows, i64 slices, const P* indptr, const I* indices,
                                            const bool* moved, const L* labels, bool* following) {
    for (i64 item = blockIdx.x; item < count * slices; item += gridDim.x) {
        const i64 row = i64(rows[item / slices]);
        if (!moved[row]) continue;
        const i64 begin = i64(indptr[row]) + item % slices * blockDim.x + threadIdx.x;
        mark(indices, begin, i64(indptr[row + 1]), slices * blockDim.x, labels[row], labels, following);
    }
}
