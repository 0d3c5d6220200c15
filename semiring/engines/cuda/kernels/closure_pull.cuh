// The pulls of a level-synchronous closure: from what is not visited to a neighbour that is.
//
// Included by closure_level.cuh behind `Search`.

#pragma once

DEVICE Z pulled(const Search& s, i64 k, i64 j, i64 p) {
    Z x = Z();
    if constexpr (multiply_reads_x) x = s.values[k];
    return arrival(s, s.t_values, x, k, j, p);
}

template <int BLOCK>
struct PullStage {
    u32 found[BLOCK / 8];
    u16 open[4 * BLOCK];
    u16 rest[4 * BLOCK];
    int rest_count;
};

// Appends the rows whose bits are set, BLOCK / 8 words of them from row `base` on, to the list.  The whole block calls.
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

// From what is not visited to a neighbour that is.  A block takes BLOCK / 8 words at a time (a thread four rows), and
// lists the open rows of them; a thread probes the first entries of a row, a warp the others.  Every visited neighbour of an
// open row is in the frontier: had it been visited earlier, the row would be too.
template <int BLOCK, class Team>
DEVICE void pull_level(const Search& s, const u32* visited, u32* visited_next, const Append& to, Z level) {
    __shared__ PullStage<BLOCK> stage;
    const int t = int(threadIdx.x);
    constexpr i64 WORDS = BLOCK / 8;
    const i64 chunks = (s.words() + WORDS - 1) / WORDS;
    for (i64 chunk = Team::rank(); chunk < chunks; chunk += Team::size()) {
        const i64 w = chunk * WORDS + t / 8;
        const i64 chunk_row = chunk * WORDS * 32;
        const u32 seen = w < s.words() ? visited[w] : FULL_WARP;
        const u32 wanted = w < s.words() ? s.candidates[w] & ~seen : 0u;
        u32 open = (wanted >> (4 * (t & 7))) & 15u;
        int count;
        int place = block_scan_exclusive(__popc(open), count);
        if (count == 0) {  // nothing to look for: the words travel on
            if ((t & 7) == 0 && w < s.words()) visited_next[w] = seen;
            continue;
        }
        if (t < WORDS) stage.found[t] = 0;
        if (t == 0) stage.rest_count = 0;
        for (; open; open &= open - 1) stage.open[place++] = u16(4 * t + __ffs(int(open)) - 1);
        __syncthreads();

        for (int i = t; i < count; i += BLOCK) {
            const int local = stage.open[i];
            const i64 j = chunk_row + local;
            const i64 end = i64(s.t_indptr[j + 1]);
            i64 p = i64(s.t_indptr[j]);
            const i64 stop = p + PROBES < end ? p + PROBES : end;
            bool hit = false;
            i64 k = 0;
            for (Transposed::Cursor entry(s.t_columns, p, p); p < stop; p++, entry.next()) {
                k = entry.column();
                hit = bit_test(visited, k);
                if (hit) break;
            }
            if (hit) {
                atomicOr(&stage.found[local >> 5], 1u << (local & 31));
                if constexpr (VALUES == 1) s.values[j] = level;
                if constexpr (VALUES == 2) s.values[j] = pulled(s, k, j, p);
            } else if (p < end) {
                stage.rest[atomicAdd(&stage.rest_count, 1)] = u16(local);
            }
        }
        __syncthreads();

        for (int r = warp_in_block(); r < stage.rest_count; r += BLOCK / 32) {
            const int local = stage.rest[r];
            const i64 j = chunk_row + local;
            const i64 begin = i64(s.t_indptr[j]);
            Transposed::Warp walk(s.t_columns, begin, begin + PROBES, i64(s.t_indptr[j + 1]));
            while (walk.next()) {  // two steps at once, so that their loads wait together
                const i64 p = walk.p, k = walk.inside ? walk.column : -1;
                const bool more = walk.next();
                const i64 p2 = walk.p, k2 = more && walk.inside ? walk.column : -1;
                const bool hit = k >= 0 && bit_test(visited, k);
                const bool hit2 = k2 >= 0 && bit_test(visited, k2);
                const u32 hits = __ballot_sync(FULL_WARP, hit || hit2);
                if (hits == 0) continue;
                if (lane_id() == __ffs(int(hits)) - 1) {
                    atomicOr(&stage.found[local >> 5], 1u << (local & 31));
                    if constexpr (VALUES == 1) s.values[j] = level;
                    if constexpr (VALUES == 2) {
                        s.values[j] = pulled(s, hit ? k : k2, j, hit ? p : p2);
                    }
                }
                break;
            }
        }
        __syncthreads();

        if ((t & 7) == 0 && w < s.words()) visited_next[w] = seen | stage.found[t / 8];
        append_found<BLOCK>(s, to, stage.found, chunk_row);
    }
}

// The same where the hubs of all rows are known, in two sweeps.  First a lane tests the hubs of its row, with nothing
// but loads side by side; nearly every row that can be reached is found here.  The others are marked in `rest`, unless
// the hubs were all their entries, and the second sweep probes them, 32 waiting rows at a time: to look through a row
// takes several loads that wait for each other, above all a compressed one, and rows of the first sweep would wait too.
template <int BLOCK>
struct HubStage {
    u32 found[BLOCK / 8];
    i64 waiting[BLOCK / 32][64];
};

