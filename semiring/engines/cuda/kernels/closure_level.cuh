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
// A pull lists what it finds (LISTS), or counts it: then the first push after pulls lists the frontier, which are the bits
// that the last pull set.
//
// The prologue defines the semiring; the types P (offsets), A (matrix values), U (values of the first entries), Z; the
// parameters of columns.cuh, and T_CODEC, the codec of the columns of the transpose; and the constants VALUES (0
// presence only, 1 one value for a whole level, 2 a value for each entry), MAY_PULL, HUBS (hubs are cached),
// CLUSTER_BLOCK, GRID_BLOCK (threads a block), GRID_RESIDENT (blocks a multiprocessor), CLUSTER_EDGES, EAGER_EDGES,
// PROBES, PULL_ROWS (see tuning.py), and the parameters of direction.cuh; and of a strategy
// (strategies.py) PUSH (push_strategies.cuh), LISTS, CLUSTERED (whether the cluster executes levels), and
// ALPHA, BETA and SHARE, the rule of the direction; 0: the cost model of direction.cuh.

#include "direction.cuh"
#include "level_loop.cuh"
#include "push_strategies.cuh"
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
    J* queue_column;  // the queue of edges of a strategy that has one (push_strategies.cuh)
    J* queue_row;
    P* queue_entry;
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

// Whether the frontier is pulled.  pulled: whether the level before was.
template <class Loop>
DEVICE bool prefers_pull(const Search& s, const Loop& loop, bool pulled) {
    if (s.direction != 0) return s.direction == 2;
    const i64 visited = s.graph.packing.rows(loop.tail), followed = s.graph.packing.edges(loop.tail);
    if constexpr (SHARE > 0) return SHARE * loop.rows() > s.n;
    if constexpr (ALPHA > 0) return pulled ? BETA * loop.rows() >= s.n : ALPHA * loop.edges() > s.nvals - followed;
    const f32 open = fmaxf(f32(s.nonempty_count - visited), 0.0f);
    const Work work = {f32(s.nvals), open, f32(s.nvals - followed), 0.0f, f32(s.n) / 32.0f, 0.0f};
    return prefers_pull(work, f32(loop.rows()), f32(loop.edges()));
}

// Follows the edges of the frontier.
template <int BLOCK, class Loop>
DEVICE void push(const Search& s, Loop& loop, u32* visited, Z level, bool& queued) {
    const Claim claim = {s, visited, level};
    if constexpr (PUSH == BALANCED) {
        loop.push(claim);
    } else if constexpr (PUSH < TWO_PHASE) {
        const RowList frontier = loop.take();
        follow_rows<BLOCK, typename Loop::Members>(s.graph, frontier, loop.counter(1), loop.appended(), claim);
    } else {
        push_by_queue<BLOCK>(loop, {s.queue_column, s.queue_row, s.queue_entry}, queued, claim);
    }
}

// Whether a frontier has so few edges that a warp follows them at once.
template <class Loop>
DEVICE bool is_local(const Loop& loop) {
    return loop.edges() <= 32 && loop.rows() <= 32;
}

// The frontier of a level that one warp executes.
struct LocalFrontier {
    P start[32], end[32];
    J row[VALUES == 2 ? 32 : 1];
};

// Executes levels while the frontier is local, without a barrier between them: a level then takes a few dependent loads
// and no more.  The list has the frontier at the start, and at the end: what it has for the levels between is never read.
// One whole warp calls, alone.
template <class Loop>
DEVICE void local_levels(const Search& s, Loop& loop, u32* visited, Z& level, i64& step) {
    __shared__ LocalFrontier frontiers[2];
    const Packing& packing = s.graph.packing;
    const int lane = lane_id();
    int rows = int(loop.rows()), now = 0;
    if (lane < rows) {
        const i64 place = packing.rows(loop.head) + lane;
        const i64 start = i64(loop.list.start[place]), before = i64(loop.list.before[place]);
        const i64 after = lane + 1 < rows ? i64(loop.list.before[place + 1]) : packing.edges(loop.tail);
        frontiers[0].start[lane] = P(start);
        frontiers[0].end[lane] = P(start + after - before);
        if constexpr (VALUES == 2) frontiers[0].row[lane] = loop.list.row[place];
    }
    __syncwarp();
    do {
        loop.record(s.trace, s.trace_rows, step, false);
        if constexpr (VALUES == 1) level = multiply(level, s.a_iso, 0, 0, 0, 0);
        const Claim claim = {s, visited, level};
        const LocalFrontier& from = frontiers[now];
        LocalFrontier& next = frontiers[1 - now];
        int lanes = 32;  // of a row
        while (lanes * rows > 32) lanes /= 2;
        const int r = lane / lanes;
        const i64 k = VALUES == 2 && r < rows ? i64(from.row[VALUES == 2 ? r : 0]) : 0;
        const i64 row_start = r < rows ? i64(from.start[r]) : 0, end = r < rows ? i64(from.end[r]) : 0;
        const auto payload = claim.payload(k, 0);
        u64 mine = 0;
        rows = 0;
        for (i64 p = row_start + lane % lanes; __any_sync(FULL_WARP, p < end); p += lanes) {
            i64 j = 0, start = 0, stop = 0;
            bool found = false;
            if (p < end) {
                j = s.graph.columns.at(row_start, p);
                start = i64(s.indptr[j]);
                stop = i64(s.indptr[j + 1]);
                found = claim.visit(payload, k, j, p);
            }
            const u32 all = __ballot_sync(FULL_WARP, found);
            if (found) {
                prefetch(s.graph.columns, start);
                const int slot = rows + __popc(all & lanes_below());
                next.start[slot] = P(start);
                next.end[slot] = P(stop);
                if constexpr (VALUES == 2) next.row[slot] = J(j);
                mine += packing.pack(1, stop - start);
            }
            rows += __popc(all);
        }
        loop.head = loop.tail;
        loop.tail += warp_sum(mine);
        now = 1 - now;
        step++;
        __syncwarp();
    } while (rows > 0 && step < s.max_steps && is_local(loop));
    const i64 start = lane < rows ? i64(frontiers[now].start[lane]) : 0;
    const u64 mine = lane < rows ? packing.pack(1, i64(frontiers[now].end[lane]) - start) : 0;
    const u64 position = loop.head + warp_scan_inclusive(mine) - mine;
    const i64 row = VALUES == 2 && lane < rows ? i64(frontiers[now].row[VALUES == 2 ? lane : 0]) : 0;
    if (lane < rows) put(packing, {loop.list}, position, row, start);
}

