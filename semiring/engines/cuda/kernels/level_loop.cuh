// A loop over levels in one launch: a level visits the listed rows and appends those that the next level visits.
//
// The frontier is rows [head, tail) of a list.  Each level takes it, appends rows behind it, and ends with a barrier,
// after which the appended rows are the next frontier.  Appended rows are counted in global memory, in the copy of the
// level among three: one level may still read its copy while the next one adds to its own, so a level clears the third.
// Other counters of a loop have three copies as well.
//
// The prologue defines EAGER_EDGES (tuning.py), and what expand.cuh needs.

#pragma once

#include "expand.cuh"

// What the arguments of kernels with such a loop begin with (arguments.py).
struct LoopArguments : RowArrays {  // one list of rows, or two, one after the other
    const P* indptr;
    ColumnsArgument indices;
    u64* state;
    i64 n;
    int shift;  // of the packing
    int skewed;
};

DEVICE RowArrays list_of(const LoopArguments& s, int which) {
    return {s.row + which * s.n, s.start + which * s.n, s.before + which * s.n};
}
DEVICE Graph graph_of(const LoopArguments& s) { return {s.indptr, open_columns(s.indices), {s.shift}, s.skewed != 0}; }

template <int BLOCK, class Group, int COUNTERS = 1>
struct LevelLoop {
    typedef Group Members;
    Graph graph;
    Group group;
    u64* counters;  // COUNTERS of three copies each, initially 0; the first counts appended rows
    RowArrays list;
    u64 head = 0, tail = 0;
    int turn = 0;

    static DEVICE bool first_thread() { return Group::rank() == 0 && threadIdx.x == 0; }
    DEVICE i64 rows() const { return graph.packing.rows(tail) - graph.packing.rows(head); }
    DEVICE i64 edges() const { return graph.packing.edges(tail) - graph.packing.edges(head); }
    DEVICE bool eager() const { return edges() <= EAGER_EDGES; }
    DEVICE u64* counter(int k = 0) const { return counters + 3 * k + turn; }
    DEVICE Append appended() const { return {list, counter(), tail}; }

    // Every thread of the group calls the rest with the same arguments.  A level is between `begin` and `end`.
    DEVICE void begin() {
        if (!first_thread()) return;
#pragma unroll
        for (int k = 0; k < COUNTERS; k++) counters[3 * k + (turn + 1) % 3] = 0;
    }
    // Takes the frontier; rows are appended behind it, or to another list from its beginning on.
    DEVICE RowList take() {
        const RowList frontier = {list, head, tail};
        head = tail;
        return frontier;
    }
    DEVICE RowList take(const RowArrays& next) {
        const RowList frontier = {list, head, tail};
        list = next;
        head = tail = 0;
        return frontier;
    }
    // Visits the edges of a frontier that was taken (expand.cuh).
    template <class Visitor>
    DEVICE void follow(const RowList& frontier, bool few, const Visitor& visitor) const {
        if constexpr (!COMPRESSED) {
            if (few && !graph.skewed) {
                expand_by_lanes<BLOCK, Group>(graph, frontier, appended(), visitor);
                return;
            }
        }
        expand<BLOCK, Group>(graph, frontier, few, appended(), visitor);
    }
    // Takes the frontier and visits its edges.
    template <class Visitor>
    DEVICE void push(const Visitor& visitor) {
        const bool few = eager();
        follow(take(), few, visitor);
    }
    // After a barrier: the appended rows are the next frontier.  Counters are final; the next level adds to other copies.
    DEVICE void advance() {
        tail += load_relaxed(counter());
        turn = (turn + 1) % 3;
    }
    DEVICE void end() {
        group.barrier();
        advance();
    }
    // Levels until no row is listed.
    template <class Level>
    DEVICE void run(Level level) {
        while (rows() > 0) {
            begin();
            level();
            end();
        }
    }
    // Records the level as step `step` of a trace.
    DEVICE void record(i64* trace, i64 traced, i64 step, bool pull) const {
        if (!first_thread() || step >= traced) return;
        trace[3 * step] = pull;
        trace[3 * step + 1] = rows();
        trace[3 * step + 2] = edges();
    }
};
