// A level-synchronous closure over entries in host memory, as the launches of one level:
//
//   enter     sets `next` to the first entries
//   advance   moves `next` to the frontier and to `visited`; counts its rows and edges
//   open      reads device memory only: tests the hubs of unvisited rows.  Rows without a visited hub are `rest`; their
//             tiles and those of the frontier are marked, which determines what either direction would read.
//             (For a small frontier, which is pushed, only the tiles of the frontier are marked.)
//   push, pull   a pass over the marked tiles of the frontier, or of `rest`
//
// During a level `visited` is constant, and new rows are added to `next`.  Every visited neighbor of an unvisited row
// is in the frontier, because a neighbor visited earlier would have reached the row.  So a visited hub decides a row
// in either direction, and a push may follow an `open` that has already found some rows.
//
// The thread whose atomic sets the bit of a row in `next` writes the value of the row, and no other thread does; values
// that are read meanwhile belong to visited rows.  Tests of `next` without an atomic may be outdated, which costs only
// a redundant read or atomic.
//
// The prologue defines the semiring; the types P (offsets), A (matrix values), U (values of the first entries), Z; the
// parameters of columns.cuh; and the constants VALUES (0 presence only, 1 one value for a whole level, 2 a value for
// each entry), and those of direction.cuh.  The matrix is iso-valued, or its values are not read.

#include "direction.cuh"
#include "outofcore_pass.cuh"
#include "sources.cuh"

// Words of the counts, all 0 at the beginning of a level.
enum { ROWS_FOUND, EDGES_FOUND, PUSH_TILES, PULL_TILES, ROWS_TESTED };

DEVICE Z arrival(const Z* values, A a_iso, i64 k, i64 j) {
    Z x = Z();
    if constexpr (multiply_reads_x) x = values[k];
    return multiply(x, a_iso, 0, k, k, j);
}

// The arguments of all kernels of a level.  outofcore_closure.py packs this struct by the names of its fields
// (arguments.py); each line declares one field.
struct LevelArguments {
    const P* indptr;
    const P* t_indptr;
    const J* hubs;  // two columns of each row of the transpose, or -1; null if not computed
    i64 n;
    i64 nvals;
    u32* next;
    u32* frontier;
    u32* visited;
    const u32* nonempty;
    u32* rest;
    u32* push_tiles;  // null if the level must pull
    u32* pull_tiles;  // null if the level must push
    Z* values;
    A a_iso;
    Z level;      // the value of the rows of `next` (VALUES == 1)
    bool writes;  // whether `advance` writes it
    u64* counts;
};

extern "C" __global__ void outofcore_enter(const SourceArguments entered, u32* next, Z* values) {
    for (i64 at = thread_id(); at < entered.source_count; at += thread_count()) {
        const i64 row = source_row(entered, at);
        bit_set(next, row);
        if constexpr (VALUES != 0) values[row] = source_value(entered, at);
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
        __syncwarp();  // all lanes read the word before lane 0 clears it
        if (lane_id() == 0) {
            s.frontier[w] = fresh;
            if (fresh != 0) {
                s.visited[w] |= fresh;
                s.next[w] = 0;
            }
        }
    }
    add_count(s.counts + ROWS_FOUND, rows);
    add_count(s.counts + EDGES_FOUND, edges);
}