// Lets one warp execute levels (`local_levels`), and all threads continue with its frontier.
template <class Loop>
DEVICE void levels_by_one_warp(const Search& s, Loop& loop, u32* visited, Z& level, i64& step) {
    if (Loop::Members::rank() == 0 && threadIdx.x < 32) {
        local_levels(s, loop, visited, level, step);
        if (threadIdx.x == 0) {
            s.state[HEAD] = loop.head;
            s.state[TAIL] = loop.tail;
            s.state[STEPS] = u64(step);
            *reinterpret_cast<Z*>(s.state + LEVEL_VALUE) = level;
        }
    }
    loop.group.barrier();
    loop.head = load_relaxed(s.state + HEAD);
    loop.tail = load_relaxed(s.state + TAIL);
    step = i64(load_relaxed(s.state + STEPS));
    if constexpr (VALUES == 1) {
        const u64 words[2] = {load_relaxed(s.state + LEVEL_VALUE), load_relaxed(s.state + LEVEL_VALUE + 1)};
        memcpy(&level, words, sizeof(Z));
    }
}

// Levels until the frontier is empty, `max_steps` are done, or, in the cluster, it has too many edges.
template <bool FULL_GRID, int BLOCK, class Group, int COUNTERS>
DEVICE void levels(const Search& s, LevelLoop<BLOCK, Group, COUNTERS>& loop, Z level) {
    i64 step = i64(s.state[STEPS]);
    int parity = int(s.state[PARITY]);
    bool pull = false, queued = false;
    if constexpr (FULL_GRID && PUSH >= TWO_PHASE) clear_history<BLOCK>();
    while (loop.rows() > 0 && step < s.max_steps) {
        if (!FULL_GRID && (!CLUSTERED || s.direction == 2 || loop.edges() > CLUSTER_EDGES)) break;
        if constexpr (!FULL_GRID && CLUSTERED && !COMPRESSED) {
            if (is_local(loop)) {
                levels_by_one_warp(s, loop, s.visited + parity * s.words(), level, step);
                continue;
            }
        }
        const bool pulled = pull;
        if constexpr (FULL_GRID && MAY_PULL) pull = prefers_pull(s, loop, pulled);
        loop.begin();
        loop.record(s.trace, s.trace_rows, step, pull);
        if constexpr (VALUES == 1) level = multiply(level, s.a_iso, 0, 0, 0, 0);
        u32* const visited = s.visited + parity * s.words();
        if (pull) {
            if constexpr (FULL_GRID && MAY_PULL) {
                const Append to = loop.appended();
                loop.take();
                u32* const next = s.visited + (1 - parity) * s.words();
                u64 counted = 0;
                const Pull one = {s, visited, next, to, level, {s.segments, s.segment_slots, loop.counter(1)}, counted};
                if constexpr (HUBS) pull_hubs<BLOCK>(one, loop.group);
                else pull_level<BLOCK>(one, loop.group);
                if constexpr (!LISTS) reserve(to, counted);
                parity = 1 - parity;
                queued = false;
            }
        } else if constexpr (FULL_GRID) {
            if constexpr (MAY_PULL && !LISTS) {
                if (pulled) {
                    const Append to = {loop.list, loop.counter(2), loop.head};
                    list_new<BLOCK, Group>(s, to, visited, s.visited + (1 - parity) * s.words());
                    loop.group.barrier();
                }
            }
            push<BLOCK>(s, loop, visited, level, queued);
        } else {
            loop.push(Claim{s, visited, level});
        }
        loop.end();
        step++;
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
    LevelLoop<GRID_BLOCK, CooperativeGrid, 3> loop = {
        s.graph, group, s.state + GRID_COUNT, s, s.state[HEAD], s.state[TAIL],
    };
    levels<true>(s, loop, *reinterpret_cast<const Z*>(s.state + LEVEL_VALUE));
}
