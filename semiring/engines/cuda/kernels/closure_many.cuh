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
#include "level_loop.cuh"
#include "T_CODEC.cuh"

// Words of the state, and the counters of a level.  ALIVE: for each of their copies, the sources that have reached a row
// in that level.
enum { TAIL, LEVEL, FLIPPED, PULLED, TURN, CLOSED_BEFORE, BARRIER, COUNTED = 8, ALIVE = 24, STATE_WORDS = ALIVE + 3 * 16 };
enum { ADDED, CLOSED, LISTED, CLAIMED, SEGMENTED, COUNTERS };
typedef LevelLoop<GRID_BLOCK, CooperativeGrid, COUNTERS> ManyLoop;

// closure_many_plans.py packs this struct by the names of its fields (arguments.py): a line is a type and a name.
struct ManyArguments : LoopArguments {
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
    u64* segments;
    i64 segment_slots;
    u64* counts;  // for each level from `counted` on, the rows that each source reaches in it
    i64 counted;
    i64 last_level;
    i64 nvals;
    int direction;  // 0 by rule, 1 push, 2 pull
};

struct Part;

struct Many : ManyArguments {
    T_CODEC::Columns t_columns;
    ManyLoop loop;

    DEVICE Many(const ManyArguments& given, const CooperativeGrid& grid)
        : ManyArguments(given), t_columns(given.t_indices),
          loop{graph_of(given), grid, given.state + COUNTED,
               list_of(given, int(given.state[FLIPPED])), 0, given.state[TAIL], int(given.state[TURN])} {}

    DEVICE i64 row_words() const { return (n + 31) / 32; }
    DEVICE u32* rows_of(int which) const { return bits + which * n * WORDS; }
    DEVICE u32* present_of(int which) const { return present + which * row_words(); }
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
            bit_clear(open, v);
            closed += i64(t_indptr[v + 1]) - i64(t_indptr[v]);
        }
    }
};

#include "closure_many_rows.cuh"

// What a level reads and writes.
struct ManyLevel {
    const Many& s;
    u32* frontier;
    u32* present;
    u32* next;
    u32* next_present;
    i64 number;
    bool sparse;  // most rows are not in the frontier
    SegmentList segments;

    // The sources that may reach another row: those with a row in the frontier.
    DEVICE Part alive(int part) const { return load_part(s.alive((s.loop.turn + 2) % 3) + part * PART); }
};

#include "closure_many_pull.cuh"

DEVICE Part Many::sources_of(int part) const {
    Part made;
#pragma unroll
    for (int i = 0; i < PART; i++) made.word[i] = valid_bits(source_count, part * PART + i);
    return made;
}

// --- pushes: visitors (expand.cuh) ----------------------------------------------------------------------------

// Adds the bits of row k that row j lacks, word by word.
struct SpreadWords {
    static constexpr bool APPENDS = true;
    static constexpr bool NEEDS_ROW = true;
    typedef u32 Payload;  // which words of row k are not 0
    const ManyLevel& level;

    DEVICE u32 payload(i64 k, i64) const {
        u32 nonzero = 0;
        for (int part = 0; part < LANES; part++) {
            const Part bits = load_part(level.frontier + k * WORDS + part * PART);
#pragma unroll
            for (int i = 0; i < PART; i++) nonzero |= u32(bits.word[i] != 0) << (part * PART + i);
        }
        return nonzero;
    }
    DEVICE bool open(u32 nonzero, i64 k, i64 j, i64) const {
        for (; nonzero; nonzero &= nonzero - 1) {
            const int w = __ffs(int(nonzero)) - 1;
            if (level.frontier[k * WORDS + w] & ~level.s.visited[j * WORDS + w]) return true;
        }
        return false;
    }
    // Bits are only set during the pass: an outdated word costs an atomic.
    DEVICE bool visit(u32 nonzero, i64 k, i64 j, i64) const {
        bool added = false;
        for (; nonzero; nonzero &= nonzero - 1) {
            const int w = __ffs(int(nonzero)) - 1;
            const i64 to = j * WORDS + w;
            const u32 bits = level.frontier[k * WORDS + w] & ~level.s.visited[to];
            if (bits == 0 || (bits & ~load_relaxed(level.next + to)) == 0) continue;
            atomicOr(level.next + to, bits);
            added = true;
        }
        return added && bit_claim(level.next_present, j);
    }
};

