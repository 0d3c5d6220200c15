// Following the edges of a list of rows (push), and appending what is found to another list.
//
// Beside each row of a list stands the number of edges of all rows before it.  The edges of a list are then numbered
// consecutively, and dividing them exactly among blocks, however skewed the degrees are, is a search in that array.
// A place in a list and its edge number are reserved by one 64-bit atomic for a whole block: `rows << shift | edges`,
// called packed; rows * edges < 2^64 is all that it asks.
//
// The prologue defines the types P (offsets) and J (columns).

#pragma once

#include "grid.cuh"

struct Packing {
    int shift;
    DEVICE i64 rows(u64 packed) const { return i64(packed >> shift); }
    DEVICE i64 edges(u64 packed) const { return i64(packed & ((u64(1) << shift) - 1)); }
    DEVICE u64 pack(i64 count, i64 degree) const { return u64(count) << shift | u64(degree); }
};

// Places [head, tail) of a list (both packed).
struct RowList {
    const J* row;
    const P* before;
    u64 head;
    u64 tail;
};

// Where found rows go: behind `base` (packed), which is what stood in the list before `counter` began to count.
struct Append {
    J* row;
    P* before;
    u64* counter;
    u64 base;
};

// Room for every thread's rows and edges; gives the packed position of this thread's first.  The whole block calls.
DEVICE u64 reserve(const Append& to, u64 mine) {
    __shared__ u64 start;
    u64 total;
    const u64 below = block_scan_exclusive(mine, total);
    if (threadIdx.x == 0) start = to.base + atomicAdd(to.counter, total);
    __syncthreads();
    return start + below;
}

// Appends one row (or none) of each thread.  The whole block calls.
DEVICE i64 append(const Packing& packing, const Append& to, bool mine, i64 row, i64 degree) {
    const u64 packed = reserve(to, mine ? packing.pack(1, degree) : 0);
    const i64 place = packing.rows(packed);
    if (mine) {
        to.row[place] = J(row);
        to.before[place] = P(packing.edges(packed));
    }
    return place;
}

template <int BLOCK, class Payload>
struct PushStage {
    P before[BLOCK];
    P start[BLOCK];
    J row[BLOCK];
    Payload payload[BLOCK];
    J found[2 * BLOCK];
    P degree[2 * BLOCK];
    int count;
};

// Appends the found rows from `kept` on, `take` of them.  The whole block calls, with the same arguments.
template <int BLOCK, class Payload>
DEVICE void flush(const Packing& packing, PushStage<BLOCK, Payload>& stage, const Append& to, int kept, int take) {
    const int t = int(threadIdx.x);
    const bool mine = t < take;
    const i64 row = mine ? i64(stage.found[kept + t]) : 0;
    const i64 degree = mine ? i64(stage.degree[kept + t]) : 0;
    append(packing, to, mine, row, degree);
    if (t == 0) stage.count = kept;
    __syncthreads();
}

constexpr int EDGES_AT_ONCE = 4;

