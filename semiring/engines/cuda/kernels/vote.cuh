// vote: for each row, the group with the highest sum of entries, less a penalty (engines/requests/graphs.py).
//
// The prologue defines the types P (offsets), I (columns), A (values), L (labels), R (numbers of rows), and the constants
// COUNT (all entries have one value: they are counted), SCORED (there is a penalty), KEEP (the row's own group wins ties).
// Rows are listed by length.  In a short row every lane holds an entry and compares it with all others; in a longer one a
// warp or a block adds up the groups in a hash table in shared memory.  Several blocks add up the longest rows, each a tile
// of one, and combine the sums in a table in global memory.

#include "semiring.cuh"

// vote.py packs it by the names of its fields (arguments.py): a line of this struct is a type and a name.
struct VoteArguments {
    const P* indptr;
    const I* indices;
    const A* values;  // null: all have the value `iso`
    A iso;
    const L* labels;
    const f64* mass;
    const f64* totals;
    f64 rate;
    const bool* votes;  // the rows that vote; null: all
    i64 n;
    L* out;  // the labels; rows that move are overwritten
};

typedef choose<sizeof(L) == 8, u64, u32> Key;
typedef choose<COUNT, u32, f64> Sum;
constexpr Key EMPTY = ~Key(0);  // not a group: labels of groups are not negative

// A candidate; group < 0: none.
struct Best {
    f64 score;
    i64 group;
};
DEVICE Best better(Best a, Best b) {
    const bool wins = b.group >= 0 && (a.group < 0 || b.score > a.score || (b.score == a.score && b.group < a.group));
    return wins ? b : a;
}

// A row that votes.
struct Voter {
    i64 i;
    i64 own;
    f64 mass;

    DEVICE Voter(const VoteArguments& s, i64 row) : i(row), own(i64(s.labels[row])), mass(SCORED ? s.mass[row] : 0.0) {}
};
DEVICE bool is_voter(const VoteArguments& s, i64 i) { return s.votes == nullptr || s.votes[i]; }
DEVICE bool is_group(const VoteArguments& s, i64 g) { return u64(g) < u64(s.n); }
DEVICE Key group_of(const VoteArguments& s, i64 p) {
    const i64 g = i64(s.labels[s.indices[p]]);
    return is_group(s, g) ? Key(g) : EMPTY;
}
DEVICE Sum weight(const VoteArguments& s, i64 p) {
    if constexpr (COUNT) return 1u;
    else return f64(s.values[p]);
}
DEVICE f64 total(const VoteArguments& s, Sum sum) {
    if constexpr (COUNT) return f64(sum) * f64(s.iso);
    else return sum;
}
// Rounded operation by operation, as on the other engines.
DEVICE f64 score(const VoteArguments& s, const Voter& v, f64 sum, i64 group) {
    if constexpr (SCORED) {
        f64 other = s.totals[group];
        if (group == v.own) other = __dsub_rn(other, v.mass);
        return __dsub_rn(sum, __dmul_rn(__dmul_rn(s.rate, v.mass), other));
    }
    return sum;
}
DEVICE Best candidate(const VoteArguments& s, const Voter& v, Sum sum, i64 group) {
    const f64 found = score(s, v, total(s, sum), group);
    return Best{found, found == found ? group : i64(-1)};
}
// Compares the group of a slot of a table with `best`; of the row's own only the sum is returned, under KEEP.
DEVICE void consider(const VoteArguments& s, const Voter& v, Key key, Sum sum, Best& best, Sum& own_sum) {
    if (key == EMPTY) return;
    if (KEEP && key == Key(v.own)) own_sum = sum;
    else best = better(best, candidate(s, v, sum, i64(key)));
}
// Stores the group of a row.  own_sum: that of the row's own group, which is no candidate under KEEP.
DEVICE void elect(const VoteArguments& s, const Voter& v, Best best, Sum own_sum) {
    if (best.group < 0) return;
    if (KEEP && is_group(s, v.own) && score(s, v, total(s, own_sum), v.own) >= best.score) return;
    s.out[v.i] = L(best.group);
}

// --- lists of rows ------------------------------------------------------------------------------------------

