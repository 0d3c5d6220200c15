// The boolean closure of many sources at once, level by level: S A* of k sources, one row of bits for each vertex.
//
// Bit s of row v is set when source s has reached v.  One pass over the matrix advances all sources: a pull unites the
// bits of the neighbors of a row, and a push adds the bits of a row to its neighbors.  Source: Then et al., "The More
// the Merrier: Efficient Multi-Source Graph Traversal" (PVLDB 8(4), 2014).
//
// One cooperative launch executes the levels; the device chooses push or pull for each.  It returns early, with its
// state stored, before level `last_level` + 1: where more bits of a level number or more memory for counts are needed.
//
// Memory for n rows: three arrays of n x WORDS words (the frontier, the next one, all visited), one bit plane of the
// same size for each bit of a level number, three bitmaps of rows, and two lists of rows (expand.cuh).  Between levels,
// in both arrays of frontiers: a row is 0 exactly if its bit in `present` is clear.
//
// The prologue defines the type P (offsets), the parameters of columns.cuh, and T_CODEC, the codec of the columns of
// the transpose; WORDS (1, 2, 4, 8, 16 or 32 words of 32 sources a row); MAY_PULL; LEVELS (level numbers are stored);
// COUNTS (the rows that each source reaches in each level are counted); and GRID_BLOCK, GRID_RESIDENT, EAGER_EDGES,
// LONG_ROW, CLAIM_WORDS (see tuning.py), and the parameters of direction.cuh.

#include "direction.cuh"
#include "expand.cuh"
#include "T_CODEC.cuh"

// Words of the state.  Counters have three copies: a level uses the next one, so that another can be reset while the
// last one is still being read.  ALIVE: for each copy, the sources that have reached a row in that level.
enum { TAIL, LEVEL, FLIPPED, PULLED, TURN, CLOSED_BEFORE, BARRIER, ADDED = 8, CLOSED = ADDED + 3, LISTED = CLOSED + 3,
       CLAIMED = LISTED + 3, SEGMENT_COUNT = CLAIMED + 3, ALIVE = 24, STATE_WORDS = ALIVE + 3 * 16 };

// closure_many_plans.py packs this struct by the names of its fields (arguments.py): a line is a type and a name.
struct ManyArguments {
    const P* indptr;
    ColumnsArgument indices;
    const P* t_indptr;
    T_CODEC::Argument t_indices;
    const i64* sources;
    const i64* order;  // bit b belongs to source order[b] of the group; null: to source b
    i64 source_count;
    u32* bits;  // the rows of two frontiers, one array after the other
    u32* visited;
    u32* plane0;  // bit 0 of the level at which a source has reached a row
    u32* plane1;
    u32* plane2;
    u32* plane3;
    const u64* planes;  // the addresses of further planes
    i64 plane_count;
    u32* present;  // two bitmaps, one after the other: the rows in each frontier
    u32* open;  // the rows of the transpose that have entries and that not all sources have reached
    J* row;  // two lists of n rows, one after the other
    P* start;
    P* before;
    u64* segments;
    i64 segment_slots;
    u64* counts;  // for each level from `counted` on, the rows that each source reaches in it
    i64 counted;
    u64* state;
    i64 last_level;
    i64 n;
    i64 nvals;
    int shift;  // of the packing
    int skewed;
    int direction;  // 0 by rule, 1 push, 2 pull
};

struct Part;

struct Many : ManyArguments {
    Columns columns;
    T_CODEC::Columns t_columns;
    Packing packing;

    DEVICE explicit Many(const ManyArguments& given)
        : ManyArguments(given), columns(open_columns(given.indices)), t_columns(given.t_indices),
          packing{given.shift} {}

    DEVICE i64 row_words() const { return (n + 31) / 32; }
    DEVICE i64 degree(i64 v) const { return i64(indptr[v + 1]) - i64(indptr[v]); }
    DEVICE u32* alive(int turn) const { return reinterpret_cast<u32*>(state + ALIVE) + 32 * turn; }
    DEVICE u32* plane(int b) const {
        return b == 0 ? plane0 : b == 1 ? plane1 : b == 2 ? plane2 : b == 3 ? plane3
                                                                : reinterpret_cast<u32*>(planes[b - 4]);
    }
    DEVICE i64 source_of(i64 bit) const { return order == nullptr ? bit : order[bit]; }
    // The bits of all sources in a part of a row.
    DEVICE Part sources_of(int part) const;
    // Row v is complete: no pull needs to visit it again.
    DEVICE void close(i64 v, i64& closed) const {
        if constexpr (MAY_PULL) {
            atomicAnd(open + (v >> 5), ~(1u << (v & 31)));
            closed += i64(t_indptr[v + 1]) - i64(t_indptr[v]);
        }
    }
};