// A pull reads a long row up to the first visited neighbor.  About one in nvals / edges entries leads to the frontier,
// so only that many entries of a row are counted.
extern "C" __global__ void outofcore_open(const LevelArguments s) {
    const i64 edges = i64(s.counts[EDGES_FOUND]);
    // A push of a small frontier takes less time than testing all unvisited rows: than a pull that probes nothing.
    const Work least = {0.0f, 0.0f, 0.0f, f32(s.n), 0.0f, 0.0f};
    const bool tests_rows = s.pull_tiles != nullptr &&
                            (s.push_tiles == nullptr || prefers_pull(least, f32(s.counts[ROWS_FOUND]), f32(edges)));
    if (tests_rows && thread_id() == 0) s.counts[ROWS_TESTED] = 1;
    const i64 word_limit = 1 + s.nvals / (edges > 0 ? edges : 1) / (32 * TILE_SIZE);
    i64 pushed = 0, pulled = 0;
    for (i64 w = warp_id(); 32 * w < s.n; w += warp_count()) {
        const i64 i = 32 * w + lane_id();
        const u32 front = s.push_tiles == nullptr ? 0u : s.frontier[w];
        if (front != 0) {
            const bool mine = front >> lane_id() & 1u;
            pushed += mark_tiles(s.push_tiles, mine ? i64(s.indptr[i]) : 0, mine ? i64(s.indptr[i + 1]) : 0, NONE);
        }
        if (!tests_rows) continue;
        const u32 unvisited = s.nonempty[w] & ~s.visited[w];
        if (unvisited == 0) {
            if (lane_id() == 0) s.rest[w] = 0;
            continue;
        }
        i64 begin = 0, end = 0, k = -1;
        bool hit = false;
        if (unvisited >> lane_id() & 1u) {
            begin = i64(s.t_indptr[i]);
            end = i64(s.t_indptr[i + 1]);
            if (s.hubs != nullptr) {
                k = i64(s.hubs[i]);
                hit = k >= 0 && bit_test(s.visited, k);
                if (!hit) {
                    k = i64(s.hubs[s.n + i]);
                    hit = k >= 0 && bit_test(s.visited, k);
                }
                if (hit || end - begin <= 2) begin = end;  // a row of two entries has only its hubs
            }
        }
        if constexpr (VALUES == 2) {
            if (hit) s.values[i] = arrival(s.values, s.a_iso, k, i);
        }
        const u32 found = __ballot_sync(FULL_WARP, hit);
        const u32 undecided = __ballot_sync(FULL_WARP, begin < end);
        if (lane_id() == 0) {
            s.next[w] = found;  // was 0
            s.rest[w] = undecided;
        }
        if (undecided != 0) pulled += mark_tiles(s.pull_tiles, begin, end, word_limit);
    }
    add_count(s.counts + PUSH_TILES, pushed);
    add_count(s.counts + PULL_TILES, pulled);
}

struct NextFrontier {
    u32* words;
    Z* values;
    A a_iso;

    // No thread clears bits, so true stays true.
    DEVICE bool contains(i64 j) const { return bit_relaxed(words, j); }
    DEVICE void add(i64 k, i64 j) const {
        const bool first = bit_set(words, j);
        if constexpr (VALUES == 2) {
            if (first) values[j] = arrival(values, a_iso, k, j);
        }
    }
};

struct Push {
    const u32* visited;
    NextFrontier next;

    DEVICE bool needs(i64) const { return true; }
    DEVICE Part part(i64 begin, i64 end) const { return clamped(begin, end); }
    DEVICE void visit(bool mine, i64 k, i64 j, int) const {
        if (mine && !bit_test(visited, j) && !next.contains(j)) next.add(k, j);
    }
};

struct Pull {
    const u32* visited;
    NextFrontier next;

    // False: another warp has already found the long row.
    DEVICE bool needs(i64 j) const { return !next.contains(j); }
    DEVICE Part part(i64 begin, i64 end) const { return clamped(begin, end); }
    DEVICE void visit(bool mine, i64 j, i64 k, int first_lane) const {
        const bool hit = mine && bit_test(visited, k);
        const u32 hits = __ballot_sync(FULL_WARP, hit);
        // Only the first hit of the row adds it.
        const u32 earlier = hits & lanes_below() & (FULL_WARP << (first_lane & 31));
        if (hit && earlier == 0 && !next.contains(j)) next.add(k, j);
    }
};

extern "C" __global__ void __launch_bounds__(PASS_BLOCK, 4)
    outofcore_push(const PassArguments work, const LevelArguments level) {
    visit_tiles(work, Push{level.visited, {level.next, level.values, level.a_iso}});
}

extern "C" __global__ void __launch_bounds__(PASS_BLOCK, 4)
    outofcore_pull(const PassArguments work, const LevelArguments level) {
    visit_tiles(work, Pull{level.visited, {level.next, level.values, level.a_iso}});
}
