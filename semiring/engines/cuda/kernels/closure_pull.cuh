// The pulls of a level-synchronous closure: each unvisited row searches for a visited neighbor.
//
// Included by closure_level.cuh after closure_rows.cuh.

#pragma once

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
    u64 room = reserve(to, s.packing.pack(__popc(found), degrees));
    for (; found; found &= found - 1) {
        const i64 j = four + __ffs(int(found)) - 1;
        const i64 start = i64(s.indptr[j]);
        put(s.packing, to, room, j, start);
        room += s.packing.pack(1, i64(s.indptr[j + 1]) - start);
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
            if (list_segments(pull, j, begin + PROBES, end)) continue;
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
