// The pushes of the literature, to be compared with that of expand.cuh (strategies.py; docs/papers.md).
//
// Each follows the edges of the frontier once.  Four append the rows that are found to the list, as `expand` does:
//
//     DYNAMIC    a thread fetches one row after the other from the frontier by an atomic
//     CHUNKED    a thread follows the rows of one part of the frontier
//     WARP       a warp follows a row, and reserves positions for all its lanes at once
//     ADAPTIVE   a thread follows a short row, a warp a long one
//
// Three have a queue of edges beside it (Merrill, Garland, Grimshaw, "Scalable GPU Graph Traversal", PPoPP 2012):
// an expansion writes the neighbors of the frontier to the queue, a contraction lists those that are not visited.
//
//     TWO_PHASE         both, with a barrier between them
//     CONTRACT_EXPAND   a block expands the rows that it lists at once: one barrier a level
//     HYBRID            the second while the queue has at most one edge for each thread, else the first
//
// The edges before a listed row, which its packed position counts (expand.cuh), are the position of its own edges in
// the queue: a row is listed once in a search, so the queue has a position for each entry of the matrix and is never
// reused.  Duplicates are culled within a warp and by a history of each block; an atomic decides.
//
// Included by closure_level.cuh, whose prologue defines PUSH.

#pragma once

#include "expand.cuh"

enum { BALANCED, DYNAMIC, CHUNKED, WARP, ADAPTIVE, TWO_PHASE, CONTRACT_EXPAND, HYBRID };

// --- without a queue of edges -------------------------------------------------------------------------

// A listed row: its number (0 unless the visitor needs it) and its entries.
struct ListedRow {
    i64 row, start, end;
};
template <class Visitor>
DEVICE ListedRow listed_row(const Packing& packing, const RowList& list, i64 place) {
    const i64 start = i64(list.start[place]);
    const i64 after = place + 1 < packing.rows(list.tail) ? i64(list.before[place + 1]) : packing.edges(list.tail);
    return {Visitor::NEEDS_ROW ? i64(list.row[place]) : 0, start, start + after - i64(list.before[place])};
}

// Follows a row, with one atomic for each row that it finds.  Any thread may call.
template <class Visitor>
DEVICE void follow_by_thread(
    const Graph& graph, const RowList& list, i64 place, const Append& to, const Visitor& visitor) {
    const ListedRow at = listed_row<Visitor>(graph.packing, list, place);
    if (at.start == at.end) return;
    const auto payload = visitor.payload(at.row, place);
    ColumnCursor entry(graph.columns, at.start, at.start);
    for (i64 p = at.start; p < at.end; p++, entry.next()) {
        const i64 j = entry.column();
        if (!visitor.open(payload, at.row, j, p) || !visitor.visit(payload, at.row, j, p)) continue;
        const i64 start = i64(graph.indptr[j]);
        const u64 mine = graph.packing.pack(1, i64(graph.indptr[j + 1]) - start);
        put(graph.packing, to, to.base + atomicAdd(to.counter, mine), j, start);
    }
}

// Follows a row.  The whole warp calls.
template <class Visitor>
DEVICE void follow_by_warp(
    const Graph& graph, const ListedRow& at, i64 place, const Append& to, const Visitor& visitor) {
    if (at.start == at.end) return;
    const auto payload = visitor.payload(at.row, place);
    WarpColumns walk(graph.columns, at.start, at.start, at.end);
    while (walk.next()) {
        const i64 j = walk.inside ? walk.column : 0;
        const bool found =
            walk.inside && visitor.open(payload, at.row, j, walk.p) && visitor.visit(payload, at.row, j, walk.p);
        if (__any_sync(FULL_WARP, found)) append_by_warp(graph, to, found, j);
    }
}

// The entries of a row from which on a warp follows it.
constexpr i64 ADAPTIVE_ROW = 32;

