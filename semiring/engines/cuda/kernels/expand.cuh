// Follows the edges of a list of rows (push) and appends the rows that they reach to another list.
//
// A list stores for each row its first entry and the number of edges of all rows before it.  This numbers the edges of
// the list; blocks divide them evenly, independent of degrees, by a search in that array.
// A block reserves positions in a list and edge numbers by one 64-bit atomic: `rows << shift | edges`, called packed;
// packing.py chooses the shift and proves that the word never wraps.
//
// A block decodes the compressed columns of its next edges into shared memory together (edge_columns.cuh).
//
// The prologue defines the type P (offsets) and the parameters of columns.cuh.

#pragma once

#include "edge_columns.cuh"
#include "grid.cuh"
#include "packing.cuh"

// The rows whose edges are followed, and the packing of positions in lists of them.
struct Graph {
    const P* indptr;
    Columns columns;
    Packing packing;
    bool skewed;  // divide edges, not rows
};

// The arrays of a list of rows; structs of arguments begin with them (arguments.py).
struct RowArrays {
    J* row;  // null if the row numbers are not needed
    P* start;
    P* before;
};

// Positions [head, tail) of a list (both packed); the first `passed` entries of each row are skipped.
struct RowList : RowArrays {
    u64 head;
    u64 tail;
    i64 passed = 0;
};

// The list that rows are appended to, after its first `base` (packed) elements; `counter` counts the appended ones.
struct Append : RowArrays {
    u64* counter;
    u64 base;
};

// Reserves the rows and edges of every thread; returns the packed position of this thread.  The whole block calls.
DEVICE u64 reserve(const Append& to, u64 mine) {
    __shared__ u64 start;
    u64 total;
    const u64 below = block_scan_exclusive(mine, total);
    if (threadIdx.x == 0) start = to.base + atomicAdd(to.counter, total);
    __syncthreads();
    return start + below;
}

// Writes one row at a packed position.  Any thread may call.
DEVICE void put(const Packing& packing, const Append& to, u64 packed, i64 row, i64 start) {
    const i64 place = packing.rows(packed);
    if (to.row != nullptr) to.row[place] = J(row);
    to.start[place] = P(start);
    to.before[place] = P(packing.edges(packed));
}

// Appends the row of each thread with `mine`.  The whole block calls.
DEVICE void append(const Packing& packing, const Append& to, bool mine, i64 row, i64 start, i64 degree) {
    const u64 packed = reserve(to, mine ? packing.pack(1, degree) : 0);
    if (mine) put(packing, to, packed, row, start);
}
DEVICE void append(const Graph& graph, const Append& to, bool mine, i64 row) {
    const i64 start = mine ? i64(graph.indptr[row]) : 0;
    append(graph.packing, to, mine, row, start, mine ? i64(graph.indptr[row + 1]) - start : 0);
}

// The same for a warp.
DEVICE void append_by_warp(const Packing& packing, const Append& to, bool mine, i64 row, i64 start, i64 degree) {
    const u64 added = mine ? packing.pack(1, degree) : 0;
    const u64 inclusive = warp_scan_inclusive(added);
    u64 first = 0;
    if (lane_id() == 31) first = to.base + atomicAdd(to.counter, inclusive);
    first = shuffle(first, 31);
    if (mine) put(packing, to, first + inclusive - added, row, start);
}
DEVICE void append_by_warp(const Graph& graph, const Append& to, bool mine, i64 row) {
    const i64 start = mine ? i64(graph.indptr[row]) : 0;
    append_by_warp(graph.packing, to, mine, row, start, mine ? i64(graph.indptr[row + 1]) - start : 0);
}

constexpr int EDGES_AT_ONCE = COMPRESSED ? 2 : 4;

template <int BLOCK, class Visitor>
struct PushStage {
    static constexpr int ROWS = Visitor::NEEDS_ROW ? BLOCK : 1;
    static constexpr int FOUND = Visitor::APPENDS ? 2 * BLOCK : 1;
    P before[BLOCK];
    P start[BLOCK];
    J row[ROWS];
    typename Visitor::Payload payload[BLOCK];
    // With 64-bit columns shared memory is too small for row bounds, which `flush` then loads again.
    static constexpr bool LOOKS_UP = Visitor::NEEDS_ROW && sizeof(J) == 8;
    P found_start[LOOKS_UP ? 1 : FOUND];
    P found_end[LOOKS_UP ? 1 : FOUND];
    J found[Visitor::NEEDS_ROW ? FOUND : 1];
    J column[COMPRESSED ? EDGES_AT_ONCE * BLOCK : 1];  // decoded columns of consecutive edges
    int count;

    // The last row that begins at or before an edge.
    DEVICE int row_of(i64 edge) const {
        int low = 0, high = BLOCK;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (i64(before[middle]) <= edge) low = middle;
            else high = middle;
        }
        return low;
    }
};

