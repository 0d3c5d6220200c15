// The fixed part of the programs of compiled loops; program_code.py generates the rest of each text.
//
// One cooperative launch runs all iterations.  Every thread executes the control flow and the arithmetic of numbers,
// so that these are equal in all threads; the positions and pointers of vectors are in shared memory, where one thread
// of each block changes them at barriers.  A request is a loop that all threads of the group share, and a barrier
// precedes whatever reads its result.  While requests are small, a few blocks form the group, or the first alone, whose
// barriers are those of a block; the others wait, and let the multiprocessors to them.
//
// The prologue defines BLOCK (threads a block), COUNTERS, and RESIDENT, ALONE_MOST, ALONE_LEAST, SOME_BLOCKS, SOME_MOST,
// SOME_LEAST, SPARSE_SHARE, RELIST_SHARE, EAGER_EDGES, FEW_EDGES and WATCHED_CYCLES (see tuning.py).

#pragma once

#include "grid.cuh"
#include "packing.cuh"

// Counters 0 and 1: a request that found an invalid position; the time of this launch is over.
enum { INVALID, OVER, FIRST_COUNTER };
// How a program ends; a `return` has its number, and the end of the loop 0.  With ASKED - k it asks the host for product
// k, and continues at the point behind it.
enum { RUNNING = -1, FAILED = -2, YIELDED = -3, OUTGROWN = -4, ASKED = -5 };

// The counters as of the last barrier.  They only increase, modulo 2^64, and are never reset: the threads keep the
// number at which the last use ended.
__shared__ u64 counted[COUNTERS];
// The counters while the first block is alone.  Those of several blocks are in global memory, each in two parts, to
// which threads add in turns, a turn between two barriers: a block that is late at a barrier reads the part to which the
// others, who may be ahead, do not add.
__shared__ u64 pending[COUNTERS];
__shared__ u64* all_counters;
__shared__ u64 parts_read[2][COUNTERS];
__shared__ u32 turn;
// The blocks of the group, the first of the grid; whether there is one.
__shared__ u32 active;
__shared__ bool alone;
// The barrier of the group: its counter, and what that was at the last one.
__shared__ u32* arrivals;
__shared__ u32 arrived;
// Where the blocks outside of the group wait: how often it has grown, and its blocks.
__shared__ u64* gate;
__shared__ u32 grown;

// The positions of the entries of a vector.  listed: 0 the list is not current, 1 it is, 2 `before` as well: the number
// of edges of all entries before each, in the matrix that vectors of this size are pushed through.
template <class I, class B>
struct Positions {
    u32* words;
    I* list;
    B* before;
    i64 count;
    i64 edges;
    i64 listed;

    DEVICE bool has(i64 i) const { return bit_test(words, i); }
    // Whether a list is worth the pass that makes it.
    DEVICE bool unlisted(i64 size) const {
        return listed == 0 && count * i64(RELIST_SHARE) <= size && size > i64(ALONE_MOST);
    }
    // Whether requests follow the list, and do not pass over all positions.
    DEVICE bool sparse(i64 size) const { return listed != 0 && count * i64(SPARSE_SHARE) <= size; }
};

// What requests call often is compiled once, not in each of them: a program has many.
#define APART __device__ __noinline__

DEVICE u64* part_of(u32 part, int k) { return all_counters + part * int(COUNTERS) + k; }

