// A level-synchronous closure over entries in host memory: what a level does, in a few launches.
//
//   enter     the first entries become `next`
//   advance   `next` becomes the frontier, and visited; its rows and edges are counted
//   open      device memory only: open rows that find a visited hub are done; the others are `rest`, and get their
//             tiles marked, as those of the frontier do: so what either direction would read is known.  (A small
//             frontier is pushed without looking.)
//   push, pull   a sweep over the marked tiles of the frontier, or of the rest
//
// During a level `visited` stands still, and all that is found goes to `next`.  Every visited neighbour of an open row
// is in the frontier: had it been visited earlier, the row would be too.  So a hub that is visited settles a row in
// either direction, and a push may follow an `open` that has found some of its rows already.
//
// Whoever sets a row's bit of `next` first, by an atomic that tells, writes the row's value, and nobody else does;
// values of the frontier, which are read meanwhile, belong to rows that are visited.  Tests of `next` without an atomic
// may be out of date, which costs a read or an atomic too many and nothing else.
//
// The prologue defines the semiring; the types P (offsets), A (matrix values), U (values of the first entries), Z, and
// what columns.cuh asks for; and the constants VALUES (0 presence only, 1 one value for a whole level, 2 a value for
// each entry), PUSHED_ROW and PUSHED_ENTRY.  The matrix has one value throughout, or values are not read.

#include "outofcore_sweep.cuh"
#include "sources.cuh"

// Words of the counts, all 0 when a level begins.
enum { ROWS_FOUND, EDGES_FOUND, PUSH_TILES, PULL_TILES, LOOKED };

DEVICE Z arrival(const Z* values, A a_iso, i64 k, i64 j) {
    Z x = Z();
    if constexpr (multiply_reads_x) x = values[k];
    return multiply(x, a_iso, 0, k, k, j);
}

// *count += the sum over the grid, by one atomic for each block.
DEVICE void count_up(u64* count, i64 mine) {
    const i64 total = block_sum(mine);
    if (threadIdx.x == 0 && total != 0) atomicAdd(count, u64(total));
}

// What all kernels of a level share, and more.  outofcore_closure.py packs it by the names of its fields (arguments.py): a
// line of this struct is a type and a name.
struct LevelArguments {
    const P* indptr;
    const P* t_indptr;
    const J* hubs;  // two columns of each row of the transpose, or -1; null if not known
    i64 n;
    i64 nvals;
    u32* next;
    u32* frontier;
    u32* visited;
    const u32* candidates;
    u32* rest;
    u32* push_tiles;  // null if there is no choice but to pull
    u32* pull_tiles;  // null if there is none but to push
    Z* values;
    A a_iso;
    Z level;      // what the rows of `next` get (VALUES == 1),
    bool writes;  // if so
    u64* counts;
};

extern "C" __global__ void outofcore_enter(const SourceArguments entered, u32* next, Z* values) {
    for (i64 at = thread_id(); at < entered.source_count; at += thread_count()) {
        const i64 row = source_row(entered, at);
        atomicOr(next + (row >> 5), 1u << (row & 31));
        if constexpr (VALUES != 0) values[row] = cast<Z>(value_at(entered.u_values, entered.u_iso, at));
    }
}

extern "C" __global__ void outofcore_advance(const LevelArguments s) {
    i64 rows = 0, edges = 0;
    for (i64 w = warp_id(); 32 * w < s.n; w += warp_count()) {
        const u32 fresh = s.next[w];
        const i64 i = 32 * w + lane_id();
        if (fresh >> lane_id() & 1u) {
            rows++;
            edges += i64(s.indptr[i + 1]) - i64(s.indptr[i]);
            if constexpr (VALUES == 1) {
                if (s.writes) s.values[i] = s.level;
            }
        }
        __syncwarp();  // every lane has read what is cleared now
        if (lane_id() == 0) {
            s.frontier[w] = fresh;
            if (fresh != 0) {
                s.visited[w] |= fresh;
                s.next[w] = 0;
            }
        }
    }
    count_up(s.counts + ROWS_FOUND, rows);
    count_up(s.counts + EDGES_FOUND, edges);
}