#include "closure_many_pull.cuh"
#include "closure_many_push.cuh"

DEVICE Part Many::sources_of(int part) const {
    Part made;
#pragma unroll
    for (int i = 0; i < PART; i++) made.word[i] = valid_bits(source_count, part * PART + i);
    return made;
}

// Enters the sources as the first frontier.  Every thread calls.
template <int BLOCK, class Group>
DEVICE void enter_sources(const Many& s, const Append& to, u32* next, u32* next_present) {
    for (i64 first = Group::rank() * BLOCK; first < s.source_count; first += Group::size() * BLOCK) {
        const i64 at = first + threadIdx.x;
        bool fresh = false;
        i64 v = 0, begin = 0, degree = 0;
        if (at < s.source_count) {
            v = s.sources[s.source_of(at)];
            atomicOr(next + v * WORDS + (at >> 5), 1u << (at & 31));
            fresh = bit_claim(next_present, v);
            begin = i64(s.indptr[v]);
            degree = s.degree(v);
        }
        append(s.packing, to, fresh, v, begin, degree);
    }
}

// Lists the rows of a frontier that is not listed, and clears the rows of the other.  Every thread calls.
template <int BLOCK, class Group>
DEVICE void list_frontier(const Many& s, const Append& to, const u32* present, u32* next, u32* next_present) {
    for (i64 first = Group::rank() * BLOCK; first < s.n; first += Group::size() * BLOCK) {
        const i64 v = first + threadIdx.x;
        const bool mine = v < s.n && bit_test(present, v);
        if (v < s.n && bit_test(next_present, v)) {
            for (int part = 0; part < LANES; part++) store_part(next + v * WORDS + part * PART, Part());
        }
        __syncwarp();  // a warp owns a word of the bitmap
        if (v < s.n && lane_id() == 0) next_present[v >> 5] = 0;
        if (!__syncthreads_or(int(mine))) continue;
        const i64 begin = mine ? i64(s.indptr[v]) : 0;
        append(s.packing, to, mine, v, begin, mine ? s.degree(v) : 0);
    }
}

// Enters the bits of the rows that were pushed to, and clears the frontier.  Every thread calls.
template <int BLOCK, class Group>
DEVICE void enter_listed(const Many& s, const u32* next, const J* listed, i64 count, u32* frontier, u32* present,
                         const J* old, i64 old_count, i64 level, int turn) {
    const LaneGroup<LANES> group;
    const i64 first = (Group::rank() * BLOCK + threadIdx.x) / LANES, stride = Group::size() * BLOCK / LANES;
    Tally tally = {};
    for (i64 i = first; i < count; i += stride) {
        const i64 v = i64(listed[i]);
        const i64 at = v * WORDS + group.part() * PART;
        const bool complete = enter_bits(s, group, v, load_part(next + at), load_part(s.visited + at), level, tally);
        if (complete && group.lane == 0) s.close(v, tally.closed);
    }
    for (i64 i = first; i < old_count; i += stride) {
        const i64 v = i64(old[i]);
        store_part(frontier + v * WORDS + group.part() * PART, Part());
        if (group.lane == 0) store_relaxed(present + (v >> 5), 0u);
    }
    __syncwarp();
    add_tally(s, tally, turn, group.part());
}

