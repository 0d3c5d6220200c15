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

#include "level_loop.cuh"

// Words of the state, 0 before the launch.  Three of each counter: one is read, one counts, and one is cleared.
enum { BARRIER, LISTED, KEPT = LISTED + 3, NEAREST = KEPT + 3, LEVELS = NEAREST + 3, ROUNDS };

// peel.py packs it by the names of its fields (arguments.py): a line of this struct is a type and a name.
struct PeelArguments : LoopArguments {
    C* counts;
    J* left;  // two consecutive lists of the rows that remain
    i64 least;  // one level alone; 0: all
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
DEVICE void sift(const PeelArguments& s, const Graph& graph, const J* from, J* to, i64 count, C done, C level, u64* kept,
                 u64* nearest, const Append& listed) {
    u64 best = 0;
    each_by_block<GRID_BLOCK, GridRank>(count, [&](i64 at, bool inside) {
        const i64 i = inside ? (from == nullptr ? at : i64(from[at])) : 0;
        const C x = inside ? s.counts[i] : C(0);
        const bool keep = inside && x > level, mine = inside && !keep && (from == nullptr || x > done);
        if (keep && nearness(x) > best) best = nearness(x);
        const u64 slot = block_append(kept, keep);
        if (keep) to[slot] = J(i);
        if (__syncthreads_or(mine)) append(graph, listed, mine, i);
    });
    best = warp_max(best);
    if (lane_id() == 0 && best != 0) atomicMax(nearest, best);
}

// Launched cooperatively.
extern "C" __global__ void __launch_bounds__(GRID_BLOCK, 2) peel_grid(const PeelArguments s) {
    CooperativeGrid group(s.state + BARRIER);
    LevelLoop<GRID_BLOCK, CooperativeGrid> loop = {graph_of(s), group, s.state + LISTED, s};
    u64 rounds = 0;
    i64 remain = s.n, passes = 0;
    C level = s.least > 0 ? C(s.least - 1) : C(0), done = 0;
    while (remain > 0) {
        // Final after the barrier of this pass; the next pass but one clears them.
        u64* const kept = s.state + KEPT + passes % 3;
        u64* const nearest = s.state + NEAREST + passes % 3;
        loop.begin();
        if (loop.first_thread()) s.state[KEPT + (passes + 1) % 3] = s.state[NEAREST + (passes + 1) % 3] = 0;
        const J* const from = passes == 0 ? nullptr : s.left + (passes & 1) * s.n;
        passes++;
        sift(s, loop.graph, from, s.left + (passes & 1) * s.n, remain, done, level, kept, nearest, loop.appended());
        loop.end();
        remain = i64(load_relaxed(kept));
        const bool removes = loop.rows() > 0;
        loop.run([&] {
            loop.push(Lose{s.counts, level});
            rounds++;
        });
        if (s.least > 0) break;
        done = level;
        // If no row was removed, the counts are those of the pass.
        level = removes ? level + 1 : C(~load_relaxed(nearest));
    }
    if (loop.first_thread()) {
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
