// The pulls of a level-synchronous closure with hubs (hubs.cuh), in three passes.
//
// First pass: each lane tests the two hubs of its row, by independent loads that overlap.  This finds nearly every
// reachable row.  Rows with further entries are marked in `rest`.  Second pass: warps probe the marked rows, 32 at a
// time.  Probing a row takes several dependent loads, which would delay the first pass.  Third pass: warps probe the
// segments of long rows.
//
// Included by closure_level.cuh after closure_pull.cuh.

#pragma once

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
        if (list_segments(pull, shuffle(j, lane), first, last)) continue;
        const Reached at = probe_by_warp(s, visited, first - PROBES, first, last);
        if (lane_id() == lane) from = at;
    }
    const bool hit = from.row >= 0;
    const u32 found = __ballot_sync(FULL_WARP, hit);
    if (found == 0) return;
    u64 mine = 0;
    i64 start = 0;
    if (hit) {
        atomicOr(pull.visited_next + (j >> 5), 1u << (j & 31));
        pull.write(from.row, j, 0);
        start = i64(s.indptr[j]);
        mine = s.packing.pack(1, i64(s.indptr[j + 1]) - start);
    }
    const u64 inclusive = warp_scan_inclusive(mine);
    u64 packed = 0;
    if (lane_id() == 31) packed = pull.to.base + atomicAdd(pull.to.counter, inclusive);
    packed = shuffle(packed, 31) + inclusive - mine;
    if (hit) put(s.packing, pull.to, packed, j, start);
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