// Enters the bits of all rows that were pushed to without a list.  The rows of the frontier remain, as after a pull.
// Every thread calls.
template <int BLOCK, class Group>
DEVICE void enter_unlisted(const Many& s, const u32* next, u32* next_present, i64 level, int turn) {
    constexpr int AT_ONCE = 4;  // words of the bitmap a warp, whose loads overlap
    const LaneGroup<1> group;
    Tally tally = {};
    const i64 stride = Group::size() * (BLOCK / 32);
    for (i64 first = Group::rank() * (BLOCK / 32) + warp_in_block(); first < s.row_words(); first += AT_ONCE * stride) {
        Part fresh[AT_ONCE], visited[AT_ONCE];
        i64 degree[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            const i64 v = 32 * (first + u * stride) + lane_id();
            fresh[u] = v < s.n ? load_part(next + v * WORDS) : Part();
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            const i64 v = 32 * (first + u * stride) + lane_id();
            const bool reached = fresh[u].any();
            visited[u] = reached ? load_part(s.visited + v * WORDS) : Part();
            degree[u] = reached ? s.degree(v) : 0;
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            const i64 w = first + u * stride, v = 32 * w + lane_id();
            const bool reached = fresh[u].any();
            const u32 rows = __ballot_sync(FULL_WARP, reached);
            if (rows == 0) continue;
            bool complete = false;
            if (reached) {
                complete = enter_bits(s, group, v, fresh[u], visited[u], level, tally);
                tally.added += s.packing.pack(1, degree[u]);
                if (complete) tally.closed += i64(s.t_indptr[v + 1]) - i64(s.t_indptr[v]);
            }
            const u32 closed = __ballot_sync(FULL_WARP, complete);
            if (lane_id() != 0) continue;
            next_present[w] = rows;
            if (closed != 0) s.open[w] &= ~closed;
        }
        __syncwarp();
    }
    add_tally(s, tally, turn, 0);
}

// Adds the rows of the frontier, by source, to the counts of their level.  The rows are the first `count` of a list, or
// those in `present`.  Every thread calls.
template <int BLOCK, class Group>
DEVICE void count_frontier(const Many& s, const u32* frontier, const J* listed, i64 count, const u32* present,
                           u64* to) {
    __shared__ u32 counted[32 * WORDS];
    for (int i = int(threadIdx.x); i < 32 * WORDS; i += BLOCK) counted[i] = 0;
    __syncthreads();
    const i64 rows = listed != nullptr ? count : s.n;
    for (i64 base = Group::rank() * BLOCK + 32 * warp_in_block(); base < rows; base += Group::size() * BLOCK) {
        const i64 i = base + lane_id();
        i64 v = -1;
        if (i < rows) v = listed != nullptr ? i64(listed[i]) : bit_test(present, i) ? i : -1;
        if (!__any_sync(FULL_WARP, v >= 0)) continue;
        for (int part = 0; part < LANES; part++) {
            const Part bits = v >= 0 ? load_part(frontier + v * WORDS + part * PART) : Part();
#pragma unroll
            for (int w = 0; w < PART; w++) {
                if (!__any_sync(FULL_WARP, bits.word[w] != 0)) continue;
                const int reached = __popc(warp_transpose(bits.word[w]));
                if (reached != 0) atomicAdd(counted + 32 * (part * PART + w) + lane_id(), u32(reached));
            }
        }
    }
    __syncthreads();
    for (int i = int(threadIdx.x); i < 32 * WORDS; i += BLOCK) {
        if (counted[i] != 0) atomicAdd(to + s.source_of(i), u64(counted[i]));
    }
    __syncthreads();
}

// Whether a push of the frontier lists no rows.  The pass over all rows that replaces the list reads two to four words a
// row; sixteen rows take about as long as an edge with its row in a list (reasoned).
constexpr bool MAY_PUSH_UNLISTED = MAY_PULL && !COMPRESSED && WORDS <= 2;
DEVICE bool pushes_unlisted(const Many& s, u64 tail) {
    return MAY_PUSH_UNLISTED && 16 * s.packing.edges(tail) >= s.n;
}

// Whether the frontier is pulled.  A pull probes all entries of the rows that not all sources have reached.
DEVICE bool prefers_pull(const Many& s, u64 tail, u64 closed) {
    if (s.direction != 0) return s.direction == 2;
    const f32 entries = f32(s.nvals);
    const Work work = {entries, entries, f32(s.nvals - i64(closed)), 0.0f, 3.0f * f32(s.row_words())};
    return prefers_pull(work, f32(s.packing.rows(tail)), f32(s.packing.edges(tail)));
}

// Resets the counters of the next level.  Every thread calls.
template <class Group>
DEVICE void reset_counters(const Many& s, int turn) {
    if (Group::rank() != 0) return;
    if (threadIdx.x < 32) s.alive(turn)[threadIdx.x] = 0;
    if (threadIdx.x == 0) s.state[ADDED + turn] = s.state[CLOSED + turn] = s.state[LISTED + turn] = 0;
    if (threadIdx.x == 1) s.state[CLAIMED + turn] = s.state[SEGMENT_COUNT + turn] = 0;
}

