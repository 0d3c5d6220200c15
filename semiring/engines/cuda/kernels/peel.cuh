// Peels the rows of a matrix: rows whose counts are at most k are removed, and each row with an entry in the column of a
// removed row loses one from its count, for k = 0, 1, ... (engines/requests/graphs.py).
// Dasari, Desh, Zubair, "ParK: An efficient algorithm for k-core decomposition on multicore processors" (IEEE Big Data
// 2014).
//
// One cooperative launch.  A pass over the rows that remain lists those of the level, and drops those removed before;
// rounds then follow the entries of the listed rows (expand.cuh), and list the rows that reach the level, until there are
// none.  A row is listed once in all.
//
// The prologue defines the types P (offsets), C (counts: 4 or 8 bytes, signed), the parameters of columns.cuh, and the
// constants GRID_BLOCK and EAGER_EDGES (tuning.py).

#include "atomics.cuh"
#include "expand.cuh"

// Words of the state, 0 before the launch.  Three of each counter: one is read, one counts, and one is cleared.
enum { BARRIER, LISTED, KEPT = LISTED + 3, NEAREST = KEPT + 3, LEVELS = NEAREST + 3, ROUNDS };

// peel.py packs it by the names of its fields (arguments.py): a line of this struct is a type and a name.
struct PeelArguments {
    const P* indptr;
    ColumnsArgument indices;
    C* counts;
    J* left;  // two consecutive lists
    P* start;
    P* before;
    u64* state;
    i64 n;
    i64 least;  // one level alone; 0: all
    int shift;  // of the packing
    int skewed;
};

DEVICE C fetch_add(C* address, C x) {
    typedef unsigned_of<sizeof(C)> Bits;
    return C(atomicAdd(reinterpret_cast<Bits*>(address), Bits(x)));
}

// The visitor of a round: row j loses an entry.
struct Lose {
    static constexpr bool APPENDS = true;
    static constexpr bool NEEDS_ROW = false;
    typedef char Payload;
    C* counts;
    C level;

    DEVICE Payload payload(i64, i64) const { return 0; }
    // Counts only fall to the level and below; an outdated true costs the atomics of a visit.
    DEVICE bool open(Payload, i64, i64 j, i64) const { return load_relaxed(counts + j) > level; }
    // A count that is at the level, or below, is restored, so that it ends as the level of its row.  Until then it is
    // lower, and therefore not above the level for any other thread.
    DEVICE bool visit(Payload, i64, i64 j, i64) const {
        const C old = fetch_add(counts + j, C(-1));
        if (old <= level) fetch_add(counts + j, C(1));
        return old == level + 1;
    }
};

// Order-preserving for counts above 0; the complement, so that 0 means none.
DEVICE u64 nearness(C count) { return ~u64(count); }

// One pass: keeps the rows with counts above the level, and lists those that are not below `done`.  from: null for all.
DEVICE void sift(const PeelArguments& s, const Packing& packing, const J* from, J* to, i64 count, bool all, C done, C level,
                 u64* kept, u64* nearest, const Append& listed) {
    u64 best = 0;
    for (i64 first = i64(blockIdx.x) * GRID_BLOCK; first < count; first += i64(gridDim.x) * GRID_BLOCK) {
        const i64 at = first + threadIdx.x;
        const bool inside = at < count;
        const i64 i = inside ? (from == nullptr ? at : i64(from[at])) : 0;
        const C x = inside ? s.counts[i] : C(0);
        const bool keep = inside && x > level, mine = inside && !keep && (all || x > done);
        if (keep && nearness(x) > best) best = nearness(x);
        const u32 keeps = __ballot_sync(FULL_WARP, keep);
        u64 place = 0;
        if (keeps != 0 && lane_id() == 0) place = atomicAdd(kept, u64(__popc(keeps)));
        place = shuffle(place, 0);
        if (keep) to[place + u64(__popc(keeps & lanes_below()))] = J(i);
        if (__syncthreads_or(mine)) {
            const i64 begin = mine ? i64(s.indptr[i]) : 0;
            append(packing, listed, mine, 0, begin, mine ? i64(s.indptr[i + 1]) - begin : 0);
        }
    }
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const u64 other = shuffle_xor(best, apart);
        if (other > best) best = other;
    }
    if (lane_id() == 0 && best != 0) atomicMax(nearest, best);
}

// Launched cooperatively.
extern "C" __global__ void __launch_bounds__(GRID_BLOCK, 2) peel_grid(const PeelArguments s) {
    const Packing packing = {s.shift};
    const Columns columns = open_columns(s.indices);
    CooperativeGrid group(reinterpret_cast<u32*>(s.state + BARRIER));
    u64 tail = 0, rounds = 0;
    i64 remain = s.n, passes = 0;
    C level = s.least > 0 ? C(s.least - 1) : C(0), done = 0;
    int turn = 0;
    while (remain > 0) {
        u64 head = tail;
        const int now = int(passes % 3), next = int((passes + 1) % 3);
        if (thread_id() == 0) {
            s.state[LISTED + (turn + 1) % 3] = 0;
            s.state[KEPT + next] = 0;
            s.state[NEAREST + next] = 0;
        }
        const J* const from = passes == 0 ? nullptr : s.left + (passes & 1) * s.n;
        J* const to = s.left + ((passes + 1) & 1) * s.n;
        const Append first = {nullptr, s.start, s.before, s.state + LISTED + turn, tail};
        sift(s, packing, from, to, remain, passes == 0, done, level, s.state + KEPT + now, s.state + NEAREST + now, first);
        group.barrier();
        // Final after the barrier; the next pass but one clears them.
        remain = i64(load_relaxed(s.state + KEPT + now));
        const u64 nearest = load_relaxed(s.state + NEAREST + now);
        tail += load_relaxed(s.state + LISTED + turn);
        turn = (turn + 1) % 3;
        const bool removes = packing.rows(tail) > packing.rows(head);
        while (packing.rows(tail) > packing.rows(head)) {
            if (thread_id() == 0) s.state[LISTED + (turn + 1) % 3] = 0;
            const RowList list = {nullptr, s.start, s.before, head, tail};
            const Append to = {nullptr, s.start, s.before, s.state + LISTED + turn, tail};
            const bool eager = packing.edges(tail) - packing.edges(head) <= EAGER_EDGES;
            expand<GRID_BLOCK, CooperativeGrid>(packing, s.indptr, columns, list, s.skewed, eager, to,
                                                Lose{s.counts, level});
            group.barrier();
            head = tail;
            tail += load_relaxed(s.state + LISTED + turn);
            turn = (turn + 1) % 3;
            rounds++;
        }
        passes++;
        if (s.least > 0) break;
        done = level;
        // If no row was removed, the counts are those of the pass.
        level = removes ? level + 1 : C(~nearest);
    }
    if (thread_id() == 0) {
        s.state[LEVELS] = u64(passes);
        s.state[ROUNDS] = rounds;
    }
}

// Counts to levels: at least 0; or `least` where they reach it, and 0 elsewhere.
extern "C" __global__ void peel_levels(i64 n, C* counts, i64 least) {
    for (i64 i = thread_id(); i < n; i += thread_count()) {
        const C x = counts[i];
        counts[i] = least > 0 ? (x >= C(least) ? C(least) : C(0)) : (x < C(0) ? C(0) : x);
    }
}