// Appends `take` found rows, from number `kept` on.  The whole block calls with the same arguments.
template <int BLOCK, class Visitor>
DEVICE void flush(const Graph& graph, PushStage<BLOCK, Visitor>& stage, const Append& to, int kept, int take) {
    const int t = int(threadIdx.x);
    const bool mine = t < take;
    i64 row = 0, start = 0, end = 0;
    if (mine) {
        if constexpr (Visitor::NEEDS_ROW) row = i64(stage.found[kept + t]);
        if constexpr (PushStage<BLOCK, Visitor>::LOOKS_UP) {
            start = i64(graph.indptr[row]);
            end = i64(graph.indptr[row + 1]);
        } else {
            start = i64(stage.found_start[kept + t]);
            end = i64(stage.found_end[kept + t]);
        }
    }
    append(graph.packing, to, mine, row, start, end - start);
    if (t == 0) stage.count = kept;
    __syncthreads();
}

// Prefetches uncompressed columns to L2; compressed columns have too few bytes for a gain.
template <class C>
DEVICE void prefetch(const C& columns, i64 p) {
    if constexpr (!COMPRESSED) asm volatile("prefetch.global.L2 [%0];" ::"l"(columns.indices + p));
}

// Visits every edge of the listed rows once, by the blocks of a Group (grid.cuh), without a barrier.  `visitor` is as below;
// `open` is not called.  Lanes of a warp follow a row, as many as an average row has edges, and a warp appends what it
// finds: for few edges of short rows, where latency dominates, this takes less than sharing them by blocks.
template <int BLOCK, class Group, class Visitor>
DEVICE void expand_by_lanes(const Graph& graph, const RowList& list, const Append& to, const Visitor& visitor) {
    const i64 first = graph.packing.rows(list.head), last = graph.packing.rows(list.tail);
    const i64 last_edge = graph.packing.edges(list.tail), edges = last_edge - graph.packing.edges(list.head);
    int lanes = 1;
    while (lanes < 32 && lanes * (last - first) < edges) lanes *= 2;
    const int rows = 32 / lanes;  // of a warp
    // Consecutive warps are in different blocks.
    const i64 warp = warp_in_block() * Group::size() + Group::rank(), warps = Group::size() * (BLOCK / 32);
    for (i64 at = first + warp * rows; at < last; at += warps * rows) {
        const i64 place = at + lane_id() / lanes;
        i64 row = 0, row_start = 0, p = 0, end = 0;
        typename Visitor::Payload payload = {};
        if (place < last) {
            if constexpr (Visitor::NEEDS_ROW) row = i64(list.row[place]);
            row_start = i64(list.start[place]);
            const i64 before = i64(list.before[place]);
            const i64 after = place + 1 < last ? i64(list.before[place + 1]) : last_edge;
            payload = visitor.payload(row, place);
            p = row_start + list.passed;
            end = p + after - before;
        }
        for (p += lane_id() % lanes; __any_sync(FULL_WARP, p < end); p += lanes) {
            i64 j = 0, start = 0, degree = 0;
            bool found = false;
            if (p < end) {
                j = graph.columns.at(row_start, p);
                if constexpr (Visitor::APPENDS) {
                    start = i64(graph.indptr[j]);
                    degree = i64(graph.indptr[j + 1]) - start;
                }
                found = visitor.visit(payload, row, j, p);
            }
            if constexpr (Visitor::APPENDS) {
                if (!__any_sync(FULL_WARP, found)) continue;
                if (found) prefetch(graph.columns, start);
                append_by_warp(graph.packing, to, found, j, start, degree);
            }
        }
    }
}

