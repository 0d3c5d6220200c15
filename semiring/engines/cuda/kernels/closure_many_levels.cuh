// The rows that each source has reached, as the rows of a matrix: bits of vertices by sources become entries.
//
// Rows of bits are divided into chunks of 32 x TILES.  `many_count` counts the entries of each source in each chunk; a
// prefix sum over them gives every chunk its position in the row of a source; `many_write` writes columns and levels
// there.  A lane holds the bits of one row, a ballot gives the rows of one source, in ascending order, and the lanes
// write them to consecutive positions.
//
// The prologue defines the types J (columns), L (levels) and P (offsets of the result), and WORDS, the words of a row.

constexpr i64 TILES = 32;

// The planes whose words are held in registers: levels below 2^6.
constexpr int NEAR_PLANES = 6;

DEVICE u32 plane_word(const u64* planes, int b, i64 at) { return reinterpret_cast<const u32*>(planes[b])[at]; }

// The number of chunks of n rows.
DEVICE i64 chunk_count(i64 n) { return (n + 32 * TILES - 1) / (32 * TILES); }

// counts[s * chunks + c] = the rows of chunk c that source s has reached.  A warp counts one word of a chunk.
extern "C" __global__ void many_count(const u32* visited, i64 n, i64 sources, u32* counts) {
    const i64 chunks = chunk_count(n);
    for (i64 item = warp_id(); item < chunks * WORDS; item += warp_count()) {
        const i64 chunk = item / WORDS, word = item % WORDS, source = 32 * word + lane_id();
        u32 count = 0;
        for (i64 tile = chunk * TILES; tile < (chunk + 1) * TILES && 32 * tile < n; tile++) {
            const i64 v = 32 * tile + lane_id();
            const u32 bits = v < n ? visited[v * WORDS + word] : 0;
            if (__any_sync(FULL_WARP, bits != 0)) count += __popc(warp_transpose(bits));
        }
        if (source < sources) counts[source * chunks + chunk] = count;
    }
}

// planes: the addresses of `plane_count` bit planes.  offsets: the prefix sums of the counts.  base: the position of the first
// entry of the first source.
extern "C" __global__ void many_write(const u32* visited, const u64* planes, i64 plane_count, i64 n, i64 sources,
                                      const i64* offsets, i64 base, J* columns, L* levels) {
    const i64 chunks = chunk_count(n);
    for (i64 item = warp_id(); item < chunks * WORDS; item += warp_count()) {
        const i64 chunk = item / WORDS, word = item % WORDS, source = 32 * word + lane_id();
        i64 place = source < sources ? base + offsets[source * chunks + chunk] : 0;  // of this lane's source
        for (i64 tile = chunk * TILES; tile < (chunk + 1) * TILES && 32 * tile < n; tile++) {
            const i64 v = 32 * tile + lane_id(), at = v * WORDS + word;
            const u32 bits = v < n ? visited[at] : 0;
            u32 left = warp_or(bits);
            if (left == 0) continue;
            u32 plane[NEAR_PLANES];
#pragma unroll
            for (int b = 0; b < NEAR_PLANES; b++) plane[b] = bits != 0 && b < plane_count ? plane_word(planes, b, at) : 0;
            for (; left; left &= left - 1) {
                const int s = __ffs(int(left)) - 1;
                const bool mine = (bits >> s) & 1u;
                const u32 reached = __ballot_sync(FULL_WARP, mine);
                const i64 first = shuffle(place, s);
                if (mine) {
                    L level = 0;
#pragma unroll
                    for (int b = 0; b < NEAR_PLANES; b++) level |= L((plane[b] >> s) & 1u) << b;
                    for (int b = NEAR_PLANES; b < plane_count; b++)
                        level |= L((plane_word(planes, b, at) >> s) & 1u) << b;
                    const i64 p = first + __popc(reached & lanes_below());
                    columns[p] = J(v);
                    levels[p] = level;
                }
                if (lane_id() == s) place += __popc(reached);
            }
        }
    }
}

// indptr[s] = base + the position of the first entry of source s, for s up to and including `sources`.
extern "C" __global__ void many_offsets(const i64* offsets, i64 n, i64 sources, i64 base, P* indptr) {
    const i64 chunks = chunk_count(n);
    for (i64 s = thread_id(); s <= sources; s += thread_count()) indptr[s] = P(base + offsets[s * chunks]);
}