// The first half of a barrier: what threads of the group wrote and counted before is then known to the first warp.
APART void meet() {
    __syncthreads();
    if (threadIdx.x < 32) {
        const bool here = alone;
        if (threadIdx.x == 0 && !here) {
            arrived += active;
            arrive_and_wait(arrivals, arrived);
        }
        __syncwarp();
        const u32 now = turn;
        for (int k = int(threadIdx.x); k < int(COUNTERS); k += 32) {
            if (here) {
                counted[k] = pending[k];
            } else {
                parts_read[now][k] = load_relaxed(part_of(now, k));
                counted[k] = parts_read[0][k] + parts_read[1][k];
            }
        }
        __syncwarp();
        if (threadIdx.x == 0 && !here) turn = now ^ 1u;
    }
}
// Adds the amounts of all threads of the block to a counter.  The whole block calls.
APART void count_amounts(int k, u64 mine) {
    if (alone) {  // nearly all warps have nothing to add
        if (!__any_sync(FULL_WARP, mine != 0)) return;
        const u64 total = warp_sum(mine);
        if (lane_id() == 0) atomicAdd(&pending[k], total);
        return;
    }
    if (!__syncthreads_or(mine != 0)) return;
    const u64 total = block_sum(mine);
    if (threadIdx.x == 0) atomicAdd(part_of(turn, k), total);
}
// Reserves the amounts of all threads; returns where that of this thread begins.  The whole block calls.
APART u64 reserve_amounts(int k, u64 mine) {
    __shared__ u64 start;
    if (alone) {
        if (!__any_sync(FULL_WARP, mine != 0)) return 0;
        const u64 through = warp_scan_inclusive(mine);
        u64 first = 0;
        if (lane_id() == 31) first = atomicAdd(&pending[k], through);
        return shuffle(first, 31) + through - mine;
    }
    u64 total;
    const u64 below = block_scan_exclusive(mine, total);
    if (total == 0) return 0;
    if (threadIdx.x == 0) start = atomicAdd(part_of(turn, k), total) + parts_read[turn ^ 1u][k];
    __syncthreads();
    return start + below;
}

// The blocks that run a program.  given: 2 COUNTERS counters; then the arrivals, the gate, and what blocks that join
// must know.
struct Group {
    i64 begin;  // the clock when the launch began

    DEVICE Group(u64* given) : begin(clock64()) {
        if (threadIdx.x == 0) {
            active = gridDim.x;
            alone = active == 1;
            all_counters = given;
            arrivals = reinterpret_cast<u32*>(given + 2 * COUNTERS);
            gate = given + 2 * COUNTERS + 1;
            arrived = turn = grown = 0;
        }
        for (int k = int(threadIdx.x); k < int(COUNTERS); k += int(BLOCK)) {
            // The blocks begin at different times, so the first part, to which they add, is not read before a barrier.
            counted[k] = 0;
            parts_read[1][k] = load_relaxed(given + COUNTERS + k);
            pending[k] = gridDim.x == 1 ? load_relaxed(given + k) + parts_read[1][k] : 0;
        }
        __syncthreads();
    }
    static DEVICE i64 rank() { return i64(blockIdx.x); }
    static DEVICE i64 size() { return i64(active); }

    // The blocks for a request of so many items.
    static DEVICE u32 wanted(i64 items) {
        if (items <= i64(ALONE_MOST)) return 1;
        return items <= i64(SOME_MOST) && u32(SOME_BLOCKS) < gridDim.x ? u32(SOME_BLOCKS) : gridDim.x;
    }
    // The items of an iteration from which on the group keeps its blocks, and the blocks for fewer.
    static DEVICE i64 least() {
        if (alone) return 0;
        return active > u32(SOME_BLOCKS) ? i64(SOME_LEAST) : i64(ALONE_LEAST);
    }
    static DEVICE u32 fewer(i64 work) { return work < i64(ALONE_LEAST) ? 1u : u32(SOME_BLOCKS); }