// The same for a row of one or two words, which one atomic updates.
struct SpreadRow {
    static constexpr bool APPENDS = true;
    static constexpr bool NEEDS_ROW = true;
    typedef choose<WORDS == 1, u32, u64> Payload;  // the bits of row k
    const ManyLevel& level;

    DEVICE Payload payload(i64 k, i64) const { return reinterpret_cast<const Payload*>(level.frontier)[k]; }
    DEVICE Payload fresh(Payload bits, i64 j) const { return bits & ~reinterpret_cast<const Payload*>(level.s.visited)[j]; }
    DEVICE bool open(Payload bits, i64, i64 j, i64) const { return fresh(bits, j) != 0; }
    // Bits are only set during the pass: an outdated row costs an atomic.
    DEVICE bool visit(Payload bits, i64, i64 j, i64) const {
        Payload* const to = reinterpret_cast<Payload*>(level.next) + j;
        const Payload mine = fresh(bits, j);
        if ((mine & ~load_relaxed(to)) == 0) return false;
        atomicOr(to, mine);
        return bit_claim(level.next_present, j);
    }
};

typedef choose<WORDS <= 2, SpreadRow, SpreadWords> ManySpread;

// A push of one or two words that lists no rows: a pass over all rows finds those that were reached (`enter_unlisted`).
struct SpreadUnlisted {
    static constexpr bool APPENDS = false;
    static constexpr bool NEEDS_ROW = true;
    typedef SpreadRow::Payload Payload;
    const SpreadRow row;

    DEVICE Payload payload(i64 k, i64 place) const { return row.payload(k, place); }
    // Bits are only set during the pass: an outdated row costs an atomic.
    DEVICE bool open(Payload bits, i64, i64 j, i64) const {
        return (row.fresh(bits, j) & ~load_relaxed(reinterpret_cast<const Payload*>(row.level.next) + j)) != 0;
    }
    DEVICE bool visit(Payload bits, i64, i64 j, i64) const {
        atomicOr(reinterpret_cast<Payload*>(row.level.next) + j, row.fresh(bits, j));
        return false;
    }
};

// --- levels ---------------------------------------------------------------------------------------------------

// Enters the sources as the first frontier.  Every thread calls.
DEVICE void enter_sources(const ManyLevel& level) {
    const Many& s = level.s;
    each_by_block<GRID_BLOCK, GridRank>(s.source_count, [&](i64 at, bool inside) {
        bool fresh = false;
        i64 v = 0;
        if (inside) {
            v = s.sources[s.source_of(at)];
            atomicOr(level.next + v * WORDS + (at >> 5), 1u << (at & 31));
            fresh = bit_claim(level.next_present, v);
        }
        append(s.loop.graph, s.loop.appended(), fresh, v);
    });
}

// Lists the rows of a frontier that is not listed, and clears the rows of the other.  Every thread calls.
DEVICE void list_frontier(const ManyLevel& level, const RowArrays& list) {
    const Many& s = level.s;
    const Append to = {list, s.loop.counter(LISTED), 0};
    each_by_block<GRID_BLOCK, GridRank>(s.n, [&](i64 v, bool inside) {
        const bool mine = inside && bit_test(level.present, v);
        if (inside && bit_test(level.next_present, v)) {
            for (int part = 0; part < LANES; part++) store_part(level.next + v * WORDS + part * PART, Part());
        }
        __syncwarp();  // a warp owns a word of the bitmap
        if (inside && lane_id() == 0) level.next_present[v >> 5] = 0;
        if (__syncthreads_or(int(mine))) append(s.loop.graph, to, mine, v);
    });
}