// Probes the rows that the lanes hold; -1: none.  The whole warp calls.
DEVICE void probe_rest(const Search& s, const u32* visited, u32* visited_next, const Append& to, Z level, i64 j) {
    i64 p = 0, end = 0, k = 0;
    if (j >= 0) {
        p = i64(s.t_indptr[j]);
        end = i64(s.t_indptr[j + 1]);
        if (end - p <= 2) p = end;  // the hubs were all its entries
    }
    const i64 stop = p + PROBES < end ? p + PROBES : end;
    bool hit = false;
    if (p < stop) {
        for (Transposed::Cursor entry(s.t_columns, p, p); p < stop; p++, entry.next()) {
            k = entry.column();
            hit = bit_test(visited, k);
            if (hit) break;
        }
    }
    for (u32 longer = __ballot_sync(FULL_WARP, !hit && p < end); longer; longer &= longer - 1) {
        const int lane = __ffs(int(longer)) - 1;
        const i64 first = shuffle(p, lane), last = shuffle(end, lane);
        Transposed::Warp walk(s.t_columns, first - PROBES, first, last);
        while (walk.next()) {
            const bool mine = walk.inside && bit_test(visited, walk.column);
            const u32 hits = __ballot_sync(FULL_WARP, mine);
            if (hits == 0) continue;
            const i64 at = shuffle(i64(walk.column), __ffs(int(hits)) - 1);
            if (lane_id() == lane) {
                hit = true;
                k = at;
            }
            break;
        }
    }
    const u32 found = __ballot_sync(FULL_WARP, hit);
    if (found == 0) return;
    u64 mine = 0;
    i64 start = 0;
    if (hit) {
        atomicOr(visited_next + (j >> 5), 1u << (j & 31));
        if constexpr (VALUES == 1) s.values[j] = level;
        if constexpr (VALUES == 2) s.values[j] = pulled(s, k, j, 0);
        start = i64(s.indptr[j]);
        mine = s.packing.pack(1, i64(s.indptr[j + 1]) - start);
    }
    const u64 upto = warp_scan_inclusive(mine);
    u64 room = 0;
    if (lane_id() == 31) room = to.base + atomicAdd(to.counter, upto);
    room = shuffle(room, 31) + upto - mine;
    if (hit) put(s.packing, to, room, j, start);
}

template <int BLOCK, class Team>
DEVICE void pull_hubs(const Search& s, Team& team, const u32* visited, u32* visited_next, const Append& to, Z level) {
    __shared__ HubStage<BLOCK> stage;
    constexpr int WORDS = 4;  // of a warp, so that their loads wait together
    const int lane = lane_id();
    const i64 chunks = (s.words() + BLOCK / 8 - 1) / (BLOCK / 8);
    for (i64 chunk = Team::rank(); chunk < chunks; chunk += Team::size()) {
        const i64 first_word = chunk * (BLOCK / 8) + WORDS * warp_in_block();
        u32 seen[WORDS];
        i64 first[WORDS], second[WORDS];
#pragma unroll
        for (int u = 0; u < WORDS; u++) {
            const i64 w = first_word + u;
            seen[u] = w < s.words() ? visited[w] : FULL_WARP;
            const u32 wanted = w < s.words() ? s.candidates[w] & ~seen[u] : 0u;
            const bool mine = (wanted >> lane) & 1u;
            first[u] = mine ? i64(s.hubs[32 * w + lane]) : -1;
            second[u] = mine ? i64(s.hubs[s.n + 32 * w + lane]) : -1;
        }
#pragma unroll
        for (int u = 0; u < WORDS; u++) {
            const i64 w = first_word + u, j = 32 * w + lane;
            const bool hit_first = first[u] >= 0 && bit_test(visited, first[u]);
            const bool hit_second = second[u] >= 0 && bit_test(visited, second[u]);
            const bool hit = hit_first || hit_second;
            if (hit) {
                if constexpr (VALUES == 1) s.values[j] = level;
                if constexpr (VALUES == 2) s.values[j] = pulled(s, hit_first ? first[u] : second[u], j, 0);
            }
            const u32 found = __ballot_sync(FULL_WARP, hit);
            const u32 rest = __ballot_sync(FULL_WARP, !hit && second[u] >= 0);
            if (lane == 0) {
                stage.found[WORDS * warp_in_block() + u] = found;
                if (w < s.words()) {
                    visited_next[w] = seen[u] | found;
                    s.rest()[w] = rest;
                }
            }
        }
        __syncthreads();
        append_found<BLOCK>(s, to, stage.found, chunk * BLOCK * 4);
    }
    team.barrier();

    i64* const waiting = stage.waiting[warp_in_block()];
    int count = 0;
    const i64 warps = Team::size() * (BLOCK / 32);
    for (i64 group = Team::rank() * (BLOCK / 32) + warp_in_block(); 32 * group < s.words(); group += warps) {
        const i64 w = 32 * group + lane;
        const u32 rest = w < s.words() ? __ldcg(s.rest() + w) : 0u;
        for (u32 marked = __ballot_sync(FULL_WARP, rest != 0); marked; marked &= marked - 1) {
            const int source = __ffs(int(marked)) - 1;
            const u32 word = shuffle(rest, source);
            if ((word >> lane) & 1u) waiting[count + __popc(word & lanes_below())] = 32 * (32 * group + source) + lane;
            count += __popc(word);
            __syncwarp();
            if (count < 32) continue;
            probe_rest(s, visited, visited_next, to, level, waiting[lane]);
            count -= 32;
            const i64 kept = waiting[32 + lane];
            __syncwarp();
            if (lane < count) waiting[lane] = kept;
            __syncwarp();
        }
    }
    if (count > 0) probe_rest(s, visited, visited_next, to, level, lane < count ? waiting[lane] : -1);
}
