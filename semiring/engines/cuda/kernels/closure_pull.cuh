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
    u64& counted;  // unless LISTS: the rows that this thread has found and their edges, packed

    // Lists or counts a row that one thread has found.
    DEVICE void add(i64 j) const {
        const i64 start = i64(s.indptr[j]);
        const u64 mine = s.graph.packing.pack(1, i64(s.indptr[j + 1]) - start);
        if constexpr (LISTS) put(s.graph.packing, to, to.base + atomicAdd(to.counter, mine), j, start);
        else counted += mine;
    }
    // The same for the lanes of a warp with `mine`.  The whole warp calls.
    DEVICE void add_by_warp(bool mine, i64 j) const {
        if constexpr (LISTS) append_by_warp(s.graph, to, mine, j);
        else if (mine) add(j);
    }
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
DEVICE Reached probe(const Search& s, const u32* visited, i64 row_start, i64 p, i64 stop) {
    if (p >= stop) return {-1, p};
    for (T_CODEC::Cursor entry(s.t_columns, row_start, p); p < stop; p += BATCH) {
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
    pull.add(j);
}

// Searches in each group of LANES lanes entries [first, last) of a row; valid in every lane of the group.  Uncompressed
// rows.  The whole warp calls.
template <int LANES>
DEVICE Reached probe_by_lanes(const Search& s, const u32* visited, i64 row_start, i64 first, i64 last) {
    const int group = lane_id() / LANES;
    Reached from = {-1, 0};
    for (i64 p = first + lane_id() % LANES; __any_sync(FULL_WARP, p < last); p += 2 * LANES) {
        const i64 p2 = p + LANES;
        const i64 k = p < last ? s.t_columns.at(row_start, p) : -1, k2 = p2 < last ? s.t_columns.at(row_start, p2) : -1;
        const bool hit = k >= 0 && bit_test(visited, k), hit2 = k2 >= 0 && bit_test(visited, k2);
        const u32 hits = __ballot_sync(FULL_WARP, hit || hit2) >> (LANES * group) << (32 - LANES);
        const int lane = hits != 0 ? LANES * group + __ffs(int(hits)) - 1 - (32 - LANES) : lane_id();
        const i64 row = shuffle(hit ? k : k2, lane), entry = shuffle(hit ? p : p2, lane);
        if (hits == 0) continue;
        from = {row, entry};
        last = 0;
    }
    return from;
}

// The rows of a thread, PER of a word of presence bits, as a block divides words among its threads.
template <int PER>
DEVICE u32 bits_of_thread(const u32* words) {
    const int t = int(threadIdx.x);
    return (words[t * PER / 32] >> (t * PER % 32)) & (FULL_WARP >> (32 - PER));
}

// Counts the rows from `first` on whose bits are set, and their edges; packed.
DEVICE u64 count_found(const Search& s, u32 found, i64 first) {
    i64 edges = 0;
    for (u32 left = found; left; left &= left - 1) {
        const i64 j = first + __ffs(int(left)) - 1;
        edges += i64(s.indptr[j + 1]) - i64(s.indptr[j]);
    }
    return s.graph.packing.pack(__popc(found), edges);
}

// Appends to the list the rows whose bits are set in words that begin at row `base`, PER rows a thread.  The whole block
// calls.
template <int PER>
DEVICE void append_found(const Search& s, const Append& to, const u32* words, i64 base) {
    u32 found = bits_of_thread<PER>(words);
    if (!__syncthreads_or(int(found != 0))) return;
    const i64 first = base + PER * int(threadIdx.x);
    u64 room = reserve(to, count_found(s, found, first));
    for (; found; found &= found - 1) {
        const i64 j = first + __ffs(int(found)) - 1;
        const i64 start = i64(s.indptr[j]);
        put(s.graph.packing, to, room, j, start);
        room += s.graph.packing.pack(1, i64(s.indptr[j + 1]) - start);
    }
}

// Lists or counts the same rows.  The whole block calls.
template <int PER>
DEVICE void add_found(const Pull& pull, const u32* words, i64 base) {
    if constexpr (LISTS) {
        append_found<PER>(pull.s, pull.to, words, base);
    } else {
        pull.counted += count_found(pull.s, bits_of_thread<PER>(words), base + PER * int(threadIdx.x));
        __syncthreads();  // the words are written again
    }
}

// Lists the rows of `visited` that are not in `before`.  Every thread of the group calls.
template <int BLOCK, class Group>
DEVICE void list_new(const Search& s, const Append& to, const u32* visited, const u32* before) {
    __shared__ u32 found[BLOCK];
    const int t = int(threadIdx.x);
    for (i64 word = Group::rank() * BLOCK; word < s.words(); word += Group::size() * BLOCK) {
        found[t] = word + t < s.words() ? visited[word + t] & ~before[word + t] : 0u;
        append_found<32>(s, to, found, 32 * word);
    }
}

// Searches all listed segments, after a barrier of the group.
template <int BLOCK, class Group>
DEVICE void probe_segments(const Pull& pull) {
    pull.segments.each<BLOCK, Group>([&](i64 j, i64 number) { probe_segment(pull, j, number); });
}

// --- without hubs: ----------------------------------------------------------------------------------

// The rows of each thread, in a word of presence bits.
constexpr int PULL_SPAN = 8;
// The entries of a row after its first ones that lanes of the block probe; more are divided into segments.
constexpr i64 PULL_DIRECT = TILE_ENTRIES;

template <int BLOCK>
struct PullStage {
    static constexpr u16 LISTED = 0xffffu;
    u32 found[BLOCK * PULL_SPAN / 32];
    u16 open_rows[PULL_SPAN * BLOCK];
    u16 long_rows[PULL_SPAN * BLOCK];
    int long_count;
};

// A block lists the unvisited rows of some words at a time.  A thread probes the first PROBES entries of each row; lanes
// of a warp probe the rest of a row.  The segments of long rows are listed for all warps of the grid, as far as the list
// has room.
template <int BLOCK, class Group>
DEVICE void pull_level(const Pull& pull, Group& group) {
    typedef PullStage<BLOCK> Stage;
    __shared__ Stage stage;
    const Search& s = pull.s;
    const u32* const visited = pull.visited;
    const int t = int(threadIdx.x);
    constexpr i64 WORDS = BLOCK * PULL_SPAN / 32;
    const i64 chunks = (s.words() + WORDS - 1) / WORDS;
    for (i64 chunk = Group::rank(); chunk < chunks; chunk += Group::size()) {
        const i64 w = chunk * WORDS + t * PULL_SPAN / 32;
        const i64 chunk_row = chunk * WORDS * 32;
        const u32 seen = w < s.words() ? visited[w] : FULL_WARP;
        const u32 unvisited = w < s.words() ? s.nonempty[w] & ~seen : 0u;
        u32 open_rows = (unvisited >> (t * PULL_SPAN % 32)) & (FULL_WARP >> (32 - PULL_SPAN));
        const bool writes = t * PULL_SPAN % 32 == 0 && w < s.words();
        int count;
        int slot = block_scan_exclusive(__popc(open_rows), count);
        if (count == 0) {  // every row is visited: copy the words
            if (writes) pull.visited_next[w] = seen;
            continue;
        }
        if (t < WORDS) stage.found[t] = 0;
        if (t == 0) stage.long_count = 0;
        for (; open_rows; open_rows &= open_rows - 1)
            stage.open_rows[slot++] = u16(PULL_SPAN * t + __ffs(int(open_rows)) - 1);
        __syncthreads();

        for (int i = t; i < count; i += PULL_ROWS * BLOCK) {
            // The loads of several rows overlap: their bounds, their first columns, and the bits of these.
            int local[PULL_ROWS];
            i64 begin[PULL_ROWS], end[PULL_ROWS], first[PULL_ROWS];
            bool hit[PULL_ROWS];
#pragma unroll
            for (int u = 0; u < PULL_ROWS; u++) {
                local[u] = i + u * BLOCK < count ? int(stage.open_rows[i + u * BLOCK]) : -1;
                const i64 j = chunk_row + local[u];
                begin[u] = local[u] >= 0 ? i64(s.t_indptr[j]) : 0;
                end[u] = local[u] >= 0 ? i64(s.t_indptr[j + 1]) : 0;
            }
#pragma unroll
            for (int u = 0; u < PULL_ROWS; u++)
                first[u] = begin[u] < end[u] ? T_CODEC::Cursor(s.t_columns, begin[u], begin[u]).column() : -1;
#pragma unroll
            for (int u = 0; u < PULL_ROWS; u++) hit[u] = first[u] >= 0 && bit_test(visited, first[u]);
#pragma unroll
            for (int u = 0; u < PULL_ROWS; u++) {
                if (local[u] < 0) continue;
                const i64 stop = begin[u] + PROBES < end[u] ? begin[u] + PROBES : end[u];
                Reached from = {first[u], begin[u]};
                if (!hit[u]) from = probe<1>(s, visited, begin[u], begin[u] + 1, stop);
                if (from.row >= 0) {
                    atomicOr(&stage.found[local[u] >> 5], 1u << (local[u] & 31));
                    pull.write(from.row, chunk_row + local[u], from.entry);
                } else if (stop < end[u]) {
                    stage.long_rows[atomicAdd(&stage.long_count, 1)] = u16(local[u]);
                }
            }
        }
        __syncthreads();

        for (int first = 32 * warp_in_block(); first < stage.long_count; first += BLOCK) {
            const int r = first + lane_id();
            const bool inside = r < stage.long_count;
            const i64 j = chunk_row + (inside ? int(stage.long_rows[r]) : 0);
            const i64 begin = inside ? i64(s.t_indptr[j]) + PROBES : 0, end = inside ? i64(s.t_indptr[j + 1]) : 0;
            if (pull.segments.add_by_warp(end - begin > PULL_DIRECT, j, begin, end)) stage.long_rows[r] = Stage::LISTED;
        }
        __syncthreads();

        constexpr int LANES = T_CODEC::COMPRESSED ? 32 : 16;
        for (int first = 32 / LANES * warp_in_block(); first < stage.long_count; first += BLOCK / LANES) {
            const int r = first + lane_id() / LANES;
            const int local = r < stage.long_count ? int(stage.long_rows[r]) : int(Stage::LISTED);
            const bool mine = local != Stage::LISTED;
            const i64 j = chunk_row + local;
            const i64 begin = mine ? i64(s.t_indptr[j]) : 0, rest = begin + PROBES, end = mine ? i64(s.t_indptr[j + 1]) : 0;
            Reached from = {-1, 0};
            if constexpr (LANES < 32) from = probe_by_lanes<LANES>(s, visited, begin, rest, end);
            else if (mine) from = probe_by_warp(s, visited, begin, rest, end);
            if (from.row < 0 || lane_id() % LANES != 0) continue;
            atomicOr(&stage.found[local >> 5], 1u << (local & 31));
            pull.write(from.row, j, from.entry);
        }
        __syncthreads();

        if (writes) pull.visited_next[w] = seen | stage.found[t * PULL_SPAN / 32];
        add_found<PULL_SPAN>(pull, stage.found, chunk_row);
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
    Reached from = probe<4>(s, visited, begin, begin, rest < end ? rest : end);
    const bool longer = from.row < 0 && rest < end, listed = pull.segments.add_by_warp(longer, j, rest, end);
    for_each_lane(longer && !listed, [&](int lane) {
        const i64 first = shuffle(rest, lane);
        const Reached at = probe_by_warp(s, visited, first - PROBES, first, shuffle(end, lane));
        if (lane_id() == lane) from = at;
    });
    const bool hit = from.row >= 0;
    if (!__any_sync(FULL_WARP, hit)) return;
    if (hit) {
        bit_set(pull.visited_next, j);
        pull.write(from.row, j, 0);
    }
    pull.add_by_warp(hit, j);
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
        add_found<4>(pull, stage.found, chunk * BLOCK * 4);
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
