// The rows that each source has reached, as the rows of a matrix: bits of vertices by sources become entries.
//
// Rows of bits are divided into chunks of CHUNK rows.  `many_count` counts the entries of each source in each chunk; a
// prefix sum over them gives every chunk its position in the row of a source; `many_write` writes columns and levels
// there.  A block lists the rows of a chunk that any of its sources has reached, and transposes their bits in shared
// memory.  Most sources have reached all of these rows: their entries are the list itself, which a warp stores as
// 16-byte vectors.  The entries of other sources are stored one by one.
//
// The prologue defines the types J (columns), L (levels) and P (offsets of the result), and WORDS, the words of a row.

#include "source_bits.cuh"

constexpr int TILES = 16;  // of 32 rows each
constexpr int CHUNK = 32 * TILES;
constexpr int SOURCES = 32 * PART;  // of a part of a row

// Threads of a block of `many_write`.
constexpr int WRITE_BLOCK = 256;
// Planes that one launch reads: four bits a level.
constexpr int PLANES = 4;
// Entries of a vector.
constexpr int FOUR = 4;
// Levels of four bits in a word, and such words of a source in a chunk.
constexpr int EIGHT = 8, LEVEL_WORDS = CHUNK / EIGHT;
constexpr int WRITE_WARPS = WRITE_BLOCK / 32;
static_assert(SOURCES <= 32 * WRITE_WARPS && TILES % WRITE_WARPS == 0);

// The number of chunks of n rows.
DEVICE i64 chunk_count(i64 n) { return (n + CHUNK - 1) / CHUNK; }

// The source of bit `bit` of a row (closure_many_order.cuh).
DEVICE i64 source_of(const i64* order, i64 bit) { return order == nullptr ? bit : order[bit]; }

// counts[s * chunks + c] = the rows of chunk c that source s has reached.  A warp counts one part of a chunk.
extern "C" __global__ void many_count(const u32* visited, i64 n, i64 sources, const i64* order, u32* counts) {
    const i64 chunks = chunk_count(n);
    for (i64 item = warp_id(); item < chunks * LANES; item += warp_count()) {
        const i64 chunk = item / LANES, part = item % LANES;
        u32 count[PART] = {};
#pragma unroll 4
        for (int tile = 0; tile < TILES; tile++) {
            const i64 v = chunk * CHUNK + 32 * tile + lane_id();
            const Part bits = v < n ? load_part(visited + v * WORDS + part * PART) : Part();
#pragma unroll
            for (int i = 0; i < PART; i++) count[i] += u32(__popc(warp_transpose(bits.word[i])));
        }
#pragma unroll
        for (int i = 0; i < PART; i++) {
            const i64 bit = 32 * (part * PART + i) + lane_id();
            if (bit < sources) counts[source_of(order, bit) * chunks + chunk] = count[i];
        }
    }
}

// The rows of a chunk that a source of the part has reached, and their bits by sources.  Tiles have 32 listed rows.
// Words are permuted within a source, which avoids bank conflicts.
struct ChunkBits {
    u32 reached[SOURCES * TILES];
    u32 level[SOURCES * LEVEL_WORDS];
    u32 listed[TILES];  // bits: the rows of the list
    u16 row[CHUNK];     // the list: rows in the chunk, in ascending order

    static DEVICE int slot(int source, int tile) { return source * TILES + (tile ^ (source % TILES)); }
    static DEVICE int level_slot(int source, int word) {
        return source * LEVEL_WORDS + (word + source) % LEVEL_WORDS;
    }
    // The four-bit levels of the listed rows from number q on, eight at most.
    DEVICE u32 levels_from(int source, int q) const {
        const u32 low = level[level_slot(source, q / EIGHT)], high = level[level_slot(source, q / EIGHT + 1)];
        return __funnelshift_r(low, high, 4 * (q % EIGHT));
    }
};

// Bits `first` to `first` + 7 of the planes as numbers of four bits.
DEVICE u32 eight_levels(const u32 (&plane)[PLANES], int first) {
    u32 made = 0;
#pragma unroll
    for (int b = 0; b < PLANES; b++) {
        u32 bits = plane[b] >> first & 0xffu;
        bits = (bits | bits << 12) & 0x000f000fu;
        bits = (bits | bits << 6) & 0x03030303u;
        bits = (bits | bits << 3) & 0x11111111u;
        made |= bits << b;
    }
    return made;
}