constexpr int CLASSES = 8;
DEVICE int class_of(i64 length) {
    return length <= 4 ? 0 : length <= 8 ? 1 : length <= 16 ? 2 : length <= 32 ? 3
         : length <= WARP_ROW ? 4 : length <= SMALL_ROW ? 5 : length <= LARGE_ROW ? 6 : 7;
}
// counts has the number of rows of each class; cleared before the launch.
extern "C" __global__ void vote_count(i64 n, const P* indptr, u64* counts) {
    __shared__ u32 mine[CLASSES];
    if (threadIdx.x < CLASSES) mine[threadIdx.x] = 0;
    __syncthreads();
    for (i64 i = thread_id(); i < n; i += thread_count()) {
        const i64 length = i64(indptr[i + 1]) - i64(indptr[i]);
        if (length > 0) atomicAdd(mine + class_of(length), 1u);
    }
    __syncthreads();
    if (threadIdx.x < CLASSES && mine[threadIdx.x] != 0) atomicAdd(counts + threadIdx.x, u64(mine[threadIdx.x]));
}
// ends holds the position in `lists` behind the last row of each class; afterwards that of the first.
extern "C" __global__ void vote_list(i64 n, const P* indptr, u64* ends, R* lists) {
    for (i64 first = thread_id() - lane_id(); first < n; first += thread_count()) {
        const i64 i = first + lane_id();
        const i64 length = i < n ? i64(indptr[i + 1]) - i64(indptr[i]) : 0;
        const int c = length > 0 ? class_of(length) : -1;
        const u32 same = __match_any_sync(FULL_WARP, c);
        const int leader = __ffs(same) - 1;
        u64 end = 0;
        if (c >= 0 && lane_id() == leader) end = atomicAdd(ends + c, u64(0) - u64(__popc(same)));
        end = __shfl_sync(FULL_WARP, end, leader);
        if (c >= 0) lists[end - 1 - u64(__popc(same & lanes_below()))] = R(i);
    }
}

// --- rows of up to 32 entries: a lane each ------------------------------------------------------------------

template <int LANES>
DEVICE void vote_lanes(const VoteArguments& s, i64 count, const R* rows) {
    constexpr int ROWS = 32 / LANES;
    for (i64 first = warp_id() * ROWS; first < count; first += warp_count() * ROWS) {
        const i64 q = first + lane_id() / LANES;
        const i64 row = q < count ? i64(rows[q]) : i64(rows[first]);
        const bool votes = q < count && is_voter(s, row);
        if (__ballot_sync(FULL_WARP, votes) == 0) continue;
        const Voter v(s, row);
        const i64 p = i64(s.indptr[row]) + lane_id() % LANES;
        Key key = EMPTY;
        Sum x = 0;
        if (votes && p < i64(s.indptr[row + 1])) {
            key = group_of(s, p);
            if (key != EMPTY) x = weight(s, p);
        }
        Sum sum = 0, own_sum = 0;
#pragma unroll
        for (int lane = 0; lane < LANES; ++lane) {
            const Key other = __shfl_sync(FULL_WARP, key, lane, LANES);
            const Sum y = __shfl_sync(FULL_WARP, x, lane, LANES);
            if (other == key) sum += y;
            if (KEEP && other == Key(v.own)) own_sum += y;
        }
        Best best{0.0, -1};
        if (key != EMPTY && !(KEEP && key == Key(v.own))) best = candidate(s, v, sum, i64(key));
        best = combine_lanes<LANES>(best, better);
        if (votes && lane_id() % LANES == 0) elect(s, v, best, own_sum);
    }
}
extern "C" __global__ void vote_4(const VoteArguments s, i64 count, const R* rows) { vote_lanes<4>(s, count, rows); }
extern "C" __global__ void vote_8(const VoteArguments s, i64 count, const R* rows) { vote_lanes<8>(s, count, rows); }
extern "C" __global__ void vote_16(const VoteArguments s, i64 count, const R* rows) { vote_lanes<16>(s, count, rows); }
extern "C" __global__ void vote_32(const VoteArguments s, i64 count, const R* rows) { vote_lanes<32>(s, count, rows); }

// --- longer rows: hash tables in shared memory -----------------------------------------------------------------

DEVICE u32 mixed(u32 x) {
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}

// The table of a team: a warp (WARP), or all threads of the block.
template <bool WARP>
struct Groups {
    Sum* sums;
    Key* keys;
    u32 last;  // slots in use, a power of two, less one

    // slots: of each table.
    DEVICE Groups(char* room, i64 slots) {
        char* const mine = room + (WARP ? warp_in_block() * slots * i64(sizeof(Sum) + sizeof(Key)) : 0);
        sums = reinterpret_cast<Sum*>(mine);
        keys = reinterpret_cast<Key*>(mine + slots * i64(sizeof(Sum)));
        last = u32(slots - 1);
    }
    static DEVICE u32 rank() { return WARP ? u32(lane_id()) : threadIdx.x; }
    static DEVICE u32 size() { return WARP ? 32 : blockDim.x; }
    static DEVICE void sync() {
        if constexpr (WARP) __syncwarp();
        else __syncthreads();
    }

