// Level-synchronous closure: c = x (+) x A (+) x A^2 (+) ..., where an entry is final when it first appears.
//
// Two launches execute the whole search.  `closure_cluster` runs on one cluster: it enters the first entries and
// continues while a frontier has few edges, with a hardware barrier of 0.2 us a level.  `closure_grid` runs on all
// multiprocessors: it continues to the end, chooses push or pull for each level, and returns at once if the frontier
// is empty.  The host omits it where no frontier can have more edges than the cluster processes.
//
// Memory for n rows: two bitmaps of presence (a pull reads one and overwrites the other, so none is cleared), with
// hubs a bitmap of the rows that remain to be probed, segments of long rows, and one list of n rows (expand.cuh; the
// row numbers are omitted where values do not depend on them).  A row enters the list once in the whole search, so the
// list never overflows, and both directions append to it.
//
// Directions: D. Hiragushi, Takahashi, "Efficient Hybrid Breadth-First Search on GPUs" (ICA3PP 2013), which pulls by
// words through a list in shared memory (its figure 3); Beamer et al., "Direction-Optimizing BFS" (SC 2012).
//
// A pull first tests the hubs of a row where they are cached (closure_hubs.cuh): two loads, none of the row itself.
//
// The prologue defines the semiring; the types P (offsets), A (matrix values), U (values of the first entries), Z; the
// parameters of columns.cuh, and T_CODEC, the codec of the columns of the transpose; and the constants VALUES (0
// presence only, 1 one value for a whole level, 2 a value for each entry), MAY_PULL, HUBS (hubs are cached),
// CLUSTER_BLOCK, GRID_BLOCK (threads a block), GRID_RESIDENT (blocks a multiprocessor), CLUSTER_EDGES, EAGER_EDGES,
// PROBES (see tuning.py), and the parameters of direction.cuh.

#include "direction.cuh"
#include "expand.cuh"
#include "sources.cuh"
#include "T_CODEC.cuh"

// Words of the state.  Counters of rows are separate for the two launches; each level uses the next of three, so that
// one can be reset while another is still being read.
enum { HEAD, TAIL, STEPS, PARITY, LEVEL_VALUE, BARRIER = LEVEL_VALUE + 2, CLUSTER_COUNT, GRID_COUNT = CLUSTER_COUNT + 3,
       SEGMENT_COUNT = GRID_COUNT + 3 };

// closure_plans.py and closure.py pack these structs by the names of their fields (arguments.py): a line is a type and
// a name.

// Depends on the patterns of the matrix and its transpose alone: packed once, with the matrix.
struct MatrixArguments {
    const P* indptr;
    ColumnsArgument indices;
    const P* t_indptr;
    T_CODEC::Argument t_indices;
    const J* hubs;  // two for each row of the transpose: all the first, then all the second; -1: none
    const u32* nonempty;  // bitmap of the rows of the transpose that have entries
    i64 nonempty_count;
    i64 segment_slots;
    i64 n;
    i64 nvals;
    int shift;  // of the packing
    int skewed;
};

// One search.
struct SearchArguments {
    const A* a_values;
    A a_iso;
    const A* t_values;
    u32* visited;  // two bitmaps, one after the other; with hubs a third, of the rows that are left to probe
    J* queue;  // null unless values depend on rows
    P* start;
    P* before;
    Z* values;
    u64* segments;  // with pulls: `segment_slots` slots for segments of long rows
    u64* state;
    i64* trace;
    i64 trace_rows;
    i64 max_steps;
    int direction;  // 0 by rule, 1 push, 2 pull
};

struct Search : MatrixArguments, SearchArguments {
    Columns columns;
    T_CODEC::Columns t_columns;
    Packing packing;

    DEVICE Search(const MatrixArguments& matrix, const SearchArguments& given)
        : MatrixArguments(matrix), SearchArguments(given), columns(open_columns(matrix.indices)),
          t_columns(matrix.t_indices), packing{matrix.shift} {}

    DEVICE i64 words() const { return (n + 31) / 32; }
    DEVICE u32* rest() const { return visited + 2 * words(); }
    DEVICE i64 rows(u64 packed) const { return packing.rows(packed); }
    DEVICE i64 edges(u64 packed) const { return packing.edges(packed); }
};

// The value of row j reached from row k, which has value x, over the entry at position p.
DEVICE Z arrival(const Search& s, const A* a_values, Z x, i64 k, i64 j, i64 p) {
    A y = A();
    if constexpr (multiply_reads_y) y = value_at(a_values, s.a_iso, p);
    return multiply(x, y, 0, k, k, j);
}

// The visitor of a push: it claims the row at the end of an edge.
struct Claim {
    static constexpr bool APPENDS = true;
    static constexpr bool NEEDS_ROW = VALUES == 2;
    typedef choose<VALUES == 2, Z, char> Payload;
    const Search& s;
    u32* visited;
    Z level;

    DEVICE Payload payload(i64 row, i64) const {
        if constexpr (VALUES == 2 && multiply_reads_x) return cast<Payload>(s.values[row]);
        else return Payload();
    }
    // Bits are only set during the pass: a set bit stays set, and an outdated clear bit costs an atomic.
    DEVICE bool open(Payload, i64, i64 j, i64) const { return !bit_relaxed(visited, j); }
    DEVICE bool visit(Payload x, i64 k, i64 j, i64 p) const {
        const u32 bit = 1u << (j & 31);
        if (atomicOr(visited + (j >> 5), bit) & bit) return false;
        if constexpr (VALUES == 1) s.values[j] = level;
        if constexpr (VALUES == 2) s.values[j] = arrival(s, s.a_values, cast<Z>(x), k, j, p);
        return true;
    }
};

