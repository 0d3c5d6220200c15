// The pulls of a level-synchronous closure: each unvisited row searches for a visited neighbor.
//
// The rest of a long row, after its first entries, is divided into row segments, which are listed; after all rows have
// been tried, all warps of the grid share the segments evenly (segments.cuh).
//
// Included by closure_level.cuh after `Search`.

#pragma once

#include "segments.cuh"

// One pull.  Every visited neighbor of an unvisited row is in the frontier, because a neighbor visited earlier would
// have reached the row.
struct Pull {
    const Search& s;
    const u32* visited;
    u32* visited_next;
    const Append& to;
    Z level;
    SegmentList segments;

    // Writes the value of row j, which is reached from row k over the entry at position p (used only if it is read).
    DEVICE void write(i64 k, i64 j, i64 p) const {
        if constexpr (VALUES == 1) s.values[j] = level;
        if constexpr (VALUES == 2) {
            Z x = Z();
            if constexpr (multiply_reads_x) x = s.values[k];
            s.values[j] = arrival(s, s.t_values, x, k, j, p);
        }
    }
};

// A visited neighbor and its entry; -1: none.
struct Reached {
    i64 row, entry;
};

// Probes entries [p, stop) of a row, BATCH at once; returns the first visited neighbor.  Any thread may call.
template <int BATCH>
DEVICE Reached probe(const Search& s, const u32* visited, i64 p, i64 stop) {
    if (p >= stop) return {-1, p};
    for (T_CODEC::Cursor entry(s.t_columns, p, p); p < stop; p += BATCH) {
        i64 k[BATCH];
#pragma unroll
        for (int u = 0; u < BATCH; u++) {
            k[u] = p + u < stop ? entry.column() : -1;
            if (p + u + 1 < stop) entry.next();
        }
        u32 hits = 0;
#pragma unroll
        for (int u = 0; u < BATCH; u++) hits |= u32(k[u] >= 0 && bit_test(visited, k[u])) << u;
        if (hits == 0) continue;
#pragma unroll
        for (int u = 0; u < BATCH; u++)
            if (hits & (1u << u)) return {k[u], p + u};
    }
    return {-1, stop};
}

// Searches entries [first, last) of a row for a visited neighbor; valid in every lane.  The whole warp calls.
DEVICE Reached probe_by_warp(const Search& s, const u32* visited, i64 row_start, i64 first, i64 last) {
    T_CODEC::Warp walk(s.t_columns, row_start, first, last);
    while (walk.next()) {  // two steps at once, whose loads overlap
        const i64 p = walk.p, k = walk.inside ? walk.column : -1;
        const bool more = walk.next();
        const i64 p2 = walk.p, k2 = more && walk.inside ? walk.column : -1;
        const bool hit = k >= 0 && bit_test(visited, k);
        const bool hit2 = k2 >= 0 && bit_test(visited, k2);
        const u32 hits = __ballot_sync(FULL_WARP, hit || hit2);
        if (hits == 0) continue;
        const int lane = __ffs(int(hits)) - 1;
        return {shuffle(hit ? k : k2, lane), shuffle(hit ? p : p2, lane)};
    }
    return {-1, 0};
}

// Searches a segment of row j, unless the row is already visited.  An outdated test costs a redundant search; the atomic
// below decides.  The whole warp calls.
DEVICE void probe_segment(const Pull& pull, i64 j, i64 number) {
    const Search& s = pull.s;
    // Lanes may load different words; a bit that one lane has seen is set for all.
    if (__any_sync(FULL_WARP, bit_relaxed(pull.visited_next, j))) return;
    const i64 row_start = i64(s.t_indptr[j]);
    const RowSegments segments(row_start + PROBES, i64(s.t_indptr[j + 1]));
    const Reached from = probe_by_warp(s, pull.visited, row_start, segments.first(number), segments.last(number));
    if (from.row < 0 || lane_id() != 0 || !bit_set(pull.visited_next, j)) return;
    pull.write(from.row, j, from.entry);
    const i64 start = i64(s.indptr[j]);
    const u64 mine = s.graph.packing.pack(1, i64(s.indptr[j + 1]) - start);
    put(s.graph.packing, pull.to, pull.to.base + atomicAdd(pull.to.counter, mine), j, start);
}

// Searches all listed segments, after a barrier of the group.
template <int BLOCK, class Group>
DEVICE void probe_segments(const Pull& pull) {
    pull.segments.each<BLOCK, Group>([&](i64 j, i64 number) { probe_segment(pull, j, number); });
}

// --- without hubs: ----------------------------------------------------------------------------------

template <int BLOCK>
struct PullStage {
    u32 found[BLOCK / 8];
    u16 open_rows[4 * BLOCK];
    u16 long_rows[4 * BLOCK];
    int long_count;
};