// Levels until the frontier is empty or `last_level` is done.  Every thread calls.
template <int BLOCK, class Group>
DEVICE void search_levels(const Many& s, Group& group) {
    i64 level = i64(s.state[LEVEL]);
    u64 tail = s.state[TAIL], closed = s.state[CLOSED_BEFORE];
    int flipped = int(s.state[FLIPPED]), turn = int(s.state[TURN]);
    bool pulled = s.state[PULLED] != 0;
    for (; level <= s.last_level && (level == 0 || s.packing.rows(tail) > 0); level++) {
        const int other = 1 - flipped;
        u32* const frontier = s.bits + flipped * s.n * WORDS;
        u32* const next = s.bits + other * s.n * WORDS;
        u32* const present = s.present + flipped * s.row_words();
        u32* const next_present = s.present + other * s.row_words();
        J* const rows = s.row + flipped * s.n;
        bool pull = false, listed = true;  // whether the rows that are reached are listed
        if constexpr (MAY_PULL) pull = level > 0 && prefers_pull(s, tail, closed);
        reset_counters<Group>(s, (turn + 1) % 3);
        if constexpr (COUNTS) {
            if (level > 0)
                count_frontier<BLOCK, Group>(s, frontier, pulled ? nullptr : rows, s.packing.rows(tail), present,
                                             s.counts + (level - 1 - s.counted) * 32 * WORDS);
        }
        if (pull) {
            if constexpr (MAY_PULL) {
                const bool sparse = 4 * s.packing.rows(tail) < s.n;
                pull_level<BLOCK>(ManyPull{s, frontier, present, next, next_present, level, turn, sparse}, group);
            }
        } else {
            const Append to = {s.row + other * s.n, s.start + other * s.n, s.before + other * s.n,
                               s.state + ADDED + turn, 0};
            if (level == 0) {
                enter_sources<BLOCK, Group>(s, to, next, next_present);
            } else {
                P* const start = s.start + flipped * s.n;
                P* const before = s.before + flipped * s.n;
                if (MAY_PULL && pulled) {
                    const Append again = {rows, start, before, s.state + LISTED + turn, 0};
                    list_frontier<BLOCK, Group>(s, again, present, next, next_present);
                    group.barrier();
                }
                const RowList from = {rows, start, before, 0, tail};
                listed = !pushes_unlisted(s, tail);
                if (listed) {
                    const bool eager = s.packing.edges(tail) <= EAGER_EDGES;
                    expand<BLOCK, Group>(s.packing, s.indptr, s.columns, from, s.skewed, eager, to,
                                         ManySpread{s, frontier, next, next_present});
                } else if constexpr (MAY_PUSH_UNLISTED) {
                    expand<BLOCK, Group>(s.packing, s.indptr, s.columns, from, s.skewed, false, to,
                                         SpreadUnlisted{{s, frontier, next, next_present}});
                }
            }
            group.barrier();
            if (listed) {
                const i64 found = s.packing.rows(load_relaxed(s.state + ADDED + turn));
                enter_listed<BLOCK, Group>(s, next, to.row, found, frontier, present, rows, s.packing.rows(tail),
                                           level, turn);
            } else if constexpr (MAY_PUSH_UNLISTED) {
                enter_unlisted<BLOCK, Group>(s, next, next_present, level, turn);
            }
            group.barrier();
        }
        // Behind the barrier, so no block adds to them.
        tail = load_relaxed(s.state + ADDED + turn);
        closed += load_relaxed(s.state + CLOSED + turn);
        pulled = pull || !listed;
        flipped = other;
        turn = (turn + 1) % 3;
    }
    // As in closure_level.cuh: each level ends with a barrier, and without a level the stored state does not change.
    if (Group::rank() == 0 && threadIdx.x == 0) {
        s.state[TAIL] = tail;
        s.state[LEVEL] = u64(level);
        s.state[FLIPPED] = u64(flipped);
        s.state[PULLED] = u64(pulled);
        s.state[TURN] = u64(turn);
        s.state[CLOSED_BEFORE] = closed;
    }
}

// The whole grid, launched cooperatively.
extern "C" __global__ void __launch_bounds__(GRID_BLOCK, GRID_RESIDENT) closure_many(const ManyArguments given) {
    const Many s(given);
    CooperativeGrid group(reinterpret_cast<u32*>(s.state + BARRIER));
    search_levels<GRID_BLOCK>(s, group);
}