// 32 rows of the list, from `first` on: lanes follow short rows, the warp the others.  The whole warp calls.
template <class Visitor>
DEVICE void follow_adaptively(
    const Graph& graph, const RowList& list, i64 first, i64 last, const Append& to, const Visitor& visitor) {
    const i64 place = first + lane_id();
    ListedRow at = {0, 0, 0};
    if (place < last) at = listed_row<Visitor>(graph.packing, list, place);
    const i64 degree = at.end - at.start, mine = degree < ADAPTIVE_ROW ? degree : 0;
    const i64 steps = warp_max(mine);
    if (steps > 0) {
        typename Visitor::Payload payload = {};
        if (mine > 0) payload = visitor.payload(at.row, place);
        const i64 start = mine > 0 ? at.start : 0;  // entry 0 is that of a row as well
        ColumnCursor entry(graph.columns, start, start);
        for (i64 i = 0; i < steps; i++) {
            i64 j = 0;
            bool found = false;
            if (i < mine) {
                const i64 p = start + i;
                j = entry.column();
                found = visitor.open(payload, at.row, j, p) && visitor.visit(payload, at.row, j, p);
                entry.next();
            }
            if (__any_sync(FULL_WARP, found)) append_by_warp(graph, to, found, j);
        }
    }
    for_each_lane(degree >= ADAPTIVE_ROW, [&](int lane) {
        const ListedRow longer = {shuffle(at.row, lane), shuffle(at.start, lane), shuffle(at.end, lane)};
        follow_by_warp(graph, longer, first + lane, to, visitor);
    });
}

// Visits every edge of the listed rows once and appends the rows that are found.  fetched: a counter, initially 0.
template <int BLOCK, class Group, class Visitor>
DEVICE void follow_rows(
    const Graph& graph, const RowList& list, u64* fetched, const Append& to, const Visitor& visitor) {
    const i64 first = graph.packing.rows(list.head), last = graph.packing.rows(list.tail);
    const i64 warp = Group::rank() * (BLOCK / 32) + warp_in_block(), warps = Group::size() * (BLOCK / 32);
    if constexpr (PUSH == DYNAMIC) {
        for (;;) {
            const i64 place = first + i64(atomicAdd(fetched, u64(1)));
            if (place >= last) break;
            follow_by_thread(graph, list, place, to, visitor);
        }
    } else if constexpr (PUSH == CHUNKED) {
        const i64 part = (last - first + 32 * warps - 1) / (32 * warps);
        const i64 begin = first + part * (32 * warp + lane_id()), end = begin + part < last ? begin + part : last;
        for (i64 place = begin; place < end; place++) follow_by_thread(graph, list, place, to, visitor);
    } else if constexpr (PUSH == WARP) {
        for (i64 place = first + warp; place < last; place += warps)
            follow_by_warp(graph, listed_row<Visitor>(graph.packing, list, place), place, to, visitor);
    } else {
        for (i64 at = first + 32 * warp; at < last; at += 32 * warps)
            follow_adaptively(graph, list, at, last, to, visitor);
    }
}

// --- with a queue of edges ----------------------------------------------------------------------------

// Edge number e of the lists of a search is at position e: its column, and where values depend on them its row and entry.
struct EdgeQueue {
    J* column;
    J* row;
    P* entry;

    template <class Visitor>
    DEVICE void put(i64 e, i64 k, i64 j, i64 p) const {
        column[e] = J(j);
        if constexpr (Visitor::NEEDS_ROW) {
            row[e] = J(k);
            entry[e] = P(p);
        }
    }
};

// The visitor of an expansion.
template <class Visitor>
struct Enqueue {
    static constexpr bool APPENDS = false;
    static constexpr bool NEEDS_ROW = Visitor::NEEDS_ROW;
    typedef i64 Payload;
    EdgeQueue queue;
    RowArrays list;

    DEVICE i64 payload(i64, i64 place) const { return i64(list.before[place]) - i64(list.start[place]); }
    DEVICE bool open(i64, i64, i64, i64) const { return true; }
    DEVICE bool visit(i64 shift, i64 k, i64 j, i64 p) const {
        queue.put<Visitor>(p + shift, k, j, p);
        return false;
    }
};

constexpr int HISTORY = 1024;

// The columns that a block has contracted last, by their lowest bits.
DEVICE UJ* history() {
    __shared__ UJ columns[HISTORY];
    return columns;
}
// Every thread of the block calls before the first contraction.
template <int BLOCK>
DEVICE void clear_history() {
    for (int i = int(threadIdx.x); i < HISTORY; i += BLOCK) history()[i] = ~UJ(0);
    __syncthreads();
}
// Whether another lane of the warp, or an earlier thread of the block, contracts the same column.  The whole warp calls;
// j is -1 in lanes without one.
DEVICE bool is_culled(i64 j) {
    const u32 same = __match_any_sync(FULL_WARP, u64(j));
    if (j < 0 || (same & lanes_below()) != 0) return true;
    return atomicExch(history() + j % HISTORY, UJ(j)) == UJ(j);
}