// Enters the bits of the rows that were pushed to, and clears the frontier.  Every thread calls.
DEVICE void enter_listed(const ManyLevel& level, const RowList& old) {
    const Many& s = level.s;
    const RowLanes<LANES> group;
    const J* const listed = s.loop.list.row;
    const Packing& packing = s.loop.graph.packing;
    const i64 count = packing.rows(load_relaxed(s.loop.counter(ADDED))), old_count = packing.rows(old.tail);
    const i64 first = thread_id() / LANES, stride = thread_count() / LANES;
    Tally tally = {};
    for (i64 i = first; i < count; i += stride) {
        const i64 v = i64(listed[i]);
        const i64 at = v * WORDS + group.part() * PART;
        const Part fresh = load_part(level.next + at);
        const bool complete = enter_bits(s, group, v, fresh, load_part(s.visited + at), level.number, tally);
        if (complete && group.lane == 0) s.close(v, tally.closed);
    }
    for (i64 i = first; i < old_count; i += stride) {
        const i64 v = i64(old.row[i]);
        store_part(level.frontier + v * WORDS + group.part() * PART, Part());
        if (group.lane == 0) store_relaxed(level.present + (v >> 5), 0u);
    }
    add_tally(s, tally, group.part());
}

// Enters the bits of all rows that were pushed to without a list.  The rows of the frontier remain, as after a pull.
// Every thread calls.
DEVICE void enter_unlisted(const ManyLevel& level) {
    const Many& s = level.s;
    constexpr int AT_ONCE = 4;  // words of the bitmap a warp, whose loads overlap
    const RowLanes<1> group;
    Tally tally = {};
    const i64 stride = warp_count();
    for (i64 first = warp_id(); first < s.row_words(); first += AT_ONCE * stride) {
        Part fresh[AT_ONCE], visited[AT_ONCE];
        i64 degree[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            const i64 v = 32 * (first + u * stride) + lane_id();
            fresh[u] = v < s.n ? load_part(level.next + v * WORDS) : Part();
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
                complete = enter_bits(s, group, v, fresh[u], visited[u], level.number, tally);
                tally.added += s.loop.graph.packing.pack(1, degree[u]);
                if (complete) tally.closed += i64(s.t_indptr[v + 1]) - i64(s.t_indptr[v]);
            }
            const u32 closed = __ballot_sync(FULL_WARP, complete);
            if (lane_id() != 0) continue;
            level.next_present[w] = rows;
            if (closed != 0) s.open[w] &= ~closed;
        }
        __syncwarp();
    }
    add_tally(s, tally, 0);
}

// Adds the rows of the frontier, by source, to the counts of their level.  The rows are listed, or those in `present`.
// Every thread calls.
DEVICE void count_frontier(const ManyLevel& level, const RowList& listed, bool is_listed) {
    const Many& s = level.s;
    u64* const to = s.counts + (level.number - 1 - s.counted) * 32 * WORDS;
    __shared__ u32 counted[32 * WORDS];
    for (int i = int(threadIdx.x); i < 32 * WORDS; i += GRID_BLOCK) counted[i] = 0;
    __syncthreads();
    const i64 rows = is_listed ? s.loop.graph.packing.rows(listed.tail) : s.n;
    for (i64 base = 32 * warp_id(); base < rows; base += thread_count()) {
        const i64 i = base + lane_id();
        i64 v = -1;
        if (i < rows) v = is_listed ? i64(listed.row[i]) : bit_test(level.present, i) ? i : -1;
        if (!__any_sync(FULL_WARP, v >= 0)) continue;
        for (int part = 0; part < LANES; part++) {
            const Part bits = v >= 0 ? load_part(level.frontier + v * WORDS + part * PART) : Part();
#pragma unroll
            for (int w = 0; w < PART; w++) {
                if (!__any_sync(FULL_WARP, bits.word[w] != 0)) continue;
                const int reached = __popc(warp_transpose(bits.word[w]));
                if (reached != 0) atomicAdd(counted + 32 * (part * PART + w) + lane_id(), u32(reached));
            }
        }
    }
    __syncthreads();
    for (int i = int(threadIdx.x); i < 32 * WORDS; i += GRID_BLOCK) {
        if (counted[i] != 0) atomicAdd(to + s.source_of(i), u64(counted[i]));
    }
    __syncthreads();
}

