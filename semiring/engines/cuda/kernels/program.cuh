// The fixed part of the programs of compiled loops; program_code.py generates the rest of each text.
//
// One cooperative launch runs all iterations.  Every thread executes the control flow and the arithmetic of numbers,
// so that these are equal in all threads; the positions and pointers of vectors are in shared memory, where one thread
// of each block changes them at barriers.  A request is a loop that all threads of the group share, and a barrier
// precedes whatever reads its result.  While requests are small, a few blocks form the group, or the first alone, whose
// barriers are those of a block; the others wait, and let the multiprocessors to them.
//
// The prologue defines BLOCK (threads a block), COUNTERS, and RESIDENT, ALONE_MOST, ALONE_LEAST, SOME_BLOCKS, SOME_MOST,
// SOME_LEAST, SPARSE_SHARE, RELIST_SHARE, EAGER_EDGES, FEW_EDGES and WATCHED_CYCLES (see program_tuning.py).

#pragma once

#include "program_group.cuh"
#include "program_numbers.cuh"

// The positions of the entries of a vector.  listed: 0 the list is not current, 1 it is, 2 `before` as well: the number
// of edges of all entries before each, in the matrix that vectors of this size are pushed through; 4 (REDUCED) the list
// has `edges` positions, of which some were removed from the vector.
enum { REDUCED = 4 };
template <class I, class B>
struct alignas(16) Positions {  // exchanged 16 bytes at a time
    typedef B Offset;
    u32* words;
    I* list;
    B* before;
    i64 count;
    i64 edges;
    i64 listed;