// Appends to the list the rows whose bits are set in BLOCK / 8 words that begin at row `base`.  The whole block calls.
template <int BLOCK>
DEVICE void append_found(const Search& s, const Append& to, const u32* words, i64 base) {
    const int t = int(threadIdx.x);
    u32 found = (words[t / 8] >> (4 * (t & 7))) & 15u;
    if (!__syncthreads_or(int(found))) return;
    i64 degrees = 0;
    const i64 four = base + 4 * t;
    for (u32 left = found; left; left &= left - 1) {
        const i64 j = four + __ffs(int(left)) - 1;
        degrees += i64(s.indptr[j + 1]) - i64(s.indptr[j]);
    }
    u64 room = reserve(to, s.graph.packing.pack(__popc(found), degrees));
    for (; found; found &= found - 1) {
        const i64 j = four + __ffs(int(found)) - 1;
        const i64 start = i64(s.indptr[j]);
        put(s.graph.packing, to, room, j, start);
        room += s.graph.packing.pack(1, i64(s.indptr[j + 1]) - start);
    }
}

// A block lists the unvisited rows of BLOCK / 8 words at a time.  A thread probes the first PROBES entries of each row.
// The segments of long rows are listed for all warps of the grid; if the list is full, a warp of the block probes them.
template <int BLOCK, class Group>
DEVICE void pull_level(const Pull& pull, Group& group) {
    __shared__ PullStage<BLOCK> stage;
    const Search& s = pull.s;
    const u32* const visited = pull.visited;
    const int t = int(threadIdx.x);
    constexpr i64 WORDS = BLOCK / 8;
    const i64 chunks = (s.words() + WORDS - 1) / WORDS;
    for (i64 chunk = Group::rank(); chunk < chunks; chunk += Group::size()) {
        const i64 w = chunk * WORDS + t / 8;
        const i64 chunk_row = chunk * WORDS * 32;
        const u32 seen = w < s.words() ? visited[w] : FULL_WARP;
        const u32 unvisited = w < s.words() ? s.nonempty[w] & ~seen : 0u;
        u32 open_rows = (unvisited >> (4 * (t & 7))) & 15u;
        int count;
        int slot = block_scan_exclusive(__popc(open_rows), count);
        if (count == 0) {  // every row is visited: copy the words
            if ((t & 7) == 0 && w < s.words()) pull.visited_next[w] = seen;
            continue;
        }
        if (t < WORDS) stage.found[t] = 0;
        if (t == 0) stage.long_count = 0;
        for (; open_rows; open_rows &= open_rows - 1) stage.open_rows[slot++] = u16(4 * t + __ffs(int(open_rows)) - 1);
        __syncthreads();

        for (int i = t; i < count; i += BLOCK) {
            const int local = stage.open_rows[i];
            const i64 j = chunk_row + local;
            const i64 begin = i64(s.t_indptr[j]), end = i64(s.t_indptr[j + 1]);
            const Reached from = probe<1>(s, visited, begin, begin + PROBES < end ? begin + PROBES : end);
            if (from.row >= 0) {
                atomicOr(&stage.found[local >> 5], 1u << (local & 31));
                pull.write(from.row, j, from.entry);
            } else if (begin + PROBES < end) {
                stage.long_rows[atomicAdd(&stage.long_count, 1)] = u16(local);
            }
        }
        __syncthreads();

        for (int r = warp_in_block(); r < stage.long_count; r += BLOCK / 32) {
            const int local = stage.long_rows[r];
            const i64 j = chunk_row + local;
            const i64 begin = i64(s.t_indptr[j]), end = i64(s.t_indptr[j + 1]);
            if (pull.segments.add(LaneGroup<32>(), j, begin + PROBES, end)) continue;
            const Reached from = probe_by_warp(s, visited, begin, begin + PROBES, end);
            if (from.row < 0 || lane_id() != 0) continue;
            atomicOr(&stage.found[local >> 5], 1u << (local & 31));
            pull.write(from.row, j, from.entry);
        }
        __syncthreads();

        if ((t & 7) == 0 && w < s.words()) pull.visited_next[w] = seen | stage.found[t / 8];
        append_found<BLOCK>(s, pull.to, stage.found, chunk_row);
    }
    group.barrier();
    probe_segments<BLOCK, Group>(pull);
}

// --- with hubs (hubs.cuh), in three passes ------------------------------------------------------------
//
// First pass: each lane tests the two hubs of its row, by independent loads that overlap.  This finds nearly every
// reachable row.  Rows with further entries are marked in `rest`.  Second pass: warps probe the marked rows, 32 at a
// time.  Probing a row takes several dependent loads, which would delay the first pass.  Third pass: warps probe the
// segments of long rows.

template <int BLOCK>
struct HubStage {
    u32 found[BLOCK / 8];
    i64 pending[BLOCK / 32][64];
};