// Lists the rows of a chunk that a source of part `part` has reached; returns their number.  The whole block calls; it
// synchronizes.
DEVICE int list_rows(const u32* visited, i64 n, i64 chunk, i64 part, ChunkBits& to) {
#pragma unroll
    for (int i = 0; i < TILES / WRITE_WARPS; i++) {
        const int tile = warp_in_block() + i * WRITE_WARPS;
        const i64 v = chunk * CHUNK + 32 * tile + lane_id();
        const bool any = v < n && load_part(visited + v * WORDS + part * PART).any();
        const u32 rows = __ballot_sync(FULL_WARP, any);
        if (lane_id() == 0) to.listed[tile] = rows;
    }
    __syncthreads();
    const u32 rows = lane_id() < TILES ? to.listed[lane_id()] : 0;
    const int inclusive = warp_scan_inclusive(__popc(rows));
#pragma unroll
    for (int i = 0; i < TILES / WRITE_WARPS; i++) {
        const int tile = warp_in_block() + i * WRITE_WARPS;
        const u32 mine = shuffle(rows, tile);
        const int before = shuffle(inclusive - __popc(rows), tile);
        if (mine >> lane_id() & 1u) to.row[before + __popc(mine & lanes_below())] = u16(32 * tile + lane_id());
    }
    __syncthreads();
    return shuffle(inclusive, 31);
}

// Transposes part `part` of the `count` listed rows of a chunk.  The whole block calls; it synchronizes after it.
DEVICE void transpose_rows(const u32* visited, const u32* const (&planes)[PLANES], i64 plane_count, i64 chunk, i64 part, int count,
                           ChunkBits& to) {
    for (int tile = warp_in_block(); 32 * tile < count; tile += WRITE_WARPS) {
        const int q = 32 * tile + lane_id();
        const bool here = q < count;
        const i64 at = (chunk * CHUNK + i64(to.row[here ? q : 0])) * WORDS + part * PART;
        const Part bits = here ? load_part(visited + at) : Part();
        Part bit[PLANES];
#pragma unroll
        for (int b = 0; b < PLANES; b++)
            bit[b] = here && b < plane_count ? load_part(planes[b] + at) : Part();
#pragma unroll
        for (int i = 0; i < PART; i++) {
            const int source = 32 * i + lane_id();
            to.reached[ChunkBits::slot(source, tile)] = warp_transpose(bits.word[i]);
            u32 plane[PLANES] = {};
#pragma unroll
            for (int b = 0; b < PLANES; b++) {
                if (b < plane_count) plane[b] = warp_transpose(bit[b].word[i]);
            }
#pragma unroll
            for (int first = 0; first < 32; first += EIGHT)
                to.level[ChunkBits::level_slot(source, (32 * tile + first) / EIGHT)] = eight_levels(plane, first);
        }
    }
}

// Entries before a vector store are stored one by one up to a multiple of so many: a whole line of values of four bytes.
// A vector that begins within a sector writes parts of sectors, which L2 must combine.  H200, 1,024 sources on kron22:
// 4 8.07 ms, 8 8.02, 32 8.00; streaming stores 8.35.
constexpr int ALIGNED = 32;

// Stores four consecutive values at an address that is a multiple of their size.
template <class T>
DEVICE void store_four(T* to, const T (&value)[FOUR]) {
    struct alignas(16) Vector {
        T value[16 / sizeof(T)];
    };
    constexpr int EACH = 16 / int(sizeof(T));
#pragma unroll
    for (int first = 0; first < FOUR; first += EACH) {
        Vector vector;
#pragma unroll
        for (int i = 0; i < EACH; i++) vector.value[i] = value[first + i];
        *reinterpret_cast<Vector*>(to + first) = vector;
    }
}