    DEVICE bool has(i64 i) const { return bit_test(words, i); }
    // Whether a list is worth the pass that makes it.
    DEVICE bool unlisted(i64 size) const {
        return (listed == 0 || listed == REDUCED) && count * i64(RELIST_SHARE) <= size && size > i64(ALONE_MOST);
    }
    // Whether requests follow the list, and do not pass over all positions.
    DEVICE bool sparse(i64 size) const {
        return listed != 0 && listed != REDUCED && count * i64(SPARSE_SHARE) <= size;
    }
    // The same for requests that test whether a position is still there.
    DEVICE i64 length() const { return listed == REDUCED ? edges : count; }
    DEVICE bool followed(i64 size) const {
        return sparse(size) || (listed == REDUCED && edges * i64(SPARSE_SHARE) <= size);
    }
    DEVICE bool outdated(i64 size) const { return unlisted(size) && !(listed == REDUCED && edges <= 2 * count + 32); }
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
// to[i] = value(i) for every position below size.  Four values are computed before the first is stored, so that their
// loads overlap: the compiler cannot move a load above a store that may write to the same address.
template <class T, class F>
DEVICE void store_each(T* to, i64 size, F value) {
    const i64 step = group_threads();
    i64 i = group_thread();
    for (; i + 3 * step < size; i += 4 * step) {
        const T first = value(i), second = value(i + step), third = value(i + 2 * step), fourth = value(i + 3 * step);
        to[i] = first;
        to[i + step] = second;
        to[i + 2 * step] = third;
        to[i + 3 * step] = fourth;
    }
    for (; i < size; i += step) to[i] = value(i);
}
DEVICE void clear_words(u32* words, i64 size) {
    for (i64 w = group_thread(); 32 * w < size; w += group_threads()) words[w] = 0;
}
// The presence words of another vector; null: of a full one.
DEVICE void copy_presence(u32* to, const u32* from, i64 size) {
    for (i64 w = group_thread(); 32 * w < size; w += group_threads()) to[w] = word_at(from, size, w);
}
// The words, of those of this thread, in which a vector lacks positions that are needed; null: unknown ones.
DEVICE u64 missing_words(const u32* needed, const u32* words, i64 size) {
    if (needed == nullptr) return 1;
    u64 missing = 0;
    for (i64 w = group_thread(); 32 * w < size; w += group_threads()) missing += (needed[w] & ~words[w]) != 0;
    return missing;
}
template <class T>
DEVICE void copy_array(T* to, const T* from, i64 count) {
    for (i64 q = group_thread(); q < count; q += group_threads()) to[q] = from[q];
}
// The words whose entries a selection tests before it stores any.
constexpr int WORDS_TESTED = 4;
// A pass over presence words: a warp processes up to 8 consecutive ones, whose loads overlap.
DEVICE i64 words_at_once(i64 size) {
    const i64 words = (size + 31) / 32, warps = group_warps();
    return words >= 8 * warps ? 8 : words <= warps ? 1 : (words + warps - 1) / warps;
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
    if (u.followed(size)) {
        const i64 listed = u.length();
        for (i64 q = group_thread(); q < listed; q += group_threads()) store_relaxed(u.words + (i64(u.list[q]) >> 5), 0u);
    } else {
        clear_words(u.words, size);
    }
}
// Lists the entries, in the order of the words; k counts them.
template <class S>
DEVICE void relist(Group& g, const S& u, int k, u64 base, i64 size) {
    const i64 words = (size + 31) / 32;
    each_by_block<BLOCK, Group>(words, [&](i64 w, bool inside) {
        u32 bits = inside ? u.words[w] : 0u;
        u64 place = g.reserve(k, u64(__popc(bits))) - base;
        for (; bits; bits &= bits - 1) u.list[place++] = 32 * w + __ffs(int(bits)) - 1;
    });
}
// The edges of a row of the matrix that vectors are pushed through; 0 where `offsets` is null.
template <class P>
DEVICE i64 edges_of(const P* offsets, i64 i) {
    return offsets == nullptr ? 0 : i64(offsets[i + 1]) - i64(offsets[i]);
}
// Fills an empty u with the entries of `driver` for which test(i), along its list; with the edges before each, where
// `offsets` is not null.  take(i) stores the value.
template <class S, class D, class Test, class Take>
DEVICE void keep_listed(Group& g, const S& u, int k, u64 base, int shift, const typename S::Offset* offsets,
                        const D& driver, Test test, Take take) {
    const Packing packing = {shift};
    const i64 length = driver.length();
    each_by_block<BLOCK, Group>(length, [&](i64 q, bool inside) {
        const i64 i = inside ? i64(driver.list[q]) : 0;
        const bool kept = inside && (driver.listed != REDUCED || driver.has(i)) && test(i);
        if (kept) take(i);
        const u64 place = g.reserve(k, kept ? packing.pack(1, edges_of(offsets, i)) : 0) - base;
        if (kept) {
            u.list[packing.rows(place)] = i;
            if (offsets != nullptr) u.before[packing.rows(place)] = packing.edges(place);
            bit_set(u.words, i);
        }
    });
}
// Lists the positions j that claim(i, j) finds first, for the entries i of `driver`, along its list.
template <class S, class D, class Claim>
DEVICE void claim_listed(Group& g, const S& u, int k, u64 base, int shift, const D& driver, Claim claim) {
    each_by_block<BLOCK, Group>(driver.count, [&](i64 q, bool inside) {
        i64 j = 0;
        const bool found = inside && claim(i64(driver.list[q]), j);
        const u64 place = g.reserve(k, u64(found) << shift) - base;
        if (found) u.list[place >> shift] = j;
    });
}
// Writes all words of u: the positions for which test(i), among the bits of word(w); take(i) stores the value.  LISTED:
// lists them, too, if they are so few that requests follow the list; with the edges before each, where `offsets` is not
// null.
template <bool LISTED, class S, class Word, class Test, class Take>
DEVICE void keep_words(Group& g, const S& u, int k, u64 base, int shift, const typename S::Offset* offsets, i64 size,
                       Word word, Test test, Take take) {
    const Packing packing = {shift};
    u64 mine = 0;
    const i64 each = words_at_once(size);
    for (i64 first = group_warp() * each; 32 * first < size; first += group_warps() * each) {
        const u32 given = word_of_lane(first, each, size, word);
        const u32 some = __ballot_sync(FULL_WARP, given != 0);
        u32 kept = 0;
        for (int at = 0; at < each; at += WORDS_TESTED) {
            if (((some >> at) & ((1u << WORDS_TESTED) - 1)) == 0) continue;
            // No store lies between the tests, so that their loads overlap.
            bool here[WORDS_TESTED];
#pragma unroll
            for (int r = 0; r < WORDS_TESTED; r++) {
                here[r] = ((shuffle(given, at + r) >> lane_id()) & 1u) && test(32 * (first + at + r) + lane_id());
            }
#pragma unroll
            for (int r = 0; r < WORDS_TESTED; r++) {
                if (here[r]) take(32 * (first + at + r) + lane_id());
                const u32 found = __ballot_sync(FULL_WARP, here[r]);
                if (lane_id() == at + r) kept = found;
            }
        }
        if (lane_id() < each && 32 * (first + lane_id()) < size) {
            u.words[first + lane_id()] = kept;
            mine += packing.pack(__popc(kept), 0);
            if (LISTED && offsets != nullptr) {
                for (u32 bits = kept; bits; bits &= bits - 1) {
                    mine += u64(edges_of(offsets, 32 * (first + lane_id()) + __ffs(int(bits)) - 1));
                }
            }
        }
    }
    if constexpr (!LISTED) {
        g.count(k, mine);
        return;
    }
    u64 place = g.reserve(k, mine) - base;
    if (mine == 0) return;
    // A lane reads the words again that it has written.
    for (i64 first = group_warp() * each; 32 * first < size; first += group_warps() * each) {
        const i64 w = first + lane_id();
        for (u32 bits = lane_id() < each && 32 * w < size ? u.words[w] : 0u; bits; bits &= bits - 1) {
            const i64 q = packing.rows(place), i = 32 * w + __ffs(int(bits)) - 1;
            if (q * i64(SPARSE_SHARE) > size) return;
            u.list[q] = i;
            if (offsets != nullptr) u.before[q] = packing.edges(place);
            place += packing.pack(1, edges_of(offsets, i));
        }
    }
}
// Changes u at the positions of `driver`: change(i, had) returns whether u has an entry at i then.  k, k + 1: count what
// is added, and what is removed.  LISTED: the list of u grows if it was current.
template <bool LISTED, class S, class D, class Change>
DEVICE void change_listed(Group& g, const S& u, int k, u64 base, int shift, const D& driver, Change change) {
    const bool appends = LISTED && u.listed != 0 && u.listed != REDUCED;
    u64 added = 0, removed = 0;
    each_by_block<BLOCK, Group>(driver.count, [&](i64 q, bool inside) {
        const i64 i = inside ? i64(driver.list[q]) : 0;
        const bool had = inside && u.has(i);  // no other thread changes this bit
        const bool has = inside && change(i, had);
        if (has && !had) bit_set(u.words, i);
        if (had && !has) {
            bit_clear(u.words, i);
            removed += u64(1) << shift;
        }
        const u64 mine = u64(has && !had) << shift;
        if (!appends) {
            added += mine;
            return;
        }
        const u64 place = g.reserve(k, mine) - base;
        if (mine != 0) u.list[u.count + i64(place >> shift)] = i;
    });
    g.count(k, added);
    g.count(k + 1, removed);
}
// The same in passes over the words of `driver`.
template <class S, class D, class Change>
DEVICE void change_along(Group& g, const S& u, int k, int shift, i64 size, const D& driver, Change change) {
    u64 mine = 0;
    const i64 each = words_at_once(size);
    for (i64 first = group_warp() * each; 32 * first < size; first += group_warps() * each) {
        const u32 given = word_of_lane(first, each, size, [&](i64 w) { return u.words[w]; });
        const u32 visited = word_of_lane(first, each, size, [&](i64 w) { return driver.words[w]; });
        u32 kept = given;
        for (u32 some = __ballot_sync(FULL_WARP, visited != 0); some; some &= some - 1) {
            const int r = __ffs(int(some)) - 1;
            const bool had = (shuffle(given, r) >> lane_id()) & 1u;
            const bool visit = (shuffle(visited, r) >> lane_id()) & 1u;
            const u32 found = __ballot_sync(FULL_WARP, visit ? change(32 * (first + r) + lane_id(), had) : had);
            if (lane_id() == r) kept = found;
        }
        if (lane_id() < each && 32 * (first + lane_id()) < size) {
            if (kept != given) u.words[first + lane_id()] = kept;
            mine += u64(__popc(kept)) << shift;
        }
    }
    g.count(k, mine);
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