// A pull reads of a long row until the first visited neighbour; entries that lead to the frontier are about one in
// nvals / edges, so only so many of them count.
extern "C" __global__ void outofcore_open(const LevelArguments s) {
    const i64 edges = i64(s.counts[EDGES_FOUND]);
    // A small frontier is pushed in less time than it takes to look at all open rows.
    const i64 price = PUSHED_ROW * i64(s.counts[ROWS_FOUND]) + PUSHED_ENTRY * edges;
    const bool looks = s.pull_tiles != nullptr && (s.push_tiles == nullptr || price >= s.n);
    if (looks && thread_id() == 0) s.counts[LOOKED] = 1;
    const i64 reach = 1 + s.nvals / (edges > 0 ? edges : 1) / (32 * TILE_SIZE);
    i64 pushed = 0, pulled = 0;
    for (i64 w = warp_id(); 32 * w < s.n; w += warp_count()) {
        const i64 i = 32 * w + lane_id();
        const u32 front = s.push_tiles == nullptr ? 0u : s.frontier[w];
        if (front != 0) {
            const bool mine = front >> lane_id() & 1u;
            pushed += mark_tiles(s.push_tiles, mine ? i64(s.indptr[i]) : 0, mine ? i64(s.indptr[i + 1]) : 0, NOWHERE);
        }
        if (!looks) continue;
        const u32 wanted = s.candidates[w] & ~s.visited[w];
        if (wanted == 0) {
            if (lane_id() == 0) s.rest[w] = 0;
            continue;
        }
        i64 begin = 0, end = 0, k = -1;
        bool hit = false;
        if (wanted >> lane_id() & 1u) {
            begin = i64(s.t_indptr[i]);
            end = i64(s.t_indptr[i + 1]);
            if (s.hubs != nullptr) {
                k = i64(s.hubs[i]);
                hit = k >= 0 && bit_test(s.visited, k);
                if (!hit) {
                    k = i64(s.hubs[s.n + i]);
                    hit = k >= 0 && bit_test(s.visited, k);
                }
                if (hit || end - begin <= 2) begin = end;  // two hubs are all that a row of two has
            }
        }
        if constexpr (VALUES == 2) {
            if (hit) s.values[i] = arrival(s.values, s.a_iso, k, i);
        }
        const u32 found = __ballot_sync(FULL_WARP, hit);
        const u32 unsettled = __ballot_sync(FULL_WARP, begin < end);
        if (lane_id() == 0) {
            s.next[w] = found;  // 0 until now
            s.rest[w] = unsettled;
        }
        if (unsettled != 0) pulled += mark_tiles(s.pull_tiles, begin, end, reach);
    }
    count_up(s.counts + PUSH_TILES, pushed);
    count_up(s.counts + PULL_TILES, pulled);
}

struct Found {
    u32* next;
    Z* values;
    A a_iso;

    // Bits are only set meanwhile: true stays true.
    DEVICE bool known(i64 j) const { return bit_relaxed(next, j); }
    DEVICE void add(i64 k, i64 j) const {
        const u32 bit = 1u << (j & 31);
        const u32 before = atomicOr(next + (j >> 5), bit);
        if constexpr (VALUES == 2) {
            if (!(before & bit)) values[j] = arrival(values, a_iso, k, j);
        }
    }
};

struct Push {
    const u32* visited;
    Found found;

    DEVICE bool wants(i64) const { return true; }
    DEVICE Part part(i64 begin, i64 end) const { return clamped(begin, end); }
    DEVICE void visit(bool mine, i64 k, i64 j, int) const {
        if (mine && !bit_test(visited, j) && !found.known(j)) found.add(k, j);
    }
};

struct Pull {
    const u32* visited;
    Found found;

    // Other warps may have found a long row already: then nothing more of it is read.
    DEVICE bool wants(i64 j) const { return !found.known(j); }
    DEVICE Part part(i64 begin, i64 end) const { return clamped(begin, end); }
    DEVICE void visit(bool mine, i64 j, i64 k, int first_lane) const {
        const bool hit = mine && bit_test(visited, k);
        const u32 hits = __ballot_sync(FULL_WARP, hit);
        // The first of the row's lanes speaks for it.
        const u32 earlier = hits & lanes_below() & (FULL_WARP << (first_lane & 31));
        if (hit && earlier == 0 && !found.known(j)) found.add(k, j);
    }
};

extern "C" __global__ void __launch_bounds__(SWEEP_BLOCK, 4)
    outofcore_push(const SweepArguments work, const LevelArguments level) {
    sweep(work, Push{level.visited, {level.next, level.values, level.a_iso}});
}

extern "C" __global__ void __launch_bounds__(SWEEP_BLOCK, 4)
    outofcore_pull(const SweepArguments work, const LevelArguments level) {
    sweep(work, Pull{level.visited, {level.next, level.values, level.a_iso}});
}