// Every edge of the listed rows, once, by the whole team.  `visitor` has
//   typedef Payload;  Payload payload(i64 row, i64 place)   what an edge needs to know of its row;
//   bool open(Payload, i64 k, i64 j, i64 p)                 false: the edge at position p from row k to j leads to nothing
//                                                           new (a test of what may be out of date);
//   bool visit(Payload, i64 k, i64 j, i64 p)                takes the edge; true: append j;
//   APPENDS                                                 whether it ever appends.
// SKEWED: divide edges, not rows.  AHEAD: bring the rows that are found towards the multiprocessors.
template <int BLOCK, bool AHEAD, class Team, class Visitor>
DEVICE void expand(const Packing& packing, const P* indptr, const J* indices, const RowList& list, bool skewed,
                   const Append& to, const Visitor& visitor) {
    typedef typename Visitor::Payload Payload;
    __shared__ PushStage<BLOCK, Payload> stage;
    const int t = int(threadIdx.x);
    const i64 first = packing.rows(list.head), last = packing.rows(list.tail);
    const i64 first_edge = packing.edges(list.head), last_edge = packing.edges(list.tail);

    // This block's edges [e, e_end), which begin in the row at place q.
    i64 q, e, e_end;
    if (skewed) {
        const i64 share = (last_edge - first_edge + Team::size() - 1) / Team::size();
        e = first_edge + Team::rank() * share;
        e_end = e + share < last_edge ? e + share : last_edge;
        q = e < e_end ? warp_upper_bound(list.before, first, last, e) - 1 : last;
    } else {
        const i64 share = (last - first + Team::size() - 1) / Team::size();
        q = first + Team::rank() * share;
        const i64 q_end = q + share < last ? q + share : last;
        e = q < last ? i64(list.before[q]) : last_edge;
        e_end = q_end < last ? i64(list.before[q_end]) : last_edge;
    }

    if (t == 0) stage.count = 0;
    int staged = 0;
    while (e < e_end) {
        __syncthreads();
        const i64 place = q + t;
        if (place < last) {
            const i64 row = i64(list.row[place]);
            stage.row[t] = J(row);
            stage.before[t] = list.before[place];
            stage.start[t] = indptr[row];
            stage.payload[t] = visitor.payload(row, place);
        } else {
            stage.before[t] = P(last_edge);
        }
        const i64 known = q + BLOCK < last ? i64(list.before[q + BLOCK]) : last_edge;
        const i64 limit = known < e_end ? known : e_end;
        __syncthreads();

        for (i64 group = e; group < limit; group += EDGES_AT_ONCE * BLOCK) {
            // Loads of several edges stand beside each other, so that they wait together.
            i64 neighbour[EDGES_AT_ONCE], position[EDGES_AT_ONCE];
            int owner[EDGES_AT_ONCE] = {};
#pragma unroll
            for (int u = 0; u < EDGES_AT_ONCE; u++) {
                const i64 edge = group + u * BLOCK + t;
                neighbour[u] = -1;
                if (edge < limit) {
                    int low = 0, high = BLOCK;  // the last row that begins at or before this edge
                    while (high - low > 1) {
                        const int middle = (low + high) / 2;
                        if (i64(stage.before[middle]) <= edge) low = middle;
                        else high = middle;
                    }
                    owner[u] = low;
                    position[u] = i64(stage.start[low]) + (edge - i64(stage.before[low]));
                    neighbour[u] = i64(indices[position[u]]);
                }
            }
            bool found[EDGES_AT_ONCE];
#pragma unroll
            for (int u = 0; u < EDGES_AT_ONCE; u++) {
                const int o = owner[u];
                found[u] = neighbour[u] >= 0 &&
                           visitor.open(stage.payload[o], i64(stage.row[o]), neighbour[u], position[u]);
            }
            P start[EDGES_AT_ONCE], end[EDGES_AT_ONCE];
#pragma unroll
            for (int u = 0; u < EDGES_AT_ONCE; u++) {
                if (found[u]) {
                    if constexpr (Visitor::APPENDS) {
                        start[u] = indptr[neighbour[u]];
                        end[u] = indptr[neighbour[u] + 1];
                    }
                    const int o = owner[u];
                    found[u] = visitor.visit(stage.payload[o], i64(stage.row[o]), neighbour[u], position[u]);
                }
            }
            if constexpr (Visitor::APPENDS) {
#pragma unroll
                for (int u = 0; u < EDGES_AT_ONCE; u++) {
                    if (group + u * BLOCK >= limit) break;
                    if (found[u]) {
                        const int slot = atomicAdd(&stage.count, 1);
                        stage.found[slot] = J(neighbour[u]);
                        stage.degree[slot] = end[u] - start[u];
                        if constexpr (AHEAD) {
                            asm volatile("prefetch.global.L2 [%0];" ::"l"(indices + start[u]));
                        }
                    }
                    staged += __syncthreads_count(found[u]);
                    if (staged >= BLOCK) {
                        staged -= BLOCK;
                        flush(packing, stage, to, staged, BLOCK);
                    }
                }
            }
        }
        e = limit;
        q += BLOCK;
    }
    __syncthreads();
    if (staged > 0) flush(packing, stage, to, 0, staged);
}