    // Every thread calls.  What threads of the group wrote and counted before is then known to all; the first thread of
    // each block executes `then` in between.
    template <class F>
    static DEVICE void barrier(F then) {
        meet();
        if (threadIdx.x == 0) then();
        __syncthreads();
    }
    static DEVICE void barrier() {
        meet();
        __syncthreads();
    }
    // Executes `then` between two barriers of the block: for what its threads share.
    template <class F>
    static DEVICE void change(F then) {
        __syncthreads();
        if (threadIdx.x == 0) then();
        __syncthreads();
    }
    static DEVICE void count(int k, u64 mine) { count_amounts(k, mine); }
    static DEVICE u64 reserve(int k, u64 mine) { return reserve_amounts(k, mine); }
    // Ends the launch at the next barrier after its time; the first thread looks at the clock.
    DEVICE void watch() {
        if (blockIdx.x == 0 && threadIdx.x == 0 && clock64() - begin > i64(WATCHED_CYCLES)) {
            if (alone) pending[OVER] = 1;
            else atomicAdd(part_of(turn, OVER), 1);
        }
    }
    // The first blocks go on without the others; a barrier of the group precedes.
    static DEVICE void part(u32 left) {
        __syncthreads();
        if (threadIdx.x == 0) {
            active = left;
            alone = left == 1;
        }
        for (int k = int(threadIdx.x); k < int(COUNTERS); k += int(BLOCK)) pending[k] = counted[k];
        __syncthreads();
    }
    // The group continues with more blocks, which read the state that the first one stores.
    template <class S, class Numbers, class Buffers>
    static DEVICE void join(S* stored, const Numbers& numbers, const Buffers& buffers, u32 blocks) {
        __syncthreads();
        if (blockIdx.x == 0) {
            save(stored, numbers, buffers);
            if (alone) store_counters();
            if (threadIdx.x == 0) store_relaxed(gate + 1, u64(turn) << 32 | arrived);
            __syncthreads();
            if (threadIdx.x == 0) {
                __threadfence();
                store_relaxed(gate, u64(grown + 1) << 32 | blocks);
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            active = blocks;
            alone = false;
            grown += 1;
        }
        __syncthreads();
        barrier();
    }
    // Waits until the group grows to this block.
    static DEVICE void wait() {
        if (threadIdx.x == 0) {
            u64 seen;
            do {
                __nanosleep(100);
                seen = load_relaxed(gate);
            } while (u32(seen >> 32) == grown || u32(seen) <= blockIdx.x);
            __threadfence();
            grown = u32(seen >> 32);
            active = u32(seen);
            alone = false;
            const u64 at = load_relaxed(gate + 1);
            arrived = u32(at);
            turn = u32(at >> 32);
        }
        __syncthreads();
        // The other part changes only behind the next barrier.
        for (int k = int(threadIdx.x); k < int(COUNTERS); k += int(BLOCK)) {
            parts_read[turn ^ 1u][k] = load_relaxed(part_of(turn ^ 1u, k));
        }
        barrier();
    }
    // Stores the counters of the first block, which was alone.
    static DEVICE void store_counters() {
        for (int k = int(threadIdx.x); k < int(COUNTERS); k += int(BLOCK)) {
            store_relaxed(part_of(turn, k), pending[k] - parts_read[turn ^ 1u][k]);
        }
    }
    // Stores the state: the numbers that every thread has, and what the block shares.
    template <class S, class Numbers, class Buffers>
    static DEVICE void save(S* stored, const Numbers& numbers, const Buffers& buffers) {
        if (threadIdx.x == 0) stored->numbers = numbers;
        copy_words(&stored->buffers, &buffers);
    }
    // Reads it.
    template <class S, class Numbers, class Buffers>
    static DEVICE void load(const S* stored, Numbers& numbers, Buffers& buffers) {
        numbers = stored->numbers;
        __syncthreads();
        copy_words(&buffers, &stored->buffers);
        __syncthreads();
    }
    template <class T>
    static DEVICE void copy_words(T* to, const T* from) {
        for (int k = int(threadIdx.x); k < int(sizeof(T) / 8); k += int(BLOCK)) {
            reinterpret_cast<u64*>(to)[k] = reinterpret_cast<const u64*>(from)[k];
        }
    }
};

// Enters the one entry of an input, whose index the state has in the place of a number of edges (`listed` is 3), in an
// empty vector; returns whether there is one.  A barrier of the group follows.
template <class S>
DEVICE bool enter_one(S& u) {
    if (u.listed != 3) return false;
    const i64 i = u.edges;
    __syncthreads();
    if (threadIdx.x == 0) {
        u.listed = 1;
        if (blockIdx.x == 0) {
            u.words[i >> 5] = 1u << (i & 31);
            u.list[0] = i;
        }
    }
    return true;
}

DEVICE i64 group_thread() { return i64(blockIdx.x) * i64(BLOCK) + i64(threadIdx.x); }
DEVICE i64 group_threads() { return Group::size() * i64(BLOCK); }
DEVICE i64 group_warp() { return group_thread() >> 5; }
DEVICE i64 group_warps() { return group_threads() >> 5; }

// --- loops over the entries of vectors: all threads of the group call ----------------------------------------------

// f(i) for every position below size.
template <class F>
DEVICE void each_position(i64 size, F f) {
    for (i64 i = group_thread(); i < size; i += group_threads()) f(i);
}
DEVICE void clear_words(u32* words, i64 size) {
    for (i64 w = group_thread(); 32 * w < size; w += group_threads()) words[w] = 0;
}
// The presence words of another vector; null: of a full one.
DEVICE void copy_presence(u32* to, const u32* from, i64 size) {
    for (i64 w = group_thread(); 32 * w < size; w += group_threads()) to[w] = word_at(from, size, w);
}
template <class T>
DEVICE void copy_array(T* to, const T* from, i64 count) {
    for (i64 q = group_thread(); q < count; q += group_threads()) to[q] = from[q];
}
// A pass over presence words: a warp processes up to 8 consecutive ones, whose loads overlap.
DEVICE i64 words_at_once(i64 size) {
    const i64 each = (size / 32) / group_warps();
    return each < 1 ? 1 : each > 8 ? 8 : each;
}
// word(first + lane), for the lanes that have one.
template <class Word>
DEVICE u32 word_of_lane(i64 first, i64 each, i64 size, Word word) {
    const i64 w = first + lane_id();
    return lane_id() < each && 32 * w < size ? word(w) : 0u;
}
// f(i) for the entries.
template <class S, class F>
DEVICE void each_entry(const S& u, i64 size, F f) {
    if (u.sparse(size)) {
        for (i64 q = group_thread(); q < u.count; q += group_threads()) f(i64(u.list[q]));
    } else {
        const i64 each = words_at_once(size);
        for (i64 first = group_warp() * each; 32 * first < size; first += group_warps() * each) {
            const u32 mine = word_of_lane(first, each, size, [&](i64 w) { return u.words[w]; });
            for (u32 some = __ballot_sync(FULL_WARP, mine != 0); some; some &= some - 1) {
                const int r = __ffs(int(some)) - 1;
                if ((shuffle(mine, r) >> lane_id()) & 1u) f(32 * (first + r) + lane_id());
            }
        }
    }
}
// Removes all entries.
template <class S>
DEVICE void clear(S& u, i64 size) {
    if (u.sparse(size)) {
        for (i64 q = group_thread(); q < u.count; q += group_threads()) store_relaxed(u.words + (i64(u.list[q]) >> 5), 0u);
    } else {
        clear_words(u.words, size);
    }
}
// Lists the entries, in the order of the words; k counts them.
template <class S>
DEVICE void relist(Group& g, const S& u, int k, u64 base, i64 size) {
    const i64 words = (size + 31) / 32;
    for (i64 first = Group::rank() * BLOCK; first < words; first += Group::size() * BLOCK) {
        const i64 w = first + threadIdx.x;
        u32 bits = w < words ? u.words[w] : 0u;
        u64 place = g.reserve(k, u64(__popc(bits))) - base;
        for (; bits; bits &= bits - 1) u.list[place++] = 32 * w + __ffs(int(bits)) - 1;
    }
}
// Fills an empty u with the entries of `driver` for which keep(i), along its list.
template <class S, class D, class Keep>
DEVICE void keep_listed(Group& g, const S& u, int k, u64 base, int shift, const D& driver, Keep keep) {
    for (i64 first = Group::rank() * BLOCK; first < driver.count; first += Group::size() * BLOCK) {
        const i64 q = first + threadIdx.x;
        const i64 i = q < driver.count ? i64(driver.list[q]) : 0;
        const bool kept = q < driver.count && keep(i);
        const u64 place = g.reserve(k, u64(kept) << shift) - base;
        if (kept) {
            u.list[place >> shift] = i;
            atomicOr(u.words + (i >> 5), 1u << (i & 31));
        }
    }
}
// Lists the positions j that claim(i, j) finds first, for the entries i of `driver`, along its list.
template <class S, class D, class Claim>
DEVICE void claim_listed(Group& g, const S& u, int k, u64 base, int shift, const D& driver, Claim claim) {
    for (i64 first = Group::rank() * BLOCK; first < driver.count; first += Group::size() * BLOCK) {
        const i64 q = first + threadIdx.x;
        i64 j = 0;
        const bool found = q < driver.count && claim(i64(driver.list[q]), j);
        const u64 place = g.reserve(k, u64(found) << shift) - base;
        if (found) u.list[place >> shift] = j;
    }
}
// Writes all words of u: the positions for which keep(i), among the bits of word(w).
template <class S, class Word, class Keep>
DEVICE void keep_words(Group& g, const S& u, int k, int shift, i64 size, Word word, Keep keep) {
    u64 mine = 0;
    const i64 each = words_at_once(size);
    for (i64 first = group_warp() * each; 32 * first < size; first += group_warps() * each) {
        const u32 given = word_of_lane(first, each, size, word);
        u32 kept = 0;
        for (u32 some = __ballot_sync(FULL_WARP, given != 0); some; some &= some - 1) {
            const int r = __ffs(int(some)) - 1;
            const bool here = ((shuffle(given, r) >> lane_id()) & 1u) && keep(32 * (first + r) + lane_id());
            const u32 found = __ballot_sync(FULL_WARP, here);
            if (lane_id() == r) kept = found;
        }
        if (lane_id() < each && 32 * (first + lane_id()) < size) {
            u.words[first + lane_id()] = kept;
            mine += u64(__popc(kept)) << shift;
        }
    }
    g.count(k, mine);
}
// Changes u at the positions of `driver`: change(i, had) returns whether u has an entry at i then.  k, k + 1: count what
// is added, and what is removed.  LISTED: the list of u grows if it was current.
template <bool LISTED, class S, class D, class Change>
DEVICE void change_listed(Group& g, const S& u, int k, u64 base, int shift, const D& driver, Change change) {
    u64 added = 0, removed = 0;
    for (i64 first = Group::rank() * BLOCK; first < driver.count; first += Group::size() * BLOCK) {
        const i64 q = first + threadIdx.x;
        const bool inside = q < driver.count;
        const i64 i = inside ? i64(driver.list[q]) : 0;
        const u32 bit = 1u << (i & 31);
        const bool had = inside && u.has(i);  // no other thread changes this bit
        const bool has = inside && change(i, had);
        if (has && !had) atomicOr(u.words + (i >> 5), bit);
        if (had && !has) {
            atomicAnd(u.words + (i >> 5), ~bit);
            removed += u64(1) << shift;
        }
        if constexpr (LISTED) {
            const u64 place = g.reserve(k, u64(has && !had) << shift) - base;
            if (u.listed && has && !had) u.list[u.count + i64(place >> shift)] = i;
        } else {
            added += u64(has && !had) << shift;
        }
    }
    if constexpr (!LISTED) g.count(k, added);
    g.count(k + 1, removed);
}
// The same for all positions; reads the words of `old`, which may be those of u.
template <class S, class Change>
DEVICE void change_words(Group& g, const S& u, const u32* old, int k, int shift, i64 size, Change change) {
    u64 mine = 0;
    const i64 each = words_at_once(size);
    for (i64 first = group_warp() * each; 32 * first < size; first += group_warps() * each) {
        const u32 given = word_of_lane(first, each, size, [&](i64 w) { return word_at(old, size, w); });
        u32 kept = 0;
        for (int r = 0; r < each && 32 * (first + r) < size; r++) {
            const i64 i = 32 * (first + r) + lane_id();
            const bool had = (shuffle(given, r) >> lane_id()) & 1u;
            const u32 found = __ballot_sync(FULL_WARP, i < size && change(i, had));
            if (lane_id() == r) kept = found;
        }
        if (lane_id() < each && 32 * (first + lane_id()) < size) {
            u.words[first + lane_id()] = kept;
            mine += u64(__popc(kept)) << shift;
        }
    }
    g.count(k, mine);
}
// The reduction of value(i) over what `each` visits; each block stores its part.  `combine_parts` completes it, behind a
// barrier.
template <class T, class Each, class Value, class F>
DEVICE void reduce_parts(bool* hits, T* parts, Each each, Value value, F combine) {
    Maybe<T> mine = {false, T()};
    each([&](i64 i) { mine = join(mine, Maybe<T>{true, value(i)}, combine); });
    mine = block_reduce(mine, combine);
    if (threadIdx.x == 0) {
        hits[blockIdx.x] = mine.hit;
        parts[blockIdx.x] = mine.value;
    }
}
// Every block computes the same value.
template <class T, class F>
DEVICE T combine_parts(const bool* hits, const T* parts, F combine) {
    __shared__ T whole;
    Maybe<T> mine = {false, T()};
    for (i64 b = threadIdx.x; b < Group::size(); b += BLOCK) mine = join(mine, Maybe<T>{hits[b], parts[b]}, combine);
    mine = block_reduce(mine, combine);
    if (threadIdx.x == 0) whole = mine.hit ? mine.value : T();
    __syncthreads();
    const T found = whole;
    __syncthreads();  // the next call may write
    return found;
}

// --- numbers as Python's -------------------------------------------------------------------------------------------

DEVICE bool add_overflows(i64 a, i64 b) {
    const i64 sum = i64(u64(a) + u64(b));
    return ((a ^ sum) & (b ^ sum)) < 0;
}
DEVICE bool subtract_overflows(i64 a, i64 b) {
    const i64 difference = i64(u64(a) - u64(b));
    return ((a ^ b) & (a ^ difference)) < 0;
}
DEVICE bool multiply_overflows(i64 a, i64 b) { return fabs(f64(a) * f64(b)) > 9.0e18; }
DEVICE bool python_isnan(f64 x) { return x != x; }
DEVICE bool python_isfinite(f64 x) { return fabs(x) <= 1.7976931348623157e308; }
DEVICE bool python_isinf(f64 x) { return fabs(x) > 1.7976931348623157e308; }
// isclose: |x - y| <= absolute + relative |y|, both finite.
DEVICE bool within_limits(f64 x, f64 y, f64 relative, f64 absolute) {
    return python_isfinite(x) && python_isfinite(y) && fabs(x - y) <= absolute + __dmul_rn(relative, fabs(y));
}
DEVICE i64 floor_divide(i64 a, i64 b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }
DEVICE i64 modulo(i64 a, i64 b) {
    const i64 rest = a % b;
    return rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest;
}
DEVICE f64 floor_divide(f64 a, f64 b) {
    const f64 rest = fmod(a, b);
    f64 quotient = (a - rest) / b;
    if (rest != 0.0 && (b < 0.0) != (rest < 0.0)) quotient -= 1.0;
    if (quotient == 0.0) return copysign(0.0, a / b);
    const f64 below = floor(quotient);
    return quotient - below > 0.5 ? below + 1.0 : below;
}
DEVICE f64 modulo(f64 a, f64 b) {
    const f64 rest = fmod(a, b);
    if (rest == 0.0) return copysign(0.0, b);
    return (b < 0.0) != (rest < 0.0) ? rest + b : rest;
}