#include "closure_rows.cuh"
#include "closure_pull.cuh"
#include "closure_hubs.cuh"

// Whether the frontier, from `head` to `tail` of the list, is pulled.
DEVICE bool prefers_pull(const Search& s, u64 head, u64 tail) {
    if (s.direction != 0) return s.direction == 2;
    const f32 open = fmaxf(f32(s.nonempty_count - s.rows(tail)), 0.0f);
    const Work work = {f32(s.nvals), open, f32(s.nvals - s.edges(tail)), 0.0f, f32(s.n) / 32.0f, 0.0f};
    return prefers_pull(work, f32(s.rows(tail) - s.rows(head)), f32(s.edges(tail) - s.edges(head)));
}

// Levels until the frontier is empty, `max_steps` are done, or, in the cluster, it has too many edges.
template <int BLOCK, bool FULL_GRID, class Group>
DEVICE void levels(const Search& s, Group& group, u64* counters, int turn, u64 head, u64 tail, Z level) {
    i64 step = i64(s.state[STEPS]);
    int parity = int(s.state[PARITY]);
    while (s.rows(tail) > s.rows(head) && step < s.max_steps) {
        if (!FULL_GRID && (s.direction == 2 || s.edges(tail) - s.edges(head) > CLUSTER_EDGES)) break;
        bool pull = false;
        if constexpr (FULL_GRID && MAY_PULL) pull = prefers_pull(s, head, tail);
        if (Group::rank() == 0 && threadIdx.x == 0) {
            counters[(turn + 1) % 3] = 0;
            s.state[SEGMENT_COUNT + (turn + 1) % 3] = 0;
            if (step < s.trace_rows) {
                s.trace[3 * step] = pull;
                s.trace[3 * step + 1] = s.rows(tail) - s.rows(head);
                s.trace[3 * step + 2] = s.edges(tail) - s.edges(head);
            }
        }
        if constexpr (VALUES == 1) level = multiply(level, s.a_iso, 0, 0, 0, 0);
        const Append to = {s.queue, s.start, s.before, counters + turn, tail};
        u32* const visited = s.visited + parity * s.words();
        if (pull) {
            if constexpr (FULL_GRID && MAY_PULL) {
                u32* const next = s.visited + (1 - parity) * s.words();
                const Pull one = {s, visited, next, to, level, s.state + SEGMENT_COUNT + turn};
                if constexpr (HUBS) pull_hubs<BLOCK, Group>(one, group);
                else pull_level<BLOCK, Group>(one, group);
                parity = 1 - parity;
            }
        } else {
            const RowList frontier = {s.queue, s.start, s.before, head, tail};
            const bool eager = s.edges(tail) - s.edges(head) <= EAGER_EDGES;
            expand<BLOCK, Group>(s.packing, s.indptr, s.columns, frontier, s.skewed, eager, to,
                                Claim{s, visited, level});
        }
        group.barrier();
        head = tail;
        tail += load_relaxed(counters + turn);  // behind the barrier, so no block adds to it
        turn = (turn + 1) % 3;
        step++;
    }
    // A block may be a whole level ahead of others here, but no block still reads the state as it was at the start:
    // each level ends with a barrier, and without a level the stored state does not change.
    if (Group::rank() == 0 && threadIdx.x == 0) {
        s.state[HEAD] = head;
        s.state[TAIL] = tail;
        s.state[STEPS] = u64(step);
        s.state[PARITY] = u64(parity);
        *reinterpret_cast<Z*>(s.state + LEVEL_VALUE) = level;
    }
}

// One cluster: enters the given rows, and continues while the frontier has few edges.
extern "C" __global__ void ONE_CLUSTER __launch_bounds__(CLUSTER_BLOCK)
    closure_cluster(const SourceArguments entered, const MatrixArguments matrix, const SearchArguments given) {
    const Search s(matrix, given);
    Cluster group;
    u64* const counters = s.state + CLUSTER_COUNT;
    const Append to = {s.queue, s.start, s.before, counters, 0};
    for (i64 first = Cluster::rank() * CLUSTER_BLOCK; first < entered.source_count;
         first += Cluster::size() * CLUSTER_BLOCK) {
        const i64 at = first + threadIdx.x;
        const bool mine = at < entered.source_count;
        const i64 row = mine ? source_row(entered, at) : 0;
        const i64 begin = mine ? i64(s.indptr[row]) : 0;
        append(s.packing, to, mine, row, begin, mine ? i64(s.indptr[row + 1]) - begin : 0);
        if (mine) {
            atomicOr(s.visited + (row >> 5), 1u << (row & 31));
            if constexpr (VALUES != 0) s.values[row] = cast<Z>(value_at(entered.u_values, entered.u_iso, at));
        }
    }
    group.barrier();
    const u64 tail = load_relaxed(counters);
    levels<CLUSTER_BLOCK, false>(s, group, counters, 1, 0, tail, cast<Z>(entered.u_iso));
}

// The whole grid, launched cooperatively.
extern "C" __global__ void __launch_bounds__(GRID_BLOCK, GRID_RESIDENT)
    closure_grid(const MatrixArguments matrix, const SearchArguments given) {
    const Search s(matrix, given);
    CooperativeGrid group(reinterpret_cast<u32*>(s.state + BARRIER));
    const u64 head = s.state[HEAD], tail = s.state[TAIL];
    const Z level = *reinterpret_cast<const Z*>(s.state + LEVEL_VALUE);
    levels<GRID_BLOCK, true>(s, group, s.state + GRID_COUNT, 0, head, tail, level);
}