    // Uses the first `slots` slots, a power of two.
    DEVICE void clear(u32 slots) {
        sync();
        last = slots - 1;
        for (u32 slot = rank(); slot < slots; slot += size()) {
            keys[slot] = EMPTY;
            sums[slot] = 0;
        }
        sync();
    }
    // The slot of a key.  A slot is free.
    DEVICE u32 insert(Key key) {
        for (u32 slot = u32(mixed(key)) & last;; slot = (slot + 1) & last) {
            Key seen = load_shared(keys + slot);
            if (seen == EMPTY) seen = atomicCAS(keys + slot, EMPTY, key);
            if (seen == EMPTY || seen == key) return slot;
        }
    }
    // Compares all groups in the table with `best`.
    DEVICE void scan(const VoteArguments& s, const Voter& v, Best& best, Sum& own_sum) {
        for (u32 slot = rank(); slot <= last; slot += size()) consider(s, v, keys[slot], sums[slot], best, own_sum);
    }
    DEVICE void add_row(const VoteArguments& s, i64 begin, i64 end) {
        for (i64 p = begin + rank(); p < end; p += size()) {
            const Key key = group_of(s, p);
            if (key != EMPTY) atomicAdd(sums + insert(key), weight(s, p));
        }
        sync();
    }
};
DEVICE u32 slots_for(i64 length) {
    u32 slots = 64;
    while (i64(slots) < 2 * length) slots *= 2;
    return slots;
}
// The best of a warp, and the sum over its lanes; of a block, valid in thread 0.
DEVICE void join_warp(Best& best, Sum& own_sum) {
    best = combine_lanes<32>(best, better);
    own_sum = warp_sum(own_sum);
}
DEVICE void join_block(Best& best, Sum& own_sum) {
    __shared__ f64 scores[32];
    __shared__ i64 groups[32];
    __shared__ Sum sums[32];
    join_warp(best, own_sum);
    __syncthreads();  // an earlier call may still be reading
    if (lane_id() == 0) {
        scores[warp_in_block()] = best.score;
        groups[warp_in_block()] = best.group;
        sums[warp_in_block()] = own_sum;
    }
    __syncthreads();
    if (threadIdx.x >= 32) return;
    const bool inside = threadIdx.x < (blockDim.x >> 5);
    best = inside ? Best{scores[threadIdx.x], groups[threadIdx.x]} : Best{0.0, -1};
    own_sum = inside ? sums[threadIdx.x] : Sum(0);
    join_warp(best, own_sum);
}

extern __shared__ u64 vote_room[];

// slots: of a table, at least twice the entries of a row.
template <bool WARP>
DEVICE void vote_tables(const VoteArguments& s, i64 count, const R* rows, i64 slots) {
    Groups<WARP> table(reinterpret_cast<char*>(vote_room), slots);
    const i64 step = WARP ? warp_count() : i64(gridDim.x);
    for (i64 q = WARP ? warp_id() : i64(blockIdx.x); q < count; q += step) {
        const i64 row = i64(rows[q]);
        if (!is_voter(s, row)) continue;
        const Voter v(s, row);
        const i64 begin = i64(s.indptr[row]), end = i64(s.indptr[row + 1]);
        table.clear(slots_for(end - begin));
        table.add_row(s, begin, end);
        Best best{0.0, -1};
        Sum own_sum = 0;
        table.scan(s, v, best, own_sum);
        if constexpr (WARP) join_warp(best, own_sum);
        else join_block(best, own_sum);
        if (table.rank() == 0) elect(s, v, best, own_sum);
    }
}
extern "C" __global__ void __launch_bounds__(256)
vote_warp(const VoteArguments s, i64 count, const R* rows, i64 slots) { vote_tables<true>(s, count, rows, slots); }
extern "C" __global__ void __launch_bounds__(512)
vote_block(const VoteArguments s, i64 count, const R* rows, i64 slots) { vote_tables<false>(s, count, rows, slots); }

// --- the longest rows: a tile of the entries a block, and a table of the row in global memory --------------------------

// Tiles of LARGE_ROW entries are numbered over all rows of the launch: firsts has the first tile of each row, and the
// number behind the last.  There are as many slices of the tables, of TABLE slots each, so that a table is at most half
// full.
constexpr i64 TABLE = 2 * LARGE_ROW;

// The row of a tile, and its table.
struct LongRow {
    i64 row;
    i64 first;  // its first tile
    u64 slots;
    i64 begin;  // of its slots