// Whether a push of the frontier lists no rows.  The pass over all rows that replaces the list reads two to four words a
// row; sixteen rows take about as long as an edge with its row in a list (reasoned).
constexpr bool MAY_PUSH_UNLISTED = MAY_PULL && !COMPRESSED && WORDS <= 2;
DEVICE bool pushes_unlisted(const Many& s) { return MAY_PUSH_UNLISTED && 16 * s.loop.edges() >= s.n; }

// Whether the frontier is pulled.  A pull probes all entries of the rows that not all sources have reached.
DEVICE bool prefers_pull(const Many& s, u64 closed) {
    if (s.direction != 0) return s.direction == 2;
    const f32 entries = f32(s.nvals);
    const Work work = {entries, entries, f32(s.nvals - i64(closed)), 0.0f, 3.0f * f32(s.row_words())};
    return prefers_pull(work, f32(s.loop.rows()), f32(s.loop.edges()));
}

// Levels until the frontier is empty or `last_level` is done.  Every thread calls.
DEVICE void search_levels(Many& s) {
    ManyLoop& loop = s.loop;
    i64 number = i64(s.state[LEVEL]);
    u64 closed = s.state[CLOSED_BEFORE];
    int flipped = int(s.state[FLIPPED]);
    bool pulled = s.state[PULLED] != 0;
    for (; number <= s.last_level && (number == 0 || loop.rows() > 0); number++) {
        const int other = 1 - flipped;
        const bool sparse = 4 * loop.rows() < s.n, eager = loop.eager();
        const ManyLevel level = {s, s.rows_of(flipped), s.present_of(flipped), s.rows_of(other), s.present_of(other),
                                 number, sparse, {s.segments, s.segment_slots, loop.counter(SEGMENTED)}};
        const bool pull = MAY_PULL && number > 0 && prefers_pull(s, closed);
        const bool listed = pull || number == 0 || !pushes_unlisted(s);
        loop.begin();
        if (blockIdx.x == 0 && threadIdx.x < 32) s.alive((loop.turn + 1) % 3)[threadIdx.x] = 0;
        const RowList from = loop.take(list_of(s, other));
        if (COUNTS && number > 0) count_frontier(level, from, !pulled);
        if (pull) {
            if constexpr (MAY_PULL) pull_level(level, loop.group);
        } else {
            if (number == 0) {
                enter_sources(level);
            } else {
                if (MAY_PULL && pulled) {
                    list_frontier(level, from);
                    loop.group.barrier();
                }
                if (listed) loop.follow(from, eager, ManySpread{level});
                else if constexpr (MAY_PUSH_UNLISTED) loop.follow(from, false, SpreadUnlisted{{level}});
            }
            loop.group.barrier();
            if (listed) enter_listed(level, from);
            else if constexpr (MAY_PUSH_UNLISTED) enter_unlisted(level);
            loop.group.barrier();
        }
        closed += load_relaxed(loop.counter(CLOSED));
        loop.advance();
        pulled = pull || !listed;
        flipped = other;
    }
    // As in closure_level.cuh: each level ends with a barrier, and without a level the stored state does not change.
    if (loop.first_thread()) {
        s.state[TAIL] = loop.tail;
        s.state[LEVEL] = u64(number);
        s.state[FLIPPED] = u64(flipped);
        s.state[PULLED] = u64(pulled);
        s.state[TURN] = u64(loop.turn);
        s.state[CLOSED_BEFORE] = closed;
    }
}

// The whole grid, launched cooperatively.
extern "C" __global__ void __launch_bounds__(GRID_BLOCK, GRID_RESIDENT) closure_many(const ManyArguments given) {
    CooperativeGrid group(given.state + BARRIER);
    Many s(given, group);
    search_levels(s);
}