template <int BLOCK, class Visitor>
struct ContractStage {
    P before[BLOCK];
    P start[BLOCK];
    J row[Visitor::NEEDS_ROW ? BLOCK : 1];
    i64 first, last;

    // The thread whose row has an edge: the last one whose edges begin at or before it.
    DEVICE int owner(i64 edge) const {
        int low = 0, high = BLOCK;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (i64(before[middle]) <= edge) low = middle;
            else high = middle;
        }
        return low;
    }
};

// Lists the rows at the ends of edges [head, tail) of the queue that the visitor claims.  FUSED: also writes their edges
// to the queue.
template <int BLOCK, class Group, bool FUSED, class Visitor>
DEVICE void contract(
    const Graph& graph, const EdgeQueue& queue, u64 head, u64 tail, const Append& to, const Visitor& visitor) {
    __shared__ ContractStage<FUSED ? BLOCK : 1, Visitor> stage;
    const int t = int(threadIdx.x);
    const i64 first = graph.packing.edges(head);
    each_by_block<BLOCK, Group>(graph.packing.edges(tail) - first, [&](i64 at, bool inside) {
        const i64 e = first + at;
        const i64 j = inside ? i64(queue.column[e]) : -1;
        bool found = !is_culled(j);
        if (found) {
            const i64 k = Visitor::NEEDS_ROW ? i64(queue.row[e]) : 0, p = Visitor::NEEDS_ROW ? i64(queue.entry[e]) : 0;
            const auto payload = visitor.payload(k, 0);
            found = visitor.open(payload, k, j, p) && visitor.visit(payload, k, j, p);
        }
        const i64 start = found ? i64(graph.indptr[j]) : 0, degree = found ? i64(graph.indptr[j + 1]) - start : 0;
        const u64 packed = reserve(to, found ? graph.packing.pack(1, degree) : 0);
        if (found) put(graph.packing, to, packed, j, start);
        if constexpr (FUSED) {
            const i64 before = graph.packing.edges(packed);
            stage.before[t] = P(before);
            stage.start[t] = P(start);
            if constexpr (Visitor::NEEDS_ROW) stage.row[t] = J(j);
            if (t == 0) stage.first = before;
            if (t == BLOCK - 1) stage.last = before + degree;
            __syncthreads();
            for (i64 edge = stage.first + t; edge < stage.last; edge += BLOCK) {
                const int owner = stage.owner(edge);
                const i64 row_start = i64(stage.start[owner]), p = row_start + edge - i64(stage.before[owner]);
                const i64 k = Visitor::NEEDS_ROW ? i64(stage.row[Visitor::NEEDS_ROW ? owner : 0]) : 0;
                queue.put<Visitor>(edge, k, graph.columns.at(row_start, p), p);
            }
            __syncthreads();
        }
    });
}

// The visitor's `payload` must not depend on the place.  queued: the edges of the frontier are in the queue.
template <int BLOCK, class Loop, class Visitor>
DEVICE void push_by_queue(Loop& loop, const EdgeQueue& queue, bool& queued, const Visitor& visitor) {
    typedef typename Loop::Members Group;
    const bool fused = PUSH == CONTRACT_EXPAND || (PUSH == HYBRID && loop.edges() <= Group::size() * BLOCK);
    const RowList frontier = loop.take();
    const Append to = loop.appended();
    if (!queued) {
        expand<BLOCK, Group>(loop.graph, frontier, true, to, Enqueue<Visitor>{queue, frontier});
        loop.group.barrier();
    }
    queued = fused;
    if constexpr (PUSH != TWO_PHASE) {
        if (fused) contract<BLOCK, Group, true>(loop.graph, queue, frontier.head, frontier.tail, to, visitor);
    }
    if constexpr (PUSH != CONTRACT_EXPAND) {
        if (!fused) contract<BLOCK, Group, false>(loop.graph, queue, frontier.head, frontier.tail, to, visitor);
    }
}