    DEVICE LongRow(i64 tile, i64 count, const R* rows, const i64* firsts) {
        const i64 r = upper_bound(firsts, 0, count, tile) - 1;
        row = i64(rows[r]);
        first = firsts[r];
        slots = u64(firsts[r + 1] - first) * u64(TABLE);
        begin = (first - firsts[0]) * TABLE;
    }
};

extern "C" __global__ void vote_clear(const VoteArguments s, i64 count, const R* rows, const i64* firsts, Key* keys,
                                      Sum* sums) {
    for (i64 tile = firsts[0] + blockIdx.x; tile < firsts[count]; tile += gridDim.x) {
        if (!is_voter(s, LongRow(tile, count, rows, firsts).row)) continue;
        const i64 base = (tile - firsts[0]) * TABLE;
        for (i64 slot = base + threadIdx.x; slot < base + TABLE; slot += blockDim.x) {
            keys[slot] = EMPTY;
            sums[slot] = 0;
        }
    }
}

// Adds to the sum of a group in a table of `slots` slots, at least one of them free.
DEVICE void add_to(Key* keys, Sum* sums, u64 slots, Key key, Sum x) {
    const Key hash = mixed(key);
    u64 slot = sizeof(Key) == 8 ? __umul64hi(u64(hash), slots) : (u64(hash) * slots) >> 32;
    while (true) {
        Key seen = load_relaxed(keys + slot);
        if (seen == EMPTY) seen = atomicCAS(keys + slot, EMPTY, key);
        if (seen == EMPTY || seen == key) break;
        slot = slot + 1 == slots ? 0 : slot + 1;
    }
    atomicAdd(sums + slot, x);
}

// Adds up the groups of a tile in shared memory, and adds these sums to the table of the row.  slots: TABLE.
extern "C" __global__ void __launch_bounds__(512)
vote_tiles(const VoteArguments s, i64 count, const R* rows, i64 slots, const i64* firsts, Key* keys, Sum* sums) {
    Groups<false> table(reinterpret_cast<char*>(vote_room), slots);
    for (i64 tile = firsts[0] + blockIdx.x; tile < firsts[count]; tile += gridDim.x) {
        const LongRow r(tile, count, rows, firsts);
        if (!is_voter(s, r.row)) continue;
        const i64 begin = i64(s.indptr[r.row]) + (tile - r.first) * LARGE_ROW, end = i64(s.indptr[r.row + 1]);
        table.clear(u32(slots));
        table.add_row(s, begin, begin + LARGE_ROW < end ? begin + LARGE_ROW : end);
        for (u32 slot = threadIdx.x; slot < u32(slots); slot += blockDim.x) {
            const Key key = table.keys[slot];
            if (key != EMPTY) add_to(keys + r.begin, sums + r.begin, r.slots, key, table.sums[slot]);
        }
    }
}

// The best group of each slice of the tables.
extern "C" __global__ void __launch_bounds__(512)
vote_slices(const VoteArguments s, i64 count, const R* rows, const i64* firsts, const Key* keys, const Sum* sums,
            f64* scores, i64* groups, Sum* own_sums) {
    for (i64 tile = firsts[0] + blockIdx.x; tile < firsts[count]; tile += gridDim.x) {
        const LongRow r(tile, count, rows, firsts);
        if (!is_voter(s, r.row)) continue;
        const Voter v(s, r.row);
        const i64 item = tile - firsts[0];
        Best best{0.0, -1};
        Sum own_sum = 0;
        for (i64 slot = item * TABLE + threadIdx.x; slot < (item + 1) * TABLE; slot += blockDim.x)
            consider(s, v, keys[slot], sums[slot], best, own_sum);
        join_block(best, own_sum);
        if (threadIdx.x == 0) {
            scores[item] = best.score;
            groups[item] = best.group;
            own_sums[item] = own_sum;
        }
    }
}
extern "C" __global__ void vote_join(const VoteArguments s, i64 count, const R* rows, const i64* firsts,
                                     const f64* scores, const i64* groups, const Sum* own_sums) {
    for (i64 r = thread_id(); r < count; r += thread_count()) {
        const i64 row = i64(rows[r]);
        if (!is_voter(s, row)) continue;
        Best best{0.0, -1};
        Sum own_sum = 0;
        for (i64 item = firsts[r] - firsts[0]; item < firsts[r + 1] - firsts[0]; ++item) {
            best = better(best, Best{scores[item], groups[item]});
            own_sum += own_sums[item];
        }
        elect(s, Voter(s, row), best, own_sum);
    }
}
