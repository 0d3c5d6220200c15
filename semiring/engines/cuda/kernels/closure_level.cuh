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
// A pull first tests the hubs of a row where they are cached (closure_pull.cuh): two loads, none of the row itself.
//
// The prologue defines the semiring; the types P (offsets), A (matrix values), U (values of the first entries), Z; the
// parameters of columns.cuh, and T_CODEC, the codec of the columns of the transpose; and the constants VALUES (0
// presence only, 1 one value for a whole level, 2 a value for each entry), MAY_PULL, HUBS (hubs are cached),
// CLUSTER_BLOCK, GRID_BLOCK (threads a block), GRID_RESIDENT (blocks a multiprocessor), CLUSTER_EDGES, EAGER_EDGES,
// PROBES (see tuning.py), and the parameters of direction.cuh.

#include "direction.cuh"
#include "level_loop.cuh"
#include "sources.cuh"
#include "T_CODEC.cuh"

// Words of the state.  The two launches count rows separately; the full grid counts segments behind them.
enum { HEAD, TAIL, STEPS, PARITY, LEVEL_VALUE, BARRIER = LEVEL_VALUE + 2, CLUSTER_COUNT, GRID_COUNT = CLUSTER_COUNT + 3 };

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
struct SearchArguments : RowArrays {  // the list of rows, without row numbers unless values depend on them
    const A* a_values;
    A a_iso;
    const A* t_values;
    u32* visited;  // two bitmaps, one after the other; with hubs a third, of the rows that are left to probe
    Z* values;
    u64* segments;  // with pulls: `segment_slots` slots for segments of long rows
    u64* state;
    i64* trace;
    i64 trace_rows;
    i64 max_steps;
    int direction;  // 0 by rule, 1 push, 2 pull
};

struct Search : MatrixArguments, SearchArguments {
    Graph graph;
    T_CODEC::Columns t_columns;

    DEVICE Search(const MatrixArguments& matrix, const SearchArguments& given)
        : MatrixArguments(matrix), SearchArguments(given),
          graph{matrix.indptr, open_columns(matrix.indices), {matrix.shift}, matrix.skewed != 0},
          t_columns(matrix.t_indices) {}

    DEVICE i64 words() const { return (n + 31) / 32; }
    DEVICE u32* rest() const { return visited + 2 * words(); }
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
        if (!bit_set(visited, j)) return false;
        if constexpr (VALUES == 1) s.values[j] = level;
        if constexpr (VALUES == 2) s.values[j] = arrival(s, s.a_values, cast<Z>(x), k, j, p);
        return true;
    }
};

#include "closure_pull.cuh"

// Whether the frontier is pulled.
template <class Loop>
DEVICE bool prefers_pull(const Search& s, const Loop& loop) {
    if (s.direction != 0) return s.direction == 2;
    const i64 visited = s.graph.packing.rows(loop.tail), followed = s.graph.packing.edges(loop.tail);
    const f32 open = fmaxf(f32(s.nonempty_count - visited), 0.0f);
    const Work work = {f32(s.nvals), open, f32(s.nvals - followed), 0.0f, f32(s.n) / 32.0f, 0.0f};
    return prefers_pull(work, f32(loop.rows()), f32(loop.edges()));
}

// Levels until the frontier is empty, `max_steps` are done, or, in the cluster, it has too many edges.
template <bool FULL_GRID, int BLOCK, class Group, int COUNTERS>
DEVICE void levels(const Search& s, LevelLoop<BLOCK, Group, COUNTERS>& loop, Z level) {
    i64 step = i64(s.state[STEPS]);
    int parity = int(s.state[PARITY]);
    for (; loop.rows() > 0 && step < s.max_steps; step++) {
        if (!FULL_GRID && (s.direction == 2 || loop.edges() > CLUSTER_EDGES)) break;
        bool pull = false;
        if constexpr (FULL_GRID && MAY_PULL) pull = prefers_pull(s, loop);
        loop.begin();
        loop.record(s.trace, s.trace_rows, step, pull);
        if constexpr (VALUES == 1) level = multiply(level, s.a_iso, 0, 0, 0, 0);
        u32* const visited = s.visited + parity * s.words();
        if (pull) {
            if constexpr (FULL_GRID && MAY_PULL) {
                const Append to = loop.appended();
                loop.take();
                u32* const next = s.visited + (1 - parity) * s.words();
                const Pull one = {s, visited, next, to, level, {s.segments, s.segment_slots, loop.counter(1)}};
                if constexpr (HUBS) pull_hubs<BLOCK>(one, loop.group);
                else pull_level<BLOCK>(one, loop.group);
                parity = 1 - parity;
            }
        } else {
            loop.push(Claim{s, visited, level});
        }
        loop.end();
    }
    // A block may be a whole level ahead of others here, but no block still reads the state as it was at the start:
    // each level ends with a barrier, and without a level the stored state does not change.
    if (loop.first_thread()) {
        s.state[HEAD] = loop.head;
        s.state[TAIL] = loop.tail;
        s.state[STEPS] = u64(step);
        s.state[PARITY] = u64(parity);
        *reinterpret_cast<Z*>(s.state + LEVEL_VALUE) = level;
    }
}

// One cluster: enters the given rows, and continues while the frontier has few edges.
extern "C" __global__ void ONE_CLUSTER __launch_bounds__(CLUSTER_BLOCK)
    closure_cluster(const SourceArguments entered, const MatrixArguments matrix, const SearchArguments given) {
    const Search s(matrix, given);
    LevelLoop<CLUSTER_BLOCK, Cluster> loop = {s.graph, Cluster(), s.state + CLUSTER_COUNT, s};
    enter_sources<CLUSTER_BLOCK, Cluster>(entered, s.graph, loop.appended(), s.visited, VALUES != 0 ? s.values : nullptr);
    loop.end();
    levels<false>(s, loop, cast<Z>(entered.u_iso));
}

// The whole grid, launched cooperatively.
extern "C" __global__ void __launch_bounds__(GRID_BLOCK, GRID_RESIDENT)
    closure_grid(const MatrixArguments matrix, const SearchArguments given) {
    const Search s(matrix, given);
    CooperativeGrid group(s.state + BARRIER);
    LevelLoop<GRID_BLOCK, CooperativeGrid, 2> loop = {
        s.graph, group, s.state + GRID_COUNT, s, s.state[HEAD], s.state[TAIL],
    };
    levels<true>(s, loop, *reinterpret_cast<const Z*>(s.state + LEVEL_VALUE));
}