// Probes row j of each lane; -1: none.  The whole warp calls.
DEVICE void probe_rest(const Pull& pull, i64 j) {
    const Search& s = pull.s;
    const u32* const visited = pull.visited;
    i64 begin = 0, end = 0;
    if (j >= 0) {
        begin = i64(s.t_indptr[j]);
        end = i64(s.t_indptr[j + 1]);
        if (end - begin <= 2) begin = end;  // the row has no entries but its hubs
    }
    const i64 rest = begin + PROBES;
    Reached from = probe<4>(s, visited, begin, rest < end ? rest : end);
    for (u32 longer = __ballot_sync(FULL_WARP, from.row < 0 && rest < end); longer; longer &= longer - 1) {
        const int lane = __ffs(int(longer)) - 1;
        const i64 first = shuffle(rest, lane), last = shuffle(end, lane);
        if (pull.segments.add(LaneGroup<32>(), shuffle(j, lane), first, last)) continue;
        const Reached at = probe_by_warp(s, visited, first - PROBES, first, last);
        if (lane_id() == lane) from = at;
    }
    const bool hit = from.row >= 0;
    if (!__any_sync(FULL_WARP, hit)) return;
    if (hit) {
        bit_set(pull.visited_next, j);
        pull.write(from.row, j, 0);
    }
    append_by_warp(s.graph, pull.to, hit, j);
}

template <int BLOCK, class Group>
DEVICE void pull_hubs(const Pull& pull, Group& group) {
    __shared__ HubStage<BLOCK> stage;
    const Search& s = pull.s;
    const u32* const visited = pull.visited;
    constexpr int WORDS = 4;  // words a warp, whose loads overlap
    const int lane = lane_id();
    const i64 chunks = (s.words() + BLOCK / 8 - 1) / (BLOCK / 8);
    for (i64 chunk = Group::rank(); chunk < chunks; chunk += Group::size()) {
        const i64 first_word = chunk * (BLOCK / 8) + WORDS * warp_in_block();
        u32 seen[WORDS];
        i64 first[WORDS], second[WORDS];
#pragma unroll
        for (int u = 0; u < WORDS; u++) {
            const i64 w = first_word + u;
            seen[u] = w < s.words() ? visited[w] : FULL_WARP;
            const u32 unvisited = w < s.words() ? s.nonempty[w] & ~seen[u] : 0u;
            const bool mine = (unvisited >> lane) & 1u;
            first[u] = mine ? i64(s.hubs[32 * w + lane]) : -1;
            second[u] = mine ? i64(s.hubs[s.n + 32 * w + lane]) : -1;
        }
#pragma unroll
        for (int u = 0; u < WORDS; u++) {
            const i64 w = first_word + u, j = 32 * w + lane;
            const bool hit_first = first[u] >= 0 && bit_test(visited, first[u]);
            const bool hit_second = second[u] >= 0 && bit_test(visited, second[u]);
            const bool hit = hit_first || hit_second;
            if (hit) pull.write(hit_first ? first[u] : second[u], j, 0);
            const u32 found = __ballot_sync(FULL_WARP, hit);
            const u32 rest = __ballot_sync(FULL_WARP, !hit && second[u] >= 0);
            if (lane == 0) {
                stage.found[WORDS * warp_in_block() + u] = found;
                if (w < s.words()) {
                    pull.visited_next[w] = seen[u] | found;
                    s.rest()[w] = rest;
                }
            }
        }
        __syncthreads();
        append_found<BLOCK>(s, pull.to, stage.found, chunk * BLOCK * 4);
    }
    group.barrier();

    // Consecutive warp numbers are in different blocks, which distributes clusters of marked rows.
    const i64 warps = Group::size() * (BLOCK / 32);
    const i64 warp = warp_in_block() * Group::size() + Group::rank();
    i64 span = 1;  // words a warp reads at once: as many as leave at least one group for every warp, at most 32
    while (span < 32 && 2 * span * warps <= s.words()) span *= 2;
    i64* const pending = stage.pending[warp_in_block()];
    int count = 0;
    for (i64 group = warp; span * group < s.words(); group += warps) {
        const i64 w = span * group + lane;
        const u32 rest = lane < span && w < s.words() ? s.rest()[w] : 0u;
        for (u32 marked = __ballot_sync(FULL_WARP, rest != 0); marked; marked &= marked - 1) {
            const int owner = __ffs(int(marked)) - 1;
            const u32 word = shuffle(rest, owner);
            if ((word >> lane) & 1u) pending[count + __popc(word & lanes_below())] = 32 * (span * group + owner) + lane;
            count += __popc(word);
            __syncwarp();
            if (count < 32) continue;
            probe_rest(pull, pending[lane]);
            count -= 32;
            const i64 kept = pending[32 + lane];
            __syncwarp();
            if (lane < count) pending[lane] = kept;
            __syncwarp();
        }
    }
    if (count > 0) probe_rest(pull, lane < count ? pending[lane] : -1);
    group.barrier();
    probe_segments<BLOCK, Group>(pull);
}