// Visits every edge of the listed rows once, by the blocks of a Group (grid.cuh), without a barrier.  `visitor` has
//   typedef Payload;  Payload payload(i64 row, i64 place)   the data of a row that its edges need;
//   bool open(Payload, i64 k, i64 j, i64 p)                 false: the edge at position p from row k to row j has no
//                                                           effect; true may be outdated;
//   bool visit(Payload, i64 k, i64 j, i64 p)                processes the edge; true: append j;
//   APPENDS, NEEDS_ROW                                      whether it ever appends, and reads k (else 0).
// eager: with few edges latency dominates, so `open` is not called, and the columns of the found rows are prefetched.
template <int BLOCK, class Group, class Visitor>
DEVICE void expand(const Graph& graph, const RowList& list, bool eager, const Append& to, const Visitor& visitor) {
    __shared__ PushStage<BLOCK, Visitor> stage;
    const int t = int(threadIdx.x);
    const i64 first = graph.packing.rows(list.head), last = graph.packing.rows(list.tail);
    const i64 first_edge = graph.packing.edges(list.head), last_edge = graph.packing.edges(list.tail);

    // This block's rows [q, q_end); of their edges [e, e_end), or all.
    i64 q, q_end, e = first_edge, e_end = last_edge;
    if (graph.skewed) {
        const i64 share = (last_edge - first_edge + Group::size() - 1) / Group::size();
        e = first_edge + Group::rank() * share;
        e_end = e + share < last_edge ? e + share : last_edge;
        q = e < e_end ? warp_upper_bound(list.before, first, last, e) - 1 : last;
        q_end = last;
    } else {
        const i64 share = (last - first + Group::size() - 1) / Group::size();
        q = first + Group::rank() * share;
        q_end = q + share < last ? q + share : last;
    }

    if (t == 0) stage.count = 0;
    int staged = 0;
    while (q < q_end && e < e_end) {
        __syncthreads();
        const i64 place = q + t;
        const i64 next = q + BLOCK < q_end ? q + BLOCK : q_end;
        const i64 known = next < last ? i64(list.before[next]) : last_edge;
        if (place < next) {
            i64 row = 0;
            if constexpr (Visitor::NEEDS_ROW) {
                row = i64(list.row[place]);
                stage.row[t] = J(row);
            }
            stage.before[t] = list.before[place];
            stage.start[t] = list.start[place];
            stage.payload[t] = visitor.payload(row, place);
        } else {
            stage.before[t] = P(known);
        }
        const i64 limit = known < e_end ? known : e_end;
        __syncthreads();
        if (!graph.skewed) e = i64(stage.before[0]);

        for (i64 group = e; group < limit; group += EDGES_AT_ONCE * BLOCK) {
            if constexpr (COMPRESSED) {
                __syncthreads();  // threads may still read the columns of the previous group
                decode_edges<BLOCK, EDGES_AT_ONCE>(graph.columns, stage, list.passed, group, limit, known);
                __syncthreads();
            }
            // The loads of several edges overlap.
            i64 neighbor[EDGES_AT_ONCE], position[EDGES_AT_ONCE];
            int owner[EDGES_AT_ONCE] = {};
#pragma unroll
            for (int u = 0; u < EDGES_AT_ONCE; u++) {
                const i64 edge = group + u * BLOCK + t;
                neighbor[u] = -1;
                if (edge < limit) {
                    const int low = stage.row_of(edge);
                    owner[u] = low;
                    position[u] = i64(stage.start[low]) + list.passed + (edge - i64(stage.before[low]));
                    if constexpr (!COMPRESSED) neighbor[u] = graph.columns.at(i64(stage.start[low]), position[u]);
                    else neighbor[u] = i64(stage.column[u * BLOCK + t]);
                }
            }
            bool found[EDGES_AT_ONCE];
#pragma unroll
            for (int u = 0; u < EDGES_AT_ONCE; u++) {
                found[u] = neighbor[u] >= 0;
                if (!eager && found[u]) {
                    const int o = owner[u];
                    const i64 k = Visitor::NEEDS_ROW ? i64(stage.row[Visitor::NEEDS_ROW ? o : 0]) : 0;
                    found[u] = visitor.open(stage.payload[o], k, neighbor[u], position[u]);
                }
            }
            P start[EDGES_AT_ONCE], end[EDGES_AT_ONCE];
#pragma unroll
            for (int u = 0; u < EDGES_AT_ONCE; u++) {
                if (found[u]) {
                    if constexpr (Visitor::APPENDS) {
                        start[u] = graph.indptr[neighbor[u]];
                        end[u] = graph.indptr[neighbor[u] + 1];
                    }
                    const int o = owner[u];
                    const i64 k = Visitor::NEEDS_ROW ? i64(stage.row[Visitor::NEEDS_ROW ? o : 0]) : 0;
                    found[u] = visitor.visit(stage.payload[o], k, neighbor[u], position[u]);
                }
            }
            if constexpr (Visitor::APPENDS) {
#pragma unroll
                for (int u = 0; u < EDGES_AT_ONCE; u++) {
                    if (group + u * BLOCK >= limit) break;
                    if (found[u]) {
                        const int slot = atomicAdd(&stage.count, 1);
                        if constexpr (Visitor::NEEDS_ROW) stage.found[slot] = J(neighbor[u]);
                        if constexpr (!PushStage<BLOCK, Visitor>::LOOKS_UP) {
                            stage.found_start[slot] = start[u];
                            stage.found_end[slot] = end[u];
                        }
                        if (eager) prefetch(graph.columns, i64(start[u]));
                    }
                    staged += __syncthreads_count(found[u]);
                    if (staged >= BLOCK) {
                        staged -= BLOCK;
                        flush(graph, stage, to, staged, BLOCK);
                    }
                }
            }
        }
        if (graph.skewed) e = limit;
        q += BLOCK;
    }
    __syncthreads();
    if (staged > 0) flush(graph, stage, to, 0, staged);
}