// The entries of a source that has reached all `count` listed rows.  `row`: the first row of the chunk.  `first`: the
// position of the entries in the result.  The whole warp calls.
DEVICE void write_all(const ChunkBits& bits, int source, int count, i64 row, i64 first, J* columns, L* levels) {
    const int unaligned = int(-first & (ALIGNED - 1)), head = unaligned < count ? unaligned : count;
    const int end = head + (count - head) / FOUR * FOUR;
    const auto write_one = [&](int q) {
        columns[first + q] = J(row + i64(bits.row[q]));
        levels[first + q] = L(bits.levels_from(source, q) & 15u);
    };
    if (lane_id() < head) write_one(lane_id());
    for (int q = head + FOUR * lane_id(); q < end; q += FOUR * 32) {
        const u32 numbers = bits.levels_from(source, q);
        J column[FOUR];
        L level[FOUR];
#pragma unroll
        for (int i = 0; i < FOUR; i++) {
            column[i] = J(row + i64(bits.row[q + i]));
            level[i] = L(numbers >> 4 * i & 15u);
        }
        store_four(columns + first + q, column);
        store_four(levels + first + q, level);
    }
    if (end + lane_id() < count) write_one(end + lane_id());
}

// The entries of any source.  `shift`: 0 writes the columns and the low four bits of the levels; otherwise the levels
// get the four bits from `shift` on.  The whole warp calls.
DEVICE void write_some(const ChunkBits& bits, int source, int count, i64 row, i64 first, int shift, J* columns,
                       L* levels) {
    const bool tile_here = 32 * lane_id() < count;
    const u32 mine = tile_here ? bits.reached[ChunkBits::slot(source, lane_id() % TILES)] : 0;
    const int before_mine = warp_scan_inclusive(__popc(mine)) - __popc(mine);
    for (int tile = 0; 32 * tile < count; tile++) {
        const u32 reached = shuffle(mine, tile);
        const int before = shuffle(before_mine, tile), q = 32 * tile + lane_id();
        if (reached >> lane_id() & 1u) {
            const i64 to = first + before + __popc(reached & lanes_below());
            const L level = L(bits.levels_from(source, q) & 15u) << shift;
            if (shift == 0) columns[to] = J(row + i64(bits.row[q]));
            levels[to] = shift == 0 ? level : levels[to] | level;
        }
    }
}

// plane0, ...: `plane_count` bit planes, the first of which holds bit `shift` of the levels; a part of a row without bits
// is undefined in them.  order: closure_many_order.cuh.  offsets: the prefix sums of the counts.  base: the position of the first entry of
// the first source.
extern "C" __global__ void __launch_bounds__(WRITE_BLOCK)
    many_write(const u32* visited, const u32* plane0, const u32* plane1, const u32* plane2, const u32* plane3,
               i64 plane_count, i64 shift, i64 n, i64 sources,
               const i64* order, const i64* offsets, i64 base, J* columns, L* levels) {
    __shared__ ChunkBits bits;
    const u32* const planes[PLANES] = {plane0, plane1, plane2, plane3};
    const i64 chunks = chunk_count(n);
    for (i64 item = blockIdx.x; item < chunks * LANES; item += gridDim.x) {
        const i64 chunk = item / LANES, part = item % LANES, row = chunk * CHUNK;
        const i64 most = sources - SOURCES * part;
        const int here = most < SOURCES ? int(most) : SOURCES;
        // The entries of the source of bit `warp_in_block()` + k * WRITE_WARPS of the part, in lane k.
        const i64 bit = SOURCES * part + warp_in_block() + lane_id() * WRITE_WARPS;
        const bool mine = lane_id() < SOURCES / WRITE_WARPS && bit < sources;
        const i64 place = mine ? source_of(order, bit) * chunks + chunk : 0;
        const i64 begin = mine ? offsets[place] : 0;
        const int entries = mine ? int(offsets[place + 1] - begin) : 0;
        const int count = list_rows(visited, n, chunk, part, bits);
        transpose_rows(visited, planes, plane_count, chunk, part, count, bits);
        __syncthreads();
        for (int s = warp_in_block(), k = 0; s < here; s += WRITE_WARPS, k++) {
            const i64 first = base + shuffle(begin, k);
            const int reached = shuffle(entries, k);
            if (reached == count && shift == 0) write_all(bits, s, count, row, first, columns, levels);
            else if (reached != 0) write_some(bits, s, count, row, first, int(shift), columns, levels);
        }
        __syncthreads();
    }
}

// indptr[s] = base + the position of the first entry of source s, for s up to and including `sources`.
extern "C" __global__ void many_offsets(const i64* offsets, i64 n, i64 sources, i64 base, P* indptr) {
    const i64 chunks = chunk_count(n);
    for (i64 s = thread_id(); s <= sources; s += thread_count()) indptr[s] = P(base + offsets[s * chunks]);
}
